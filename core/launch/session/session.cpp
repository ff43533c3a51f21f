#include "launch/session/session.h"

#include "base/clock.h"
#include "base/file_system.h"
#include "base/log.h"
#include "base/number_text.h"

#include <csignal>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace lathe::launch {

using rundir::State;

static constexpr std::int64_t kSecond = 1'000'000'000;
static constexpr std::int64_t kSummaryEvery = kSecond, kGlanceEvery = kSecond / 5;

static std::int64_t now() { return Clock::system().monotonicNs(); }
static std::int64_t wall() { return Clock::system().wallNs(); }
static FileSystem& disk() { return FileSystem::real(); }

Session::Session(const SupervisorOptions& options) : m_options(options), m_run(m_options.run.held()), m_sharedDevices(m_options.devices), m_crashes(m_options.crashes) {}

Session::~Session() {
    if (m_lifeline >= 0) ::close(m_lifeline);
}

void Session::wait(int milliseconds) {
    std::vector<pollfd> what = {{m_signals->fd(), POLLIN, 0}, {m_server->pollFd(), POLLIN, 0}, {m_program ? m_program->pollFd() : -1, POLLIN, 0}};
    if (isProgram()) what.push_back({program().pollFd(), POLLIN, 0});
    else for (int rank = 0; rank < world(); ++rank)
        if (!m_workers->end(rank)) what.push_back({m_workers->workers()[static_cast<std::size_t>(rank)].pollFd(), POLLIN, 0});
    if (::poll(what.data(), what.size(), milliseconds) <= 0) return;
    hearSignals();
    if (what[1].revents != 0) m_server->poll();
    if (what[2].revents != 0) m_program->poll();
}

void Session::hearSignals() {
    while (const auto number = m_signals ? m_signals->take() : std::nullopt) signalled(*number);
}

bool Session::turn(int milliseconds) {
    wait(milliseconds);
    m_gone = isProgram() ? program().poll().has_value() : m_workers->turn(now(), isAtSave(beats(), now()));  // asked before the rings are read: what it wrote last is in this turn's drain
    if (m_adopted && m_program->connections() > 0) m_gone = false;  // it left its work to a child: a daemon
    if (const std::string news = m_command ? m_command->takeNews() : m_workers ? m_workers->takeNews() : std::string(); !news.empty()) tellEvent("warning", news);
    drain(false);
    if (const auto why = m_book->takeHold()) holdForWorker(*why);
    watchHeartbeat();
    if (m_hangs && !m_gone && m_ladder.stage() == StopLadder::Stage::None) m_hangs->look(now(), m_book->lastAttempt());
    m_deviceTelemetry->look({m_book->lastAttempt(), m_book->lastStep(), m_book->activeNs()}, now(), wall());
    const bool isAwaited = m_program && m_program->wantsFlush() && m_recorderProblem.empty();
    const bool isSummaryDue = m_summaryDue || now() - m_summaryNs >= kSummaryEvery;   // a summary tells of no point that is not recorded
    if (isSummaryDue || isAwaited || m_writer->pendingBytes() > m_segment->ringBytes() / 4) flush();
    lookAtCheckpoints();
    releaseOnceSaved();
    climb();
    m_awake.look();
    warn(m_sharedDevices.keep(now()));
    noticeRemoval();
    if (isSummaryDue) writeSummary();
    glance();
    return !m_gone;
}

void Session::drain(bool final) {
    for (std::size_t ring = 0; ring < m_feeds.size(); ++ring) {
        for (int batches = 0; final || batches < 16; ++batches) {  // 16 MiB a turn, so that requests are heard meanwhile
            const live::RingFeed::Batch batch = m_feeds[ring].read(1u << 20, final);
            m_lost += batch.lost;
            for (const live::Frame& frame : batch.frames) {
                m_book->take(static_cast<int>(ring), frame);
                if (m_events) m_events->take(static_cast<int>(ring), frame);
            }
            if (batch.frames.empty()) break;
        }
    }
    if (m_book->activeNs() > 0) m_timeLeft.add(m_book->lastStep(), static_cast<double>(m_book->activeNs()) / kSecond);
}

/// What is durable is also reported as taken: frames that only this process's memory holds can still be spilled.
void Session::flush() {
    std::vector<std::uint64_t> positions;
    for (const live::RingFeed& feed : m_feeds) positions.push_back(feed.position());
    if (const auto flushed = m_events ? m_events->flush() : Result<void>(); !flushed) {
        m_events.reset();
        tellEvent("warning", "No more TensorBoard events are written: " + flushed.error().text());
    }
    if (const auto flushed = m_book->flush(); !flushed) {
        if (m_recorderProblem != flushed.error().text()) log::error(flushed.error().text());
        m_recorderProblem = flushed.error().text();
        return;
    }
    m_recorderProblem.clear();
    for (std::size_t ring = 0; ring < m_feeds.size(); ++ring) {
        const int number = static_cast<int>(ring);
        m_control.recordedSeq[ring] = m_writer->recordedSequence(number, m_options.session);
        m_segment->setRecorderBytes(number, positions[ring]);
    }
    m_segment->setControl(m_control);
    if (m_program) m_program->acknowledge(m_control.recordedSeq[0]);  // its ring is the first
}

