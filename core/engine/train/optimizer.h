// Optimizers over flat storage, on LibTorch's fused operators or own kernels. State is named by parameter.
//
// To add one: in optimizer.cpp a class with slots() (names of the tensors of state that each parameter has; saving, loading,
// groups and memory estimates follow from them) and apply() (one step over flat buffers, m_updates counting it already), and
// its line in make() and stateTensorsPerParameter(); in config/describe.h its name among the choices of optimizer.name, and in
// visibleIf of the settings it uses; what it adds of its own also stands in OptimizerSection (config/sections.h). Form, YAML,
// reference and check come from there. tests/core/engine/tst_optimizer.cpp compares each with PyTorch or its paper.
// Thread: one thread at a time.
#pragma once

#include "config/sections.h"
#include "engine/parallel/flat_storage.h"
#include "engine/train/train_state.h"

#include <memory>

namespace lathe::engine {

class Optimizer : public Stateful {
public:
    /// "adamw", "adam", "sgd" (all as PyTorch's) or "lion". The storage must outlive the optimizer. `groups`: those of the
    /// table that the storage was made of, for their rates and decays; none: everything at the section's own.
    static Result<std::unique_ptr<Optimizer>> make(const config::OptimizerSection& section, const FlatStorage& storage,
                                                   const std::vector<plan::ParamGroup>& groups = {});
    /// Tensors of state that it would keep for each trained parameter.
    static std::size_t stateTensorsPerParameter(const config::OptimizerSection& section);

    /// Applies the gradients once. Decay, bias correction and momentum count these calls and nothing else.
    void step(double learningRate);
    std::int64_t updates() const { return m_updates; }

    std::string stateName() const override { return "optimizer"; }
    StateValues stateValues() const override;
    Result<void> setStateValues(const StateValues& values) override;
    std::vector<StateTensor> stateTensors() const override;

protected:
    /// The flat buffers that have one rate and decay.
    struct Part {
        double rateFactor = 1, weightDecay = 0;
        std::vector<at::Tensor> values, gradients;
        std::vector<std::vector<at::Tensor>> state;   ///< by slot, then by buffer
    };
    /// `slots`: names of the state kept for every parameter ("exp_avg").
    Optimizer(const config::OptimizerSection& section, std::vector<std::string> slots) : m_section(section), m_slots(std::move(slots)) {}
    virtual void apply(Part& part, double learningRate) = 0;

    config::OptimizerSection m_section;
    std::int64_t m_updates = 0;

private:
    void adopt(const FlatStorage& storage, const std::vector<plan::ParamGroup>& groups);

    const FlatStorage* m_storage = nullptr;
    std::vector<std::string> m_slots;
    std::vector<Part> m_parts;
    std::vector<std::vector<at::Tensor>> m_state;     ///< by slot, then by flat buffer of the storage
};

}  // namespace lathe::engine
