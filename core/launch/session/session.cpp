#include "launch/session/session.h"

#include "base/clock.h"
#include "base/log.h"
#include "launch/session/session_ending.h"

#include <poll.h>
#include <sys/stat.h>
#include <utility>

namespace lathe::launch {

using rundir::State;

static constexpr std::int64_t kShowEvery = 200'000'000;

static std::int64_t now() { return Clock::system().monotonicNs(); }
static std::int64_t wall() { return Clock::system().wallNs(); }

Session::Session(const SupervisorOptions& options)
    : m_options(options), m_run(m_options.run.held()), m_recorder(m_run, m_options.session, m_record, m_summary), m_liveSummary(m_run, m_summary),
      m_sharedDevices(m_options.devices), m_crashes(m_options.crashes) {}

void Session::wait(int milliseconds) {
    ProgramFrames* frames = m_running->frames();
    std::vector<pollfd> what = {{m_signals->fd(), POLLIN, 0}, {m_server->pollFd(), POLLIN, 0}, {frames ? frames->pollFd() : -1, POLLIN, 0}};
    for (const int fd : m_running->pollFds()) what.push_back({fd, POLLIN, 0});
    if (::poll(what.data(), what.size(), milliseconds) <= 0) return;
    hearSignals();
    if (what[1].revents != 0) m_server->poll();
    if (what[2].revents != 0) frames->poll();
}

void Session::hearSignals() {
    while (const auto number = m_signals->take()) {
        log::info("Got signal " + signalText(*number));
        m_gone ? m_wishes->signalledAtEnd() : m_wishes->signalled(*number);
    }
}

bool Session::turn(int milliseconds) {
    wait(milliseconds);
    m_gone = m_running->turn(now());   // asked before the rings are read: what it wrote last is in this turn's drain
    if (const std::string news = m_running->takeNews(); !news.empty()) m_recorder.tell("warning", news);
    m_recorder.drain(false);
    look();
    const ProgramFrames* frames = m_running->frames();
    const bool isAwaited = frames && frames->wantsFlush() && m_recorder.problem().empty();
    const bool isSummaryDue = m_liveSummary.isDue(now());   // a summary tells of no point that is not recorded
    if (isSummaryDue || isAwaited || m_recorder.isFull()) m_recorder.flush();
    lookAround();
    if (isSummaryDue) writeSummary();
    if (m_gone || now() - m_shownNs >= kShowEvery) show();
    return !m_gone;
}

/// At what runs: how it stands.
void Session::look() {
    const FrameBook& book = m_recorder.book();
    if (const auto why = m_recorder.book().takeHold(); why && m_wishes->pauseByItself(*why) && m_summary.state == State::Paused)
        m_summary.why = m_wishes->pauseWhy();   // its heartbeat was faster
    m_liveSummary.noteChange(m_wishes->takeChange());
    m_running->look({m_wishes->isStopping(), m_wishes->isPauseAsked(), book.lastAttempt(), book.lastStep(), m_wishes->number()}, now());
    if (const auto worked = m_running->workedSeconds(now())) m_summary.activeSeconds = m_summary.activeBefore + *worked;
    const live::Heartbeat& beat = m_running->beat();
    m_recorder.recordFor(beat.durableCheckpoints);
    State state = State::Running;
    if (m_wishes->isStopping() || beat.phase == live::Phase::Finishing) state = State::Stopping;
    else if (beat.phase == live::Phase::Paused) state = State::Paused;
    else if (beat.phase < live::Phase::FirstUpdate) state = State::Starting;
    const auto hang = state == State::Running || state == State::Starting ? m_running->hang() : std::nullopt;
    m_liveSummary.setState(state, state == State::Paused ? m_wishes->pauseWhy() : hang ? standstillOf(*hang, world()) : std::string());
    m_recorder.beat();
    if (!m_gone && !m_wishes->isStopping()) m_running->watch(now(), book.lastAttempt());
    m_deviceTelemetry->look({book.lastAttempt(), book.lastStep(), book.activeNs()}, now(), wall());
}

/// At what is around it, and what has come of wishes.
void Session::lookAround() {
    m_liveSummary.noteChange(m_checkpoints->look(m_summary.activeSeconds));
    m_wishes->turn(m_gone);
    m_liveSummary.noteChange(m_wishes->takeChange());
    m_awake.look();
    warn(m_sharedDevices.keep(now()));
    noticeRemoval();
}

void Session::warn(const std::vector<std::string>& sentences) {
    for (const std::string& sentence : sentences) m_recorder.tell("warning", sentence);
}

/// Nothing that is trained from here on could be kept. A program's own work may well be worth finishing.
void Session::noticeRemoval() {
    struct stat info {};
    if (m_removed || (::stat(m_run.root().c_str(), &info) == 0 && info.st_nlink > 0)) return;
    m_removed = true;
    m_recorder.tell("error", "The folder of this run was removed, so nothing more is recorded; "
                    + std::string(m_running->isProgram() ? "the script goes on, and a stop still reaches it" : "training stops without saving"));
    if (!m_running->isProgram() && !m_wishes->isStopping()) m_wishes->discard();
}

// ---- what others see

live::Reply Session::answer(const live::Request& request) {
    if (request.verb == live::Verb::Attach) return {};
    if (request.verb == live::Verb::Status) return {0, true, {}, statusJson(view())};
    return m_wishes->answer(request.verb);
}

void Session::writeSummary() {
    if (m_running->isProgram()) m_recorder.bookFirstStep();
    m_liveSummary.write(now(), wall());
    m_running->capLogs();
}

SessionView Session::view() const { return {m_record, m_summary, m_recorder, *m_running, *m_wishes, *m_checkpoints, world()}; }

void Session::show() {
    if (!m_options.glance || !m_wishes) return;
    m_shownNs = now();
    Glance glance = glanceAt(view());
    glance.said = m_recorder.book().takeSaid();
    m_options.glance(glance);
}

// ---- its end

ExitCode Session::close(const Error* problem) {
    m_server.reset();
    std::optional<SessionEnding::Parts> parts;
    if (m_wishes) parts.emplace(SessionEnding::Parts{*m_checkpoints, *m_running, *m_wishes, m_gone, m_removed});
    SessionEnding ending({m_run, m_options.session, m_config, m_record, m_summary, m_recorder}, parts, {[this] { hearSignals(); }, [this] { show(); }}, std::move(m_crashes));
    const ExitCode code = ending.close(problem);
    m_next = ending.next();
    m_crashes = ending.crashes();
    return code;
}

}  // namespace lathe::launch
