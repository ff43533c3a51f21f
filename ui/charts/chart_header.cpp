#include "charts/chart_header.h"

#include "charts/fonts.h"

#include <QFontMetricsF>
#include <QMouseEvent>
#include <QPainter>

#include <algorithm>
#include <cmath>

namespace lathe::charts {

namespace {

constexpr double kMargin = 12, kLine = 20, kTop = 6, kSwatch = 9, kGap = 14;
constexpr int kMostLines = 2;

QFont titleFont() { return chartFont(13, QFont::DemiBold); }
QFont nameFont() { return captionFont(); }
QFont valueFont() { return chartFont(11, QFont::DemiBold); }

}  // namespace

ChartHeader::ChartHeader(QWidget* parent) : QWidget(parent) {
    setObjectName(QStringLiteral("chartHeader"));
    setMouseTracking(true);
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
}

void ChartHeader::setTitle(const QString& title, const QString& unit) {
    m_title = title;
    m_unit = unit;
    layOut();
}

void ChartHeader::setColors(const Palette& palette) {
    m_palette = &palette;
    update();
}

void ChartHeader::setLegend(std::vector<Entry> entries) {
    m_legend = std::move(entries);
    layOut();
}

void ChartHeader::setReadOut(const QString& place, std::vector<Entry> entries) {
    if (m_place.isEmpty() && place.isEmpty()) return;
    m_place = place;
    m_readOut = std::move(entries);
    update();
}

QString ChartHeader::readOutText() const {
    QString text = m_place;
    for (const Entry& entry : m_readOut) text += QStringLiteral(" · ") + entry.name + QLatin1Char(' ') + entry.value;
    return text;
}

QSize ChartHeader::sizeHint() const { return {200, int(kTop + kLine * std::max(m_lines, m_leastLines) + 2)}; }

void ChartHeader::setLeastLines(int lines) {
    if (lines == m_leastLines) return;
    m_leastLines = lines;
    updateGeometry();
}

double ChartHeader::titleWidth() const {
    const QString unit = m_unit.isEmpty() ? QString() : QStringLiteral("  ") + m_unit;
    return QFontMetricsF(titleFont()).horizontalAdvance(m_title) + QFontMetricsF(nameFont()).horizontalAdvance(unit);
}

double ChartHeader::widthOf(const Entry& entry) const {
    const double value = entry.value.isEmpty() ? 0 : 5 + QFontMetricsF(valueFont()).horizontalAdvance(entry.value);
    return kSwatch + 5 + QFontMetricsF(nameFont()).horizontalAdvance(entry.name) + value;
}

int ChartHeader::flow(const std::vector<Entry>& entries, double from, std::vector<QRectF>& places) const {
    places.clear();
    double x = from;
    int line = 0;
    for (const Entry& entry : entries) {
        const double wanted = widthOf(entry);
        if (x > kMargin && x + wanted > width() - kMargin) {
            ++line;
            x = kMargin;
        }
        places.emplace_back(x, kTop + kLine * line, std::min(wanted, width() - kMargin - x), kLine);
        x += wanted + kGap;
    }
    return line + 1;
}

void ChartHeader::layOut() {
    const int lines = std::min(kMostLines, flow(m_legend, kMargin + titleWidth() + 18, m_legendPlaces));
    // One line at once: right-aligned, as far from the title as can be.
    if (lines == 1 && !m_legendPlaces.empty())
        for (const double shift = width() - kMargin - m_legendPlaces.back().right(); QRectF& place : m_legendPlaces) place.translate(std::max(0.0, shift), 0);
    if (lines != m_lines) {
        m_lines = lines;
        updateGeometry();
        Q_EMIT legendLinesChanged();
    }
    update();
}

void ChartHeader::resizeEvent(QResizeEvent*) { layOut(); }

void ChartHeader::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(m_palette->text);
    painter.setFont(titleFont());
    painter.drawText(QRectF(kMargin, kTop, width(), kLine), Qt::AlignVCenter, m_title);
    const double afterTitle = kMargin + QFontMetricsF(titleFont()).horizontalAdvance(m_title);
    painter.setPen(m_palette->faint);
    painter.setFont(nameFont());
    painter.drawText(QRectF(afterTitle, kTop, width(), kLine), Qt::AlignVCenter, m_unit.isEmpty() ? QString() : QStringLiteral("  ") + m_unit);

    const bool reading = !m_place.isEmpty();
    double from = kMargin + titleWidth() + 18;
    if (reading) {
        painter.setPen(m_palette->muted);
        painter.drawText(QRectF(from, kTop, width(), kLine), Qt::AlignVCenter, m_place);
        from += QFontMetricsF(nameFont()).horizontalAdvance(m_place) + kGap;
    }
    std::vector<QRectF> places = m_legendPlaces;
    const std::vector<Entry>& entries = reading ? m_readOut : m_legend;
    if (reading) flow(entries, from, places);
    for (std::size_t i = 0; i < entries.size() && places[i].bottom() <= height() + 1; ++i) paintEntry(painter, entries[i], places[i]);
}

void ChartHeader::paintEntry(QPainter& painter, const Entry& entry, const QRectF& place) const {
    painter.setPen(Qt::NoPen);
    painter.setBrush(mix(m_palette->surface, entry.color, entry.visible ? 1 : 0.35));
    painter.drawRoundedRect(QRectF(place.left(), place.center().y() - 2, kSwatch, 4), 2, 2);
    painter.setPen(mix(m_palette->surface, m_palette->muted, entry.visible ? 1 : 0.6));
    painter.setFont(nameFont());
    const QFontMetricsF metrics(nameFont());
    const QString name = metrics.elidedText(entry.name, Qt::ElideRight, place.width() - kSwatch - 5 + 1);
    painter.drawText(QRectF(place.left() + kSwatch + 5, place.top(), place.width(), kLine), Qt::AlignVCenter, name);
    if (entry.value.isEmpty()) return;
    painter.setPen(m_palette->text);
    painter.setFont(valueFont());
    painter.drawText(QRectF(place.left() + kSwatch + 10 + metrics.horizontalAdvance(entry.name), place.top(), place.width(), kLine), Qt::AlignVCenter, entry.value);
}

int ChartHeader::entryAt(QPointF position) const {
    if (!m_place.isEmpty()) return -1;
    for (std::size_t i = 0; i < m_legendPlaces.size(); ++i)
        if (m_legendPlaces[i].adjusted(-4, 0, 4, 0).contains(position)) return int(i);
    return -1;
}

void ChartHeader::mousePressEvent(QMouseEvent* event) {
    const int entry = event->button() == Qt::LeftButton ? entryAt(event->position()) : -1;
    if (entry >= 0) Q_EMIT entryClicked(entry);
    else event->ignore();
}

void ChartHeader::mouseMoveEvent(QMouseEvent* event) {
    setCursor(entryAt(event->position()) >= 0 ? Qt::PointingHandCursor : Qt::ArrowCursor);
    event->ignore();
}

}  // namespace lathe::charts
