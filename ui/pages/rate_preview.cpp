#include "pages/rate_preview.h"

#include "base/number_text.h"
#include "session/qt_text.h"
#include "theme/theme.h"

#include <QLocale>
#include <QPainter>
#include <QPolygonF>

#include <cmath>

namespace lathe::pages {

RatePreview::RatePreview(QWidget* parent) : QWidget(parent) {
    setObjectName(QStringLiteral("ratePreview"));
    setAccessibleName(tr("Learning rate over the run"));
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
}

void RatePreview::setCurve(std::vector<models::SheetFacts::RatePoint> curve, qint64 from) {
    m_curve = std::move(curve);
    m_from = from;
    update();
}

void RatePreview::paintEvent(QPaintEvent*) {
    if (m_curve.size() < 2) return;
    const theme::Colors& c = theme::colors();
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setFont(theme::textFont(theme::TextRole::Caption));
    const QRectF plot(0.5, 16.5, width() - 1, height() - 36);
    double peak = 0;
    for (const auto& point : m_curve)
        for (const double rate : {point.before, point.after})
            if (rate > peak) peak = rate;
    const double last = double(m_curve.back().step);
    const auto place = [&](double step, double rate) { return QPointF(plot.left() + plot.width() * step / last, plot.bottom() - (peak > 0 ? rate / peak : 0) * plot.height()); };
    painter.setPen(c.muted);
    painter.drawText(QRectF(0, 0, width(), 14), Qt::AlignVCenter | Qt::AlignLeft, session::toQt(shortText(peak)));
    painter.drawText(QRectF(0, plot.bottom() + 3, width(), 15), Qt::AlignVCenter | Qt::AlignRight, tr("%1 updates").arg(QLocale().toString(qint64(last) + 1)));
    painter.setPen(QPen(c.borderStrong, 1));
    painter.drawLine(plot.bottomLeft(), plot.bottomRight());
    QPolygonF before, after;
    for (const auto& point : m_curve) {
        if (!std::isnan(point.before)) before << place(double(point.step), point.before);
        if (point.step >= m_from && !std::isnan(point.after)) after << place(double(point.step), point.after);
    }
    painter.setPen(QPen(c.muted, 1.25, Qt::DashLine, Qt::FlatCap, Qt::RoundJoin));
    painter.drawPolyline(before);
    painter.setPen(QPen(c.borderStrong, 1));
    const double x = place(double(m_from), 0).x();
    painter.drawLine(QPointF(x, plot.top()), QPointF(x, plot.bottom()));
    painter.setPen(QPen(theme::curveColor(0), 1.75, Qt::SolidLine, Qt::RoundCap, Qt::RoundJoin));
    painter.drawPolyline(after);
}

}  // namespace lathe::pages
