#include "pages/state_look.h"

#include <QCoreApplication>
#include <QDateTime>
#include <QLocale>

namespace lathe::pages {

using rundir::State;

QString stateWord(State state) {
    const auto word = [](const char* text) { return QCoreApplication::translate("RunState", text); };
    switch (state) {
    case State::Queued: return word("Queued");
    case State::Starting: return word("Starting");
    case State::Running: return word("Running");
    case State::Paused: return word("Paused");
    case State::Stopping: return word("Stopping");
    case State::Completed: return word("Completed");
    case State::Stopped: return word("Stopped");
    case State::Failed: return word("Failed");
    case State::Killed: return word("Killed");
    case State::OutOfMemory: return word("Out of memory");
    case State::Diverged: return word("Diverged");
    case State::Interrupted: return word("Interrupted");
    case State::Lost: return word("Lost");
    }
    return {};
}

theme::Tone stateTone(State state) {
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
    case State::Stopped: return theme::Tone::Muted;
    }
    return theme::Tone::Muted;
}

QString ageText(std::int64_t wallNs, std::int64_t nowNs) {
    if (wallNs <= 0) return {};
    const auto seconds = (nowNs - wallNs) / 1'000'000'000;
    const auto tell = [](const char* text, qint64 count) { return QCoreApplication::translate("Age", text).arg(count); };
    if (seconds < 5) return QCoreApplication::translate("Age", "just now");
    if (seconds < 60) return tell("%1 s ago", seconds);
    if (seconds < 3600) return tell("%1 min ago", seconds / 60);
    if (seconds < 24 * 3600) return tell("%1 h ago", seconds / 3600);
    return QLocale().toString(QDateTime::fromMSecsSinceEpoch(wallNs / 1'000'000), QStringLiteral("d MMM hh:mm"));
}

}  // namespace lathe::pages
