#include "pages/schedule_preview.h"

#include "base/number_text.h"
#include "session/qt_text.h"
#include "theme/theme.h"

#include <QLocale>
#include <QPainter>
#include <QPolygonF>

#include <algorithm>

namespace lathe::pages {

SchedulePreview::SchedulePreview(QWidget* parent) : QWidget(parent) {
    setObjectName(QStringLiteral("schedulePreview"));
    setAccessibleName(tr("Learning rate over the run"));
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
}

void SchedulePreview::setSchedule(const config::ScheduleSection& schedule, double peak, std::int64_t updates, bool updatesKnown) {
    m_factors.clear();
    m_peak = peak;
    m_updates = updates;
    m_updatesKnown = updatesKnown;
    setAccessibleDescription(tr("%1, peak %2, %3 warm-up updates").arg(session::toQt(schedule.name), session::toQt(shortText(peak))).arg(schedule.warmupUpdates));
    update();
}

std::vector<std::int64_t> SchedulePreview::steps() const {
    constexpr std::int64_t kMost = 400;
    const std::int64_t last = std::max<std::int64_t>(1, m_updates - 1), points = std::min(last, kMost);
    std::vector<std::int64_t> all;
    for (std::int64_t i = 0; i <= points; ++i) all.push_back(last * i / points);
    return all;
}

void SchedulePreview::setFactors(std::vector<double> factors) {
    m_factors = std::move(factors);
    update();
}

void SchedulePreview::paintEvent(QPaintEvent*) {
    const theme::Colors& c = theme::colors();
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setFont(theme::textFont(theme::TextRole::Caption));
    const QRectF plot(0.5, 16.5, width() - 1, height() - 36);
    painter.setPen(c.muted);
    painter.drawText(QRectF(0, 0, width(), 14), Qt::AlignVCenter | Qt::AlignLeft, session::toQt(shortText(m_peak)));
    painter.drawText(QRectF(0, plot.bottom() + 3, width(), 15), Qt::AlignVCenter | Qt::AlignLeft, QStringLiteral("0"));
    const QString end = m_updatesKnown ? tr("%1 updates").arg(QLocale().toString(qint64(m_updates))) : tr("end of the run");
    painter.drawText(QRectF(0, plot.bottom() + 3, width(), 15), Qt::AlignVCenter | Qt::AlignRight, end);
    painter.setPen(QPen(c.grid, 1));
    painter.drawLine(plot.topLeft(), plot.topRight());
    painter.setPen(QPen(c.borderStrong, 1));
    painter.drawLine(plot.bottomLeft(), plot.bottomRight());

    const std::vector<std::int64_t> at = steps();
    QPolygonF line;
    for (std::size_t i = 0; i < m_factors.size() && i < at.size(); ++i)
        line << QPointF(plot.left() + plot.width() * double(at[i]) / double(at.back()), plot.bottom() - m_factors[i] * plot.height());
    painter.setPen(QPen(theme::curveColor(0), 1.75, Qt::SolidLine, Qt::RoundCap, Qt::RoundJoin));
    painter.drawPolyline(line);
}

}  // namespace lathe::pages
