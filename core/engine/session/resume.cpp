#include "engine/session/resume.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>

namespace lathe::engine {
namespace {

/// Settings that no number of the trajectory depends on (that the data are the same is told by their fingerprint).
bool isHarmless(const std::string& key) {
    constexpr std::array<std::string_view, 18> kHarmless{"parallel.strategy", "parallel.check_replicas", "parallel.wait_seconds",
                                                         "parallel.ranks", "parallel.reduction", "parallel.reduce_at",  // told by the layout
                                                         "run.name", "run.note", "run.keep_awake", "run.epochs", "run.max_updates", "data.train", "data.loader_threads",
                                                         "evaluation.", "checkpoint.", "telemetry.", "precision.max_skipped_in_a_row", "model.weights"};
    return std::any_of(kHarmless.begin(), kHarmless.end(), [&](std::string_view start) { return key.starts_with(start); });
}

std::string joined(const std::vector<std::string>& parts) {
    std::string text;
    for (const std::string& part : parts) text += (text.empty() ? "" : ", ") + part;
    return text;
}

}  // namespace

Result<ConfigChanges> configChanges(const std::string& savedYaml, const config::RunConfig& now) {
    const config::Loaded saved = config::parse(savedYaml, "/");
    if (config::hasErrors(saved.problems))
        return Error{ErrorCode::Corrupt, "The checkpoint's own configuration cannot be read: " + saved.problems.front().sentence, {}, {}};
    ConfigChanges changes;
    for (const config::Difference& difference : config::diff(saved.config, now)) {
        const std::string sentence = difference.key + " " + difference.left + " → " + difference.right;
        changes.sentences.push_back(sentence);
        if (!isHarmless(difference.key)) changes.numeric.push_back(sentence);
    }
    return changes;
}

ResumeReport::ResumeReport(FrameWriter& frames, Probe expected, std::vector<std::string> reasons)
    : m_frames(frames), m_expected(std::move(expected)), m_reasons(std::move(reasons)) {
    if (m_expected.samples.empty()) m_reasons.push_back("the checkpoint holds no digest of the window after it");
}

void ResumeReport::at(const HookContext& context, Wishes&) {
    if (m_done || context.point != Point::Update) return;
    m_done = true;
    std::string outcome = "not comparable", detail = joined(m_reasons);
    if (m_reasons.empty()) {
        const std::string difference = firstDifference(m_expected, probeOf(*context.update));
        outcome = difference.empty() ? "continues exactly" : "differs";
        if (!difference.empty()) detail = difference + ", update " + std::to_string(context.counters->globalStep.value());
    }
    std::string sentence = "The run continues exactly";
    if (outcome == "differs") sentence = "The run differs from what the checkpoint foretold at: " + detail;
    if (outcome == "not comparable") sentence = "Whether the run continues exactly cannot be told: " + detail;
    m_frames.event("resume_report", sentence, {{"outcome", outcome}, {"detail", detail}}, *context.counters);
}

}  // namespace lathe::engine
