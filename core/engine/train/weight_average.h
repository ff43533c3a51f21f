// A running mean of the weights (EMA), kept beside those that are trained, for evaluation and export.
// Thread: one thread at a time.
#pragma once

#include "config/sections.h"
#include "engine/parallel/flat_storage.h"
#include "engine/train/train_state.h"

#include <vector>

namespace lathe::engine {

/// After each applied update n = 0, 1, …: mean = d · mean + (1 - d) · weight, with d = decay, or with warm-up
/// d = min(decay, (1 + n) / (10 + n)), so that the first weights are soon forgotten (as TensorFlow's
/// ExponentialMovingAverage with num_updates). It begins with the weights that training begins with. Buffers (statistics
/// of BatchNorm) have no mean of their own. State is named by parameter: "fc.weight/ema".
class WeightAverage final : public Stateful {
public:
    /// The storage must outlive it.
    WeightAverage(const FlatStorage& storage, const config::OptimizerSection& section);

    void update();
    /// Begins anew with the weights as they are.
    void restart();
    /// Of the update that comes next.
    double decay() const;

    std::string stateName() const override { return "ema"; }
    StateValues stateValues() const override { return {{"updates", std::to_string(m_updates)}}; }
    Result<void> setStateValues(const StateValues& values) override;
    std::vector<StateTensor> stateTensors() const override;

    /// While it lives, the model computes with the mean. Nothing may be saved or trained meanwhile. Null: nothing happens.
    class InUse {
    public:
        explicit InUse(WeightAverage* average);
        ~InUse();
        InUse(const InUse&) = delete;
        InUse& operator=(const InUse&) = delete;

    private:
        WeightAverage* m_average;
    };

private:
    void place(bool mean);

    const FlatStorage& m_storage;
    double m_decay;
    bool m_warmsUp;
    std::int64_t m_updates = 0;
    std::vector<at::Tensor> m_means;              ///< by flat buffer
    std::vector<at::Tensor> m_weights, m_shaped;  ///< by view: where its weight lies, and where its mean does
};

}  // namespace lathe::engine
