#include "session/run_session.h"

#include "base/clock.h"
#include "base/file_system.h"
#include "base/number_text.h"
#include "live/control_socket.h"
#include "session/background.h"
#include "session/event_log.h"
#include "session/live_feed.h"
#include "session/qt_text.h"
#include "session/told.h"
#include "session/recorded.h"
#include "session/run_facts.h"

#include <QElapsedTimer>
#include <QJsonDocument>
#include <QJsonObject>
#include <QTimer>

#include <algorithm>
#include <limits>

namespace lathe::session {

namespace {

constexpr int kTickMs = 30;           // rings, also while no page shows the run
constexpr int kLookAliveMs = 1000, kLookOverMs = 2000;
constexpr double kSilentSeconds = 10; // without a sign of life a run does not get on, whoever says so
constexpr int kCatchUpAgainMs = 200;  // the recorder has not come so far yet
constexpr std::int64_t kRateFrom = 2000;  // points of the session that a fresh estimate of the rate begins with

live::Verb verbOf(RunSession::Request request) {
    switch (request) {
    case RunSession::Request::SaveNow: return live::Verb::SaveNow;
    case RunSession::Request::Pause: return live::Verb::Pause;
    case RunSession::Request::Release: return live::Verb::Release;
    case RunSession::Request::Unpause: return live::Verb::Unpause;
    case RunSession::Request::Stop: return live::Verb::StopAndSave;
    case RunSession::Request::Discard: return live::Verb::Discard;
    }
    return live::Verb::Status;
}

PhaseNow phaseOf(const live::Heartbeat& beat) {
    if (beat.phase == live::Phase::Training || beat.phase == live::Phase::Ended) return {};
    const auto small = [](std::int64_t n) { return int(std::clamp<std::int64_t>(n, 0, std::numeric_limits<int>::max())); };
    return {phaseText(toQt(live::name(beat.phase))), small(beat.done), small(beat.total)};
}

/// The state of a run that is up, told by its workers instead of by files that are a second old.
rundir::State stateOf(const live::Heartbeat& beat, const live::Control& control, rundir::State fallback) {
    if (control.stop != live::Control::Stop::None) return rundir::State::Stopping;
    switch (beat.phase) {
    case live::Phase::Starting:
    case live::Phase::LoadingData:
    case live::Phase::BuildingModel:
    case live::Phase::LoadingCheckpoint:
    case live::Phase::FirstUpdate: return rundir::State::Starting;
    case live::Phase::Training:
    case live::Phase::Evaluating:
    case live::Phase::Saving: return rundir::State::Running;
    case live::Phase::Paused: return rundir::State::Paused;
    case live::Phase::Finishing: return rundir::State::Stopping;
    case live::Phase::Ended: break;
    }
    return fallback;
}

std::optional<Hang> hangFrom(const QJsonObject& status) {
    const QJsonObject hang = status.value(QStringLiteral("hang")).toObject();
    if (hang.isEmpty()) return std::nullopt;
    return Hang{hang.value(QStringLiteral("rank")).toInt(), hang.value(QStringLiteral("silent")).toBool(), hang.value(QStringLiteral("seconds")).toDouble(),
                phaseText(hang.value(QStringLiteral("place")).toString()), qint64(hang.value(QStringLiteral("update")).toDouble())};
}

std::optional<Unsaved> unsavedFrom(const QJsonObject& status) {
    const QJsonObject unsaved = status.value(QStringLiteral("unsaved")).toObject();
    if (unsaved.isEmpty()) return std::nullopt;
    return Unsaved{qint64(unsaved.value(QStringLiteral("updates")).toDouble()), unsaved.value(QStringLiteral("seconds")).toDouble()};
}

/// What began each session: differs when there is a new one.
std::vector<std::string> verbsOf(const RunData& data) {
    std::vector<std::string> verbs;
    for (const store::SessionRow& row : data.sessions()) verbs.push_back(row.verb);
    return verbs;
}

struct Attached {
    std::unique_ptr<live::Segment> segment;
    std::int32_t session = 0;
};

Attached attach(const rundir::RunFolder& run, std::int32_t session) {
    Attached attached{nullptr, session};
    auto client = live::ControlClient::connect(run.socket());
    if (!client.ok()) return attached;
    auto fd = (*client)->takeSegmentFd();
    if (!fd.ok()) return attached;
    if (auto segment = live::Segment::open(*fd, false); segment.ok()) attached.segment = std::move(*segment);
    return attached;
}

}  // namespace

QString PhaseNow::text() const {
    return total > 0 ? words + QStringLiteral(" %1/%2").arg(done).arg(total) : words;
}

QString Standing::whyNothingGoes() const {
    switch (whereabouts) {
    case Whereabouts::InPlace: break;
    case Whereabouts::InTrash: return RunSession::tr("The run is in the trash; restore it first.");
    case Whereabouts::Gone: return RunSession::tr("The folder of the run is not there.");
    }
    return {};
}

QString Eta::text() const {
    if (measuring) return QObject::tr("measuring");
    return seconds ? toQt(durationText(*seconds)) : QString();
}

struct RunSession::Impl {
    Impl(RunSession* session, const rundir::RunFolder& folder) : q(session), run(folder.held()), looks(jobPool()), catchUps(jobPool()), attaches(jobPool()) {}

