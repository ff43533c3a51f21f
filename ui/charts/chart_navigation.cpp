#include "charts/chart_navigation.h"

#include "charts/line_chart.h"

#include <QKeyEvent>
#include <QMouseEvent>
#include <QWheelEvent>

#include <cmath>
#include <limits>

namespace lathe::charts {

namespace {
constexpr double kFlatBox = 24;      // pixels: lower boxes zoom along x only
constexpr double kSmallestBox = 5;
constexpr double kClickSlop = 4;
constexpr double kWheelFactor = 0.8;
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
}  // namespace

ChartNavigation::ChartNavigation(LineChart* chart, ChartLink* link) : QObject(chart), m_chart(chart), m_link(link) {
    chart->canvas()->installEventFilter(this);
    chart->canvas()->setCursor(Qt::CrossCursor);
}

double ChartNavigation::xAt(double pixel) const {
    const QRectF area = m_chart->plotArea();
    return m_link->lo() + (pixel - area.left()) / area.width() * (m_link->hi() - m_link->lo());
}

double ChartNavigation::yAt(double pixel) const {
    const QRectF area = m_chart->plotArea();
    return m_chart->yAxis().value((area.bottom() - pixel) / area.height());
}

bool ChartNavigation::eventFilter(QObject* watched, QEvent* event) {
    switch (event->type()) {
    case QEvent::MouseButtonPress: press(static_cast<QMouseEvent*>(event)); return true;
    case QEvent::MouseMove: move(static_cast<QMouseEvent*>(event)); return true;
    case QEvent::MouseButtonRelease: release(static_cast<QMouseEvent*>(event)); return true;
    case QEvent::MouseButtonDblClick: showAll(); return true;
    case QEvent::Wheel: wheel(static_cast<QWheelEvent*>(event)); return true;
    case QEvent::Leave: m_link->setCursor(kNaN); return false;
    default: return QObject::eventFilter(watched, event);
    }
}

void ChartNavigation::press(QMouseEvent* event) {
    m_chart->setFocus(Qt::MouseFocusReason);
    m_drag = Drag::None;
    m_press = m_last = event->position();
    if (!m_chart->plotArea().contains(event->position())) return;
    const bool withKey = event->modifiers() & (Qt::ShiftModifier | Qt::ControlModifier);
    if (event->button() == Qt::MiddleButton || (event->button() == Qt::LeftButton && withKey)) m_drag = Drag::Pan;
    else if (event->button() == Qt::LeftButton) m_drag = Drag::Box;
    if (m_drag == Drag::Pan) m_chart->canvas()->setCursor(Qt::ClosedHandCursor);
}

void ChartNavigation::move(QMouseEvent* event) {
    const QPointF position = event->position();
    const QRectF area = m_chart->plotArea();
    if (area.isEmpty()) return;
    if (m_drag == Drag::Pan) {
        pan((m_last.x() - position.x()) / area.width());
        m_last = position;
        return;
    }
    if (m_drag == Drag::Box) {
        QRectF box = QRectF(m_press, position).normalized().intersected(area);
        if (box.height() < kFlatBox) box = QRectF(box.left(), area.top(), box.width(), area.height());
        m_box = box.width() > kSmallestBox ? box : QRectF();
        Q_EMIT boxChanged(m_box);
    }
    m_link->setCursor(area.contains(position) ? xAt(position.x()) : kNaN);
}

void ChartNavigation::release(QMouseEvent* event) {
    const QRectF box = m_box;
    const Drag drag = m_drag;
    m_box = {};
    m_drag = Drag::None;
    m_chart->canvas()->setCursor(Qt::CrossCursor);
    Q_EMIT boxChanged(m_box);
    if (drag == Drag::Box && !box.isEmpty()) {
        const double x0 = xAt(box.left()), x1 = xAt(box.right()), y0 = yAt(box.bottom()), y1 = yAt(box.top());
        if (box.height() < m_chart->plotArea().height() - 1) m_chart->setYRange(y0, y1);
        m_link->setRange(x0, x1);
    } else if (event->button() == Qt::LeftButton && (event->position() - m_press).manhattanLength() <= kClickSlop) {
        Q_EMIT clicked(event->position());
    }
}

void ChartNavigation::wheel(QWheelEvent* event) {
    event->accept();
    const double notches = (event->angleDelta().y() != 0 ? event->angleDelta().y() : event->angleDelta().x()) / 120.0;
    if (notches == 0) return;
    if (event->modifiers() & Qt::ShiftModifier) pan(-0.1 * notches);
    else zoom(xAt(event->position().x()), std::pow(kWheelFactor, notches));
}

void ChartNavigation::showAll() {
    m_chart->resetY();
    m_link->reset();
}

void ChartNavigation::zoom(double around, double factor) {
    m_link->setRange(around - (around - m_link->lo()) * factor, around + (m_link->hi() - around) * factor);
}

void ChartNavigation::pan(double distance) {
    const double shift = distance * (m_link->hi() - m_link->lo());
    m_link->setRange(m_link->lo() + shift, m_link->hi() + shift);
}

bool ChartNavigation::key(QKeyEvent* event) {
    const double middle = (m_link->lo() + m_link->hi()) / 2;
    switch (event->key()) {
    case Qt::Key_Left: pan(-0.1); return true;
    case Qt::Key_Right: pan(0.1); return true;
    case Qt::Key_Plus:
    case Qt::Key_Equal: zoom(middle, kWheelFactor); return true;
    case Qt::Key_Minus: zoom(middle, 1 / kWheelFactor); return true;
    case Qt::Key_Home:
    case Qt::Key_0: showAll(); return true;
    case Qt::Key_L: m_chart->setLogY(!m_chart->logY()); return true;
    case Qt::Key_F: m_link->setFollow(!m_link->follow()); return true;
    default: break;
    }
    const int curve = event->key() - Qt::Key_1;  // 1 … 9 hide and show a curve
    if (curve < 0 || curve > 8 || curve >= int(m_chart->curves().size())) return false;
    m_chart->setCurveVisible(curve, !m_chart->curves()[std::size_t(curve)].visible);
    return true;
}

}  // namespace lathe::charts
