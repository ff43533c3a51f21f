#include "charts/line_chart.h"

#include "charts/chart_frame.h"
#include "charts/chart_header.h"
#include "charts/chart_navigation.h"
#include "charts/cursor_item.h"
#include "charts/curve_item.h"
#include "charts/fonts.h"
#include "charts/growth.h"
#include "charts/read_out.h"
#include "charts/y_range.h"

#include <QElapsedTimer>
#include <QGraphicsSimpleTextItem>
#include <QGraphicsTextItem>
#include <QGraphicsView>
#include <QKeyEvent>
#include <QPainter>
#include <QResizeEvent>
#include <QTextDocument>
#include <QTextOption>
#include <QTimer>
#include <QVBoxLayout>

#include <algorithm>
#include <cmath>

namespace lathe::charts {

namespace {

constexpr int kLeft = 58, kTop = 18, kRight = 14, kBottom = 24;
constexpr int kTickGap = 8;   // between the text of a tick and the plot, and left of it
constexpr double kPixelsPerXTick = 90, kPixelsPerYTick = 38;
constexpr qint64 kRefitMs = 400, kNoteMs = 250;

/// What was painted last: equal means there is nothing to do.
struct Painted {
    AxisMap x, y;
    std::size_t points = 0;
    int version = -1;
    QRectF area;
    bool markClipped = false;
    bool operator==(const Painted&) const = default;
};

}  // namespace

struct LineChart::Impl {
    Impl(LineChart* chart, ChartLink* chartLink, const QString& chartTitle);

    void layOut();
    bool makeRoom(const QRectF& area);
    void refresh();
    void fit(bool changed);
    void applyAxes(const Painted& now);
    void showLegend();
    void showCursor();
    void showNote();
    void click(QPointF position);
    void describe();
    std::size_t pointsNow() const;

