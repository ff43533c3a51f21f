// A hook's state as registered state. It stands outside the digest of the trajectory, so that hooks may come and go.
#pragma once

#include "engine/train/guard.h"
#include "engine/train/hooks.h"
#include "engine/train/train_state.h"

namespace lathe::engine {

class KeptHook final : public Stateful {
public:
    explicit KeptHook(Hook& hook) : m_hook(hook) {}
    std::string stateName() const override { return std::string(kHookState) + std::string(m_hook.hookName()); }
    Scope scope() const override { return Scope::Run; }
    bool isOptional() const override { return true; }
    StateValues stateValues() const override { return m_hook.state(); }
    Result<void> setStateValues(const StateValues& values) override {
        return guarded("giving " + std::string(m_hook.hookName()) + " its state back", [&]() -> Result<void> {
            m_hook.setState(values);
            return {};
        });
    }

private:
    Hook& m_hook;
};

}  // namespace lathe::engine
