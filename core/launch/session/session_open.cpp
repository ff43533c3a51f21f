// Bringing a session up: plan, recorder, shared memory, worker, socket.
#include "launch/session/session.h"

#include "base/clock.h"
#include "base/file_system.h"
#include "base/log.h"
#include "base/number_text.h"
#include "base/program_paths.h"
#include "config/command_text.h"
#include "config/config.h"
#include "device/proc.h"
#include "launch/command/command_facts.h"
#include "launch/process/adopted_process.h"
#include "launch/process/identity.h"
#include "launch/queue/queue.h"
#include "launch/run/run_settings.h"
#include "launch/run/session_row.h"
#include "rundir/checkpoint_manifest.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <sys/vfs.h>
#include <unistd.h>
#include <utility>

namespace lathe::launch {

using rundir::State;

static constexpr std::uint64_t kReserveBytes = 1u << 20, kRecordReserveBytes = 128u << 10;
static FileSystem& disk() { return FileSystem::real(); }

static bool isOnNetwork(const std::filesystem::path& folder) {
    struct statfs info {};
    if (::statfs(folder.c_str(), &info) != 0) return false;
    constexpr std::array<std::uint32_t, 5> kKinds = {0x6969, 0xff534d42, 0xfe534d42, 0x0bd00bd0, 0x47504653};  // NFS, CIFS, SMB2, Lustre, GPFS
    return std::find(kKinds.begin(), kKinds.end(), static_cast<std::uint32_t>(info.f_type)) != kKinds.end();
}

static sigset_t stopSignals() {
    sigset_t stops;
    ::sigemptyset(&stops);
    for (const int number : {SIGTERM, SIGINT, SIGHUP}) ::sigaddset(&stops, number);
    return stops;
}

void holdStopSignals() {
    const sigset_t stops = stopSignals();
    ::pthread_sigmask(SIG_BLOCK, &stops, nullptr);
}

void releaseStopSignals() {
    const sigset_t stops = stopSignals();
    ::pthread_sigmask(SIG_UNBLOCK, &stops, nullptr);
}

Result<void> Session::open() {
    std::signal(SIGPIPE, SIG_IGN);
    LATHE_TRY(readPlan());
    LATHE_TRY_ASSIGN(SignalFeed signals, SignalFeed::listen({SIGTERM, SIGINT, SIGHUP}));
    m_signals.emplace(std::move(signals));
    LATHE_TRY(reserveSpace());
    LATHE_TRY(openStore());
    LATHE_TRY(openMemory());
    shareDevices();
    LATHE_TRY(m_options.recording ? adoptProgram() : config::isCommand(m_config) ? startCommand() : startWorkers());
    if (m_config.run.keepAwake) m_awake.hold((isProgram() ? "Running " : "Training ") + m_summary.name);
    return announce();
}

Result<void> Session::readPlan() {
    LATHE_TRY_ASSIGN(m_record, rundir::readSession(m_run, m_options.session));
    LATHE_TRY_ASSIGN(m_config, configOf(m_run, m_options.session));
    if (!m_record.checkpoint.empty() && !m_record.weightsOnly) {
        LATHE_TRY_ASSIGN(const auto manifest, rundir::readCheckpoint(m_run.checkpoints() / m_record.checkpoint));
        m_startStep = manifest.counters.globalStep.value();
        m_summary.counters = manifest.counters;
    }
    const Counters loadedCounters = m_summary.counters;
    LATHE_TRY_ASSIGN(m_summary, rundir::readSummaryOrMake(m_run));
    m_summary.counters = loadedCounters;
    tellKind(m_config, m_summary);
    m_summary.sessions = m_options.session;
    m_summary.startedNs = m_record.startedNs;
    m_summary.endedNs = 0;
    m_summary.why.clear();
    m_summary.state = State::Starting;
    m_summary.activeBefore = m_summary.activeSeconds;
    // What lies behind the point that is gone back to belongs to another branch.
    std::erase_if(m_summary.sparkline, [this](const auto& point) { return point.first > m_startStep; });
    if (m_summary.best && m_summary.best->step > m_startStep) m_summary.best.reset();
    m_token = m_summary.id + "-" + std::to_string(m_options.session);
    return {};
}

/// Room that is given back at the end, so that a full disk cannot keep the last points and the exit record from being
/// written: apart, since points take what they get.
Result<void> Session::reserveSpace() {
    for (const auto& [file, bytes] : {std::pair(m_run.reserve(), kReserveBytes), std::pair(m_run.recordReserve(), kRecordReserveBytes)}) {
        giveSpaceBack(file);
        LATHE_TRY_ASSIGN(const auto room, disk().create(file));
        LATHE_TRY(room->reserve(bytes));
    }
    return {};
}

void Session::giveSpaceBack(const std::filesystem::path& reserve) {
    if (const auto removed = disk().remove(reserve); !removed && removed.error().code != ErrorCode::NotFound) log::warning(removed.error().text());
}

Result<void> Session::openStore() {
    LATHE_TRY_ASSIGN(m_writer, store::RunWriter::open(m_run.database(), isOnNetwork(m_run.root())));
    LATHE_TRY(m_writer->beginSession(rowOf(m_record)));
    m_book = std::make_unique<FrameBook>(*m_writer, m_summary, m_options.session);
    const PublishedCheckpoints::Session session{m_run, m_config, m_record, *m_book, *m_writer};
    m_checkpoints.emplace(session, PublishedCheckpoints::Safe{m_startStep, m_summary.activeBefore}, [this](const std::string& sentence) { tellEvent("checkpoint_damaged", sentence); });
    return {};
}

Result<void> Session::openMemory() {
    live::Segment::Shape shape;
    shape.writers = world() + 1;
    LATHE_TRY_ASSIGN(m_segment, live::Segment::create(shape, m_token));
    for (int ring = 0; ring < m_segment->writers(); ++ring) m_feeds.emplace_back(*m_segment, ring, m_run.spill(), m_options.session);
    m_control.recordedSeq.assign(static_cast<std::size_t>(m_segment->writers()), 0);
    setWishes();
    m_deviceTelemetry.emplace(DeviceTelemetry::Place{*m_segment, ownRing(), m_options.session}, m_config.telemetry.devicesEvery,
                              [sampler = std::make_shared<device::Sampler>()] { return sampler->sample(); });
    return {};
}

/// Beside the run's own record and less than it: a folder that cannot be written to is told, and nothing more.
void Session::openEvents() {
    const auto folder = liveEventFolder(m_run, m_config.telemetry.tensorboard);
    if (folder.empty()) return;
    auto opened = LiveEvents::open(folder, m_record, m_startStep + 1);
    if (opened) m_events.emplace(std::move(*opened));
    else tellEvent("warning", "No TensorBoard events are written: " + opened.error().text());
}

/// So that the queue does not start a run beside this one.
void Session::shareDevices() {
    if (m_options.devices || m_options.recording) return;
    if (const auto all = devicesFor(m_config)) warn(m_sharedDevices.share(*all));   // why not is told by the worker
}

Result<void> Session::startWorkers() {
    std::array<int, 2> lifeline{-1, -1};
    if (::pipe2(lifeline.data(), O_CLOEXEC) != 0) return fileError("make", "a pipe", errno);
    m_lifeline = lifeline[1];
    m_oomKillsBefore = device::outOfMemoryKills("/");
    std::error_code ignored;
    std::filesystem::remove(m_run.rendezvous(m_options.session), ignored);  // one that was left would keep ranks from meeting
    auto workers = WorkerGroup::start({siblingProgram("lathe-worker"), m_run, m_options.session, world(), m_segment->fd(), lifeline[0], m_token});
    ::close(lifeline[0]);
    if (!workers) return std::move(workers).error();
    m_workers.emplace(std::move(*workers));
    m_startedNs = Clock::system().monotonicNs();
    m_hangs.emplace(m_run, m_config, *m_segment, *m_workers, [this](const std::string& kind, const std::string& text, const std::string& json) { tellEvent(kind, text, json); });
    return {};
}

/// With the whole environment that the run was started in, so that it finds what it finds in a terminal.
Result<void> Session::startCommand() {
    m_oomKillsBefore = device::outOfMemoryKills("/");
    LATHE_TRY_ASSIGN(const config::CommandWords words, config::splitCommand(m_config.command.line));
    CommandOrder order{m_run, m_options.session, m_segment->fd(), m_config.command.folder, {}, words.words, words.variables};
    LATHE_TRY(checkCommand(m_config.command));
    LATHE_TRY_ASSIGN(order.program, findProgram(words, order.folder));
    // Standard output is a file: without this Python would hold back what it prints.
    if (std::getenv("PYTHONUNBUFFERED") == nullptr) order.environment.insert(order.environment.begin(), "PYTHONUNBUFFERED=1");
    // The GPUs that are named, by a person or by the queue, are all that the script sees.
    if (m_config.parallel.device.starts_with("GPU-")) order.environment.insert(order.environment.begin(), "CUDA_VISIBLE_DEVICES=" + m_config.parallel.device);
    LATHE_TRY_ASSIGN(m_program, ProgramFrames::listen(m_run, m_summary, *m_segment, 0, m_options.session));
    for (const auto& [name, value] : m_program->environment()) order.environment.push_back(name + "=" + value);
    LATHE_TRY_ASSIGN(m_command, CommandProcess::start(order, m_token));
    m_startedNs = Clock::system().monotonicNs();
    const nlohmann::json surroundings = surroundingsOf(words, order.folder, order.program);
    tellEvent("environment", "Runs " + m_config.command.line + " in " + order.folder.string(), surroundings.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
    return {};
}

/// A script that runs already: it is only listened to.
Result<void> Session::adoptProgram() {
    LATHE_TRY_ASSIGN(m_program, ProgramFrames::listen(m_run, m_summary, *m_segment, 0, m_options.session, m_options.recording->token));
    LATHE_TRY_ASSIGN(m_adopted, AdoptedProcess::adopt(m_options.recording->pid, m_token));
    m_startedNs = Clock::system().monotonicNs();
    tellEvent("environment", "Records process " + std::to_string(m_options.recording->pid) + ": " + m_config.command.line + " in " + m_config.command.folder, "{}");
    return {};
}

void Session::tellGoingBack(const std::string& why) {
    const std::string times = std::to_string(m_record.rollBacks) + " of " + std::to_string(m_config.guard.maxRollBacks);
    const nlohmann::json facts = {{"checkpoint", m_record.checkpoint}, {"step", m_startStep}, {"learning_rate", exactText(m_config.optimizer.learningRate)},
                                  {"roll_backs", m_record.rollBacks}, {"why", why}};
    tellEvent("rolled_back", "Went back to update " + std::to_string(m_startStep) + " (" + times + "), learning rate now " +
              shortText(m_config.optimizer.learningRate), facts.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
}

void Session::tellRestart(const std::string& why) {
    const nlohmann::json facts = {{"checkpoint", m_record.checkpoint}, {"step", m_startStep}, {"cause", why}, {"crashes", m_options.crashes.size()}};
    const std::string from = m_startStep > 0 ? "Goes on by itself from update " + std::to_string(m_startStep) : std::string("Begins again by itself from the start, since there was no checkpoint yet,");
    tellEvent("restarted", from + " after a crash. " + why,
              facts.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
}

Result<void> Session::announce() {
    LATHE_TRY_ASSIGN(const int readOnly, m_segment->readOnlyFd());
    LATHE_TRY_ASSIGN(m_server, live::ControlServer::listen(m_run.socket(), readOnly, [this](const live::Request& request) { return answer(request); }));
    const auto self = identityOf(::getpid(), m_token);
    if (!self) return Error{ErrorCode::Io, "Cannot read /proc/" + std::to_string(::getpid()) + "/stat", {}, {}};
    std::vector<rundir::ProcessIdentity> running;
    if (isProgram()) running = program().identities();
    else for (const ChildProcess& worker : m_workers->workers()) running.push_back(worker.identity());
    LATHE_TRY(rundir::writeLive(disk(), m_run, {*self, running, m_options.session, m_record.startedNs}));
    if (isProgram()) m_summary.state = State::Running;  // before anybody is told that it is up
    writeSummary();
    openEvents();
    if (!m_options.notice.empty()) tellEvent("warning", m_options.notice);
    if (const auto& next = m_options.byItself) next->kind == Next::Kind::WentBack ? tellGoingBack(next->why) : tellRestart(next->why);
    if (!isProgram()) m_checkpoints->reReadOlder();
    if (m_options.readyFd >= 0 && ::write(m_options.readyFd, "+", 1) != 1) log::warning("Nobody waits for this start any more");
    return {};
}

}  // namespace lathe::launch
