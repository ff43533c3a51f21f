// How many samples are computed at once, where memory ran out with more: windows stay what they are, and their micro-batches
// are cut (plan::limited). Part of the trajectory's state, since smaller parts round differently: it stays for the rest of
// the run, goes along into a fork and is gone where the run goes back to before it.
// Thread: one thread at a time.
#pragma once

#include "engine/train/train_state.h"

#include <cstdint>

namespace lathe::engine {

class MicroBatchLimit final : public Stateful {
public:
    std::int64_t most = 0;   ///< 0: micro-batches are as configured

    std::string stateName() const override { return "micro_batch_limit"; }
    bool isOptional() const override { return true; }
    StateValues stateValues() const override { return most > 0 ? StateValues{{"most_samples", std::to_string(most)}} : StateValues(); }
    Result<void> setStateValues(const StateValues& values) override {
        StateValueReader reader(values);
        const std::int64_t read = reader.integer("most_samples");
        LATHE_TRY(reader.finish(stateName()));
        if (read < 1) return Error{ErrorCode::Corrupt, "The saved micro_batch_limit must be at least 1", {}, {}};
        most = read;
        return {};
    }
};

}  // namespace lathe::engine
