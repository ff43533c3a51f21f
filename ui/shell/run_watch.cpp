#include "shell/run_watch.h"

#include "base/clock.h"
#include "pages/state_look.h"
#include "session/background.h"
#include "session/qt_text.h"

#include <QCryptographicHash>

#include <utility>

namespace lathe::shell {
namespace {

using session::toQt;

constexpr int kKeepMs = 30'000;

/// A workspace each: another one has other runs to tell of.
QString keyOf(const std::filesystem::path& workspace) {
    const QByteArray path = QByteArray::fromStdString(workspace.native());
    return QStringLiteral("seen/") + QString::fromLatin1(QCryptographicHash::hash(path, QCryptographicHash::Sha1).toHex().left(16));
}

}  // namespace

RunWatch::RunWatch(session::Workspace& workspace, session::Settings& settings, QObject* parent)
    : QObject(parent), m_workspace(workspace), m_settings(settings), m_seenKey(keyOf(workspace.folder())), m_openedNs(Clock::system().wallNs()) {
    connect(&m_workspace, &session::Workspace::runsChanged, this, &RunWatch::look);
    connect(&m_keep, &QTimer::timeout, this, &RunWatch::remember);
    m_keep.start(kKeepMs);
}

QString RunWatch::sentenceOf(const session::RunEntry& entry) {
    const QString state = pages::stateWord(entry.state);
    return entry.why.isEmpty() ? tr("%1: %2").arg(entry.name(), state) : tr("%1: %2. %3").arg(entry.name(), state, entry.why);
}

void RunWatch::look() {
    if (!m_workspace.isLoaded()) return;
    for (const session::RunEntry& entry : m_workspace.runs()) {
        const bool up = rundir::isAlive(entry.state);
        const auto known = m_up.find(entry.folder);
        if (known != m_up.end() && known->second && !up) Q_EMIT runEnded(toQt(entry.folder), sentenceOf(entry));
        m_up[entry.folder] = up;
    }
    if (std::exchange(m_first, false)) tellAway();
}

void RunWatch::tellAway() {
    const qint64 seen = m_settings.value(m_seenKey).toLongLong();
    remember();   // once per absence, however this window ends
    if (seen <= 0) return;
    session::runInBackground(session::jobPool(), this, [workspace = m_workspace.folder(), seen] { return launch::endingsSince(workspace, seen); },
                             [this](std::vector<launch::RunEnding> endings) {
                                 std::erase_if(endings, [this](const launch::RunEnding& ending) { return ending.endedNs > m_openedNs; });   // told as they end
                                 if (!endings.empty()) Q_EMIT endedMeanwhile(endings);
                             });
}

QStringList RunWatch::upNow() const {
    QStringList names;
    for (const session::RunEntry& entry : m_workspace.runs())
        if (rundir::isAlive(entry.state)) names << entry.name();
    return names;
}

void RunWatch::remember() { m_settings.setValue(m_seenKey, qint64(Clock::system().wallNs())); }

}  // namespace lathe::shell
