#include "charts/run_events.h"

#include "charts/axis_map.h"
#include "session/qt_text.h"
#include "session/told.h"

#include <QCoreApplication>

#include <optional>

namespace lathe::charts {

namespace {

std::optional<EventKind> kindOf(const std::string& word) {
    if (word == "evaluation") return EventKind::Evaluation;
    if (word == "paused") return EventKind::Pause;
    if (word == "error" || word == "save_failed" || word == "out_of_memory" || word == "checkpoint_damaged") return EventKind::Error;
    if (word == "warning" || word == "skipped" || word == "guard" || word == "rolled_back" || word == "micro_batch_halved" || word == "evaluation_halved" || word == "hang" || word == "restarted") return EventKind::Warning;
    if (word == "resumed") return EventKind::Resume;
    return std::nullopt;
}

/// Active time at an attempt, from whatever series of that session has a point there or just before.
double secondsAt(const session::RunData& data, std::int32_t session, std::int64_t attempt) {
    double seconds = 0;
    for (const char* name : {"train/loss", "train/lr", "eval/loss"}) {
        const session::Series* series = data.find(name, session);
        if (!series || !series->size()) continue;
        const std::size_t n = std::min(series->size(), series->grid()->attempts.lowerBound(double(attempt) + 0.5));
        if (n) seconds = std::max(seconds, series->xAt(n - 1, session::XAxis::ActiveTime));
    }
    return seconds;
}

}  // namespace

std::vector<ChartEvent> eventsOf(const session::RunSession& session, session::XAxis axis, bool withAbandoned) {
    std::vector<ChartEvent> events;
    const session::RunData& data = session.data();
    const auto place = [&](std::int32_t number, std::int64_t attempt, std::int64_t step) {
        return axis == session::XAxis::Step ? double(step) : secondsAt(data, number, attempt);
    };
    for (const store::EventRow& row : session.events()) {
        const auto kind = kindOf(row.event.kind);
        if (!kind || (!withAbandoned && !data.onSurvivingLine(row.event.session, row.event.attempt))) continue;
        events.push_back({*kind, place(row.event.session, row.event.attempt, row.event.step), session::told(session::toQt(row.event.text)), row.id, {}});
    }
    for (const store::SessionRow& row : data.sessions()) {
        if (row.parentSession == 0) continue;
        const QString text = QCoreApplication::translate("lathe::charts", "Session %1 began here (%2)").arg(row.number).arg(session::toQt(row.verb));
        if (withAbandoned || data.onSurvivingLine(row.number, row.parentAttempt))
            events.push_back({EventKind::Resume, place(row.parentSession, row.parentAttempt, row.firstStep), text, -1, {}});
    }
    for (const session::CheckpointItem& item : session.checkpoints()) {
        if (!withAbandoned && !item.onSurvivingLine) continue;
        const QString text = QCoreApplication::translate("lathe::charts", "Checkpoint at step %1").arg(groupedNumber(item.info.step.value()));
        events.push_back({EventKind::Checkpoint, place(item.info.session, item.info.attempt.value(), item.info.step.value()), text, -1, session::toQt(item.info.folder)});
    }
    return events;
}

}  // namespace lathe::charts
