// What a chart shows, as plain data.
#pragma once

#include "session/run_data.h"
#include "session/smoothing.h"

#include <QColor>
#include <QMetaType>
#include <QString>

#include <memory>
#include <vector>

namespace lathe::charts {

struct CurvePiece {
    session::Piece piece;
    std::shared_ptr<session::Smoothing> smoothing;  ///< drawn over the faint raw line, or empty
};

/// One line of the legend. Its pieces belong to one branch of one series.
struct Curve {
    QString name;       ///< "train", "train · branch 2", "branch 1, abandoned"
    QColor color;
    std::vector<CurvePiece> pieces;
    bool visible = true;
    bool points = false; ///< sparse series such as an evaluation: every point is marked
    bool abandoned = false;
};

enum class EventKind { Checkpoint, Evaluation, Pause, Error, Warning, Resume, Other };

struct ChartEvent {
    EventKind kind = EventKind::Other;
    double x = 0;
    QString text;         ///< "Checkpoint at step 120"
    qint64 id = 0;        ///< of the event, or -1
    QString checkpoint;   ///< folder, where it is one
};

}  // namespace lathe::charts

Q_DECLARE_METATYPE(lathe::charts::ChartEvent)
