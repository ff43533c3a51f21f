// Notices runs that end, and tells what happened while no window was open.
#pragma once

#include "session/settings.h"
#include "session/workspace.h"

#include <QObject>
#include <QTimer>

#include "launch/verbs/away.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace lathe::shell {

class RunWatch : public QObject {
    Q_OBJECT

public:
    RunWatch(session::Workspace& workspace, session::Settings& settings, QObject* parent = nullptr);

    /// Names of the runs that are up now.
    QStringList upNow() const;
    /// A run that ended badly while this window was open.
    struct Unseen {
        QString folder, name, sentence;
        qint64 endedNs = 0;
    };
    /// Those that nobody has looked at yet, oldest first.
    const std::vector<Unseen>& unseen() const { return m_unseen; }
    void sawRun(const QString& folder);
    void sawAll() { m_unseen.clear(); }
    /// What has ended up to now was seen, but for what is unseen: the next window tells that. Also kept twice a minute, for a
    /// window that is killed.
    void remember();

Q_SIGNALS:
    /// A run ended while this window was open.
    void runEnded(const QString& folder, const QString& sentence);
    /// One of them was looked at, or is up again.
    void unseenChanged();
    /// Once, after the first look: what ended since a window of this workspace was open. Never without endings.
    void endedMeanwhile(const std::vector<lathe::launch::RunEnding>& endings);

private:
    void look();
    void tellAway();
    static QString sentenceOf(const session::RunEntry& entry);

    session::Workspace& m_workspace;
    session::Settings& m_settings;
    QString m_seenKey;
    std::int64_t m_openedNs;
    QTimer m_keep;
    std::map<std::string, bool> m_up;
    std::vector<Unseen> m_unseen;
    bool m_first = true;
};

}  // namespace lathe::shell
