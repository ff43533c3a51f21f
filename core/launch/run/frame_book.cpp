#include "launch/run/frame_book.h"

#include "base/lasting.h"
#include "base/log.h"
#include "base/number_text.h"
#include "launch/run/session_row.h"
#include "rundir/checkpoint_manifest.h"
#include "rundir/json_reader.h"
#include "rundir/summary_text.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <tuple>

namespace lathe::launch {

using nlohmann::json;
using rundir::JsonReader;

static constexpr std::size_t kSparklinePoints = 64, kMostSaid = 100;
static constexpr const char* kLoss = "train/loss";

FrameBook::FrameBook(store::RunWriter& writer, rundir::Summary& summary, int session)
    : m_writer(writer), m_summary(summary), m_session(session), m_activeBefore(summary.activeBefore),
      m_lastAttempt(summary.counters.updateAttempts.value()), m_lastStep(summary.counters.globalStep.value()),
      m_fromProgram(summary.task == rundir::kCommandTask || summary.task == rundir::kImportedTask) {
    if (m_summary.sparkline.size() > 1) m_stride = std::max<std::int64_t>(1, m_summary.sparkline[1].first - m_summary.sparkline[0].first);
}

bool FrameBook::isLoss(int ring, const std::string& name) { return ring == 0 && name == kLoss; }

Result<void> FrameBook::recall(const rundir::RunFolder& run) {
    const auto reader = store::RunReader::open(run.database());
    const auto recalled = reader ? recallFrom(**reader) : Result<void>(reader.error());
    if (!recalled && !isLasting(recalled.error())) return recalled;
    if (!recalled) log::warning(recalled.error().text());
    return {};
}

Result<void> FrameBook::recallFrom(const store::RunReader& reader) {
    LATHE_TRY_ASSIGN(const auto names, reader.ringNames(m_session));
    for (const store::RunReader::RingName& known : names) know(known.ring, known.id, known.name);
    if (m_fromProgram) LATHE_TRY(recallSteps(reader));
    for (std::int64_t after = 0;;) {
        LATHE_TRY_ASSIGN(const auto events, reader.events(after));
        if (events.empty()) return {};
        for (const store::EventRow& row : events)
            if (row.event.session == m_session && row.event.kind == "environment") bookEnvironment(row.event);
        after = events.back().id;
    }
}

/// Where its steps begin a program alone knows.
Result<void> FrameBook::recallSteps(const store::RunReader& reader) {
    const auto open = reader.keepOpen();
    LATHE_TRY_ASSIGN(const auto all, reader.series());
    for (const store::SeriesSummary& series : all) {
        LATHE_TRY_ASSIGN(const auto buckets, reader.overview(series.name, store::RunReader::Line::All, 1));
        for (const store::RunReader::Bucket& bucket : buckets)
            if (bucket.session == m_session) noteProgramSteps(bucket.firstStep, bucket.lastStep);
    }
    return {};
}

void FrameBook::noteProgramSteps(std::int64_t first, std::int64_t last) {
    if (!m_programSteps) m_programSteps = {first, last};
    m_programSteps->first = std::min(m_programSteps->first, first);
    m_programSteps->second = std::max(m_programSteps->second, last);
}

void FrameBook::take(int ring, const live::Frame& frame) {
    m_writer.take(ring, m_session, frame.sequence, frame.type, frame.payload);
    if (frame.type == live::FrameType::Points) {
        takePoints(ring, frame);
    } else if (frame.type == live::FrameType::Event) {
        takeEvent(ring, frame);
    } else if (frame.type == live::FrameType::Series) {
        const auto series = live::decodeSeries(frame.payload);
        if (!series) return log::warning(series.error().text());
        know(ring, series->id, series->name);
    }
}

static std::string summaryFact(int session) { return "summary/" + std::to_string(session); }

Result<void> FrameBook::flush() {
    if (m_writer.pendingBytes() > 0) m_writer.stageFact(summaryFact(m_session), rundir::summaryText(m_summary));
    return m_writer.flush();
}

Result<std::optional<rundir::Summary>> recordedSummary(const rundir::RunFolder& run, int session) {
    const auto lasting = [](const Error& error) { return error.code == ErrorCode::NotFound || error.code == ErrorCode::Corrupt; };
    const auto reader = store::RunReader::open(run.database());
    if (!reader) return lasting(reader.error()) ? Result<std::optional<rundir::Summary>>(std::nullopt) : reader.error();
    LATHE_TRY_ASSIGN(const auto text, (*reader)->fact(summaryFact(session)));
    if (!text) return std::optional<rundir::Summary>();
    LATHE_TRY_ASSIGN(rundir::Summary summary, rundir::parseSummary(*text));
    return std::optional<rundir::Summary>(std::move(summary));
}

void takeProgress(rundir::Summary& summary, rundir::Summary from) {
    summary.counters = from.counters;
    summary.plannedUpdates = from.plannedUpdates;
    summary.last = std::move(from.last);
    summary.best = std::move(from.best);
    summary.sparkline = std::move(from.sparkline);
}

void FrameBook::takePoints(int ring, const live::Frame& frame) {
    const auto points = live::decodePoints(frame.payload);
    if (!points) return log::warning(points.error().text());
    for (const auto& item : points->items) {
        const auto known = m_series.find({ring, item.series});
        if (known == m_series.end()) continue;
        Series& series = known->second;
        if (series.last == nullptr) series.last = &m_summary.last[series.name];
        *series.last = item.value;
        if (series.isLoss) addToSparkline(points->step, item.value);
        if (m_fromProgram && series.name.starts_with("eval/")) considerBest(series.name, item.value, points->step);
    }
    if (ring != 0) return;  // the supervisor's own samples do not move training on
    m_lastAttempt = std::max(m_lastAttempt, points->attempt);
    m_lastStep = std::max(m_lastStep, points->step);
    m_activeNs = std::max(m_activeNs, points->activeNs);
    if (m_fromProgram) noteProgramSteps(points->step, points->step);
    Counters& counters = m_summary.counters;
    counters.updateAttempts = UpdateAttempt(m_lastAttempt);
    counters.globalStep = GlobalStep(m_lastStep);
    if (!m_fromProgram) counters.skippedUpdates = SkippedUpdates(std::max<std::int64_t>(0, m_lastAttempt - m_lastStep));
    m_summary.activeSeconds = m_activeBefore + static_cast<double>(m_activeNs) / 1e9;
}

/// Our trainer tells its best itself; of a program it is the best accuracy, or the lowest loss where it measures none.
void FrameBook::considerBest(const std::string& series, double value, std::int64_t step) {
    const bool isAccuracy = series == "eval/accuracy";
    if (!std::isfinite(value) || (!isAccuracy && series != "eval/loss")) return;
    std::optional<rundir::BestValue>& best = m_summary.best;
    if (best && best->metric == "eval/accuracy" && !isAccuracy) return;
    const bool improves = !best || best->metric != series || (isAccuracy ? value > best->value : value < best->value);
    if (improves) best = rundir::BestValue{series, value, step, isAccuracy};
}

/// Points at multiples of the stride; whenever there are too many, every second one goes.
void FrameBook::addToSparkline(std::int64_t step, double loss) {
    auto& line = m_summary.sparkline;
    if (!std::isfinite(loss) || (!line.empty() && step < line.back().first + m_stride)) return;
    line.emplace_back(step, loss);
    if (line.size() <= kSparklinePoints) return;
    m_stride *= 2;
    std::size_t kept = 0;
    for (std::size_t i = 0; i < line.size(); i += 2) line[kept++] = line[i];
    line.resize(kept);
}

store::SessionRow FrameBook::row(const rundir::SessionRecord& record) const {
    store::SessionRow row = rowOf(record, m_lastStep);
    if (m_programSteps) std::tie(row.firstStep, row.lastStep) = *m_programSteps;
    return row;
}

const std::optional<Ended>& FrameBook::ended(int rank) const {
    static const std::optional<Ended> kNone;
    const auto found = m_ended.find(rank);
    return found == m_ended.end() ? kNone : found->second;
}

void FrameBook::takeEvent(int ring, const live::Frame& frame) {
    const auto event = live::decodeEvent(frame.payload);
    if (!event) return log::warning(event.error().text());
    static constexpr std::array<std::string_view, 14> kToSay = {"warning", "error", "rate_cut", "resume_report", "frames_lost", "stop_asked", "guard", "rolled_back",
                                                              "micro_batch_halved", "evaluation_halved", "micro_batch_limit", "hang", "hang_over", "restarted"};
    if (std::find(kToSay.begin(), kToSay.end(), event->kind) != kToSay.end()) say(event->text);
    if (event->kind == "holds") m_holds = event->text;
    else if (event->kind == "checkpoint") bookCheckpoint(*event);
    else if (event->kind == "best") bookBest(*event);
    else if (event->kind == "plan") bookPlan(*event);
    else if (event->kind == "ended") bookEnded(ring, *event);
    else if (event->kind == "save_failed") bookFailedSave(*event);
    else if (event->kind == "environment") bookEnvironment(*event);
}

void FrameBook::say(const std::string& sentence) {
    if (!sentence.empty() && m_said.size() < kMostSaid) m_said.push_back(sentence);
}

void FrameBook::bookFailedSave(const live::EventFrame& event) {
    if (m_savesFail.came(event.text, event.wallNs)) say(event.text);
    m_saveProblem = event.text;
    ++m_failedSaves;
}

void FrameBook::bookEnvironment(const live::EventFrame& event) {
    const auto facts = rundir::parseStrict(event.json, "The environment event");
    if (!facts || !facts->is_object()) return log::warning("The environment event holds no object");
    for (const auto& [name, value] : facts->items()) m_environment[name] = value.is_string() ? value.get<std::string>() : value.dump();
}

/// Reads an event's facts; what is wrong with them is logged and the event stays a mere sentence.
template <typename Read>
static void withFacts(const live::EventFrame& event, Read read) {
    const std::string what = "The " + event.kind + " event of attempt " + std::to_string(event.attempt);
    const auto object = rundir::parseStrict(event.json.empty() ? "{}" : event.json, what);
    if (!object) return log::warning(object.error().text());
    JsonReader reader(*object, what);
    read(reader);
    if (const auto fine = reader.check(); !fine) log::warning(fine.error().text());
}

/// Of what was saved; the run has gone on since.
static void adoptCounters(JsonReader& reader, rundir::Summary& summary) {
    if (!reader.has("counters")) return;
    Counters counters = rundir::readCounters(reader, "counters");
    if (!reader.check()) return;
    const Counters& now = summary.counters;
    if (counters.updateAttempts < now.updateAttempts) {
        counters.updateAttempts = now.updateAttempts;
        counters.globalStep = now.globalStep;
        counters.skippedUpdates = now.skippedUpdates;
    }
    summary.counters = counters;
}

void FrameBook::bookCheckpoint(const live::EventFrame& event) {
    withFacts(event, [&](JsonReader& reader) {
        store::CheckpointRow row;
        row.folder = reader.text("folder");
        row.session = m_session;
        row.attempt = event.attempt;
        row.step = event.step;
        row.wallNs = event.wallNs;
        row.bytes = static_cast<std::uint64_t>(std::max<std::int64_t>(0, reader.integer("bytes", 0)));
        row.isBest = reader.flag("best", false);
        row.metricsJson = json(reader.textMap("metrics")).dump(-1, ' ', false, json::error_handler_t::replace);
        if (!reader.check() || !rundir::parseCheckpointName(row.folder)) return reader.fail("folder", "is not a checkpoint's name");
        adoptCounters(reader, m_summary);
        if (const auto added = m_writer.addCheckpoint(row); !added) log::error(added.error().text());
        if (row.isBest) {
            if (const auto marked = m_writer.markBest(row.folder); !marked) log::error(marked.error().text());
        }
        m_lastCheckpoint = row.folder;
        m_saveProblem.clear();
        say(m_savesFail.over().value_or(std::string()));
        ++m_saves;
    });
}

void FrameBook::bookBest(const live::EventFrame& event) {
    withFacts(event, [&](JsonReader& reader) {
        const rundir::BestValue best{reader.text("metric"), reader.number("value", 0), reader.integer("step", event.step),
                                     reader.flag("higher_is_better", false)};
        if (reader.check()) m_summary.best = best;
    });
}

void FrameBook::bookPlan(const live::EventFrame& event) {
    withFacts(event, [&](JsonReader& reader) {
        m_summary.plannedUpdates.reset();
        if (reader.has("planned_updates")) m_summary.plannedUpdates = reader.integer("planned_updates");
    });
}

void FrameBook::bookEnded(int rank, const live::EventFrame& event) {
    auto ended = endedFrom(event);
    if (!ended) return;
    if (rank == 0) say(m_savesFail.over().value_or(std::string()));
    if (ended->counters && rank == 0) m_summary.counters = *ended->counters;
    m_ended[rank] = std::move(ended);
}

std::optional<double> FrameBook::last(const std::string& series) const {
    for (const auto& [id, known] : m_series) {
        if (known.name == series && known.last != nullptr) return *known.last;
    }
    return std::nullopt;
}

}  // namespace lathe::launch
