// What a person can do with a run or a checkpoint: asks what has to be asked, calls the launcher, and says how it went.
// One place, so that the table of runs, the top bar and the checkpoints offer the same with the same words.
#pragma once

#include "pages/context.h"
#include "session/run_session.h"

#include <QObject>
#include <QSet>
#include <QString>

namespace lathe::pages {

class RunVerbs : public QObject {
    Q_OBJECT

public:
    explicit RunVerbs(Context context, QWidget* parent);

    using When = session::When;   ///< at once, or once its device is free
    void continueRun(const QString& folder, When when = When::Now);
    void rollBack(const QString& folder, const QString& checkpoint, std::int64_t step, std::int64_t newestStep, When when = When::Now);
    /// Opens the sheet that tells what going on from a checkpoint with other settings would do. `verbs`: those possible
    /// here, as on the command line; `verb` is chosen at first, `settings` are typed in already.
    void goOnWithChanges(const QString& folder, const QString& checkpoint, const QStringList& verbs, const QString& verb,
                         const QList<QPair<QString, QString>>& settings = {});
    void fork(const QString& folder, const QString& checkpoint, When when = When::Now);
    void startFromWeights(const QString& folder, const QString& checkpoint, When when = When::Now);
    void verify(const QString& folder, const QString& checkpoint);
    void exportRun(const QString& folder, const QString& checkpoint);
    void deleteCheckpoint(const QString& folder, const QString& checkpoint, std::int64_t step);
    void moveToTrash(const QString& folder);
    void restore(const QString& reference, const QString& name);
    /// For good, after it was said how much that is.
    void emptyTrash();
    /// `id` of a run that waits in the queue.
    void takeOutOfQueue(const QString& id, const QString& name);

    /// Says what went wrong with a run, by its name; `folder` may be empty.
    void fail(const QString& folder, const QString& sentence);
    /// This run is being started: it is not asked for twice.
    bool isGoingOn(const QString& folder) const { return m_goingOn.contains(folder); }

    /// Stop and save, or discard with what is lost said in updates and minutes.
    void stop(session::RunSession& session);

    /// Of a run that stops already: it no longer waits for a checkpoint.
    void stopAtOnce(session::RunSession& session);

    /// Of a run whose supervisor is lost: nobody is left to ask, so lathe-trainer ends what runs.
    void stopLeft(session::RunSession& session);

    void editNote(const QString& folder);
    void editTags(const QString& folder);
    void rename(const QString& folder);
    void setStar(const QString& folder, bool on);
    void setArchived(const QString& folder, bool on);

Q_SIGNALS:
    void runStarted(const QString& folder);       ///< this run is up now
    void said(const QString& sentence);
    /// A run or a checkpoint (RUN@CHECKPOINT) went to the trash, from where restore() brings it back.
    void trashed(const QString& reference, const QString& name);
    /// About a run, which the sentence names, or about none.
    void failed(const QString& sentence, const QString& folder = {});
    /// Something is being done with this run: what was said of it before is over.
    void acted(const QString& folder);
    void goingOnChanged();
    void runRemoved(const QString& folder);

private:
    /// Of a run, or of one of its checkpoints where one is named. Does nothing while the same is under way.
    void goOn(const QString& verb, const QString& folder, const QString& checkpoint, const QStringList& settings, bool newCurve, When when);
    void wasStarted(const QString& key, const session::LaunchResult& result);
    void wasQueued(const QString& verb, const session::LaunchResult& result);
    void goneOn(const QString& key);
    /// `folder` as of failed().
    void reported(const QString& folder, const QStringList& words, const QString& success);
    void stopCommand(session::RunSession& session);
    /// A question whose text follows the run while it is open, and that closes, and says so, once the run has ended.
    void askWhileUp(session::RunSession& session, const QString& title, std::vector<Choice> choices, std::function<QString(const session::RunSession&)> text,
                    std::function<void(session::RunSession&, int)> answered);
    /// "37 updates, 2 min of work, are lost"
    static QString lossText(const session::RunSession& session);
    QString nameOf(const QString& folder) const;
    void extendAndContinue(const QString& folder, When when);
    /// What ended a run that trained to its end, from the configuration of its newest session.
    struct Target {
        QString key, label;
        qint64 value = 0;
        std::optional<double> endRate;  ///< where the learning-rate curve has come to its end, if it does
    };
    static std::optional<Target> targetOf(const rundir::RunFolder& run, std::int64_t done);
    void askHowFar(const QString& folder, const Target& target, When when);
    /// The stored curve is the rule, and it has ended: whether to make a new one.
    void askForCurve(const QString& folder, const QString& setting, double endRate, When when);

    Context m_context;
    QWidget* m_parent;
    QSet<QString> m_goingOn;   ///< runs that are being started; of what makes a new one, how it was asked for
    QSet<QString> m_asking;    ///< runs whose length is being looked up, to ask about it
};

}  // namespace lathe::pages
