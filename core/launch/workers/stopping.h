// How far a stop has come, for whoever looks: facts that a status carries, and their sentence for a terminal.
// Thread: pure functions.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <optional>
#include <string>
#include <string_view>

namespace lathe::launch {

enum class StopStage { Asked, FinishingUpdate, Saving, Leaving, ToldToLeave, Killed };

struct Stopping {
    StopStage stage = StopStage::Asked;
    double secondsLeft = 0;   ///< until the next, harder step; 0 once it was killed
    bool discards = false;
    bool isForced() const { return stage == StopStage::ToldToLeave || stage == StopStage::Killed; }
    bool operator==(const Stopping&) const = default;
};
/// "asked to save and stop, saving; SIGTERM in 52 s".
std::string sentenceOf(const Stopping& stopping);

/// As a status carries it.
nlohmann::json stoppingJson(const Stopping& stopping);
/// Of a status; nothing where it tells of none. A stage of a newer program is read as Asked, what is no number as 0.
std::optional<Stopping> stoppingOf(const nlohmann::json& status);
/// Likewise of its text; nothing where that is none.
std::optional<Stopping> stoppingIn(std::string_view status);

}  // namespace lathe::launch
