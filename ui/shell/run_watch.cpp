#include "shell/run_watch.h"

#include "base/clock.h"
#include "pages/state_look.h"
#include "session/background.h"
#include "session/qt_text.h"

#include <QCryptographicHash>

#include <algorithm>
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
        const bool waits = entry.state == rundir::State::Queued;   // or was just made, and waits now
        const bool ended = known != m_up.end() && known->second && !up && !waits;
        m_up[entry.folder] = up;
        if (up || waits) sawRun(toQt(entry.folder));   // somebody goes on with it
        if (!ended) continue;
        if (rundir::isTrouble(entry.state)) {
            const std::int64_t last = entry.summary.state == entry.state && entry.summary.endedNs > 0 ? entry.summary.endedNs : entry.summary.updatedNs;
            m_unseen.push_back({toQt(entry.folder), entry.name(), sentenceOf(entry), last});
        }
        Q_EMIT runEnded(toQt(entry.folder), sentenceOf(entry));
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

void RunWatch::sawRun(const QString& folder) {
    if (std::erase_if(m_unseen, [&](const Unseen& one) { return one.folder == folder; }) > 0) Q_EMIT unseenChanged();
}

void RunWatch::remember() {
    qint64 seen = Clock::system().wallNs();
    for (const Unseen& one : m_unseen) seen = std::min(seen, one.endedNs);
    m_settings.setValue(m_seenKey, seen);
}

}  // namespace lathe::shell
