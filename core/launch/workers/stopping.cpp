#include "launch/workers/stopping.h"

#include "rundir/json_reader.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <utility>

namespace lathe::launch {

using nlohmann::json;

static constexpr double kMostSeconds = 1e6;
static constexpr std::array<std::pair<StopStage, std::string_view>, 6> kStages = {{
    {StopStage::Asked, "asked"}, {StopStage::FinishingUpdate, "finishing-update"}, {StopStage::Saving, "saving"}, {StopStage::Leaving, "leaving"},
    {StopStage::ToldToLeave, "told-to-leave"}, {StopStage::Killed, "killed"},
}};

static constexpr const char* kKey = "stopping";

json stoppingJson(const Stopping& stopping) {
    const auto stage = std::find_if(kStages.begin(), kStages.end(), [&](const auto& known) { return known.first == stopping.stage; });
    return {{"stage", stage->second}, {"seconds_left", stopping.secondsLeft}, {"discards", stopping.discards}};
}

std::optional<Stopping> stoppingOf(const json& status) {
    const auto found = status.find(kKey);
    if (found == status.end() || !found->is_object()) return std::nullopt;
    rundir::JsonReader reader(*found, "status", "stopping.");
    const std::string word = reader.text("stage", "");
    const auto stage = std::find_if(kStages.begin(), kStages.end(), [&](const auto& known) { return known.second == word; });
    const double left = reader.number("seconds_left", 0);
    const bool discards = reader.flag("discards", false);
    return Stopping{stage != kStages.end() ? stage->first : StopStage::Asked, left >= 0 && left <= kMostSeconds ? left : 0, discards};
}

std::optional<Stopping> stoppingIn(std::string_view status) {
    const json parsed = json::parse(status, nullptr, false);
    return parsed.is_object() ? stoppingOf(parsed) : std::nullopt;
}

std::string sentenceOf(const Stopping& stopping) {
    const std::string left = " in " + std::to_string(static_cast<int>(stopping.secondsLeft + 0.5)) + " s";
    const std::string asked = stopping.discards ? "asked to stop without saving" : "asked to save and stop";
    switch (stopping.stage) {
        case StopStage::Asked: return asked + "; SIGTERM" + left;
        case StopStage::FinishingUpdate: return asked + ", finishing the update; SIGTERM" + left;
        case StopStage::Saving: return asked + ", saving; SIGTERM at the latest" + left;
        case StopStage::Leaving: return asked + ", leaving; SIGTERM at the latest" + left;
        case StopStage::ToldToLeave: return "told to leave at once (SIGTERM); SIGKILL" + left;
        case StopStage::Killed: return "ended by SIGKILL";
    }
    return {};
}

}  // namespace lathe::launch