    LineChart* q;
    ChartLink* link;
    QString title, unit;
    ChartHeader* header;
    ChartFrame frame;
    Scene scene;
    CurveItem* curves;
    CursorItem* cursor;
    QGraphicsSimpleTextItem* note;
    QGraphicsTextItem* placeholder;   ///< a sentence: it wraps
    QTimer noteTimer, laterTimer;
    QElapsedTimer sinceFit;
    Growth growth;
    Painted painted;
    int version = 0;
    int margin = kLeft;       ///< left of the plot
    bool fixedY = false, ignoreOutliers = false, someClipped = false, keyboardFocus = false;
};

LineChart::Impl::Impl(LineChart* chart, ChartLink* chartLink, const QString& chartTitle)
    : q(chart), link(chartLink), title(chartTitle), header(new ChartHeader(chart)), frame(chart), curves(new CurveItem(frame.item(), &scene)),
      cursor(new CursorItem(frame.item())), note(new QGraphicsSimpleTextItem(frame.item())), placeholder(new QGraphicsTextItem(frame.item())) {
    curves->setZValue(5);
    cursor->setZValue(20);
    note->setFont(captionFont());
    note->setZValue(10);
    placeholder->setFont(captionFont());
    placeholder->setZValue(10);
    placeholder->setObjectName(QStringLiteral("placeholder"));
    QTextOption centred(Qt::AlignHCenter);
    centred.setWrapMode(QTextOption::WrapAtWordBoundaryOrAnywhere);
    placeholder->document()->setDefaultTextOption(centred);
    noteTimer.setSingleShot(true);
    laterTimer.setSingleShot(true);
    auto* column = new QVBoxLayout(chart);
    column->setContentsMargins(2, 2, 2, 5);  // the rounded corners of the card stay free
    column->setSpacing(0);
    column->addWidget(header);
    column->addWidget(frame.view(), 1);
    header->setTitle(title, {});
    sinceFit.start();
}

LineChart::LineChart(const QString& title, ChartLink* link, QWidget* parent) : QWidget(parent), m_impl(std::make_unique<Impl>(this, link, title)) {
    Impl& d = *m_impl;
    setFocusPolicy(Qt::StrongFocus);
    setMinimumSize(240, 150);
    setAccessibleName(title);
    auto* navigation = new ChartNavigation(this, link);
    canvas()->installEventFilter(this);
    connect(navigation, &ChartNavigation::boxChanged, this, [&d](const QRectF& box) { d.cursor->setBox(box); });
    connect(navigation, &ChartNavigation::clicked, this, [&d](QPointF position) { d.click(position); });
    connect(d.header, &ChartHeader::entryClicked, this, [this](int index) { setCurveVisible(index, !curves()[std::size_t(index)].visible); });
    connect(d.header, &ChartHeader::legendLinesChanged, this, &LineChart::legendLinesChanged);
    connect(link, &ChartLink::rangeChanged, this, &LineChart::refresh);
    connect(link, &ChartLink::dataChanged, this, &LineChart::refresh);
    connect(link, &ChartLink::axisChanged, this, [&d] { ++d.version; });
    connect(link, &ChartLink::cursorChanged, this, [&d] { d.showCursor(); });
    connect(&d.noteTimer, &QTimer::timeout, this, [&d] { d.showNote(); });
    connect(&d.laterTimer, &QTimer::timeout, this, &LineChart::refresh);
    m_navigation = navigation;
    setColors(Palette::light());
}

LineChart::~LineChart() = default;

void LineChart::setCurves(std::vector<Curve> curves) {
    for (Curve& curve : curves)
        for (const Curve& old : m_impl->scene.curves)
            if (old.name == curve.name) curve.visible = old.visible;
    m_impl->scene.curves = std::move(curves);
    ++m_impl->version;
    m_impl->showLegend();
    refresh();
}

const std::vector<Curve>& LineChart::curves() const { return m_impl->scene.curves; }

void LineChart::setCurveVisible(int index, bool visible) {
    if (index < 0 || std::size_t(index) >= m_impl->scene.curves.size()) return;
    Curve& curve = m_impl->scene.curves[std::size_t(index)];
    if (curve.visible == visible) return;
    curve.visible = visible;
    ++m_impl->version;
    m_impl->showLegend();
    refresh();
    Q_EMIT curveVisibilityChanged(curve.name, visible);
}

void LineChart::setEvents(std::vector<ChartEvent> events) {
    m_impl->scene.events = std::move(events);
    ++m_impl->version;
    refresh();
}

void LineChart::setColors(const Palette& palette) {
    Impl& d = *m_impl;
    d.scene.palette = &palette;
    d.frame.setColors(palette);
    d.header->setColors(palette);
    d.cursor->setColors(palette);
    d.note->setBrush(palette.muted);
    d.placeholder->setDefaultTextColor(palette.muted);
    ++d.version;
    update();
    refresh();
}

void LineChart::setTitle(const QString& title) {
    if (m_impl->title == title) return;
    m_impl->title = title;
    m_impl->header->setTitle(title, m_impl->unit);
    setAccessibleName(title);
}

void LineChart::setUnit(const QString& unit) {
    if (m_impl->unit == unit) return;
    m_impl->unit = unit;
    m_impl->header->setTitle(m_impl->title, unit);
}

void LineChart::setPlaceholder(const QString& text) {
    if (m_impl->placeholder->toPlainText() == text) return;
    m_impl->placeholder->setPlainText(text);
    ++m_impl->version;
    refresh();
}

QString LineChart::placeholder() const { return m_impl->pointsNow() ? QString() : m_impl->placeholder->toPlainText(); }

void LineChart::setLogY(bool on) {
    if (m_impl->scene.y.log == on) return;
    m_impl->scene.y = on ? AxisMap{1, 10, true} : AxisMap{0, 1, false};
    m_impl->fixedY = false;
    ++m_impl->version;
    refresh();
}

bool LineChart::logY() const { return m_impl->scene.y.log; }

void LineChart::setIgnoreOutliers(bool on) {
    if (m_impl->ignoreOutliers == on) return;
    m_impl->ignoreOutliers = on;
    resetY();
}

bool LineChart::ignoreOutliers() const { return m_impl->ignoreOutliers; }

void LineChart::setYRange(double lo, double hi) {
    const bool log = m_impl->scene.y.log;
    if (!std::isfinite(lo) || !std::isfinite(hi) || !(hi > lo) || (log && lo <= 0)) return;
    if (hi - lo <= 1e-9 * std::max(std::abs(lo), std::abs(hi))) return;  // finer than the numbers are
    m_impl->fixedY = true;
    m_impl->scene.y = {lo, hi, log};
    refresh();
}

void LineChart::resetY() {
    m_impl->fixedY = false;
    ++m_impl->version;
    refresh();
}

const AxisMap& LineChart::yAxis() const { return m_impl->scene.y; }
QRectF LineChart::plotArea() const { return m_impl->curves->area(); }
QWidget* LineChart::canvas() const { return m_impl->frame.view()->viewport(); }
QString LineChart::readOut() const { return m_impl->header->readOutText(); }
int LineChart::legendLines() const { return m_impl->header->legendLines(); }
void LineChart::setLeastLegendLines(int lines) { m_impl->header->setLeastLines(lines); }
int LineChart::paints() const { return m_impl->curves->renders(); }
int LineChart::strips() const { return m_impl->curves->strips(); }
std::size_t LineChart::shownPoints() const { return m_impl->curves->isPending() ? 0 : m_impl->painted.points; }

QString LineChart::note() const {
    m_impl->showNote();
    return m_impl->note->text();
}

void LineChart::refresh() { m_impl->refresh(); }

void LineChart::showEvent(QShowEvent* event) {
    QWidget::showEvent(event);
    m_impl->layOut();
}

bool LineChart::eventFilter(QObject* watched, QEvent* event) {
    if (watched == canvas() && event->type() == QEvent::Resize) m_impl->layOut();
    return QWidget::eventFilter(watched, event);
}

void LineChart::keyPressEvent(QKeyEvent* event) {
    if (!m_navigation->key(event)) QWidget::keyPressEvent(event);
}

void LineChart::focusInEvent(QFocusEvent* event) {
    m_impl->keyboardFocus = event->reason() != Qt::MouseFocusReason && event->reason() != Qt::ActiveWindowFocusReason;
    update();
    QWidget::focusInEvent(event);
}

void LineChart::focusOutEvent(QFocusEvent* event) {
    m_impl->keyboardFocus = false;
    update();
    QWidget::focusOutEvent(event);
}

void LineChart::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(QPen(m_impl->keyboardFocus ? m_impl->scene.palette->accent : m_impl->scene.palette->border, 1));
    painter.setBrush(m_impl->scene.palette->surface);
    painter.drawRoundedRect(QRectF(rect()).adjusted(0.5, 0.5, -0.5, -0.5), 6, 6);
}