/// A command has no slot of its own: that its process lives is its sign of life.
void Session::beatForCommand() {
    m_beat.phase = m_ladder.stage() != StopLadder::Stage::None ? live::Phase::Finishing : m_control.pause ? live::Phase::Paused : live::Phase::Training;
    m_beat.attempt = m_book->lastAttempt();
    m_beat.step = m_book->lastStep();
    m_beat.acknowledged = m_control.number;
    m_beat.monotonicNs = now();
    m_beat.pid = static_cast<std::int32_t>(program().identities().back().pid);
    m_segment->beat(0, m_beat);
    const std::int64_t paused = m_pausedNs + (m_control.pause ? now() - m_pauseBeganNs : 0);
    m_summary.activeSeconds = m_summary.activeBefore + static_cast<double>(now() - m_startedNs - paused) / 1e9;
}

void Session::watchHeartbeat() {
    if (isProgram()) beatForCommand();
    else if (const auto beat = m_segment->heartbeat(0)) m_beat = *beat;
    if (m_beat.durableCheckpoints != m_durableSeen) {  // a checkpoint waits for its points to be recorded
        m_durableSeen = m_beat.durableCheckpoints;
        drain(false);
        flush();
    }
    State state = State::Running;
    if (m_ladder.stage() != StopLadder::Stage::None || m_beat.phase == live::Phase::Finishing) state = State::Stopping;
    else if (m_beat.phase == live::Phase::Paused) state = State::Paused;
    else if (m_beat.phase < live::Phase::FirstUpdate) state = State::Starting;
    setState(state);
    live::Heartbeat own;
    own.phase = live::Phase::Training;
    own.attempt = m_book->lastAttempt();
    own.step = m_book->lastStep();
    own.monotonicNs = now();
    own.pid = ::getpid();
    own.lostFrames = m_lost;
    m_segment->beat(ownRing(), own);
}

void Session::lookAtCheckpoints() {
    if (m_checkpoints->look(m_summary.activeSeconds)) m_summaryDue = true;
}

// ---- stopping

void Session::setWishes() {
    ++m_control.number;
    m_segment->setControl(m_control);
    if (m_program) m_program->setWishes(m_control);
}

/// A pause that the worker made by itself ends as one that a person asked for.
void Session::holdForWorker(const std::string& why) {
    if (m_ladder.stage() != StopLadder::Stage::None) return;
    m_pauseWhy = "Paused by itself" + (why.empty() ? why : ": " + why);
    if (m_summary.state == State::Paused) m_summary.why = m_pauseWhy;   // its heartbeat was faster
    m_summaryDue = true;
    m_control.pause = true;
    setWishes();
}

void Session::signalled(int number) {
    log::info("Got signal " + signalText(number));
    if (m_gone) {  // there is nobody left to ask
        m_leavesAtOnce = m_signalled || m_ladder.stage() != StopLadder::Stage::None;
        m_signalled = true;
        return;
    }
    if (m_ladder.stage() == StopLadder::Stage::None) {
        const live::Reply reply = askToStop(false);
        tellEvent("stop_asked", "Asked by signal " + signalText(number) + ": " + reply.text);
    } else {
        m_ladder.hurry(now());
        m_control.stop = live::Control::Stop::Discard;
        tellEvent("stop_asked", "Asked again: leaving at once without saving");
    }
    setWishes();
}

void Session::climb() {
    if (m_gone) return;
    const StopLadder::Stage stage = m_ladder.advance(now(), !isProgram() && isSaving(beats(), now()));
    if (stage == StopLadder::Stage::None) return;
    if (stage == StopLadder::Stage::Terminated) m_silentAtStop = silentRank(beats(), now());
    signalAll(stage == StopLadder::Stage::Killed ? SIGKILL : SIGTERM);
    const char* who = isProgram() ? "The command was " : world() > 1 ? "The workers were " : "The worker was ";
    tellEvent("stop_asked", who + stoppingText());
    m_summaryDue = true;
}

void Session::signalAll(int number) {
    if (m_adopted && m_adopted->poll()) {  // it left its work to others: those that log are meant
        for (const std::int64_t pid : m_program->peers()) signalOwn(pid, number);
        return;
    }
    if (isProgram()) program().signal(number);
    else if (m_workers) m_workers->signal(number);
}

