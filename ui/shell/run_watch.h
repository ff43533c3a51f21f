// Notices runs that end, and tells what happened while no window was open.
#pragma once

#include "session/settings.h"
#include "session/workspace.h"

#include <QObject>

#include <map>
#include <string>

namespace lathe::shell {

class RunWatch : public QObject {
    Q_OBJECT

public:
    RunWatch(session::Workspace& workspace, session::Settings& settings, QObject* parent = nullptr);

    /// Names of the runs that are up now.
    QStringList upNow() const;
    /// Keeps which runs are up, for the next start.
    void rememberUp();

Q_SIGNALS:
    /// A run ended while this window was open.
    void runEnded(const QString& folder, const QString& sentence);
    /// Once, after the first look: "digits-mlp has completed", one line a run.
    void endedMeanwhile(const QStringList& sentences);

private:
    void look();
    static QString sentenceOf(const session::RunEntry& entry);

    session::Workspace& m_workspace;
    session::Settings& m_settings;
    std::map<std::string, bool> m_up;
    bool m_first = true;
};

}  // namespace lathe::shell
