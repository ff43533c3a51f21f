// Bringing a session up: plan, recorder, shared memory, what it runs, socket.
#include "base/file_system.h"
#include "base/log.h"
#include "base/number_text.h"
#include "config/config.h"
#include "launch/process/identity.h"
#include "launch/queue/queue.h"
#include "launch/run/run_settings.h"
#include "launch/run/run_summary.h"
#include "launch/session/reserved_space.h"
#include "launch/session/running_program.h"
#include "launch/session/running_workers.h"
#include "launch/session/session.h"
#include "rundir/checkpoint_manifest.h"

#include <nlohmann/json.hpp>

#include <csignal>
#include <unistd.h>
#include <utility>

namespace lathe::launch {

using rundir::State;

Result<void> Session::open() {
    std::signal(SIGPIPE, SIG_IGN);
    LATHE_TRY(readPlan());
    LATHE_TRY_ASSIGN(SignalFeed signals, SignalFeed::listen({SIGTERM, SIGINT, SIGHUP}));
    m_signals.emplace(std::move(signals));
    LATHE_TRY(reserveSpace(m_run));
    LATHE_TRY(m_recorder.begin());
    LATHE_TRY(openParts());
    shareDevices();
    LATHE_TRY(m_running->start());
    if (m_config.run.keepAwake) m_awake.hold((m_running->isProgram() ? "Running " : "Training ") + m_summary.name);
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
    LATHE_TRY_ASSIGN(m_summary, summaryOf(m_run));
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
    return {};
}

Result<void> Session::openParts() {
    LATHE_TRY(m_recorder.openMemory(world(), token()));
    const auto tell = [this](const std::string& kind, const std::string& text, const std::string& json) { m_recorder.tell(kind, text, json); };
    Running::Order order{m_run, m_config, m_summary, m_options.session, token(), m_recorder.memory(), tell};
    if (m_options.recording) m_running = std::make_unique<RunningScript>(std::move(order), *m_options.recording);
    else if (config::isCommand(m_config)) m_running = std::make_unique<RunningCommand>(std::move(order));
    else m_running = std::make_unique<RunningWorkers>(std::move(order));
    m_recorder.whenRecorded([this](std::uint64_t newest) {   // a program's ring is the first
        if (ProgramFrames* frames = m_running->frames()) frames->acknowledge(newest);
    });
    m_checkpoints.emplace(PublishedCheckpoints::Session{m_run, m_config, m_record, m_recorder.book(), m_recorder.writer()},
                          PublishedCheckpoints::Safe{m_startStep, m_summary.activeBefore}, [this](const std::string& sentence) { m_recorder.tell("checkpoint_damaged", sentence); });
    m_deviceTelemetry.emplace(DeviceTelemetry::Place{m_recorder.memory(), m_recorder.ownRing(), m_options.session}, m_config.telemetry.devicesEvery,
                              [sampler = std::make_shared<device::Sampler>()] { return sampler->sample(); });
    m_wishes.emplace(m_run, m_recorder, *m_running, *m_checkpoints);
    return {};
}

/// So that the queue does not start a run beside this one.
void Session::shareDevices() {
    if (m_options.devices || m_options.recording) return;
    if (const auto all = devicesFor(m_config)) warn(m_sharedDevices.share(*all));   // why not is told by the worker
}

Result<void> Session::announce() {
    LATHE_TRY_ASSIGN(const int readOnly, m_recorder.memory().readOnlyFd());
    LATHE_TRY_ASSIGN(m_server, live::ControlServer::listen(m_run.socket(), readOnly, [this](const live::Request& request) { return answer(request); }));
    const auto self = identityOf(::getpid(), token());
    if (!self) return Error{ErrorCode::Io, "Cannot read /proc/" + std::to_string(::getpid()) + "/stat", {}, {}};
    LATHE_TRY(rundir::writeLive(FileSystem::real(), m_run, {*self, m_running->identities(), m_options.session, m_record.startedNs}));
    if (m_running->isProgram()) m_summary.state = State::Running;  // before anybody is told that it is up
    writeSummary();
    tellBeginning();
    if (!m_running->isProgram()) m_checkpoints->reReadOlder();
    if (m_options.readyFd >= 0 && ::write(m_options.readyFd, "+", 1) != 1) log::warning("Nobody waits for this start any more");
    return {};
}

/// Why the run is in this session: it has gone back to an earlier state, or on after a crash, to `step`.
static void tellByItself(SessionRecorder& recorder, const Next& next, const rundir::SessionRecord& record, const config::RunConfig& config, std::size_t crashes, std::int64_t step) {
    const auto text = [](const nlohmann::json& facts) { return facts.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace); };
    if (next.kind == Next::Kind::WentBack) {
        const std::string times = std::to_string(record.rollBacks) + " of " + std::to_string(config.guard.maxRollBacks);
        const nlohmann::json facts = {{"checkpoint", record.checkpoint}, {"step", step}, {"learning_rate", exactText(config.optimizer.learningRate)},
                                      {"roll_backs", record.rollBacks}, {"why", next.why}};
        recorder.tell("rolled_back", "Went back to update " + std::to_string(step) + " (" + times + "), learning rate now " + shortText(config.optimizer.learningRate), text(facts));
    } else {
        const nlohmann::json facts = {{"checkpoint", record.checkpoint}, {"step", step}, {"cause", next.why}, {"crashes", crashes}};
        const std::string from = step > 0 ? "Goes on by itself from update " + std::to_string(step) : std::string("Begins again by itself from the start, since there was no checkpoint yet,");
        recorder.tell("restarted", from + " after a crash. " + next.why, text(facts));
    }
}

void Session::tellBeginning() {
    if (const auto folder = liveEventFolder(m_run, m_config.telemetry.tensorboard); !folder.empty()) m_recorder.openEvents(folder, m_startStep + 1);
    if (!m_options.notice.empty()) m_recorder.tell("warning", m_options.notice);
    if (m_options.byItself) tellByItself(m_recorder, *m_options.byItself, m_record, m_config, m_options.crashes.size(), m_startStep);
}

}  // namespace lathe::launch
