#include "engine/session/telemetry.h"

#include "base/log.h"
#include "base/number_text.h"
#include "engine/train/distribution.h"
#include "rundir/json_reader.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <utility>

namespace lathe::engine {

using nlohmann::json;

std::map<std::string, std::string> metricTexts(const Metrics& metrics) {
    std::map<std::string, std::string> texts;
    for (const auto& [name, value] : metrics) texts["eval/" + name] = exactText(value);
    return texts;
}

/// As live/FORMAT.md has it: number of bins, edges, counts.
static std::string contentOf(const Histogram& histogram) {
    const auto bins = static_cast<std::uint32_t>(histogram.counts.size());
    std::string content(reinterpret_cast<const char*>(&bins), sizeof bins);
    for (const std::vector<double>* values : {&histogram.edges, &histogram.counts})
        content.append(reinterpret_cast<const char*>(values->data()), values->size() * sizeof(double));
    return content;
}

json groupsJson(const std::vector<plan::ParamGroup>& groups) {
    json list = json::array();
    for (const plan::ParamGroup& group : groups)
        list.push_back({{"name", group.name}, {"tensors", group.tensors}, {"parameters", group.elements}, {"lr_factor", group.rateFactor},
                        {"weight_decay", group.weightDecay}, {"frozen", group.frozen}, {"text", plan::groupText(group)}});
    return list;
}

Telemetry::Telemetry(FrameWriter& frames, Pulse& pulse, const ActiveTime& time, const BestValue& best, Interval logEvery, bool tellsAll,
                     const std::vector<plan::ParamGroup>& groups)
    : m_frames(frames), m_pulse(pulse), m_time(time), m_best(best), m_logEvery(logEvery), m_tellsAll(tellsAll) {
    if (!tellsAll) return;
    m_loss = frames.series("train/loss", "");
    m_rate = frames.series("train/lr", "");
    m_norm = frames.series("train/grad_norm", "");
    m_speed = frames.series("train/samples_per_second", "samples/s");
    m_skipped = frames.series("train/skipped", "");
    for (const plan::ParamGroup& group : groups) m_groupNames.push_back(group.name);
    std::set<double> factors{1};
    for (const plan::ParamGroup& group : groups)
        if (!group.frozen && factors.insert(group.rateFactor).second)
            m_groupRates.emplace_back(frames.series("train/lr/" + group.name, ""), group.rateFactor);
}

void Telemetry::at(const HookContext& context, Wishes&) {
    const Counters& counters = m_counters = *context.counters;
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
    case Point::AfterSave: saved(*context.save); break;
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
    if (result.finding) found(counters, *result.finding);
    if (result.distributions) tellDistributions(counters, *result.distributions);
    const bool due = !result.applied || result.shown || m_logEvery.due(counters, m_time.seconds());
    if (!due) return;
    live::PointsFrame& row = m_frames.row(counters, m_time.seconds());
    row.items.push_back({m_loss, result.loss});
    row.items.push_back({m_rate, result.learningRate});
    for (const auto& [series, factor] : m_groupRates) row.items.push_back({series, result.learningRate * factor});
    row.items.push_back({m_norm, result.gradNorm});
    row.items.push_back({m_speed, result.seconds > 0 ? static_cast<double>(result.samples) / result.seconds : std::nan("")});
    if (counters.tokens.value() > 0) {
        if (m_tokenSpeed == 0) m_tokenSpeed = m_frames.series("train/tokens_per_second", "tokens/s");
        row.items.push_back({m_tokenSpeed, result.seconds > 0 ? result.weight / result.seconds : std::nan("")});
    }
    row.items.push_back({m_skipped, static_cast<double>(counters.skippedUpdates.value())});
    if (result.scale != 1 && m_scale == 0) m_scale = m_frames.series("precision/scale", "");
    if (m_scale != 0) row.items.push_back({m_scale, result.scale});
    m_frames.points(row);
}

void Telemetry::tellDistributions(const Counters& counters, const Distributions& seen) {
    if (!seen.groupNorms.empty()) {
        std::vector<std::uint16_t> ids;   // declared before the row that has them
        for (std::size_t i = 0; i < seen.groupNorms.size(); ++i)
            ids.push_back(m_frames.series("train/grad_norm/" + (i < m_groupNames.size() ? m_groupNames[i] : std::string("all parameters")), ""));
        live::PointsFrame& row = m_frames.row(counters, m_time.seconds());
        for (std::size_t i = 0; i < ids.size(); ++i) row.items.push_back({ids[i], seen.groupNorms[i]});
        m_frames.points(row);
    }
    for (const Histogram& histogram : seen.histograms) m_frames.record(live::FrameType::Histogram, histogram.name, contentOf(histogram), counters);
}

void Telemetry::found(const Counters& counters, const GuardFinding& finding) {
    constexpr std::size_t kMostSamples = 1000;
    json values = json::object();
    for (const auto& [name, value] : finding.values) values[name] = exactText(value);
    const std::vector<std::int64_t> samples(finding.samples.begin(), finding.samples.begin() + static_cast<std::ptrdiff_t>(std::min(kMostSamples, finding.samples.size())));
    static const std::map<std::string, std::string> kDone = {{"skip", "left out"}, {"pause", "left out, and the run pauses"},
                                                              {"roll_back", "left out, and the run goes back"}, {"stop", "left out, and the run stops"}};
    m_frames.event("guard", "Guard, " + finding.trigger + ": update attempt " + std::to_string(counters.updateAttempts.value()) + " is " +
                   kDone.at(finding.action) + ", since " + finding.reason,
                   {{"trigger", finding.trigger}, {"action", finding.action}, {"values", values}, {"samples", samples},
                    {"sample_count", finding.samples.size()}, {"counters", rundir::countersJson(counters)}}, counters);
}

/// A series of a hook has one value at an attempt, and is none of ours: those stand under these names.
void Telemetry::value(std::string_view series, double value) {
    static constexpr std::array<std::string_view, 4> kOurs = {"train/", "eval/", "precision/", "device/"};
    const bool isOurs = std::any_of(kOurs.begin(), kOurs.end(), [&](std::string_view folder) { return series.starts_with(folder); });
    if (!m_tellsAll || isOurs || series.empty() || series.size() > 200) return;
    const std::int64_t attempt = m_counters.updateAttempts.value();
    const auto [newest, isNew] = m_hookSeries.try_emplace(std::string(series), attempt);
    if (!isNew && newest->second >= attempt) return;
    newest->second = attempt;
    const std::uint16_t id = m_frames.series(newest->first, "");
    live::PointsFrame& row = m_frames.row(m_counters, m_time.seconds());
    row.items.push_back({id, value});
    m_frames.points(row);
}

/// Kinds that other programs act on or take as the trainer's word are ours alone.
void Telemetry::event(std::string_view kind, std::string_view text, std::string_view facts) {
    static constexpr std::array<std::string_view, 15> kOurs = {"ended", "checkpoint", "best", "plan", "environment", "program", "holds", "evaluation", "save_failed",
                                                               "resume_report", "guard", "skipped", "rate_cut", "paused", "resumed"};
    if (!m_tellsAll) return;
    const bool isOurs = std::find(kOurs.begin(), kOurs.end(), kind) != kOurs.end();
    const json object = facts.empty() ? json() : json::parse(facts, nullptr, false);
    m_frames.event(isOurs || kind.empty() ? "note" : std::string(kind), std::string(text), object.is_object() ? object : json(), m_counters);
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
    for (const EvaluationRecord& record : outcome.records)
        m_frames.record(record.kind == EvaluationRecord::Kind::Table ? live::FrameType::Table : live::FrameType::Text, record.name, record.content, counters);
    if (outcome.isBest) tellBest(m_frames, m_best, counters);
    if (isUndefined(outcome.metrics, m_best.metric()) && !std::exchange(m_toldUndefined, true))
        m_frames.event("warning", m_best.metric() + " is not defined for these evaluation data (one class alone, say): by it no evaluation is best, better or worse. "
                       "Choose another evaluation.best_metric", {}, counters);
    if (!outcome.rateCut.empty()) m_frames.event("rate_cut", outcome.rateCut, {}, counters);
}

void tellBest(FrameWriter& frames, const BestValue& best, const Counters& counters) {
    frames.event("best", "Best " + best.metric() + " so far: " + shortText(*best.value()),
                 {{"metric", "eval/" + best.metric()}, {"value", exactText(*best.value())}, {"higher_is_better", best.higherIsBetter()},
                  {"step", best.step().value()}}, counters);
}

/// Of the update that was saved, although training has gone on since. Before an evaluation the state is made safe; the same
/// checkpoint gets what that found afterwards, which is no other one.
void Telemetry::saved(const SaveOutcome& outcome) {
    if (!m_tellsAll) return;
    if (!outcome.error.empty())
        return m_frames.event("save_failed", outcome.error + ". Training is not affected", {{"error", outcome.error}}, m_counters);
    const bool isCompleted = std::exchange(m_saved, outcome.folder) == outcome.folder && !outcome.metrics.empty() && outcome.reason != "asked";
    m_frames.event("checkpoint", isCompleted ? "Its evaluation was added to checkpoint " + outcome.folder : "Saved checkpoint " + outcome.folder + " (" + diskText(outcome.bytes) + ")",
                   {{"folder", outcome.folder}, {"bytes", outcome.bytes}, {"linked_bytes", outcome.linkedBytes}, {"seconds", outcome.seconds},
                    {"stall_seconds", outcome.stallSeconds}, {"reason", outcome.reason}, {"metrics", metricTexts(outcome.metrics)}, {"best", outcome.isBest},
                    {"counters", rundir::countersJson(outcome.counters)}}, outcome.counters);
}

}  // namespace lathe::engine
