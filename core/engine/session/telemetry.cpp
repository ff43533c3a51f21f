#include "engine/session/telemetry.h"

#include "base/log.h"
#include "base/number_text.h"
#include "rundir/json_reader.h"

#include <nlohmann/json.hpp>

#include <cmath>

namespace lathe::engine {

using nlohmann::json;

std::map<std::string, std::string> metricTexts(const Metrics& metrics) {
    std::map<std::string, std::string> texts;
    for (const auto& [name, value] : metrics) texts["eval/" + name] = exactText(value);
    return texts;
}

Telemetry::Telemetry(FrameWriter& frames, Pulse& pulse, const ActiveTime& time, const BestValue& best, Interval logEvery, bool tellsAll)
    : m_frames(frames), m_pulse(pulse), m_time(time), m_best(best), m_logEvery(logEvery), m_tellsAll(tellsAll) {
    if (!tellsAll) return;
    m_loss = frames.series("train/loss", "");
    m_rate = frames.series("train/lr", "");
    m_norm = frames.series("train/grad_norm", "");
    m_speed = frames.series("train/samples_per_second", "samples/s");
    m_skipped = frames.series("train/skipped", "");
}

void Telemetry::at(const HookContext& context, Wishes&) {
    const Counters& counters = *context.counters;
    const live::Phase training = m_updated ? live::Phase::Training : live::Phase::FirstUpdate;
    switch (context.point) {
    case Point::WindowStart:
        if (m_pulse.currentPhase() != training) m_pulse.phase(training);
        break;
    case Point::Update: update(counters, *context.update); break;
    case Point::EvalStart:
    case Point::EvalBatch: m_pulse.phase(live::Phase::Evaluating, context.done, context.total); break;
    case Point::EvalEnd: evaluated(counters, *context.evaluation); break;
    case Point::BeforeSave: m_pulse.phase(live::Phase::Saving); break;
    case Point::AfterSave: saved(counters, *context.save); break;
    case Point::Exception: m_frames.event("warning", std::string(context.text), {}, counters); break;
    case Point::TrainEnd: m_pulse.phase(live::Phase::Finishing); break;
    case Point::TrainStart:
    case Point::MicroStep: break;
    }
}

void Telemetry::update(const Counters& counters, const UpdateResult& result) {
    m_updated = true;
    m_pulse.counters(counters);
    if (!m_tellsAll) return;
    if (!result.applied) {
        std::string text = "Update attempt " + std::to_string(counters.updateAttempts.value()) + " was skipped: " + result.reason;
        if (result.scale != 1) text += " (loss scale " + shortText(result.scale) + ")";
        log::warning(text);
        m_frames.event("skipped", text, {{"reason", result.reason}, {"scale", exactText(result.scale)}}, counters);
    }
    const bool due = !result.applied || m_logEvery.due(counters, m_time.seconds());
    if (!due) return;
    live::PointsFrame& row = m_frames.row(counters, m_time.seconds());
    row.items.push_back({m_loss, result.loss});
    row.items.push_back({m_rate, result.learningRate});
    row.items.push_back({m_norm, result.gradNorm});
    row.items.push_back({m_speed, result.seconds > 0 ? static_cast<double>(result.samples) / result.seconds : std::nan("")});
    row.items.push_back({m_skipped, static_cast<double>(counters.skippedUpdates.value())});
    if (result.scale != 1 && m_scale == 0) m_scale = m_frames.series("precision/scale", "");
    if (m_scale != 0) row.items.push_back({m_scale, result.scale});
    m_frames.points(row);
}

void Telemetry::evaluated(const Counters& counters, const EvaluationOutcome& outcome) {
    if (!m_tellsAll) return;
    for (const auto& [name, value] : outcome.metrics) m_frames.series("eval/" + name, "");
    live::PointsFrame& row = m_frames.row(counters, m_time.seconds());
    std::string sentence;
    for (const auto& [name, value] : outcome.metrics) {
        row.items.push_back({m_frames.series("eval/" + name, ""), value});
        sentence += (sentence.empty() ? "" : ", ") + name + " " + shortText(value);
    }
    m_frames.points(row);
    m_frames.event("evaluation", "Evaluation at update " + std::to_string(counters.globalStep.value()) + ": " + sentence,
                   {{"metrics", metricTexts(outcome.metrics)}, {"best", outcome.isBest}, {"seconds", outcome.seconds},
                    {"samples", outcome.samples}, {"counters", rundir::countersJson(counters)}}, counters);
    if (outcome.isBest) tellBest(m_frames, m_best, counters);
    if (!outcome.rateCut.empty()) m_frames.event("rate_cut", outcome.rateCut, {}, counters);
}

void tellBest(FrameWriter& frames, const BestValue& best, const Counters& counters) {
    frames.event("best", "Best " + best.metric() + " so far: " + shortText(*best.value()),
                 {{"metric", "eval/" + best.metric()}, {"value", exactText(*best.value())}, {"higher_is_better", best.higherIsBetter()},
                  {"step", best.step().value()}}, counters);
}

void Telemetry::saved(const Counters& counters, const SaveOutcome& outcome) {
    if (!m_tellsAll) return;
    if (!outcome.error.empty())
        return m_frames.event("save_failed", outcome.error + ". Training goes on", {{"error", outcome.error}}, counters);
    m_frames.event("checkpoint", "Saved checkpoint " + outcome.folder + " (" + diskText(outcome.bytes) + ")",
                   {{"folder", outcome.folder}, {"bytes", outcome.bytes}, {"linked_bytes", outcome.linkedBytes}, {"seconds", outcome.seconds},
                    {"reason", outcome.reason}, {"metrics", metricTexts(outcome.metrics)}, {"best", outcome.isBest},
                    {"counters", rundir::countersJson(counters)}}, counters);
}

}  // namespace lathe::engine
