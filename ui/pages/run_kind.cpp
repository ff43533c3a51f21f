#include "pages/run_kind.h"

#include <QCoreApplication>

namespace lathe::pages {

namespace {
struct Text {
    Q_DECLARE_TR_FUNCTIONS(RunKind)
};
}  // namespace

RunKind kindOf(const rundir::Summary& summary) {
    // Words of core/launch: the task of a run that is not our own training.
    return summary.task == "command" ? RunKind::Command : summary.task == "imported" ? RunKind::Imported : RunKind::Training;
}

QString whyNoCheckpoints(RunKind kind) {
    if (kind == RunKind::Command) return Text::tr("This script keeps its own checkpoints.");
    if (kind == RunKind::Imported) return Text::tr("This run was read from files of another program; it has no checkpoints here.");
    return {};
}

QString whyNotAgain(RunKind kind) {
    return kind == RunKind::Imported ? Text::tr("This run was read from files of another program, which is not known here.") : QString();
}

}  // namespace lathe::pages
