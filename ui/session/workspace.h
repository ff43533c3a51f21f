// The list of runs in a workspace, kept up to date in the background: from the history index, and each second for runs
// that are up. Thread: GUI thread; nothing here blocks it.
#pragma once

#include <QObject>  // before the core's headers: moc 6.4 fails on <compare> otherwise
#include <QString>

#include "rundir/run_folder.h"
#include "session/run_words.h"

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace lathe::session {

struct RunEntry {
    std::string folder;             ///< name below runs/: the key of a row
    rundir::Summary summary;
    rundir::UserRecord user;
    rundir::State state = rundir::State::Lost;  ///< judged, not only what the summary claims
    Snag snag = Snag::None;
    QString why;
    QString problem;                ///< the folder cannot be read: why; the rest is empty then
    QString name() const;
    bool operator==(const RunEntry& other) const;
};

class RunSession;

class Workspace : public QObject {
    Q_OBJECT
public:
    explicit Workspace(std::filesystem::path folder, QObject* parent = nullptr);
    ~Workspace() override;

    const std::filesystem::path& folder() const;
    bool isLoaded() const;                            ///< the first look is over
    const std::vector<RunEntry>& runs() const;        ///< newest first
    const RunEntry* find(const std::string& folder) const;
    rundir::RunFolder runFolder(const std::string& folder) const;
    /// The handle on a run, shared by all pages; kept for as long as somebody holds it.
    std::shared_ptr<RunSession> session(const std::string& folder);
    void refresh();
    void editUser(const std::string& folder, std::function<void(rundir::UserRecord&)> change);

Q_SIGNALS:
    void runsChanged();                               ///< after any difference in runs()
    void folderCameOrWent();                          ///< while it is away runs() stays as it was seen last
    void indexProgress(int done, int total);          ///< while the index is rebuilt
    void editFailed(const QString& sentence);

private:
    struct Impl;
    std::unique_ptr<Impl> m_impl;
};

}  // namespace lathe::session
