// What an accumulation remembers as registered state. One that remembers nothing leaves no trace in checkpoints.
#pragma once

#include "engine/train/guard.h"
#include "engine/train/train_state.h"
#include "plan/accumulation.h"

namespace lathe::engine {

class KeptAccumulation final : public Stateful {
public:
    explicit KeptAccumulation(plan::Accumulation& accumulation) : m_accumulation(accumulation) {}
    std::string stateName() const override { return "accumulation"; }
    bool isOptional() const override { return true; }
    StateValues stateValues() const override { return m_accumulation.state(); }
    Result<void> setStateValues(const StateValues& values) override {
        return guarded("giving the accumulation its state back", [&]() -> Result<void> {
            m_accumulation.setState(values);
            return {};
        });
    }

private:
    plan::Accumulation& m_accumulation;
};

}  // namespace lathe::engine