    void look();
    void takeFacts(RunFacts facts);
    void takeHistory(Result<History> history);
    void attachTo(std::int32_t session);
    void detach();
    void catchUp(bool last = false);
    void takeCaughtUp(Result<Recorded> recorded, bool last);
    bool reachesFarEnough(const Recorded& recorded) const;
    Known known() const;
    void tick();
    void updateStanding();
    void seedRate();
    void takeCheckpoints(std::vector<rundir::CheckpointInfo> found);
    void placeCheckpoints();

    RunSession* q;
    rundir::RunFolder run;
    NewestJob looks, catchUps, attaches;
    QTimer lookTimer, tickTimer;
    bool loaded = false, checkpointsKnown = false;
    SessionMark readUpTo;   ///< everything up to here was read
    QString problem;
    RunFacts facts;
    Standing standing;
    rundir::Summary summary;
    RunData data;
    EventLog events;
    launch::TimeLeft timeLeft;
    std::vector<CheckpointItem> checkpoints;
    std::vector<launch::PlannedCheckpoint> plan;
    std::unique_ptr<LiveFeed> feed;
    std::optional<live::Heartbeat> beat;
    std::optional<launch::Stopping> stopStage;
    std::optional<Hang> hang;
    std::optional<Unsaved> unsaved;
    QElapsedTimer stopping;   ///< runs while the run stops
};

RunSession::RunSession(const rundir::RunFolder& run, QObject* parent) : QObject(parent), m_impl(std::make_unique<Impl>(this, run)) {
    Impl& d = *m_impl;
    d.summary.name = d.run.name();
    d.lookTimer.setSingleShot(true);
    d.tickTimer.setInterval(kTickMs);
    connect(&d.lookTimer, &QTimer::timeout, this, [&d] { d.look(); });
    connect(&d.tickTimer, &QTimer::timeout, this, [&d] { d.tick(); });
    runInBackground(jobPool(), this, [folder = d.run] { return readHistory(folder); }, [&d](Result<History> history) { d.takeHistory(std::move(history)); });
    d.look();
}

RunSession::~RunSession() = default;

const rundir::RunFolder& RunSession::run() const { return m_impl->run; }
QString RunSession::id() const { return toQt(m_impl->facts.manifest ? m_impl->facts.manifest->id : m_impl->summary.id); }

QString RunSession::name() const {
    const Impl& d = *m_impl;
    if (d.facts.user.name && !d.facts.user.name->empty()) return toQt(*d.facts.user.name);
    return toQt(d.facts.manifest && !d.facts.manifest->name.empty() ? d.facts.manifest->name : d.summary.name);
}

bool RunSession::isLoaded() const { return m_impl->loaded; }
QString RunSession::problem() const { return m_impl->standing.whereabouts == Whereabouts::Gone ? m_impl->standing.whyNothingGoes() : m_impl->problem; }
const Standing& RunSession::standing() const { return m_impl->standing; }
bool RunSession::isAlive() const { return rundir::isAlive(m_impl->standing.state); }
bool RunSession::standsStill() const {
    const Standing& now = m_impl->standing;
    return isAlive() && (now.snag == Snag::Hangs || now.snag == Snag::Unsupervised || now.heartbeatAge > kSilentSeconds);
}
std::optional<std::int64_t> RunSession::plannedUpdates() const { return m_impl->summary.plannedUpdates; }
bool RunSession::isPlanKnown() const { return m_impl->facts.summary && m_impl->facts.summary->state != rundir::State::Starting; }
const RunData& RunSession::data() const { return m_impl->data; }
const rundir::Summary& RunSession::summary() const { return m_impl->summary; }
const rundir::UserRecord& RunSession::user() const { return m_impl->facts.user; }
const std::vector<store::EventRow>& RunSession::events() const { return m_impl->events.rows(); }
const std::vector<CheckpointItem>& RunSession::checkpoints() const { return m_impl->checkpoints; }
bool RunSession::areCheckpointsKnown() const { return m_impl->checkpointsKnown; }
std::uint64_t RunSession::lostFrames() const { return m_impl->feed ? m_impl->feed->lostFrames() : 0; }
void RunSession::refresh() { m_impl->look(); }

void RunSession::takeNew() {
    if (m_impl->feed) m_impl->tick();
}

const std::optional<launch::Stopping>& RunSession::stopStage() const { return m_impl->stopStage; }
const std::optional<Unsaved>& RunSession::unsaved() const { return m_impl->unsaved; }
const std::optional<Hang>& RunSession::hang() const { return m_impl->hang; }
const std::optional<rundir::MemoryRecord>& RunSession::memory() const { return m_impl->facts.memory; }
double RunSession::secondsSinceStop() const { return m_impl->stopping.isValid() ? double(m_impl->stopping.elapsed()) / 1000 : 0; }

Counters RunSession::counters() const {
    Counters counters = m_impl->summary.counters;
    if (m_impl->beat && m_impl->beat->attempt >= counters.updateAttempts.value()) {
        counters.updateAttempts = UpdateAttempt(m_impl->beat->attempt);
        counters.globalStep = GlobalStep(m_impl->beat->step);
    }
    return counters;
}

Eta RunSession::eta() const {
    Eta eta;
    if (!isAlive() || standsStill()) {
        eta.measuring = false;
        return eta;
    }
    eta.updatesPerSecond = m_impl->timeLeft.updatesPerSecond();
    eta.measuring = !eta.updatesPerSecond;
    if (const auto planned = plannedUpdates()) eta.seconds = m_impl->timeLeft.secondsFor(*planned - counters().globalStep.value());
    return eta;
}

void RunSession::request(Request request) {
    if (!isAlive()) {
        QMetaObject::invokeMethod(this, [this, request] { Q_EMIT requestAnswered(request, false, tr("This run is not up, so there is nothing to ask of it.")); }, Qt::QueuedConnection);
        return;
    }
    runInBackground(jobPool(), this, [folder = m_impl->run, verb = verbOf(request)]() -> Result<live::Reply> {
        LATHE_TRY_ASSIGN(auto client, live::ControlClient::connect(folder.socket()));
        return client->ask(verb);
    }, [this, request](const Result<live::Reply>& reply) {
        if (reply.ok()) Q_EMIT requestAnswered(request, reply->ok, toQt(reply->text));
        else Q_EMIT requestAnswered(request, false, toQt(reply.error().text()));
        m_impl->look();
    });
}

void RunSession::editUser(std::function<void(rundir::UserRecord&)> change) {
    runInBackground(jobPool(), this, [folder = m_impl->run, change = std::move(change)] { return rundir::editUser(FileSystem::real(), folder, change); },
                    [this](const Result<void>& edited) {
                        if (!edited.ok()) Q_EMIT editFailed(toQt(edited.error().text()));
                        m_impl->look();
                    });
}

// ---- small files

void RunSession::Impl::look() {
    lookTimer.stop();
    looks.start([folder = run, stamp = facts.checkpointsStamp, pinned = facts.user.pinned](const NewestJob::Cancelled&) { return lookAt(folder, stamp, pinned); },
                [this](RunFacts found) { takeFacts(std::move(found)); });
}

void RunSession::Impl::takeFacts(RunFacts found) {
    if (found.whereabouts == Whereabouts::Gone && loaded) {   // what was seen last stays
        facts.whereabouts = found.whereabouts;
        facts.live.reset();
        facts.status.clear();
        if (rundir::isAlive(facts.standing.state)) facts.standing = {};
        found = facts;
        found.checkpoints.reset();
    }
    const bool userDiffers = !sameUser(found.user, facts.user);
    auto newCheckpoints = std::move(found.checkpoints);
    checkpointsKnown = checkpointsKnown || newCheckpoints;
    if (newCheckpoints) plan = std::move(found.plan);
    if (found.summary) summary = *found.summary;
    facts = std::move(found);
    const QJsonObject status = QJsonDocument::fromJson(QByteArray::fromStdString(facts.status)).object();
    stopStage = launch::stoppingIn(facts.status);
    hang = hangFrom(status);
    unsaved = unsavedFrom(status);
    if (!facts.problem.empty()) problem = toQt(facts.problem);
    const bool alive = rundir::isAlive(facts.standing.state) && facts.standing.onThisHost;
    const std::int32_t liveSession = alive && facts.live ? facts.live->session : 0;
    if (feed && feed->session() != liveSession) {
        detach();
        if (liveSession > 0) Q_EMIT q->runEnded();  // another one has begun meanwhile
    }
    if (liveSession > 0 && !feed && loaded && !attaches.running()) attachTo(liveSession);
    // Up on another host, or not to be reached yet: what its recorder wrote is all there is.
    if (rundir::isAlive(facts.standing.state) && !feed && !attaches.running() && !catchUps.running()) catchUp();
    // Also a session that began and ended between two looks.
    if (loaded && !rundir::isAlive(facts.standing.state) && readUpTo != facts.mark) {
        readUpTo = facts.mark;
        catchUp(true);
    }
    if (newCheckpoints) takeCheckpoints(std::move(*newCheckpoints));
    updateStanding();
    Q_EMIT q->stateChanged();
    if (userDiffers) Q_EMIT q->userChanged();
    lookTimer.start(alive ? kLookAliveMs : kLookOverMs);
}

void RunSession::Impl::takeCheckpoints(std::vector<rundir::CheckpointInfo> found) {
    checkpoints.clear();
    for (rundir::CheckpointInfo& info : found) {
        if (info.folder.starts_with(".") && rundir::isAlive(facts.standing.state)) continue;  // it is being written
        if (!info.problem.empty()) info.attempt = UpdateAttempt(info.step.value());           // as near as its name tells
        CheckpointItem item;
        item.info = std::move(info);
        // Session 0 holds what the run began from.
        item.onSurvivingLine = item.info.session == 0 || !loaded || data.onSurvivingLine(item.info.session, item.info.attempt.value());
        const auto planned = std::find_if(plan.begin(), plan.end(), [&](const auto& one) { return one.info.folder == item.info.folder; });
        if (planned != plan.end()) {
            item.keptFor = planned->choice.reasons;
            item.goesNext = planned->goesNext;
        }
        checkpoints.push_back(std::move(item));
    }
    Q_EMIT q->checkpointsChanged();
}

/// Once it is known which sessions there are and which branches were left.
void RunSession::Impl::placeCheckpoints() {
    std::vector<rundir::CheckpointInfo> infos;
    for (CheckpointItem& item : checkpoints) infos.push_back(std::move(item.info));
    if (!infos.empty()) takeCheckpoints(std::move(infos));
}

void RunSession::Impl::updateStanding() {
    Standing now;
    now.state = facts.standing.state;
    now.why = told(toQt(facts.standing.why));
    now.snag = facts.standing.snag;
    now.whereabouts = facts.whereabouts;
    now.onThisHost = facts.standing.onThisHost;
    now.attached = feed != nullptr;
    if (feed) beat = feed->heartbeat();
    if (feed && beat && rundir::isAlive(now.state)) {
        if (now.snag != Snag::Unsupervised) {   // else they leave, whatever they did last
            now.state = stateOf(*beat, feed->control(), now.state);
            now.phase = phaseOf(*beat);
        }
        now.heartbeatAge = std::max(0.0, double(Clock::system().monotonicNs() - beat->monotonicNs) * 1e-9);
    }
    const bool canHang = now.state == rundir::State::Running || now.state == rundir::State::Starting;
    if (now.snag == Snag::None && hang && canHang) now.snag = Snag::Hangs;
    if (now.snag == Snag::Hangs && !canHang) now.snag = Snag::None;
    if (now.state != rundir::State::Stopping) stopping.invalidate();
    else if (!stopping.isValid()) stopping.start();
    standing = now;
}

// ---- history

void RunSession::Impl::takeHistory(Result<History> history) {
    loaded = true;
    if (history.ok()) {
        readUpTo = history->mark;
        data = std::move(history->data);
        for (const store::EventRow& row : history->events) events.addRecorded(row);
    } else {
        problem = toQt(history.error().text());
    }
    placeCheckpoints();
    Q_EMIT q->loaded();
    look();
}

Known RunSession::Impl::known() const {
    Known known;
    known.event = events.newestInDatabase();
    for (const std::string& name : data.names())
        for (const store::SessionRow& row : data.sessions())
            if (const std::int64_t attempt = data.newestAttempt(name, row.number); attempt >= 0) known.newest[name] = {row.number, attempt};
    return known;
}

void RunSession::Impl::catchUp(bool last) {
    if (!loaded) return;
    const std::int32_t session = feed ? feed->session() : 0;
    catchUps.start([folder = run, what = known(), session, rings = feed ? feed->rings() : 0](const NewestJob::Cancelled&) {
        return readRecorded(folder, what, session, rings);
    }, [this, last](Result<Recorded> recorded) { takeCaughtUp(std::move(recorded), last); });
}

bool RunSession::Impl::reachesFarEnough(const Recorded& recorded) const {
    if (!feed) return true;
    for (std::size_t ring = 0; ring < feed->needed().size(); ++ring)
        if (ring >= recorded.recorded.size() || recorded.recorded[ring] < feed->needed()[ring]) return false;
    return true;
}

void RunSession::Impl::takeCaughtUp(Result<Recorded> recorded, bool last) {
    if (!recorded.ok()) problem = toQt(recorded.error().text());
    const bool whole = recorded.ok() && (last || reachesFarEnough(*recorded));
    if (whole) {
        const std::vector<std::string> before = verbsOf(data);
        addTo(data, *recorded);
        if (verbsOf(data) != before) placeCheckpoints();
        for (const store::EventRow& row : recorded->events) events.addRecorded(row);
        if (feed && !last) {
            feed->begin(*recorded);
            seedRate();
        }
        Q_EMIT q->eventsReceived();
        Q_EMIT q->pointsReceived();
    } else if (!last) {
        QTimer::singleShot(kCatchUpAgainMs, q, [this] {
            if (feed && !catchUps.running()) catchUp();
        });
    }
    if (last) Q_EMIT q->runEnded();
}

// ---- shared memory

void RunSession::Impl::attachTo(std::int32_t session) {
    attaches.start([folder = run, session](const NewestJob::Cancelled&) { return attach(folder, session); }, [this](Attached attached) {
        if (!attached.segment) return;  // tried again at the next look
        feed = std::make_unique<LiveFeed>(std::move(attached.segment), attached.session);
        timeLeft.restart();
        catchUp();
        tickTimer.start();
        updateStanding();
        Q_EMIT q->stateChanged();
    });
}

void RunSession::Impl::detach() {
    if (feed && feed->begun()) tick();  // what is still in the rings
    tickTimer.stop();
    feed.reset();
    beat.reset();
}

void RunSession::Impl::seedRate() {
    const Series* series = feed ? data.find("train/loss", feed->session()) : nullptr;
    if (!series || timeLeft.updatesPerSecond()) return;
    timeLeft.restart();
    const double before = data.secondsBefore(feed->session());
    for (std::size_t i = series->size() - std::min<std::size_t>(series->size(), kRateFrom); i < series->size(); ++i)
        timeLeft.add(series->attemptAt(i), series->xAt(i, XAxis::ActiveTime) - before);
}

void RunSession::Impl::tick() {
    const Standing before = standing;
    if (feed->begun() && !catchUps.running()) {
        const LiveFeed::News news = feed->poll(data, events, timeLeft);
        if (news.points) Q_EMIT q->pointsReceived();
        if (news.events) Q_EMIT q->eventsReceived();
        if (news.lapped) catchUp();
    }
    updateStanding();
    Standing sameAge = standing;
    sameAge.heartbeatAge = before.heartbeatAge;
    if (sameAge != before) Q_EMIT q->stateChanged();
    if (standing.state == rundir::State::Stopping && before.state != rundir::State::Stopping) look();   // how far it is
}

}  // namespace lathe::session
