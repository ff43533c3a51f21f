#include "charts/histogram_view.h"

#include "charts/fonts.h"

#include <QHelpEvent>
#include <QPainter>
#include <QToolTip>

#include <algorithm>
#include <cmath>

namespace lathe::charts {

namespace {

constexpr double kLeft = 64, kTop = 10, kRight = 22, kBottom = 24;
constexpr double kMostEdge = 1e300;  // so that no width overflows

double drawnEdge(double edge) { return std::clamp(edge, -kMostEdge, kMostEdge); }
/// What cannot be drawn as an amount counts as none.
double amount(double count) { return std::isfinite(count) && count > 0 ? count : 0; }

AxisMap widened(double lo, double hi) {
    if (lo < hi) return {lo, hi, false};
    const double around = lo == 0 ? 0.5 : std::abs(lo) * 0.05;
    return {lo - around, lo + around, false};
}

void paintFrame(QPainter& painter, const QRectF& plot, const AxisMap& vertical, const Palette& palette) {
    painter.setFont(captionFont());
    for (const Tick& tick : ticks(vertical, plot.height(), 44)) {
        const double y = plot.bottom() - vertical.unit(tick.value) * plot.height();
        painter.setPen(palette.grid);
        painter.drawLine(QPointF(plot.left(), y), QPointF(plot.right(), y));
        painter.setPen(palette.muted);
        painter.drawText(QRectF(0, y - 8, kLeft - 8, 16), Qt::AlignRight | Qt::AlignVCenter, tick.text);
    }
}

}  // namespace

AxisMap countedRange(const store::HistogramContent& histogram) {
    std::size_t first = histogram.counts.size(), last = 0;
    for (std::size_t i = 0; i < histogram.counts.size(); ++i) {
        if (amount(histogram.counts[i]) <= 0) continue;
        first = std::min(first, i);
        last = i;
    }
    if (histogram.counts.empty()) return {};
    if (first == histogram.counts.size()) return widened(drawnEdge(histogram.edges.front()), drawnEdge(histogram.edges.back()));
    return widened(drawnEdge(histogram.edges[first]), drawnEdge(histogram.edges[last + 1]));
}

HistogramView::HistogramView(QWidget* parent) : QWidget(parent) { setAccessibleName(tr("Histogram")); }

void HistogramView::setHistogram(store::HistogramContent histogram) {
    m_histogram = std::move(histogram);
    m_values = countedRange(m_histogram);
    double sum = 0;
    m_most = 0;
    for (const double count : m_histogram.counts) {
        m_most = std::max(m_most, amount(count));
        sum += amount(count);
    }
    if (m_most <= 0) m_most = 1;
    setAccessibleDescription(m_histogram.counts.empty() ? QString()
                                                        : tr("%n bin(s), %1 values from %2 to %3", nullptr, int(m_histogram.counts.size()))
                                                              .arg(shortNumber(sum), shortNumber(m_values.lo), shortNumber(m_values.hi)));
    update();
}

void HistogramView::setColors(const Palette& palette) {
    m_palette = &palette;
    update();
}

QRectF HistogramView::plot() const { return QRectF(rect()).adjusted(kLeft, kTop, -kRight, -kBottom); }
double HistogramView::xOf(double value) const { return plot().left() + m_values.unit(drawnEdge(value)) * plot().width(); }

void HistogramView::paintEvent(QPaintEvent*) {
    if (m_histogram.counts.empty()) return;
    QPainter painter(this);
    const QRectF area = plot();
    paintFrame(painter, area, {0, m_most * 1.05, false}, *m_palette);
    painter.setPen(m_palette->muted);
    for (const Tick& tick : ticks(m_values, area.width(), 90)) {
        const double wide = painter.fontMetrics().horizontalAdvance(tick.text) + 2;
        const double left = std::min(xOf(tick.value) - wide / 2, width() - wide - 2);
        painter.drawText(QRectF(left, area.bottom() + 5, wide, 16), Qt::AlignHCenter | Qt::AlignTop, tick.text);
    }
    paintBars(painter);
    painter.setPen(m_palette->border);
    painter.drawLine(area.bottomLeft(), area.bottomRight());
}

void HistogramView::paintBars(QPainter& painter) const {
    const QRectF area = plot();
    const double ratio = devicePixelRatioF();
    // Bins finer than a device pixel share it: the largest of them shows.
    std::vector<double> finest(std::size_t(std::max(0.0, area.width() * ratio)) + 1, 0);
    const double most = m_most * 1.05;
    for (std::size_t i = 0; i < m_histogram.counts.size(); ++i) {
        const double count = amount(m_histogram.counts[i]);
        if (count <= 0) continue;
        const double left = std::max(area.left(), xOf(m_histogram.edges[i])), right = std::min(area.right(), xOf(m_histogram.edges[i + 1]));
        const double tall = std::max(1 / ratio, count / most * area.height());
        if ((right - left) * ratio < 2) {
            double& column = finest[std::size_t(std::clamp((left - area.left()) * ratio, 0.0, double(finest.size() - 1)))];
            column = std::max(column, tall);
            continue;
        }
        const double gap = right - left > 4 ? 1 : 0;
        painter.fillRect(QRectF(left, area.bottom() - tall, right - left - gap, tall), m_palette->curve(0));
    }
    for (std::size_t x = 0; x < finest.size(); ++x)
        if (finest[x] > 0) painter.fillRect(QRectF(area.left() + double(x) / ratio, area.bottom() - finest[x], 1 / ratio, finest[x]), m_palette->curve(0));
}

int HistogramView::binAt(const QPointF& place) const {
    const QRectF area = plot();
    if (m_histogram.counts.empty() || !area.contains(place)) return -1;
    const double value = m_values.value((place.x() - area.left()) / area.width());
    const auto above = std::upper_bound(m_histogram.edges.begin(), m_histogram.edges.end(), value);
    const auto bin = std::distance(m_histogram.edges.begin(), above) - 1;
    return bin >= 0 && bin < std::ptrdiff_t(m_histogram.counts.size()) ? int(bin) : -1;
}

QString HistogramView::binText(int bin) const {
    const auto at = std::size_t(bin);
    return tr("%1 … %2: %3").arg(shortNumber(m_histogram.edges[at]), shortNumber(m_histogram.edges[at + 1]), shortNumber(m_histogram.counts[at]));
}

bool HistogramView::event(QEvent* event) {
    if (event->type() == QEvent::ToolTip) {
        const auto* help = static_cast<QHelpEvent*>(event);
        if (const int bin = binAt(help->pos()); bin >= 0) QToolTip::showText(help->globalPos(), binText(bin), this);
        else QToolTip::hideText();
        return true;
    }
    return QWidget::event(event);
}

HistogramStrip::HistogramStrip(QWidget* parent) : QWidget(parent) { setAccessibleName(tr("Histograms over the steps")); }

void HistogramStrip::setColumns(const std::vector<Column>& columns) {
    m_places.clear();
    m_shares.clear();
    m_picture = {};
    AxisMap all;
    for (const Column& column : columns) {
        const AxisMap one = countedRange(*column.histogram);
        all = &column == &columns.front() ? one : AxisMap{std::min(all.lo, one.lo), std::max(all.hi, one.hi), false};
    }
    m_values = all;
    for (const Column& column : columns) {
        m_places.push_back({column.place, column.step});
        std::vector<float> shares(kRows, 0);
        const auto& [edges, counts] = *column.histogram;
        const double most = std::max(1e-300, amount(*std::max_element(counts.begin(), counts.end(), [](double a, double b) { return amount(a) < amount(b); })));
        for (std::size_t i = 0; i < counts.size(); ++i) {
            if (amount(counts[i]) <= 0) continue;
            const int from = std::clamp(int(all.unit(drawnEdge(edges[i])) * kRows), 0, kRows - 1);
            const int to = std::clamp(int(std::ceil(all.unit(drawnEdge(edges[i + 1])) * kRows)), from + 1, kRows);
            for (int row = from; row < to; ++row) shares[std::size_t(row)] = std::max(shares[std::size_t(row)], float(counts[i] / most));
        }
        m_shares.push_back(std::move(shares));
    }
    if (!m_places.empty()) setAccessibleDescription(tr("%n histogram(s), steps %1 to %2", nullptr, int(m_places.size())).arg(groupedNumber(m_places.front().step), groupedNumber(m_places.back().step)));
    update();
}

void HistogramStrip::setMarked(std::size_t place) {
    if (place == m_marked) return;
    m_marked = place;
    update();
}

void HistogramStrip::setColors(const Palette& palette) {
    m_palette = &palette;
    m_picture = {};
    update();
}

QRectF HistogramStrip::plot() const { return QRectF(rect()).adjusted(kLeft, kTop, -kRight, -kBottom); }

int HistogramStrip::markedColumn() const {
    const auto after = std::upper_bound(m_places.begin(), m_places.end(), m_marked, [](std::size_t place, const Place& each) { return place < each.place; });
    return int(std::distance(m_places.begin(), after)) - 1;
}

QImage HistogramStrip::picture() const {
    if (!m_picture.isNull()) return m_picture;
    m_picture = QImage(columns(), kRows, QImage::Format_RGB32);
    QRgb colors[256];
    // The root shows thin tails; the eye would lose them.
    for (int i = 0; i < 256; ++i) colors[i] = mix(m_palette->surface, m_palette->curve(0), i == 0 ? 0.0 : 0.12 + 0.88 * std::sqrt(i / 255.0)).rgb();
    for (int row = 0; row < kRows; ++row) {
        auto* line = reinterpret_cast<QRgb*>(m_picture.scanLine(kRows - 1 - row));
        for (int column = 0; column < columns(); ++column) {
            const float share = m_shares[std::size_t(column)][std::size_t(row)];
            line[column] = colors[share > 0 ? std::clamp(int(std::lround(share * 255)), 1, 255) : 0];
        }
    }
    return m_picture;
}

void HistogramStrip::paintEvent(QPaintEvent*) {
    if (m_places.empty()) return;
    QPainter painter(this);
    const QRectF area = plot();
    painter.drawImage(area, picture());
    paintFrame(painter, area, m_values, *m_palette);
    painter.setPen(m_palette->muted);
    const QRectF below(area.left(), area.bottom() + 5, area.width(), 16);
    painter.drawText(below, Qt::AlignLeft | Qt::AlignTop, tr("step %1").arg(groupedNumber(m_places.front().step)));
    if (columns() > 1) painter.drawText(below, Qt::AlignRight | Qt::AlignTop, tr("step %1").arg(groupedNumber(m_places.back().step)));
    painter.setPen(m_palette->border);
    painter.drawRect(area);
    const double wide = area.width() / columns();
    if (const int marked = markedColumn(); marked >= 0) {
        painter.setPen(QPen(m_palette->warning, 1.5));
        const double x = area.left() + (marked + 0.5) * wide;
        if (wide > 6) painter.drawRect(QRectF(area.left() + marked * wide, area.top(), wide, area.height()));
        else painter.drawLine(QPointF(x, area.top()), QPointF(x, area.bottom()));
    }
}

void HistogramStrip::mousePressEvent(QMouseEvent* event) {
    const QRectF area = plot();
    if (m_places.empty() || event->button() != Qt::LeftButton || !area.contains(event->position())) return QWidget::mousePressEvent(event);
    const int column = std::clamp(int((event->position().x() - area.left()) / area.width() * columns()), 0, columns() - 1);
    Q_EMIT placeClicked(m_places[std::size_t(column)].place);
}

}  // namespace lathe::charts
