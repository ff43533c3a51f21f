#include "worker_run.h"

#include "base/file_system.h"
#include "base/program_paths.h"

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace lathe::tests {
namespace {

/// The test cannot go on without it.
template <typename T>
T must(Result<T> result) {
    if (!result.ok()) {
        std::fprintf(stderr, "worker_run: %s\n", result.error().text().c_str());
        std::abort();
    }
    return std::move(result).value();
}

void must(const Result<void>& result) {
    if (result.ok()) return;
    std::fprintf(stderr, "worker_run: %s\n", result.error().text().c_str());
    std::abort();
}

std::filesystem::path workerProgram() {
    const char* folder = std::getenv("LATHE_PROGRAMS");
    return (folder ? std::filesystem::path(folder) : programFolder().parent_path() / "bin") / "lathe-worker";
}

}  // namespace

WorkerRun::WorkerRun(const std::filesystem::path& workspace, const config::RunConfig& config) { makeFolder(workspace, config); }

WorkerRun::WorkerRun(const std::filesystem::path& workspace, const config::RunConfig& config, const WorkerRun& from, const std::string& checkpoint,
                     bool weightsOnly) {
    makeFolder(workspace, config);
    const auto step = rundir::parseCheckpointName(checkpoint)->step;
    const std::string name = rundir::checkpointName(0, step);
    const auto target = folder.checkpoints() / name;
    must(FileSystem::real().makeFolder(target));
    for (const auto& entry : std::filesystem::directory_iterator(from.folder.checkpoints() / checkpoint))
        std::filesystem::create_hard_link(entry.path(), target / entry.path().filename());
    start(config, name, weightsOnly);
}

WorkerRun::~WorkerRun() {
    if (m_pid > 0) {
        ::kill(m_pid, SIGKILL);
        ::waitpid(m_pid, nullptr, 0);
    }
    if (m_lifeline >= 0) ::close(m_lifeline);
}

void WorkerRun::makeFolder(const std::filesystem::path& workspace, const config::RunConfig& config) {
    rundir::RunManifest manifest;
    manifest.id = rundir::newRunId();
    manifest.name = "test";
    manifest.createdNs = 1;
    folder = must(rundir::createRun(FileSystem::real(), workspace, manifest, config::toYaml(config)));
}

void WorkerRun::start(const config::RunConfig& config, const std::string& checkpoint, bool weightsOnly) {
    ++m_session;
    rundir::SessionRecord record;
    record.number = m_session;
    record.verb = checkpoint.empty() ? "start" : "continue";
    record.checkpoint = checkpoint;
    record.weightsOnly = weightsOnly;
    must(replaceFile(FileSystem::real(), folder.sessionYaml(m_session), config::toYaml(config)));
    must(rundir::writeSession(FileSystem::real(), folder, record));
    m_segment = must(live::Segment::create({2, 4u << 20}, "test"));
    m_feed = std::make_unique<live::RingFeed>(*m_segment, 0, folder.spill(), m_session);
    m_frames.clear();
    m_reports = true;

    int lifeline[2];
    if (::pipe2(lifeline, O_CLOEXEC) != 0) std::abort();
    if (m_lifeline >= 0) ::close(m_lifeline);
    m_lifeline = lifeline[1];
    const std::string program = workerProgram().string(), run = folder.root().string(), number = std::to_string(m_session);
    const std::string log = folder.rankLog(0).string();
    m_pid = ::fork();
    if (m_pid == 0) {
        if (m_memoryLimit > 0) {
            const rlimit limit{m_memoryLimit, m_memoryLimit};
            ::setrlimit(RLIMIT_AS, &limit);
        }
        const int output = ::open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
        ::dup2(output, 1);
        ::dup2(output, 2);
        const int segment = ::fcntl(m_segment->fd(), F_DUPFD, 100), line = ::fcntl(lifeline[0], F_DUPFD, 100);
        ::dup2(segment, 3);
        ::dup2(line, 4);
        ::execl(program.c_str(), program.c_str(), "train", "--run", run.c_str(), "--session", number.c_str(), "--rank", "0", "--world", "1",
                "--segment-fd", "3", "--lifeline-fd", "4", nullptr);
        ::_exit(127);
    }
    ::close(lifeline[0]);
}

void WorkerRun::record() {
    live::RingFeed::Batch batch = m_feed->read();
    for (live::Frame& frame : batch.frames) m_frames.push_back(std::move(frame));
    m_segment->setRecorderBytes(0, m_feed->position());
    if (!m_reports || m_frames.empty()) return;
    live::Control now = m_segment->control();
    now.recordedSeq.resize(2);
    if (now.recordedSeq[0] == m_frames.back().sequence) return;
    now.recordedSeq[0] = m_frames.back().sequence;
    m_segment->setControl(now);
}

bool WorkerRun::running() {
    if (m_pid <= 0) return false;
    int status = 0;
    if (::waitpid(m_pid, &status, WNOHANG) != m_pid) return true;
    m_pid = 0;
    m_exitCode = WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
    return false;
}

bool WorkerRun::wait(int seconds) {
    const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(seconds);
    while (running()) {
        record();
        if (std::chrono::steady_clock::now() > until) return false;
        ::poll(nullptr, 0, 1);
    }
    while (true) {
        const std::size_t before = m_frames.size();
        live::RingFeed::Batch batch = m_feed->read(1u << 20, true);
        for (live::Frame& frame : batch.frames) m_frames.push_back(std::move(frame));
        if (m_frames.size() == before) return true;
    }
}

void WorkerRun::control(const live::Control& control) { m_segment->setControl(control); }

void WorkerRun::closeLifeline() {
    ::close(m_lifeline);
    m_lifeline = -1;
}

void WorkerRun::signal(int number) {
    if (m_pid > 0) ::kill(m_pid, number);
}

std::vector<RecordedRow> WorkerRun::rows() const {
    std::map<std::uint16_t, std::string> names;
    std::vector<RecordedRow> rows;
    for (const live::Frame& frame : m_frames) {
        if (frame.type == live::FrameType::Series) {
            const auto series = must(live::decodeSeries(frame.payload));
            names[series.id] = series.name;
        }
        if (frame.type != live::FrameType::Points) continue;
        const auto points = must(live::decodePoints(frame.payload));
        if (rows.empty() || rows.back().attempt != points.attempt) rows.push_back({points.attempt, points.step, {}});
        for (const auto& item : points.items) rows.back().values[names.at(item.series)] = item.value;
    }
    return rows;
}

std::vector<live::EventFrame> WorkerRun::events(const std::string& kind) const {
    std::vector<live::EventFrame> found;
    for (const live::Frame& frame : m_frames) {
        if (frame.type != live::FrameType::Event) continue;
        auto event = must(live::decodeEvent(frame.payload));
        if (event.kind == kind) found.push_back(std::move(event));
    }
    return found;
}

std::string WorkerRun::newestCheckpoint() const {
    std::string newest;
    for (const auto& info : checkpoints())
        if (info.problem.empty()) newest = info.folder;
    return newest;
}

config::RunConfig digitsConfig() {
    config::RunConfig config = must(config::load("digits-mlp")).config;
    config.run.epochs.reset();
    config.run.maxUpdates = 20;
    config.schedule.totalUpdates = 60;
    config.schedule.warmupUpdates = 5;
    config.parallel.threads = 1;
    config.evaluation.every = {Interval::Unit::Never, 0};
    config.checkpoint.every = {Interval::Unit::Never, 0};
    return config;
}

}  // namespace lathe::tests
