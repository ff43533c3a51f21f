#include "fixture_run.h"

#include "base/clock.h"
#include "base/file_system.h"
#include "base/hash.h"
#include "rundir/checkpoint_manifest.h"

#include <poll.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <span>

namespace lathe::tests {

namespace {

template <typename T>
T need(Result<T> result) {
    if (result.ok()) return std::move(result).value();
    std::fprintf(stderr, "fixture: %s\n", result.error().text().c_str());
    std::abort();
}

void need(const Result<void>& result) {
    if (result.ok()) return;
    std::fprintf(stderr, "fixture: %s\n", result.error().text().c_str());
    std::abort();
}

std::string hostName() {
    char name[256] = {};
    ::gethostname(name, sizeof name - 1);
    return name;
}

rundir::RunManifest manifestOf(const std::string& name) {
    rundir::RunManifest manifest;
    manifest.id = rundir::newRunId();
    manifest.name = name;
    static std::atomic<std::int64_t> made{0};  // folder names tell seconds: no two runs of a program in one
    manifest.createdNs = Clock::system().wallNs() + made++ * 1'000'000'000;
    manifest.host = hostName();
    manifest.program = "test";
    return manifest;
}

}  // namespace

FixtureRun::FixtureRun(const std::filesystem::path& workspace, const std::string& name, const std::string& yaml)
    : m_folder(workspace), m_manifest(manifestOf(name)) {
    m_folder = need(rundir::createRun(FileSystem::real(), workspace, m_manifest, yaml));
}

store::RunWriter& FixtureRun::writer() {
    if (!m_writer) m_writer = need(store::RunWriter::open(m_folder.database()));
    return *m_writer;
}

void FixtureRun::beginSession(int number, const std::string& verb, int parent, std::int64_t parentAttempt) {
    session = number;
    m_ids.clear();
    m_sequence = 0;
    rundir::SessionRecord record;
    record.number = number;
    record.verb = verb;
    record.parentSession = parent;
    record.parentAttempt = parentAttempt;
    record.startedNs = Clock::system().wallNs();
    need(rundir::writeSession(FileSystem::real(), m_folder, record));
    store::SessionRow row;
    row.number = number;
    row.verb = verb;
    row.parentSession = parent;
    row.parentAttempt = parentAttempt;
    row.firstStep = parentAttempt + 1;  // attempts are steps here
    row.startedNs = record.startedNs;
    need(writer().beginSession(row));
}

void FixtureRun::offer(live::FrameType type) { writer().take(0, session, ++m_sequence, type, m_buffer); }

void FixtureRun::points(std::int64_t attempt, const Values& values) {
    live::PointsFrame frame{session, attempt, attempt, attempt * 10'000'000, Clock::system().wallNs(), {}};
    for (const auto& [name, value] : values) {
        const auto [id, fresh] = m_ids.try_emplace(name, static_cast<std::uint16_t>(m_ids.size() + 1));
        if (fresh) {
            live::encode(live::SeriesFrame{id->second, name, ""}, m_buffer);
            offer(live::FrameType::Series);
        }
        frame.items.push_back({id->second, value});
    }
    live::encode(frame, m_buffer);
    offer(live::FrameType::Points);
}

void FixtureRun::event(const std::string& kind, const std::string& text, std::int64_t attempt, const std::string& json) {
    live::encode(live::EventFrame{session, attempt, attempt, Clock::system().wallNs(), kind, text, json}, m_buffer);
    offer(live::FrameType::Event);
}

void FixtureRun::record(live::RecordFrame record) {
    record.session = session;
    record.attempt = record.step;
    record.wallNs = Clock::system().wallNs();
    if (record.content.size() > live::kMostInlineBytes || record.type == live::FrameType::Image) {
        record.blob = hashHex(std::as_bytes(std::span(record.content)));
        need(makeFolders(FileSystem::real(), m_folder.blobs()));
        need(replaceFile(FileSystem::real(), m_folder.blobs() / record.blob, record.content));
        record.content.clear();
    }
    live::encode(record, m_buffer);
    offer(record.type);
}

void FixtureRun::flush() { need(writer().flush()); }

void FixtureRun::endSession(rundir::State state, const std::string& why) {
    flush();
    rundir::SessionRecord record = need(rundir::readSession(m_folder, session));
    record.state = state;
    record.why = why;
    record.endedNs = Clock::system().wallNs();
    need(rundir::writeSession(FileSystem::real(), m_folder, record));
    store::SessionRow row;
    row.number = session;
    row.parentSession = record.parentSession;
    row.parentAttempt = record.parentAttempt;
    row.verb = record.verb;
    row.startedNs = record.startedNs;
    row.endedNs = record.endedNs;
    row.firstStep = record.parentAttempt + 1;
    row.end = rundir::name(state);
    row.why = why;
    need(writer().endSession(row));
    m_writer.reset();
}

void FixtureRun::summary(const std::function<void(rundir::Summary&)>& change) {
    rundir::Summary summary;
    summary.id = m_manifest.id;
    summary.name = m_manifest.name;
    summary.task = "classification";
    summary.model = "mlp";
    summary.state = rundir::State::Completed;
    summary.createdNs = summary.startedNs = m_manifest.createdNs;
    summary.updatedNs = Clock::system().wallNs();
    summary.sessions = session;
    if (change) change(summary);
    need(rundir::writeSummary(FileSystem::real(), m_folder, summary));
}

void FixtureRun::checkpoint(int number, std::int64_t step, const std::map<std::string, std::string>& metrics, bool best) {
    rundir::CheckpointManifest manifest;
    manifest.runId = m_manifest.id;
    manifest.session = number;
    manifest.counters.globalStep = GlobalStep(step);
    manifest.counters.updateAttempts = UpdateAttempt(step);
    manifest.wallNs = Clock::system().wallNs();
    manifest.metrics = metrics;
    manifest.best = best;
    manifest.layout = "single";
    const auto folder = m_folder.checkpoints() / rundir::checkpointName(number, GlobalStep(step));
    const std::string trainer = "{}";
    manifest.files.push_back({"trainer.json", trainer.size(), hashHex(std::as_bytes(std::span(trainer)))});
    need(makeFolders(FileSystem::real(), folder));
    need(replaceFile(FileSystem::real(), folder / "trainer.json", trainer));
    need(replaceFile(FileSystem::real(), folder / "manifest.json", rundir::manifestJson(manifest)));
}

LiveSession::LiveSession(const rundir::RunFolder& folder, int session, std::size_t ringBytes)
    : m_folder(folder), m_session(session), m_lock(need(rundir::RunLock::acquire(folder.lock()))),
      m_segment(need(live::Segment::create({2, ringBytes}, "test"))) {
    rundir::LiveRecord record;
    record.session = session;
    record.startedNs = Clock::system().wallNs();
    record.supervisor.host = hostName();
    record.supervisor.pid = ::getpid();
    need(rundir::writeLive(FileSystem::real(), folder, record));
    m_recorder = m_segment->reader(0);
    const int fd = need(m_segment->readOnlyFd());
    m_server = need(live::ControlServer::listen(folder.socket(), fd, [this](const live::Request& request) {
        const std::lock_guard lock(m_mutex);
        if (request.verb == live::Verb::Status) return live::Reply{request.id, true, {}, m_status};
        m_requests.push_back(request.verb);
        return live::Reply{request.id, m_replyOk, m_replyText, {}};
    }));
    m_thread = std::thread([this] {
        while (!m_stop) {
            pollfd poll{m_server->pollFd(), POLLIN, 0};
            if (::poll(&poll, 1, 20) > 0) m_server->poll();
        }
    });
}

void LiveSession::loseSupervisor() {
    m_workersLock = need(rundir::RunLock::acquire(m_folder.workersLock(), true));
    m_stop = true;
    m_thread.join();
    m_server.reset();
    m_lock.reset();
}

LiveSession::~LiveSession() {
    m_stop = true;
    if (m_thread.joinable()) m_thread.join();
    m_server.reset();
    static_cast<void>(rundir::removeLive(FileSystem::real(), m_folder));
}

void LiveSession::points(std::int64_t attempt, const Values& values) {
    live::PointsFrame frame{m_session, attempt, attempt, attempt * 10'000'000, Clock::system().wallNs(), {}};
    for (const auto& [name, value] : values) {
        const auto [id, fresh] = m_ids.try_emplace(name, static_cast<std::uint16_t>(m_ids.size() + 1));
        if (fresh) {
            live::encode(live::SeriesFrame{id->second, name, ""}, m_buffer);
            need(m_segment->write(0, live::FrameType::Series, m_buffer));
        }
        frame.items.push_back({id->second, value});
    }
    live::encode(frame, m_buffer);
    need(m_segment->write(0, live::FrameType::Points, m_buffer));
}

void LiveSession::event(const std::string& kind, const std::string& text, std::int64_t attempt) {
    live::encode(live::EventFrame{m_session, attempt, attempt, Clock::system().wallNs(), kind, text, "{}"}, m_buffer);
    need(m_segment->write(0, live::FrameType::Event, m_buffer));
}

void LiveSession::beat(live::Phase phase, std::int64_t done, std::int64_t total, std::int64_t attempt) {
    live::Heartbeat beat;
    beat.phase = phase;
    beat.done = done;
    beat.total = total;
    beat.attempt = beat.step = attempt;
    beat.monotonicNs = Clock::system().monotonicNs();
    beat.pid = ::getpid();
    m_segment->beat(0, beat);
}

void LiveSession::record(store::RunWriter& writer) {
    while (true) {
        const live::RingReader::Batch batch = m_recorder->read();
        if (batch.frames.empty()) break;
        for (const live::Frame& frame : batch.frames) writer.take(0, m_session, frame.sequence, frame.type, frame.payload);
    }
    need(writer.flush());
}

std::vector<live::Verb> LiveSession::requests() const {
    const std::lock_guard lock(m_mutex);
    return m_requests;
}

void LiveSession::setStatus(const std::string& json) {
    const std::lock_guard lock(m_mutex);
    m_status = json;
}

void LiveSession::setReply(const std::string& text, bool ok) {
    const std::lock_guard lock(m_mutex);
    m_replyText = text;
    m_replyOk = ok;
}

}  // namespace lathe::tests