// ---- Impl

void LineChart::Impl::layOut() {
    const QSizeF size = frame.view()->viewport()->size();
    const QRectF area(margin, kTop, size.width() - margin - kRight, size.height() - kTop - kBottom);
    if (area.width() < 20 || area.height() < 20) return;
    frame.layOut(size, area);
    curves->setArea(area);
    cursor->setArea(area);
    refresh();
}

/// Texts of the y axis are whole: those of a short range far from zero are long. True: it was laid out and painted anew.
bool LineChart::Impl::makeRoom(const QRectF& area) {
    if (scene.y == painted.y && area == painted.area) return false;
    const QFontMetricsF metrics(captionFont());
    double widest = 0;
    for (const Tick& tick : ticks(scene.y, area.height(), kPixelsPerYTick)) widest = std::max(widest, metrics.horizontalAdvance(tick.text));
    const int wanted = std::max(kLeft, int(std::ceil(widest)) + kTickGap);
    if (wanted == margin) return false;
    margin = wanted;
    layOut();
    return true;
}

std::size_t LineChart::Impl::pointsNow() const {
    std::size_t points = 0;
    for (const Curve& curve : scene.curves)
        for (const CurvePiece& piece : curve.pieces) points += std::min(piece.piece.end, piece.piece.series->size());
    return points;
}

void LineChart::Impl::refresh() {
    // Hidden pages cost nothing; showEvent catches up.
    if (!q->isVisible() || q->window()->isMinimized() || curves->area().isEmpty()) return;
    const Painted now{{link->lo(), link->hi(), false}, scene.y, pointsNow(), version, curves->area(), scene.markClipped};
    if (now == painted) return;
    const bool onlyPoints = now.x == painted.x && now.y == painted.y && now.version == painted.version && now.area == painted.area;
    if (const qint64 wait = onlyPoints ? growth.canWait(scene, now.area.size()) : 0; wait > 0) {
        painted.points = now.points;
        if (!laterTimer.isActive()) laterTimer.start(int(wait));
        return;
    }
    growth.painted(scene);
    scene.x = now.x;
    scene.axis = link->axis();
    for (const Curve& curve : scene.curves)
        for (const CurvePiece& piece : curve.pieces)
            if (piece.smoothing) piece.smoothing->update();
    if (!fixedY) fit(!onlyPoints);
    scene.markClipped = someClipped || fixedY;
    if (makeRoom(now.area)) return;
    applyAxes(now);
    placeholder->setVisible(now.points == 0);
    placeholder->setTextWidth(now.area.width());
    placeholder->setPos(now.area.center() - placeholder->boundingRect().center());
    if (onlyPoints && scene.y == painted.y && scene.markClipped == painted.markClipped) curves->grow();
    else curves->invalidate();
    painted = {scene.x, scene.y, now.points, version, now.area, scene.markClipped};
    showCursor();
    if (!onlyPoints) showNote();
    else if (!noteTimer.isActive()) noteTimer.start(int(kNoteMs));
}

