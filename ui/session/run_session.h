// A live handle on one run: its whole history from run.sqlite, what the shared memory brings while it is up, its standing
// and the requests a person can make. Several may exist for one run, in any number of windows.
// Thread: GUI thread; nothing here blocks it. Reads go on while no page shows the run.
#pragma once

#include <QObject>  // before the core's headers: moc 6.4 fails on <compare> otherwise
#include <QString>

#include "base/counters.h"
#include "launch/workers/stopping.h"
#include "rundir/checkpoint_manifest.h"
#include "rundir/keep_rule.h"
#include "rundir/run_folder.h"
#include "session/run_data.h"
#include "session/run_facts.h"
#include "session/run_words.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

namespace lathe::session {

/// How the run stands now, as far as this window can know.
/// What a worker is doing, empty words when it is simply training or over.
struct PhaseNow {
    QString words;             ///< "loading data"
    int done = 0, total = 0;   ///< total 0: not counted
    QString text() const;      ///< "loading data 210/300"
    bool operator==(const PhaseNow&) const = default;
};

struct Standing {
    rundir::State state = rundir::State::Lost;
    Snag snag = Snag::None;
    QString why;               ///< a sentence, or empty
    Whereabouts whereabouts = Whereabouts::InPlace;
    bool onThisHost = true;
    bool attached = false;     ///< the shared memory is mapped: what follows is live
    PhaseNow phase;
    double heartbeatAge = 0;   ///< seconds since rank 0 last gave a sign of life (while attached)
    QString whyNothingGoes() const;   ///< where it is not in its place: why nothing can be done with it; else empty
    bool operator==(const Standing&) const = default;
};

/// What ending now without a save would lose, as the supervisor tells it.
struct Unsaved {
    qint64 updates = 0;
    double seconds = 0;
};

/// A rank that holds up the others, as the supervisor tells it.
struct Hang {
    int rank = 0;
    bool isSilent = false;    ///< no sign of life; else it beats and does not get on
    double seconds = 0;
    QString place;            ///< "reduce gradients"
    qint64 update = 0;
};

/// Time left: "measuring" until enough was seen.
struct Eta {
    bool measuring = true;
    std::optional<double> seconds;           ///< nothing when no end is planned
    std::optional<double> updatesPerSecond;  ///< of this session, recent
    QString text() const;                    ///< "measuring", "3 h 12 min", "" when the run is not up or stands still
};

struct CheckpointItem {
    rundir::CheckpointInfo info;
    bool onSurvivingLine = true;
    std::vector<rundir::KeepReason> keptFor;   ///< what the rule keeps it for; empty: it goes, or no rule is known
    bool goesNext = false;                     ///< the rule lets it go when the next one is saved
};

class RunSession : public QObject {
    Q_OBJECT
public:
    enum class Request { SaveNow, Pause, Release, Unpause, Stop, Discard };
    Q_ENUM(Request)

    explicit RunSession(const rundir::RunFolder& run, QObject* parent = nullptr);
    ~RunSession() override;

    const rundir::RunFolder& run() const;
    QString id() const;
    QString name() const;                            ///< what people call it (user.json, else run.json)
    bool isLoaded() const;                           ///< the history has been read
    QString problem() const;                         ///< why the history could not be read, or empty

    const Standing& standing() const;
    bool isAlive() const;
    bool standsStill() const;                        ///< it is up, and does not get on
    /// Nothing while the run does not stop, or before its supervisor was heard.
    const std::optional<launch::Stopping>& stopStage() const;   ///< how far a stop has come, as the supervisor tells it
    double secondsSinceStop() const;                 ///< since this window saw that it stops; 0 when it does not
    /// Nothing before the supervisor was heard, and for a program that keeps its own checkpoints.
    const std::optional<Unsaved>& unsaved() const;
    const std::optional<Hang>& hang() const;         ///< nothing while all get on
    /// Where memory ran out in the newest session, with what would help.
    const std::optional<rundir::MemoryRecord>& memory() const;
    Counters counters() const;
    std::optional<std::int64_t> plannedUpdates() const;
    bool isPlanKnown() const;                        ///< whether it has an end is told when it begins to train
    Eta eta() const;
    const RunData& data() const;
    const rundir::Summary& summary() const;
    const rundir::UserRecord& user() const;
    const std::vector<store::EventRow>& events() const;    ///< oldest first
    const std::vector<CheckpointItem>& checkpoints() const; ///< oldest first
    bool areCheckpointsKnown() const;                ///< they were looked for; the history may have been read before
    std::uint64_t lostFrames() const;                ///< counted by the workers, shown to people when not 0

    /// Asks the supervisor; requestAnswered() tells the outcome. Never blocks.
    void request(Request request);
    /// Changes user.json (name, note, tags, star, archived, pins) in the background.
    void editUser(std::function<void(rundir::UserRecord&)> change);
    /// Looks at once instead of at the next tick.
    void refresh();
    /// Takes what the shared memory has brought since the last tick, for whoever is about to paint.
    void takeNew();

Q_SIGNALS:
    void loaded();              ///< history is there (or problem() says why not)
    void pointsReceived();      ///< at most once a tick
    void stateChanged();        ///< standing, counters of the summary, name
    void eventsReceived();
    void checkpointsChanged();
    void userChanged();
    void editFailed(const QString& sentence);
    void runEnded();            ///< a session that was up when this object saw it is over
    void requestAnswered(lathe::session::RunSession::Request request, bool ok, const QString& sentence);

private:
    struct Impl;
    std::unique_ptr<Impl> m_impl;
};

}  // namespace lathe::session
