#include "launch/stopping.h"

#include <array>
#include <utility>

namespace lathe::launch {

static constexpr std::array<std::pair<StopStage, std::string_view>, 6> kStages = {{
    {StopStage::Asked, "asked"}, {StopStage::FinishingUpdate, "finishing-update"}, {StopStage::Saving, "saving"}, {StopStage::Leaving, "leaving"},
    {StopStage::ToldToLeave, "told-to-leave"}, {StopStage::Killed, "killed"},
}};

std::string_view name(StopStage stage) {
    for (const auto& [known, word] : kStages)
        if (known == stage) return word;
    return "asked";
}

std::optional<StopStage> stopStageFrom(std::string_view word) {
    for (const auto& [stage, known] : kStages)
        if (known == word) return stage;
    return std::nullopt;
}

std::string sentenceOf(const Stopping& stopping) {
    const std::string left = " in " + std::to_string(static_cast<int>(stopping.secondsLeft + 0.5)) + " s";
    const std::string asked = stopping.discards ? "asked to stop without saving" : "asked to save and stop";
    switch (stopping.stage) {
        case StopStage::Asked: return asked + "; SIGTERM" + left;
        case StopStage::FinishingUpdate: return asked + ", finishing the update; SIGTERM" + left;
        case StopStage::Saving: return asked + ", saving; SIGTERM at the latest" + left;
        case StopStage::Leaving: return asked + ", leaving; SIGTERM" + left;
        case StopStage::ToldToLeave: return "told to leave at once (SIGTERM); SIGKILL" + left;
        case StopStage::Killed: return "ended by SIGKILL";
    }
    return {};
}

}  // namespace lathe::launch
