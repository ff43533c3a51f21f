#include "session/run_words.h"

#include <QCoreApplication>
#include <QDateTime>
#include <QLocale>

namespace lathe::session {

using rundir::State;

namespace {

QDateTime timeOf(std::int64_t wallNs) { return QDateTime::fromMSecsSinceEpoch(wallNs / 1'000'000); }

}  // namespace

QString stateWord(State state, Snag snag) {
    if (snag == Snag::Hangs) return QCoreApplication::translate("RunState", "Hangs");
    if (snag == Snag::NotRecorded) return QCoreApplication::translate("RunState", "Not recorded");
    switch (state) {
    case State::Queued: return QCoreApplication::translate("RunState", "Queued");
    case State::Starting: return QCoreApplication::translate("RunState", "Starting");
    case State::Running: return QCoreApplication::translate("RunState", "Running");
    case State::Paused: return QCoreApplication::translate("RunState", "Paused");
    case State::Stopping: return QCoreApplication::translate("RunState", "Stopping");
    case State::Completed: return QCoreApplication::translate("RunState", "Completed");
    case State::Stopped: return QCoreApplication::translate("RunState", "Stopped");
    case State::Cancelled: return QCoreApplication::translate("RunState", "Cancelled");
    case State::Failed: return QCoreApplication::translate("RunState", "Failed");
    case State::Killed: return QCoreApplication::translate("RunState", "Killed");
    case State::OutOfMemory: return QCoreApplication::translate("RunState", "Out of memory");
    case State::Diverged: return QCoreApplication::translate("RunState", "Diverged");
    case State::Interrupted: return QCoreApplication::translate("RunState", "Interrupted");
    case State::Lost: return QCoreApplication::translate("RunState", "Lost");
    }
    return {};
}

QString dayTimeText(std::int64_t wallNs) {
    if (wallNs <= 0) return {};
    const QDateTime time = timeOf(wallNs);
    const QString clock = QLocale().toString(time, QStringLiteral("hh:mm"));
    if (time.date() == QDate::currentDate()) return clock;
    return QLocale().toString(time, QCoreApplication::translate("Age", "d MMM", "day and month of a date, in Qt's letters")) + QLatin1Char(' ') + clock;
}

QString timeText(std::int64_t wallNs) { return wallNs <= 0 ? QString() : QLocale().toString(timeOf(wallNs), QLocale::LongFormat); }

QString ageText(std::int64_t wallNs, std::int64_t nowNs) {
    if (wallNs <= 0) return {};
    const auto seconds = (nowNs - wallNs) / 1'000'000'000;
    if (seconds < 5) return QCoreApplication::translate("Age", "just now");
    if (seconds < 60) return QCoreApplication::translate("Age", "%1 s ago").arg(seconds);
    if (seconds < 3600) return QCoreApplication::translate("Age", "%1 min ago").arg(seconds / 60);
    if (seconds < 24 * 3600) return QCoreApplication::translate("Age", "%1 h ago").arg(seconds / 3600);
    return dayTimeText(wallNs);
}

}  // namespace lathe::session
