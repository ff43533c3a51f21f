#include "launch/import_recorder.h"

#include "base/clock.h"
#include "base/file_system.h"
#include "base/log.h"
#include "launch/identity.h"
#include "launch/session_row.h"
#include "rundir/json_reader.h"
#include "store/history.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <unistd.h>
#include <utility>

namespace lathe::launch {

using nlohmann::json;
using rundir::State;

static constexpr const char* kStateFact = "import";
static constexpr std::int64_t kMostOpenRows = 4'000'000;   // some 200 MB of rows that wait for a whole chunk
static constexpr std::size_t kRingBytes = 1u << 20;
static constexpr std::int64_t kSummaryEvery = 1'000'000'000;
static FileSystem& disk() { return FileSystem::real(); }
static std::int64_t now() { return Clock::system().monotonicNs(); }

Result<std::unique_ptr<ImportRecorder>> ImportRecorder::open(const rundir::RunFolder& run) {
    auto recorder = std::unique_ptr<ImportRecorder>(new ImportRecorder(run));
    LATHE_TRY_ASSIGN(recorder->m_summary, rundir::readSummaryOrMake(run));
    const int newest = rundir::newestSession(run);
    if (newest == 0) return recorder;
    LATHE_TRY_ASSIGN(recorder->m_record, rundir::readSession(run, newest));
    LATHE_TRY_ASSIGN(const auto reader, store::RunReader::open(run.database()));
    LATHE_TRY_ASSIGN(recorder->m_state, reader->fact(kStateFact));
    LATHE_TRY_ASSIGN(const auto sessions, reader->sessions());
    for (const store::SessionRow& row : sessions)
        if (row.number == newest) recorder->m_firstStep = row.firstStep;
    return recorder;
}

ImportRecorder::~ImportRecorder() = default;

std::string ImportRecorder::token() const { return m_summary.id + "-" + std::to_string(m_record.number); }

static store::SessionRow importedRow(const rundir::SessionRecord& record, std::int64_t firstStep, std::int64_t lastStep) {
    store::SessionRow row = rowOf(record, lastStep);
    row.firstStep = firstStep;
    return row;
}

/// The record is the plan again, the database ready, the summary that of a run at work.
Result<void> ImportRecorder::openBook() {
    if (!m_writer) {
        LATHE_TRY_ASSIGN(m_writer, store::RunWriter::open(m_run.database()));
    }
    LATHE_TRY(rundir::writeSession(disk(), m_run, m_record));
    LATHE_TRY(m_writer->beginSession(importedRow(m_record, m_firstStep, m_firstStep)));
    m_summary.sessions = m_record.number;
    m_summary.startedNs = m_record.startedNs;
    m_summary.endedNs = 0;
    m_summary.why.clear();
    m_summary.state = State::Starting;
    m_book = std::make_unique<FrameBook>(*m_writer, m_summary, m_record.number);
    m_openRows = 0;
    writeSummary();
    return {};
}

Result<void> ImportRecorder::begin(std::int64_t keeps, std::int64_t step, std::int64_t startedNs, const std::string& whyBeforeEnded) {
    const bool wasLive = isLive();
    const bool isFirst = m_record.number == 0;
    if (!isFirst) {
        m_record.endedNs = startedNs;
        LATHE_TRY(closeSession(State::Interrupted, whyBeforeEnded));
    }
    const int number = m_record.number;
    m_record = {};
    m_record.number = number + 1;
    m_record.verb = isFirst ? "start" : "continue";
    m_record.startedNs = startedNs;
    m_firstStep = step;
    m_summary.activeBefore = m_summary.activeSeconds;
    if (!isFirst) {
        m_record.parentSession = number;
        m_record.parentAttempt = keeps;
        const std::int64_t reached = std::max<std::int64_t>(0, std::min(keeps, m_summary.counters.globalStep.value()));
        m_summary.counters.globalStep = GlobalStep(reached);
        m_summary.counters.updateAttempts = UpdateAttempt(reached);
        std::erase_if(m_summary.sparkline, [&](const auto& point) { return point.first > keeps; });
    }
    LATHE_TRY(openBook());
    return wasLive ? goLive() : Result<void>();
}

Result<void> ImportRecorder::takeUp() {
    LATHE_ASSERT(m_record.number > 0);
    m_record.state.reset();
    m_record.endedNs = 0;
    m_record.why.clear();
    m_record.exitCode.reset();
    m_summary.activeSeconds = m_summary.activeBefore;
    return openBook();
}

Result<void> ImportRecorder::goLive() {
    live::Segment::Shape shape;
    shape.ringBytes = kRingBytes;
    const std::uint64_t last = m_writer->recordedSequence(0, m_record.number);
    shape.lastSequence = std::max(last, m_sequences[m_record.number]);
    LATHE_TRY_ASSIGN(m_segment, live::Segment::create(shape, token()));
    m_control = {};
    m_control.recordedSeq = {last, m_writer->recordedSequence(1, m_record.number)};
    m_segment->setControl(m_control);
    LATHE_TRY_ASSIGN(const int readOnly, m_segment->readOnlyFd());
    LATHE_TRY_ASSIGN(m_server, live::ControlServer::listen(m_run.socket(), readOnly, [this](const live::Request& request) { return answer(request); }));
    const auto self = identityOf(::getpid(), token());
    if (!self) return Error{ErrorCode::Io, "Cannot read /proc/" + std::to_string(::getpid()) + "/stat", {}, {}};
    LATHE_TRY(rundir::writeLive(disk(), m_run, {*self, {}, m_record.number, m_record.startedNs}));
    m_summary.state = State::Running;
    serve();
    writeSummary();
    return {};
}

void ImportRecorder::leaveLive() {
    if (m_server == nullptr) return;
    m_server.reset();
    m_segment.reset();
    if (const auto removed = rundir::removeLive(disk(), m_run); !removed) log::error(removed.error().text());
}

// ---- what comes in

void ImportRecorder::put(int session, live::FrameType type) {
    auto [known, isNew] = m_sequences.try_emplace(session, 0);
    if (isNew) known->second = m_writer->recordedSequence(0, session);
    m_frame.type = type;
    m_frame.sequence = ++known->second;
    if (session != m_record.number) return m_writer->take(0, session, m_frame.sequence, type, m_frame.payload);
    if (m_segment) {
        if (const auto written = m_segment->write(0, type, m_frame.payload); !written) log::warning(written.error().text());
    }
    m_book->take(0, m_frame);
}

void ImportRecorder::point(int session, std::uint16_t series, const std::string& name, std::int64_t attempt, std::int64_t step, std::int64_t wallNs,
                           double value) {
    std::vector<bool>& declared = m_declared[session];
    if (declared.size() <= series) declared.resize(std::size_t{series} + 1);
    if (!declared[series]) {
        declared[series] = true;
        live::encode(live::SeriesFrame{series, name, {}}, m_frame.payload);
        put(session, live::FrameType::Series);
    }
    m_row.session = session;
    m_row.attempt = attempt;
    m_row.step = step;
    m_row.activeNs = std::max<std::int64_t>(0, wallNs - m_record.startedNs);
    m_row.wallNs = wallNs;
    m_row.items.assign(1, {series, value});
    live::encode(m_row, m_frame.payload);
    put(session, live::FrameType::Points);
    ++m_points;
    ++m_openRows;
}

void ImportRecorder::event(std::int64_t step, std::int64_t wallNs, const std::string& kind, const std::string& text, const std::string& json) {
    live::encode(live::EventFrame{m_record.number, step, step, wallNs, kind, text, json}, m_frame.payload);
    put(m_record.number, live::FrameType::Event);
}

void ImportRecorder::text(std::int64_t step, std::int64_t wallNs, const std::string& name, const std::string& content) {
    live::encode(live::RecordFrame{live::FrameType::Text, m_record.number, step, step, wallNs, name, {}, content, {}}, m_frame.payload);
    put(m_record.number, live::FrameType::Text);
}

Result<void> ImportRecorder::flush(const std::string& state) {
    if (m_openRows > kMostOpenRows) {
        m_writer->closeRows();
        m_openRows = 0;
    }
    m_writer->stageFact(kStateFact, state);
    LATHE_TRY(m_writer->flush());
    m_state = state;
    if (!m_segment) return {};
    m_control.recordedSeq[0] = m_writer->recordedSequence(0, m_record.number);
    m_segment->setControl(m_control);
    m_segment->setRecorderBytes(0, m_segment->writtenBytes(0));
    return {};
}

// ---- what others see

live::Reply ImportRecorder::answer(const live::Request& request) {
    switch (request.verb) {
        case live::Verb::Attach: return {};
        case live::Verb::Status: {
            const json status = {{"state", rundir::name(m_summary.state)}, {"phase", live::name(live::Phase::Training)}, {"done", 0}, {"total", 0},
                                 {"session", m_record.number}, {"counters", rundir::countersJson(m_summary.counters)}, {"silent_seconds", 0.0}};
            return {0, true, {}, status.dump()};
        }
        case live::Verb::StopAndSave:
        case live::Verb::Discard:
            m_stopAsked = true;
            return {0, true, "Stops following; the program that writes these files goes on", {}};
        case live::Verb::SaveNow:
        case live::Verb::Pause:
        case live::Verb::Unpause:
        case live::Verb::Pin: break;
    }
    return {0, false, "This run is imported: it is only followed, and has no checkpoints here", {}};
}

void ImportRecorder::serve() {
    if (!m_server) return;
    m_server->poll();
    live::Heartbeat beat;
    beat.phase = live::Phase::Training;
    beat.attempt = m_book->lastAttempt();
    beat.step = m_book->lastStep();
    beat.monotonicNs = now();
    beat.pid = ::getpid();
    for (const int ring : {0, 1}) m_segment->beat(ring, beat);
    if (now() - m_summaryNs >= kSummaryEvery) writeSummary();
}

void ImportRecorder::writeSummary() {
    m_summary.updatedNs = Clock::system().wallNs();
    if (const auto written = rundir::writeSummary(disk(), m_run, m_summary); !written) log::warning(written.error().text());
    m_summaryNs = now();
}

// ---- ends

Result<void> ImportRecorder::closeSession(State state, const std::string& why) {
    m_record.state = state;
    m_record.why = why;
    m_record.counters = m_summary.counters;
    LATHE_TRY(rundir::writeSession(disk(), m_run, m_record));
    LATHE_TRY(m_writer->endSession(importedRow(m_record, m_firstStep, std::max(m_firstStep, m_book->lastStep()))));
    leaveLive();
    return {};
}

Result<void> ImportRecorder::end(State state, const std::string& why, const std::string& finalState) {
    LATHE_TRY(flush(finalState));
    m_record.endedNs = Clock::system().wallNs();
    m_record.exitCode = 0;
    m_summary.state = state;
    m_summary.why = why;
    m_summary.endedNs = m_record.endedNs;
    // As with every run: the record before live.json goes and the lock is let go.
    LATHE_TRY(closeSession(state, why));
    writeSummary();
    m_book.reset();
    m_writer.reset();
    if (const auto history = store::History::open(m_run.place().parent_path().parent_path())) static_cast<void>(history->update(m_run.name()));
    return {};
}

}  // namespace lathe::launch
