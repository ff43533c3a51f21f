#include "launch/import/import_recorder.h"

#include "base/clock.h"
#include "base/file_system.h"
#include "base/log.h"
#include "launch/process/identity.h"
#include "launch/run/run_summary.h"
#include "launch/run/session_row.h"
#include "rundir/json_reader.h"
#include "store/history.h"
#include "store/record_content.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <limits>
#include <unistd.h>
#include <utility>

namespace lathe::launch {

using nlohmann::json;
using rundir::State;

static constexpr const char* kStateFact = "import";
static constexpr std::int64_t kMostOpenRows = 4'000'000;   // some 200 MB of rows that wait for a whole chunk
static constexpr std::size_t kRingBytes = 1u << 20;
static constexpr std::int64_t kSummaryEvery = 1'000'000'000;
static constexpr std::uint64_t kReserveBytes = 128u << 10;  // for the exit record on a full disk
static FileSystem& disk() { return FileSystem::real(); }
static std::int64_t now() { return Clock::system().monotonicNs(); }

/// Times come from files: any two of them may be given.
static std::int64_t elapsed(std::int64_t from, std::int64_t to) {
    std::int64_t out = 0;
    if (to <= from) return 0;
    return __builtin_sub_overflow(to, from, &out) ? std::numeric_limits<std::int64_t>::max() : out;
}

Result<std::unique_ptr<ImportRecorder>> ImportRecorder::open(const rundir::RunFolder& run) {
    auto recorder = std::unique_ptr<ImportRecorder>(new ImportRecorder(run));
    LATHE_TRY_ASSIGN(recorder->m_summary, summaryOf(run));
    LATHE_TRY_ASSIGN(const int newest, rundir::readNewestSession(run));
    if (newest == 0) return recorder;
    LATHE_TRY_ASSIGN(recorder->m_record, rundir::readSession(run, newest));
    LATHE_TRY_ASSIGN(const auto reader, store::RunReader::open(run.database()));
    LATHE_TRY_ASSIGN(recorder->m_state, reader->fact(kStateFact));
    LATHE_TRY_ASSIGN(const auto sessions, reader->sessions());
    for (const store::SessionRow& row : sessions) {
        recorder->m_sessions[row.number].startedNs = row.startedNs;
        if (row.number == newest) recorder->m_firstStep = row.firstStep;
    }
    return recorder;
}

Result<void> ImportRecorder::goBackTo(int session) {
    if (session == m_record.number) return {};
    if (session < 1 || session != m_record.number - 1) return Error{ErrorCode::Corrupt, "There is no session " + std::to_string(session) + " to go on with", {}, {}};
    LATHE_TRY_ASSIGN(m_record, rundir::readSession(m_run, session));
    LATHE_TRY_ASSIGN(const auto reader, store::RunReader::open(m_run.database()));
    LATHE_TRY_ASSIGN(const auto sessions, reader->sessions());
    for (const store::SessionRow& row : sessions)
        if (row.number == session) m_firstStep = row.firstStep;
    return {};
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
        static_cast<void>(disk().remove(m_run.recordReserve()));
        LATHE_TRY_ASSIGN(const auto room, disk().create(m_run.recordReserve()));
        LATHE_TRY(room->reserve(kReserveBytes));
    }
    m_sessions[m_record.number].startedNs = m_record.startedNs;
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

Result<void> ImportRecorder::begin(std::int64_t keeps, std::int64_t step, std::int64_t startedNs, const std::string& whyBeforeEnded, const std::string& state) {
    const bool wasLive = isLive();
    const bool isFirst = m_record.number == 0;
    if (!isFirst) {
        m_record.endedNs = startedNs;
        m_writer->stageFact(kStateFact, state);
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

Result<void> ImportRecorder::keepBefore(std::int64_t attempt) {
    m_record.parentAttempt = std::max(m_record.parentAttempt, attempt);
    LATHE_TRY(rundir::writeSession(disk(), m_run, m_record));
    return m_writer->bookEnd(importedRow(m_record, m_firstStep, std::max(m_firstStep, m_book->lastStep())));
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
    shape.lastSequence = std::max(last, m_sessions[m_record.number].sequence.value_or(0));
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
    Known& known = m_sessions[session];
    if (!known.sequence) known.sequence = m_writer->recordedSequence(0, session);
    m_frame.type = type;
    m_frame.sequence = ++*known.sequence;
    if (session != m_record.number) return m_writer->take(0, session, m_frame.sequence, type, m_frame.payload);
    if (m_segment) {
        if (const auto written = m_segment->write(0, type, m_frame.payload); !written) log::warning(written.error().text());
    }
    m_book->take(0, m_frame);
}

void ImportRecorder::point(int session, std::uint16_t series, const std::string& name, std::int64_t attempt, std::int64_t step, std::int64_t wallNs,
                           double value) {
    std::vector<bool>& declared = m_sessions[session].declared;
    if (declared.size() <= series) declared.resize(std::size_t{series} + 1);
    if (!declared[series]) {
        declared[series] = true;
        live::encode(live::SeriesFrame{series, name, {}}, m_frame.payload);
        put(session, live::FrameType::Series);
    }
    m_row.session = session;
    m_row.attempt = attempt;
    m_row.step = step;
    m_row.activeNs = elapsed(m_sessions[session].startedNs, wallNs);
    m_row.wallNs = wallNs;
    m_row.items.assign(1, {series, value});
    live::encode(m_row, m_frame.payload);
    put(session, live::FrameType::Points);
    ++m_openRows;
}

void ImportRecorder::event(std::int64_t step, std::int64_t wallNs, const std::string& kind, const std::string& text, const std::string& json) {
    live::encode(live::EventFrame{m_record.number, step, step, wallNs, kind, text, json}, m_frame.payload);
    put(m_record.number, live::FrameType::Event);
}

Result<void> ImportRecorder::record(live::RecordFrame record) {
    record.session = m_record.number;
    record.attempt = record.step;
    LATHE_TRY(store::putAside(m_run, record));
    live::encode(record, m_frame.payload);
    put(m_record.number, record.type);
    return {};
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
        case live::Verb::Release: break;
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
    static_cast<void>(disk().remove(m_run.recordReserve()));
    tellHistory();
    return {};
}

void ImportRecorder::fail(const std::string& why) {
    if (m_writer) m_writer->giveUp();
    static_cast<void>(disk().remove(m_run.recordReserve()));
    if (!m_book) return;  // nothing of the run was changed
    m_record.state = m_summary.state = State::Failed;
    m_record.why = m_summary.why = why;
    m_record.endedNs = m_summary.endedNs = Clock::system().wallNs();
    m_record.exitCode = static_cast<int>(ExitCode::Failed);
    m_record.counters = m_summary.counters;
    if (const auto written = rundir::writeSession(disk(), m_run, m_record); !written) log::error(written.error().text());
    const auto booked = m_writer->bookEnd(importedRow(m_record, m_firstStep, std::max(m_firstStep, m_book->lastStep())));
    if (!booked) log::warning(booked.error().text());
    leaveLive();
    writeSummary();
    m_book.reset();
    m_writer.reset();
    tellHistory();
}

void ImportRecorder::removeRun() {
    if (m_writer) m_writer->giveUp();
    m_book.reset();
    m_writer.reset();
    if (const auto removed = removeTree(disk(), m_run.root()); !removed) log::warning(removed.error().text());
}

void ImportRecorder::tellHistory() {
    const auto workspace = rundir::workspaceOf(m_run);
    if (!workspace) return;  // moved out of it
    if (const auto history = store::History::open(*workspace)) static_cast<void>(history->update(m_run.name()));
}

}  // namespace lathe::launch