void LineChart::Impl::fit(bool changed) {
    if (!changed && sinceFit.elapsed() < kRefitMs) {
        // New points only: the range has to change at once where they leave it.
        const bool left = std::any_of(scene.curves.begin(), scene.curves.end(), [&](const Curve& curve) {
            if (!curve.visible || curve.pieces.empty()) return false;
            const session::Series& series = *curve.pieces.back().piece.series;
            const session::Extent recent = series.extent(series.size() - std::min<std::size_t>(series.size(), 64), series.size());
            return recent.hasFinite() && (double(recent.max) > scene.y.hi || double(recent.min) < scene.y.lo);
        });
        if (!left || ignoreOutliers) return;
    }
    sinceFit.restart();
    const YFit found = fitY(scene, scene.y.log, ignoreOutliers);
    someClipped = found.clipped > 0;
    scene.y = changed ? found.axis : calm(found.axis, scene.y);
}

void LineChart::Impl::applyAxes(const Painted& now) {
    const bool moved = now.area != painted.area || version != painted.version;
    frame.setAxesVisible(now.points > 0);   // numbers on axes that nothing was measured on would say something
    if (moved || scene.x != painted.x)
        frame.setX(scene.x, link->axis() == session::XAxis::Step ? ticks(scene.x, now.area.width(), kPixelsPerXTick)
                                                                  : timeTicks(scene.x, now.area.width(), kPixelsPerXTick));
    if (moved || scene.y != painted.y) frame.setY(scene.y, ticks(scene.y, now.area.height(), kPixelsPerYTick));
}

void LineChart::Impl::showLegend() {
    std::vector<ChartHeader::Entry> entries;
    for (const Curve& curve : scene.curves) {
        const QColor color = curve.abandoned ? mix(curve.color, scene.palette->surface, 0.62) : curve.color;
        entries.push_back({curve.name, {}, color, curve.visible});
    }
    header->setLegend(std::move(entries));
    describe();
}

void LineChart::Impl::showCursor() {
    if (!q->isVisible()) return;
    const QRectF area = curves->area();
    const ReadOut found = readOutAt(scene, link->cursor(), 8 / std::max(1.0, area.width()) * (link->hi() - link->lo()));
    std::vector<ChartHeader::Entry> entries;
    std::vector<CursorItem::Dot> dots;
    for (const ReadOut::Value& value : found.values) {
        entries.push_back({value.name, value.text, value.color, true});
        const double share = std::isfinite(value.y) ? scene.y.unit(value.y) : -1;
        if (share >= 0 && share <= 1)
            dots.push_back({{area.left() + scene.x.unit(value.x) * area.width(), area.bottom() - share * area.height()}, value.color});
    }
    header->setReadOut(found.place, std::move(entries));
    cursor->show(area.left() + scene.x.unit(found.x) * area.width(), std::move(dots));
    if (!found.place.isEmpty()) describe();
}

void LineChart::Impl::showNote() {
    noteTimer.stop();
    const ViewCount count = countInView(scene);
    QString text = count.points == 1 ? LineChart::tr("1 point") : LineChart::tr("%1 points").arg(groupedNumber(qint64(count.points)));
    if (pointsNow() == 0) text.clear();
    if (count.nonFinite) text += QStringLiteral(" · ") + LineChart::tr("%1 NaN or infinite").arg(groupedNumber(qint64(count.nonFinite)));
    if (count.nonPositive) text += QStringLiteral(" · ") + LineChart::tr("%1 not shown (≤ 0)").arg(groupedNumber(qint64(count.nonPositive)));
    if (scene.y.log && count.points && count.points == count.nonPositive + count.nonFinite)
        text = LineChart::tr("No value above 0 to show on a logarithmic axis");
    if (someClipped && !fixedY) text += QStringLiteral(" · ") + LineChart::tr("outliers beyond the edge");
    if (text == note->text()) return;
    note->setText(text);
    const QRectF area = curves->area();
    note->setPos(area.right() - note->boundingRect().width(), area.top() - kTop + 1);
}

void LineChart::Impl::click(QPointF position) {
    const int hit = curves->eventAt(position);
    if (hit >= 0) Q_EMIT q->eventClicked(scene.events[std::size_t(hit)]);
}

void LineChart::Impl::describe() {
    QString text = header->readOutText();
    if (text.isEmpty()) {
        QStringList names;
        for (const Curve& curve : scene.curves) names += curve.visible ? curve.name : LineChart::tr("%1 (hidden)").arg(curve.name);
        text = LineChart::tr("Curves: %1").arg(names.join(QStringLiteral(", ")));
    }
    q->setAccessibleDescription(text);
}

}  // namespace lathe::charts