void Session::tellEvent(const std::string& kind, const std::string& text, const std::string& json) {
    live::EventFrame event;
    event.session = m_options.session;
    event.attempt = m_book->lastAttempt();
    event.step = m_book->lastStep();
    event.wallNs = wall();
    event.kind = kind;
    event.text = text;
    event.json = json;
    std::vector<std::byte> payload;
    live::encode(event, payload);
    if (const auto written = m_segment->write(ownRing(), live::FrameType::Event, payload); !written) log::warning(written.error().text());
    log::info(text);
}

void Session::warn(const std::vector<std::string>& sentences) {
    for (const std::string& sentence : sentences) tellEvent("warning", sentence);
}

// ---- what others see

void Session::setState(State state) {
    if (m_summary.state == state) return;
    m_summary.state = state;
    m_summary.why = state == State::Paused ? m_pauseWhy : std::string();
    m_summaryDue = true;
}

/// Steps of a person's own program begin wherever it begins, which is known once it has told of one.
void Session::bookFirstStep() {
    if (!isProgram() || !m_book || !m_writer || !m_recorderProblem.empty()) return;
    const store::SessionRow row = m_book->row(m_record);
    if (m_bookedFirst == row.firstStep || m_book->lastAttempt() == 0) return;
    m_bookedFirst = row.firstStep;
    if (const auto booked = m_writer->bookEnd(row); !booked) log::warning(booked.error().text());
}

void Session::writeSummary() {
    m_summary.updatedNs = wall();
    bookFirstStep();
    if (const auto written = rundir::writeSummary(disk(), m_run, m_summary); !written) {
        if (m_summaryFails.came(written.error().text(), m_summary.updatedNs)) log::warning(written.error().text());
    } else if (const auto over = m_summaryFails.over()) {
        log::warning(*over);
    }
    capLogs();
    m_summaryNs = now();
    m_summaryDue = false;
}

void Session::capLogs() const {
    for (int rank = 0; rank < world() && !m_command; ++rank) capLog(m_run.rankLog(rank));  // a command's keeper does it
}

/// Nothing that is trained from here on could be kept. A program's own work may well be worth finishing.
void Session::noticeRemoval() {
    struct stat info {};
    if (m_removed || (::stat(m_run.root().c_str(), &info) == 0 && info.st_nlink > 0)) return;
    m_removed = true;
    tellEvent("error", "The folder of this run was removed, so nothing more is recorded; "
              + std::string(isProgram() ? "the script goes on, and a stop still reaches it" : "training stops without saving"));
    if (isProgram() || m_ladder.stage() != StopLadder::Stage::None) return;
    m_control.stop = live::Control::Stop::Discard;
    m_ladder.ask(true, now());
    setWishes();
}

HangDoctor::Beats Session::beats() const {
    HangDoctor::Beats beats;
    for (int rank = 0; m_workers && rank < world(); ++rank) beats.push_back(m_workers->end(rank) ? std::nullopt : m_segment->heartbeat(rank));
    return beats;
}

std::pair<int, double> Session::silence() const {
    HangDoctor::Beats all = beats();
    for (auto& beat : all)
        if (beat && beat->monotonicNs == 0) beat->monotonicNs = m_startedNs;   // nothing was heard since it was started
    const int rank = silentRank(all, now()).value_or(0);
    auto own = rank > 0 ? all[static_cast<std::size_t>(rank)] : std::optional(m_beat);
    if (own->monotonicNs == 0 && m_workers) own->monotonicNs = m_startedNs;
    return {rank, own->monotonicNs > 0 ? std::max<double>(0, static_cast<double>(now() - own->monotonicNs) / kSecond) : 0.0};
}

std::string Session::silenceNote() const {
    const auto [rank, seconds] = silence();
    return silenceText(seconds, world() > 1 ? rank : -1);
}

std::string Session::phaseText() const {
    std::string text(live::name(m_beat.phase));
    if (m_beat.total > 0) text += " " + std::to_string(m_beat.done) + "/" + std::to_string(m_beat.total);
    return text + silenceNote();
}

void Session::glance() {
    if (!m_options.glance || !m_book || (!m_gone && now() - m_glanceNs < kGlanceEvery)) return;
    m_glanceNs = now();
    Glance view;
    view.state = m_summary.state;
    view.phase = phaseText();
    view.step = m_book->lastStep();
    view.plannedSteps = m_summary.plannedUpdates;
    view.loss = m_book->last("train/loss");
    view.learningRate = m_book->last("train/lr");
    view.samplesPerSecond = m_book->last("train/samples_per_second");
    if (view.plannedSteps) view.secondsLeft = m_timeLeft.secondsFor(*view.plannedSteps - view.step);
    view.stopping = stopping();
    view.said = m_book->takeSaid();
    m_options.glance(view);
}

}  // namespace lathe::launch
