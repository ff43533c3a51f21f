#include "pages/picture_view.h"

#include "theme/theme.h"

#include <QPainter>

#include <algorithm>
#include <cmath>

namespace lathe::pages {

namespace {
constexpr int kCaption = 26, kMargin = 14;
constexpr double kMostScale = 24;  // beyond it nothing more is to be seen
}  // namespace

PictureView::PictureView(QWidget* parent) : QWidget(parent) { setAccessibleName(tr("Picture")); }

void PictureView::setPicture(const QImage& picture) {
    m_picture = picture;
    m_scaled = {};
    setAccessibleDescription(tr("%1 × %2 pixels").arg(picture.width()).arg(picture.height()));
    update();
}

QRectF PictureView::target() const {
    if (m_picture.isNull()) return {};
    const double ratio = devicePixelRatioF();
    const double wide = std::max(1, width() - 2 * kMargin) * ratio, tall = std::max(1, height() - kCaption - kMargin) * ratio;
    double scale = std::min(wide / m_picture.width(), tall / m_picture.height());
    if (scale > 1) scale = std::min(kMostScale * ratio, std::floor(scale));
    const QSizeF size(std::max(1.0, std::round(m_picture.width() * scale)), std::max(1.0, std::round(m_picture.height() * scale)));
    // On whole device pixels, else crisp edges blur.
    return {QPointF(std::floor(kMargin * ratio + (wide - size.width()) / 2) / ratio, std::floor(kMargin * ratio + (tall - size.height()) / 2) / ratio), size / ratio};
}

void PictureView::paintEvent(QPaintEvent*) {
    if (m_picture.isNull()) return;
    const theme::Colors& c = theme::colors();
    QPainter painter(this);
    const QRectF place = target();
    const QSize pixels = (place.size() * devicePixelRatioF()).toSize();
    const bool shrinks = pixels.width() < m_picture.width();
    if (shrinks && m_scaled.size() != pixels) m_scaled = m_picture.scaled(pixels, Qt::IgnoreAspectRatio, Qt::SmoothTransformation);
    if (m_picture.hasAlphaChannel()) painter.fillRect(place, c.track);
    painter.drawImage(place, shrinks ? m_scaled : m_picture);
    painter.setPen(c.border);
    painter.drawRect(place.adjusted(-0.5, -0.5, 0.5, 0.5));
    painter.setPen(c.muted);
    painter.setFont(theme::textFont(theme::TextRole::Caption));
    const double scale = place.width() / m_picture.width();
    const QString size = tr("%1 × %2 pixels").arg(m_picture.width()).arg(m_picture.height());
    const QString shown = scale > 1 ? tr("%1, shown %2 times as large").arg(size, QString::number(scale, 'g', 3)) : shrinks ? tr("%1, shown at %2 %").arg(size).arg(std::max(1, qRound(scale * 100))) : size;
    painter.drawText(QRectF(0, height() - kCaption, width(), kCaption), Qt::AlignCenter, shown);
}

}  // namespace lathe::pages
