// How far a stop has come, for whoever looks: facts that a status carries, and their sentence for a terminal.
// Thread: pure functions.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace lathe::launch {

enum class StopStage { Asked, FinishingUpdate, Saving, Leaving, ToldToLeave, Killed };
/// "finishing-update": its word in a status.
std::string_view name(StopStage stage);
std::optional<StopStage> stopStageFrom(std::string_view word);

struct Stopping {
    StopStage stage = StopStage::Asked;
    double secondsLeft = 0;   ///< until the next, harder step; 0 once it was killed
    bool discards = false;
    bool isForced() const { return stage == StopStage::ToldToLeave || stage == StopStage::Killed; }
    bool operator==(const Stopping&) const = default;
};
/// "asked to save and stop, saving; SIGTERM in 52 s".
std::string sentenceOf(const Stopping& stopping);

}  // namespace lathe::launch
