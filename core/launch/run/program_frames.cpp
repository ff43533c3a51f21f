#include "launch/run/program_frames.h"

#include "base/bytes.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/number_text.h"
#include "config/utf8.h"
#include "rundir/json_reader.h"
#include "store/record_content.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <random>

namespace lathe::launch {

using live::FrameType;
using live::ProducerMessage;
using nlohmann::json;

static constexpr std::size_t kMostSentence = 4096;
static constexpr std::size_t kMostSeries = std::numeric_limits<std::uint16_t>::max();
static constexpr std::size_t kMostRows = 4096;    ///< of one message: how often it may name a series
static constexpr std::size_t kMostCauses = 100;   ///< that are told one by one
static constexpr std::size_t kFrameBytes = 16;    ///< of a frame beside its payload

std::string newProgramToken() {
    std::random_device random;
    std::string token;
    for (int i = 0; i < 4; ++i) {
        static constexpr std::string_view kDigits = "0123456789abcdef";
        for (std::uint32_t bits = random(), digit = 0; digit < 8; ++digit, bits >>= 4) token += kDigits[bits & 15];
    }
    return token;
}

/// Text from outside, fit to be shown and to be written as JSON.
static std::string cleaned(std::string text, std::size_t most) {
    if (text.size() <= most) return config::repairedUtf8(std::move(text));
    text.resize(most);
    const std::size_t bad = config::firstBadUtf8(text);
    if (bad != std::string_view::npos && most - bad < 4) text.resize(bad);  // a character that was cut through
    return config::repairedUtf8(std::move(text));
}

static Error malformed(const char* what) { return {ErrorCode::Corrupt, std::string("A message (") + what + ") has a wrong length", {}, {}}; }

ProgramFrames::ProgramFrames(rundir::RunFolder run, live::Segment& segment, int ring, int session, std::string token)
    : m_run(std::move(run)), m_segment(segment), m_ring(ring), m_session(session), m_token(std::move(token)),
      m_startMonotonicNs(Clock::system().monotonicNs()), m_startWallNs(Clock::system().wallNs()) {}

ProgramFrames::~ProgramFrames() = default;

Result<std::unique_ptr<ProgramFrames>> ProgramFrames::listen(const rundir::RunFolder& run, const rundir::Summary& summary, live::Segment& segment, int ring,
                                                             int session, std::string token) {
    std::unique_ptr<ProgramFrames> frames(new ProgramFrames(run, segment, ring, session, std::move(token)));
    frames->m_runId = summary.id;
    const auto take = [self = frames.get()](const live::Producer& from, std::uint16_t type, std::span<const std::byte> body) { return self->take(from, type, body); };
    LATHE_TRY_ASSIGN(frames->m_server, live::ProducerServer::listen(run.producerSocket(), {frames->m_token, summary.id, summary.name}, take));
    return frames;
}

std::vector<std::pair<std::string, std::string>> ProgramFrames::environment() const {
    return {{"LATHE_SOCKET", rundir::RunFolder(m_run.place()).producerSocket().string()}, {"LATHE_TOKEN", m_token}, {"LATHE_RUN", m_runId}};
}

Result<std::size_t> ProgramFrames::take(const live::Producer& from, std::uint16_t type, std::span<const std::byte> body) {
    const std::size_t before = m_written;
    if (type < live::kFirstProducerMessage) LATHE_TRY(takeFrame(from, static_cast<FrameType>(type), body));
    else LATHE_TRY(takeMessage(from, static_cast<ProducerMessage>(type), body));
    return m_written - before;
}

/// Types that are not known are those of a newer client, which knows that older supervisors leave them out.
Result<void> ProgramFrames::takeFrame(const live::Producer& from, FrameType type, std::span<const std::byte> body) {
    if (type == FrameType::Series) return takeSeries(from, body);
    if (type == FrameType::Points) return takePoints(from, body);
    if (type == FrameType::Event) return takeEvent(body);
    return live::isRecord(type) ? takeRecord(type, body) : Result<void>();
}

Result<void> ProgramFrames::takeMessage(const live::Producer& from, ProducerMessage type, std::span<const std::byte> body) {
    switch (type) {
        case ProducerMessage::Hello: takeHello(from); return {};
        case ProducerMessage::Total: return takeTotal(body);
        case ProducerMessage::Goodbye: return takeGoodbye(from, body);
        case ProducerMessage::Listens: return takeListens(from, body);
        case ProducerMessage::Saved: {
            ByteReader in(body);
            const auto number = in.get<std::int64_t>();
            if (!in.finished()) return malformed("saved");
            m_saved = std::max(m_saved, number);
            m_flushDue = true;  // who asked looks for the checkpoint next
            return {};
        }
        default: return {};
    }
}

void ProgramFrames::takeHello(const live::Producer& from) {
    if (m_senders.empty()) m_first = from.id;
    if (!m_senders.try_emplace(from.id, Sender{&from, {}, 0, false}).second) return;  // has connected again
    const std::string program = cleaned(from.program, 200);
    tell("program", (program.empty() ? "A program" : program) + " logs to this run", json{{"program", program}}.dump(), m_step, Clock::system().wallNs());
}

Result<void> ProgramFrames::takeListens(const live::Producer& from, std::span<const std::byte> body) {
    ByteReader in(body);
    m_senders.at(from.id).heeds |= in.get<std::uint8_t>();
    return in.finished() ? Result<void>() : malformed("listens");
}

bool ProgramFrames::listensFor(unsigned wish) const {
    return std::any_of(m_senders.begin(), m_senders.end(), [wish](const auto& one) { return one.second.from->connections > 0 && (one.second.heeds & wish) != 0; });
}

void ProgramFrames::acknowledge(std::uint64_t recordedSequence) {
    if (recordedSequence < m_segment.lastSequence(m_ring)) return;  // some of it lies in the ring still
    m_server->acknowledge();
    m_flushDue = false;
}

/// Something is not kept as it came: told once for each cause, and at the end how often it was.
void ProgramFrames::replace(const std::string& cause, std::int64_t step, std::int64_t wallNs) {
    static const std::string kOthers = "More is left out or replaced, for too many reasons to tell them one by one";
    const std::string& known = m_notKept.contains(cause) || m_notKept.size() < kMostCauses ? cause : kOthers;
    if (++m_notKept[known] == 1) tell("warning", known, {}, step, wallNs);
}

void ProgramFrames::tellMissing(const live::Producer& from) {
    if (from.missing == 0) return;
    tell("warning", cleaned(from.program, 200) + " had to drop " + std::to_string(from.missing) + " of its messages", {}, m_step, Clock::system().wallNs());
}

void ProgramFrames::tellTheRest() {
    for (const auto& [id, sender] : m_senders)
        if (!sender.hasLeft) tellMissing(*sender.from);
    for (const auto& [cause, times] : m_notKept)
        if (times > 1) tell("warning", std::to_string(times) + " times in all: " + cause, {}, m_step, Clock::system().wallNs());
    m_notKept.clear();
}

/// The series of a standard name, declared where it is new; nothing where the run is full.
std::optional<std::uint16_t> ProgramFrames::declare(const std::string& name, const std::string& unit) {
    const auto known = m_series.find(name);
    if (known != m_series.end()) return known->second;
    if (m_series.size() >= kMostSeries) return std::nullopt;
    const auto id = static_cast<std::uint16_t>(m_series.size());
    m_series.emplace(name, id);
    live::encode(live::SeriesFrame{id, name, unit}, m_payload);
    write(FrameType::Series);
    return id;
}

Result<void> ProgramFrames::takeSeries(const live::Producer& from, std::span<const std::byte> body) {
    const auto frame = live::decodeSeries(body);
    if (!frame) return malformed("series");
    if (m_series.size() >= kMostSeries && m_names.find(frame->name) == nullptr) return {};  // told with its first value
    const std::string& given = m_names.of(frame->name);
    const std::string clean = config::cleanSeriesName(frame->name);
    if (given != clean && given != config::standardSeriesName(clean) && !m_series.contains(given))
        tell("note", "The series \"" + clean + "\" is shown as \"" + given + "\": another one of this run means the same and has its name", {}, m_step, Clock::system().wallNs());
    if (const auto id = declare(given, cleaned(frame->unit, 40))) m_senders.at(from.id).names[frame->id] = *id;
    return {};
}

/// Where the declaration was among what the program had to drop, the value is kept under a name that says so.
std::optional<std::uint16_t> ProgramFrames::seriesOf(const Sender& sender, std::uint16_t id) {
    const auto known = sender.names.find(id);
    if (known != sender.names.end()) return known->second;
    const std::string unnamed = "unnamed/" + std::to_string(id);
    return m_series.size() < kMostSeries || m_names.find(unnamed) != nullptr ? declare(m_names.of(unnamed), {}) : std::nullopt;
}

std::int64_t ProgramFrames::activeAt(std::int64_t wallNs) const {
    const std::int64_t most = Clock::system().monotonicNs() - m_startMonotonicNs;
    return wallNs <= m_startWallNs ? 0 : std::min(wallNs - m_startWallNs, most);
}

Result<void> ProgramFrames::takePoints(const live::Producer& from, std::span<const std::byte> body) {
    ByteReader in(body);
    live::PointsFrame points;
    points.session = m_session;
    points.step = in.get<std::int64_t>();
    points.wallNs = std::max<std::int64_t>(0, in.get<std::int64_t>());
    points.activeNs = activeAt(points.wallNs);
    const std::size_t count = in.get<std::uint16_t>();
    if (!in.ok() || in.left() != count * (sizeof(std::uint16_t) + sizeof(double))) return malformed("points");
    points.items.reserve(count);
    const Sender& sender = m_senders.at(from.id);
    std::size_t rows = 1;
    for (std::size_t i = 0; i < count; ++i) {
        const auto id = in.get<std::uint16_t>();
        const auto value = in.get<double>();
        const auto series = seriesOf(sender, id);
        if (!series) {
            replace("Values are left out: a run has at most " + std::to_string(kMostSeries) + " series", points.step, points.wallNs);
            continue;
        }
        if (m_inRow.size() <= *series) m_inRow.resize(std::size_t{*series} + 1);
        if (m_inRow[*series] && rows == kMostRows) {
            replace("Values are left out: a message names a series more than " + std::to_string(kMostRows) + " times", points.step, points.wallNs);
            continue;
        }
        if (m_inRow[*series]) {  // named twice: a row has one value of a series
            writePoints(points);
            ++rows;
        }
        m_inRow[*series] = true;
        points.items.push_back({*series, value});
    }
    if (count == 0 || !points.items.empty()) writePoints(points);
    return {};
}

/// As the row that comes next; `points` is empty then.
void ProgramFrames::writePoints(live::PointsFrame& points) {
    points.attempt = ++m_attempt;
    m_step = std::max(m_step, points.step);
    live::encode(points, m_payload);
    write(FrameType::Points);
    for (const auto& item : points.items) m_inRow[item.series] = false;
    points.items.clear();
}

/// Kinds that make the supervisor act ("ended", "checkpoint", "plan" …) are not a program's to send.
Result<void> ProgramFrames::takeEvent(std::span<const std::byte> body) {
    ByteReader in(body);
    const auto step = in.get<std::int64_t>();
    const auto wallNs = in.get<std::int64_t>();
    const std::string kind = in.getText(), text = in.getText(), facts = in.getText();
    if (!in.finished()) return malformed("event");
    static constexpr std::array<std::string_view, 3> kKinds = {"note", "warning", "error"};
    const bool known = std::find(kKinds.begin(), kKinds.end(), kind) != kKinds.end();
    const bool usable = facts.size() <= live::kMostInlineBytes && rundir::parseStrict(facts, "event");
    std::string sentence = cleaned(text, kMostSentence);
    if (text.size() > kMostSentence) sentence += " … (cut, it has " + std::to_string(text.size()) + " bytes)";
    tell(known ? kind : "note", sentence, usable ? facts : std::string(), step, wallNs);
    if (text.size() > kMostSentence) replace("A note is cut to " + std::to_string(kMostSentence) + " bytes; longer texts can be logged as text", step, wallNs);
    return {};
}

static std::string whatOf(const live::RecordFrame& record) { return std::string(live::recordWord(record.type)) + " \"" + record.name + "\""; }

static Result<void> checkHistogram(const std::string& content) {
    LATHE_TRY_ASSIGN(const auto histogram, store::parseHistogram(content));
    const bool counted = std::all_of(histogram.counts.begin(), histogram.counts.end(), [](double count) { return std::isfinite(count) && count >= 0; });
    return counted ? Result<void>() : Error{ErrorCode::Corrupt, "A count of the histogram is negative or not finite", {}, {}};
}

/// The media type goes by what the file is.
static Result<void> settleImage(live::RecordFrame& record) {
    if (record.content.starts_with("\x89PNG\r\n\x1a\n")) record.form = "image/png";
    else if (record.content.starts_with("\xff\xd8\xff")) record.form = "image/jpeg";
    else return Error{ErrorCode::Corrupt, "It is neither a PNG nor a JPEG file", {}, {}};
    return {};
}

/// Metrics get the names that their curves have.
static Result<void> settleCheckpoint(live::RecordFrame& record) {
    LATHE_TRY_ASSIGN(const auto checkpoint, store::parseOwnCheckpoint(record.content));
    json facts = {{"path", checkpoint.path}, {"bytes", checkpoint.bytes}, {"metrics", json::object()}};
    for (const auto& [name, value] : checkpoint.metrics) facts["metrics"][config::standardSeriesName(config::cleanSeriesName(name))] = value;
    record.content = facts.dump();
    return {};
}

/// Whether the content is what its type says.
static Result<void> settleContent(live::RecordFrame& record) {
    switch (record.type) {
        case FrameType::Histogram: return checkHistogram(record.content);
        case FrameType::Image: return settleImage(record);
        case FrameType::Table: {
            const auto table = store::parseTable(record.content);
            return table ? Result<void>() : table.error();
        }
        case FrameType::OwnCheckpoint: return settleCheckpoint(record);
        default: break;
    }
    if (!live::recordKind(record.type)->isJson) return {};
    const auto value = rundir::parseStrict(record.content, "The " + whatOf(record));
    return value ? Result<void>() : value.error();
}

Result<void> ProgramFrames::takeRecord(FrameType type, std::span<const std::byte> body) {
    ByteReader in(body);
    live::RecordFrame record;
    record.type = type;
    record.session = m_session;
    record.attempt = m_attempt;
    record.step = in.get<std::int64_t>();
    record.wallNs = in.get<std::int64_t>();
    record.name = config::cleanSeriesName(in.getText());
    record.form = cleaned(in.getText(), 100);
    record.content = in.getText();
    if (!in.finished()) return malformed("record");
    const bool isText = type == FrameType::Text || live::recordKind(type)->isJson;
    if (isText && config::firstBadUtf8(record.content) != std::string_view::npos) {
        record.content = config::repairedUtf8(std::move(record.content));
        replace("Bytes of the " + whatOf(record) + " that are not UTF-8 are shown as \"?\"", record.step, record.wallNs);
    }
    auto kept = settleContent(record);
    if (kept) kept = store::putAside(m_run, record);
    if (kept) {
        live::encode(record, m_payload);
        write(type);
    } else {
        replace("The " + whatOf(record) + " is left out: " + kept.error().text(), record.step, record.wallNs);
    }
    return {};
}

Result<void> ProgramFrames::takeTotal(std::span<const std::byte> body) {
    ByteReader in(body);
    const auto total = in.get<std::int64_t>();
    if (!in.finished()) return malformed("total");
    json facts = json::object();
    if (total > 0) facts["planned_updates"] = total;
    tell("plan", total > 0 ? std::to_string(total) + " steps are planned" : "Nobody knows how many steps there will be", facts.dump(), m_step, Clock::system().wallNs());
    return {};
}

Result<void> ProgramFrames::takeGoodbye(const live::Producer& from, std::span<const std::byte> body) {
    ByteReader in(body);
    const auto how = in.get<std::uint8_t>();
    std::string why = cleaned(in.getText(), kMostSentence);
    if (!in.finished() || how > static_cast<std::uint8_t>(Goodbye::How::Stopped)) return malformed("goodbye");
    tellMissing(from);
    m_senders.at(from.id).hasLeft = m_flushDue = true;
    if (m_firstHasLeft) return {};
    m_firstHasLeft = from.id == m_first;
    m_goodbye = Goodbye{static_cast<Goodbye::How>(how), std::move(why)};
    return {};
}

void ProgramFrames::tell(const std::string& kind, const std::string& text, const std::string& facts, std::int64_t step, std::int64_t wallNs) {
    live::encode(live::EventFrame{m_session, m_attempt, step, wallNs, kind, text, facts}, m_payload);
    write(FrameType::Event);
}

void ProgramFrames::write(FrameType type) {
    m_written += kFrameBytes + m_payload.size();
    if (const auto written = m_segment.write(m_ring, type, m_payload); !written) log::warning(written.error().text());
}

}  // namespace lathe::launch
