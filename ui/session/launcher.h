// Starts runs by executing lathe-trainer, as a person would in a terminal. The started program is in a session of its
// own and outlives the window. Thread: GUI thread; nothing here waits.
#pragma once

#include <QByteArray>
#include <QMetaType>
#include <QObject>
#include <QString>
#include <QStringList>

#include <filesystem>
#include <map>
#include <memory>

namespace lathe::session {

/// Whether a run begins at once or when its device is free.
enum class When { Now, Queued };

struct LaunchResult {
    bool ok = false;
    QString folder;       ///< name of the run folder below runs/
    QString name;         ///< what people call the run, where one was started
    QByteArray json;      ///< the last line of standard output, as it came
    QString sentence;     ///< why it failed, for people, without what to type in a terminal
    bool isNotFound = false;  ///< it failed since what it is about is not there
    int exitCode = -1;    ///< -1: could not be started or was killed
};

class Launcher : public QObject {
    Q_OBJECT
public:
    explicit Launcher(std::filesystem::path workspace, QObject* parent = nullptr);
    ~Launcher() override;
    /// Another program instead of lathe-trainer beside this one.
    void setProgram(std::filesystem::path program);

    /// Each returns a number that finished() repeats. `settings`: "section.key=value".
    /// `yaml` is a whole configuration; relative paths in it are taken from `base`. `preset` names the run, may be empty.
    quint64 run(const QString& yaml, const QString& name = {}, const QStringList& settings = {}, When when = When::Now);
    quint64 again(const QString& run, const QStringList& settings = {}, When when = When::Now);
    /// As run(), but of a preset, a file or a command (`words`: what names it), so that the run knows what it was made from.
    quint64 runOf(const QStringList& words, const QStringList& settings, When when);
    /// What going on would do ("continue", "roll-back" …); starts nothing. The answer is the sheet as JSON.
    quint64 dryRun(const QString& verb, const QString& reference, const QStringList& settings, bool newCurve);
    /// The same for real, of a run ("continue") or of RUN@CHECKPOINT ("roll-back", "fork", "start-from-weights").
    /// `newCurve`: the learning-rate curve is made anew for the length that the run has now.
    quint64 goOn(const QString& verb, const QString& reference, const QStringList& settings = {}, bool newCurve = false, When when = When::Now);
    /// Any other verb that changes a run ("delete", "trash", "pin", "export" …); no --detach is added.
    quint64 verb(const QStringList& arguments);
    int running() const;
    /// The command line of "run" or "again", for people to copy. `source`: a preset, a file or a run.
    QString commandText(const QString& verb, const QString& source, const QStringList& settings = {}) const;

Q_SIGNALS:
    void finished(quint64 number, const lathe::session::LaunchResult& result);

private:
    struct Job;
    quint64 start(const QStringList& arguments, std::filesystem::path temporary = {});
    void fail(quint64 number, const QString& sentence);
    void jobEnded(quint64 number);

    std::filesystem::path m_workspace, m_program;
    std::map<quint64, std::unique_ptr<Job>> m_jobs;
    quint64 m_next = 1;
};

}  // namespace lathe::session

Q_DECLARE_METATYPE(lathe::session::LaunchResult)
