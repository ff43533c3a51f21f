#include "engine/session/resume.h"

#include "base/log.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>

namespace lathe::engine {
namespace {

/// Settings that no number of the trajectory depends on (that the data are the same is told by their fingerprint). What the
/// guard does decides which updates are applied.
bool isHarmless(const std::string& key, bool evaluationsDecide) {
    constexpr std::array<std::string_view, 16> kHarmless{"parallel.", "precision.mode",  // told by the environment record
                                                         "run.name", "run.note", "run.keep_awake", "run.restarts_per_hour", "run.epochs", "run.max_updates", "data.train", "data.loader_threads",
                                                         "checkpoint.", "telemetry.", "precision.max_skipped_in_a_row", "model.weights",
                                                         "evaluation.patience", "evaluation.restore_best"};
    if (key.starts_with("evaluation.") && !evaluationsDecide) return true;
    return std::any_of(kHarmless.begin(), kHarmless.end(), [&](std::string_view start) { return key.starts_with(start); });
}

std::string joined(const std::vector<std::string>& parts) {
    std::string text;
    for (const std::string& part : parts) text += (text.empty() ? "" : ", ") + part;
    return text;
}

}  // namespace

bool evaluationsDecideRates(const config::RunConfig& config) { return config.schedule.name == "plateau"; }

Result<ConfigChanges> configChanges(const std::string& savedYaml, const config::RunConfig& now) {
    const config::Loaded saved = config::parse(savedYaml, "/");
    if (config::hasErrors(saved.problems))
        return Error{ErrorCode::Corrupt, "The checkpoint's own configuration cannot be read: " + saved.problems.front().sentence, {}, {}};
    ConfigChanges changes;
    const bool evaluationsDecide = evaluationsDecideRates(saved.config) || evaluationsDecideRates(now);
    for (const config::Difference& difference : config::diff(saved.config, now)) {
        const std::string sentence = difference.key + " " + difference.left + " → " + difference.right;
        changes.sentences.push_back(sentence);
        if (!isHarmless(difference.key, evaluationsDecide)) changes.numeric.push_back(sentence);
    }
    return changes;
}

Result<Reconciliation> reconcile(Setup& setup, const TrainerRecord& saved, const Environment& environment, const std::string& checkpoint, bool newCurve) {
    if (saved.dataFingerprint != setup.dataFingerprint)
        return Error{ErrorCode::Data, "The training data are not those of checkpoint " + checkpoint + " (names, sizes or labels differ). Start from its weights to train on other data", "data.train", {}};
    Counters& place = setup.progress.counters;
    if (place.planEntry.value() >= setup.order.samplesPerEpoch()) {  // a shorter epoch since: the next one begins
        place.epoch = place.epoch.next();
        place.planEntry = PlanEntry(0);
    }
    LATHE_TRY_ASSIGN(const ConfigChanges changes, configChanges(saved.configYaml, setup.config));
    Reconciliation told;
    told.reasons = environmentDifferences(saved.environment, environment);
    told.reasons.insert(told.reasons.end(), changes.numeric.begin(), changes.numeric.end());
    if (told.reasons.empty() && setup.config.parallel.determinism != "exact") told.reasons.push_back("parallel.determinism is fast");
    for (const std::string& change : changes.sentences) told.settings.push_back("Changed since the checkpoint: " + change);
    told.curve = setup.curve->reconcile(setup.config, setup.plannedUpdates, place.globalStep, newCurve);
    if (newCurve && !told.curve.empty()) told.reasons.push_back("a new learning-rate curve");
    if (setup.best->dropForeign()) told.others.push_back("The best value begins anew: another metric was chosen");
    return told;
}

std::vector<rundir::ExpectedUpdate> expectedUpdates(std::vector<rundir::ExpectedUpdate> recorded, const Probe& foretold, std::int64_t attempt) {
    if (recorded.empty() && !foretold.samples.empty()) recorded.push_back({attempt, foretold.samples, foretold.loss, foretold.gradNorm});
    return recorded;
}

ResumeReport::ResumeReport(FrameWriter& frames, std::vector<rundir::ExpectedUpdate> expected, std::vector<std::string> reasons, bool replay)
    : m_frames(frames), m_expected(std::move(expected)), m_reasons(std::move(reasons)), m_replay(replay) {
    if (m_expected.empty() && m_reasons.empty()) m_reasons.push_back("nothing was kept of the updates after the checkpoint");
}

void ResumeReport::at(const HookContext& context, Wishes& wishes) {
    if (!m_done && !m_reasons.empty()) tell("not comparable", joined(m_reasons), *context.counters);
    if (!m_done && context.point == Point::Update) compare(context);
    const bool isAll = m_compared == m_expected.size() || context.point == Point::TrainEnd;
    if (!m_done && m_compared > 0 && isAll)
        tell("continues exactly", std::to_string(m_compared) + (m_compared == 1 ? " update compared" : " updates compared"), *context.counters);
    if (m_done && m_replay && !wishes.stop) wishes.stop = Ending{rundir::State::Stopped, "Replayed", false};
}

void ResumeReport::compare(const HookContext& context) {
    const rundir::ExpectedUpdate& expected = m_expected[m_compared++];
    std::string difference = "update";
    if (expected.attempt == context.counters->updateAttempts.value())
        difference = firstDifference({expected.samples, expected.loss, expected.gradNorm}, probeOf(*context.update));
    const std::int64_t update = context.counters->globalStep.value() + (context.update->applied ? 0 : 1);
    if (!difference.empty()) tell("differs", difference + ", update " + std::to_string(update), *context.counters);
}

void ResumeReport::tell(const char* outcome, const std::string& detail, const Counters& counters) {
    m_done = true;
    const std::string word(outcome);
    std::string sentence = "The run continues exactly: " + detail;
    if (word == "differs") sentence = "The run does not continue exactly, it differs at: " + detail;
    if (word == "not comparable") sentence = "Whether the run continues exactly cannot be told, not comparable: " + detail;
    log::info(sentence);
    m_frames.event("resume_report", sentence, {{"outcome", outcome}, {"detail", detail}, {"compared", m_compared}}, counters);
}

void DigestKeeper::at(const HookContext& context, Wishes&) {
    const std::int64_t attempt = context.counters->updateAttempts.value();
    if (context.point == Point::BeforeSave) m_until = attempt + kProvenUpdates;
    if (context.point == Point::Update && attempt <= m_until)
        m_frames.digest(attempt, context.update->windowDigest, context.update->loss, context.update->gradNorm);
}

}  // namespace lathe::engine
