#include "shell/run_watch.h"

#include "pages/state_look.h"
#include "session/qt_text.h"

namespace lathe::shell {
namespace {

using session::toQt;

const QString kUpKey = QStringLiteral("window/up");

}  // namespace

RunWatch::RunWatch(session::Workspace& workspace, session::Settings& settings, QObject* parent)
    : QObject(parent), m_workspace(workspace), m_settings(settings) {
    connect(&m_workspace, &session::Workspace::runsChanged, this, &RunWatch::look);
}

QString RunWatch::sentenceOf(const session::RunEntry& entry) {
    const QString state = pages::stateWord(entry.state);
    return entry.why.isEmpty() ? tr("%1: %2").arg(entry.name(), state) : tr("%1: %2. %3").arg(entry.name(), state, entry.why);
}

void RunWatch::look() {
    if (!m_workspace.isLoaded()) return;
    QStringList meanwhile;
    const QStringList before = m_first ? m_settings.value(kUpKey).toStringList() : QStringList();
    for (const session::RunEntry& entry : m_workspace.runs()) {
        const bool up = rundir::isAlive(entry.state);
        const auto known = m_up.find(entry.folder);
        if (known != m_up.end() && known->second && !up) Q_EMIT runEnded(toQt(entry.folder), sentenceOf(entry));
        if (m_first && !up && before.contains(toQt(entry.folder))) meanwhile << sentenceOf(entry);
        m_up[entry.folder] = up;
    }
    m_first = false;
    if (!meanwhile.isEmpty()) Q_EMIT endedMeanwhile(meanwhile);
}

QStringList RunWatch::upNow() const {
    QStringList names;
    for (const session::RunEntry& entry : m_workspace.runs())
        if (rundir::isAlive(entry.state)) names << entry.name();
    return names;
}

void RunWatch::rememberUp() {
    QStringList folders;
    for (const session::RunEntry& entry : m_workspace.runs())
        if (rundir::isAlive(entry.state)) folders << toQt(entry.folder);
    m_settings.setValue(kUpKey, folders);
}

}  // namespace lathe::shell
