// Optimizers on LibTorch's fused operators, over flat storage. State is named by parameter.
// Thread: one thread at a time.
#pragma once

#include "config/sections.h"
#include "engine/parallel/flat_storage.h"
#include "engine/train/train_state.h"

#include <memory>

namespace lathe::engine {

class Optimizer : public Stateful {
public:
    /// "adamw" or "sgd"; the storage must outlive the optimizer.
    static Result<std::unique_ptr<Optimizer>> make(const config::OptimizerSection& section, const FlatStorage& storage);

    /// Applies the gradients once. Decay, bias correction and momentum count these calls and nothing else.
    void step(double learningRate);
    std::int64_t updates() const { return m_updates; }

    std::string stateName() const override { return "optimizer"; }
    StateValues stateValues() const override;
    Result<void> setStateValues(const StateValues& values) override;
    std::vector<StateTensor> stateTensors() const override;

protected:
    /// `slots`: names of the state kept for every parameter ("exp_avg").
    Optimizer(const config::OptimizerSection& section, const FlatStorage& storage, std::string kind, std::vector<std::string> slots);
    virtual void apply(double learningRate) = 0;

    config::OptimizerSection m_section;
    std::vector<at::Tensor> m_values, m_gradients;   ///< the flat buffers
    std::vector<std::vector<at::Tensor>> m_state;    ///< by slot, then by flat buffer
    std::int64_t m_updates = 0;

private:
    const FlatStorage& m_storage;
    std::string m_kind;
    std::vector<std::string> m_slots;
};

}  // namespace lathe::engine
