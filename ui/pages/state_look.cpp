#include "pages/state_look.h"

#include <QCoreApplication>
#include <QLocale>

namespace lathe::pages {

using rundir::State;

theme::Tone stateTone(State state, session::Snag snag) {
    if (snag != session::Snag::None) return theme::Tone::Warning;
    switch (state) {
    case State::Starting:
    case State::Running:
    case State::Stopping: return theme::Tone::Success;
    case State::Paused: return theme::Tone::Paused;
    case State::Completed: return theme::Tone::Accent;
    case State::Failed:
    case State::Killed:
    case State::OutOfMemory:
    case State::Diverged: return theme::Tone::Danger;
    case State::Interrupted:
    case State::Lost: return theme::Tone::Warning;
    case State::Queued:
    case State::Stopped:
    case State::Cancelled: return theme::Tone::Muted;
    }
    return theme::Tone::Muted;
}

static QString stageText(launch::StopStage stage, const session::RunSession& session) {
    using Stage = launch::StopStage;
    const QString step = QLocale().toString(qint64(session.counters().globalStep.value()));
    switch (stage) {
    case Stage::Asked: return QCoreApplication::translate("StopStage", "asked to stop");
    case Stage::FinishingUpdate: return QCoreApplication::translate("StopStage", "finishing the update after %1").arg(step);
    case Stage::Saving: return QCoreApplication::translate("StopStage", "saving step %1").arg(step);
    case Stage::Leaving: return QCoreApplication::translate("StopStage", "leaving");
    case Stage::ToldToLeave: return QCoreApplication::translate("StopStage", "told to leave at once");
    case Stage::Killed: return QCoreApplication::translate("StopStage", "ended by force");
    }
    return {};
}

QString stopText(const session::RunSession& session) {
    const auto& now = session.stopStage();
    if (!now) return {};
    QStringList parts{stageText(now->stage, session)};
    parts << QCoreApplication::translate("StopStage", "%1 s").arg(int(session.secondsSinceStop()));
    if (const int left = int(now->secondsLeft + 0.5); left > 0)
        parts << (now->isForced() ? QCoreApplication::translate("StopStage", "ends by force in %1 s").arg(left) : QCoreApplication::translate("StopStage", "told to leave in %1 s").arg(left));
    return parts.join(QStringLiteral(" · "));
}

QString hangText(const session::RunSession& session) {
    const auto& now = session.hang();
    if (!now) return {};
    const QString text = now->isSilent ? QCoreApplication::translate("Hang", "rank %1 silent for %2 s in %3, update %4")
                                       : QCoreApplication::translate("Hang", "rank %1 does not get on for %2 s in %3, update %4");
    return text.arg(now->rank).arg(int(now->seconds)).arg(now->place, QLocale().toString(now->update));
}

}  // namespace lathe::pages
