// What linked charts share: the visible x range, follow mode, the cursor, and what x means.
#pragma once

#include "session/series.h"

#include <QElapsedTimer>
#include <QObject>
#include <QTimer>

#include <limits>

namespace lathe::charts {

class ChartLink : public QObject {
    Q_OBJECT
public:
    explicit ChartLink(QObject* parent = nullptr);
    double lo() const { return m_lo; }
    double hi() const { return m_hi; }
    bool follow() const { return m_follow; }
    bool zoomed() const { return m_zoomed; }
    double cursor() const { return m_cursor; }  ///< NaN when the mouse is elsewhere
    session::XAxis axis() const { return m_axis; }

    /// New data: moves the view only while following or not zoomed.
    void setDataRange(double lo, double hi);
    /// The person's choice. Ranges that are no range are ignored.
    void setRange(double lo, double hi);
    /// Keeps the width and stays at the newest data.
    void setFollow(bool on);
    /// Everything again.
    void reset();
    void setCursor(double x);
    /// Changes what x means and shows everything.
    void setAxis(session::XAxis axis, double lo, double hi);

Q_SIGNALS:
    void rangeChanged();
    void dataChanged();       ///< new points, same view
    void followChanged(bool on);
    void cursorChanged();
    void axisChanged();

private:
    void moveTo(double lo, double width, bool grows);

    double m_ahead = 1;        ///< steps that the right edge runs ahead while it would move too often
    QElapsedTimer m_sinceMove;
    QTimer m_calm;             ///< since it moved last: then no room is kept ahead
    double m_lo = 0, m_hi = 1, m_dataLo = 0, m_dataHi = 1;
    double m_cursor = std::numeric_limits<double>::quiet_NaN();
    bool m_follow = false, m_zoomed = false;
    session::XAxis m_axis = session::XAxis::Step;
};

}  // namespace lathe::charts
