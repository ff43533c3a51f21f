#include "pages/data_pictures.h"

#include "session/qt_text.h"
#include "theme/theme.h"

#include <QHelpEvent>
#include <QLocale>
#include <QPainter>
#include <QPainterPath>
#include <QToolTip>

#include <algorithm>

namespace lathe::pages {
namespace {

constexpr int kPictureSide = 56, kGap = 8, kRowHeight = 18;

using session::toQt;

}  // namespace

SampleStrip::SampleStrip(QWidget* parent) : QWidget(parent) {
    setObjectName(QStringLiteral("dataSamples"));
    setAccessibleName(tr("Samples"));
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
}

void SampleStrip::setSamples(const std::vector<dataset::Thumbnail>& samples) {
    m_samples.clear();
    QStringList answers;
    for (const dataset::Thumbnail& sample : samples) {
        Sample shown{{}, toQt(sample.where), toQt(sample.answer), toQt(sample.text)};
        if (sample.width > 0 && sample.rgb.size() == std::size_t(sample.width) * std::size_t(sample.height) * 3)
            shown.picture = QImage(sample.rgb.data(), sample.width, sample.height, 3 * sample.width, QImage::Format_RGB888).copy();
        answers << shown.answer;
        m_samples.push_back(std::move(shown));
    }
    setAccessibleDescription(tr("%n sample(s): %1", nullptr, int(samples.size())).arg(answers.join(QStringLiteral(", "))));
    setVisible(!m_samples.empty());
    updateGeometry();
    update();
}

QSize SampleStrip::sizeHint() const {
    const int rows = int(std::min<std::size_t>(m_samples.size(), 5));
    return pictures() ? QSize(9 * (kPictureSide + kGap), kPictureSide + 18) : QSize(400, rows * kRowHeight);
}

int SampleStrip::side() const { return std::clamp((width() + kGap) / 9 - kGap, 24, kPictureSide); }

QRect SampleStrip::cell(int index) const {
    if (!pictures()) return {0, index * kRowHeight, width(), kRowHeight};
    return {index * (side() + kGap), 0, side(), side()};
}

void SampleStrip::paintEvent(QPaintEvent*) {
    const theme::Colors& c = theme::colors();
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    for (int i = 0; i < int(m_samples.size()); ++i) {
        const Sample& sample = m_samples[std::size_t(i)];
        const QRect box = cell(i);
        if (box.right() > width() || box.bottom() > height()) break;
        painter.setFont(theme::textFont(theme::TextRole::Caption));
        if (sample.picture.isNull()) {
            painter.setPen(c.muted);
            const QString line = sample.text.isEmpty() ? sample.answer : sample.text + QStringLiteral("  →  ") + sample.answer;
            painter.drawText(box, Qt::AlignVCenter, painter.fontMetrics().elidedText(line, Qt::ElideRight, box.width()));
            continue;
        }
        QPainterPath clip;
        clip.addRoundedRect(box, 4, 4);
        painter.save();
        painter.setClipPath(clip);
        painter.fillRect(box, c.track);
        // Small pictures are shown in whole pixels, large ones smoothly.
        painter.setRenderHint(QPainter::SmoothPixmapTransform, sample.picture.width() > box.width() / 2);
        const QSize size = sample.picture.size().scaled(box.size(), Qt::KeepAspectRatioByExpanding);
        QRect target(QPoint(), size);
        target.moveCenter(box.center());
        painter.drawImage(target, sample.picture);
        painter.restore();
        painter.setPen(QPen(c.border, 1));
        painter.drawPath(clip);
        painter.setPen(c.muted);
        painter.drawText(QRect(box.left() - kGap / 2, box.bottom() + 2, box.width() + kGap, 16), Qt::AlignCenter,
                         painter.fontMetrics().elidedText(sample.answer, Qt::ElideRight, box.width() + kGap - 2));
    }
}

bool SampleStrip::event(QEvent* event) {
    if (event->type() == QEvent::ToolTip) {
        const auto* help = static_cast<QHelpEvent*>(event);
        for (int i = 0; i < int(m_samples.size()); ++i)
            if (cell(i).contains(help->pos())) QToolTip::showText(help->globalPos(), m_samples[std::size_t(i)].where.toHtmlEscaped(), this);
        return true;
    }
    return QWidget::event(event);
}

ClassBalance::ClassBalance(QWidget* parent) : QWidget(parent) {
    setObjectName(QStringLiteral("classBalance"));
    setAccessibleName(tr("Class balance"));
    setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Fixed);
}

void ClassBalance::setClasses(const dataset::Info& info) {
    m_classes.clear();
    m_largest = 0;
    QStringList texts;
    for (std::size_t i = 0; i < info.classNames.size() && i < info.classCounts.size(); ++i) {
        m_classes.emplace_back(toQt(info.classNames[i]), info.classCounts[i]);
        m_largest = std::max<qint64>(m_largest, info.classCounts[i]);
        if (i < 50) texts << tr("%1: %2").arg(m_classes.back().first).arg(info.classCounts[i]);
    }
    setAccessibleDescription(texts.join(QStringLiteral(", ")));
    setVisible(!m_classes.empty());
    update();
}

double ClassBalance::barWidth() const { return std::min(34.0, double(width()) / double(std::max<std::size_t>(1, m_classes.size()))); }

void ClassBalance::paintEvent(QPaintEvent*) {
    const theme::Colors& c = theme::colors();
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setFont(theme::textFont(theme::TextRole::Caption));
    const double step = barWidth();
    const bool named = step >= 20;
    const QRectF plot(0, 14, width(), height() - 14 - (named ? 16 : 2));
    painter.setPen(c.muted);
    painter.drawText(QRectF(0, 0, width(), 14), Qt::AlignVCenter, tr("Samples per class, most %1").arg(QLocale().toString(m_largest)));
    for (std::size_t i = 0; i < m_classes.size(); ++i) {
        const double fill = m_largest > 0 ? double(m_classes[i].second) / double(m_largest) : 0;
        const double tall = std::max(1.0, fill * (plot.height() - 4));
        const double gap = step > 4 ? std::min(4.0, step / 4) : 0;
        painter.setPen(Qt::NoPen);
        painter.setBrush(theme::curveColor(0));
        painter.drawRoundedRect(QRectF(double(i) * step, plot.bottom() - tall, step - gap, tall), gap > 2 ? 2 : 0, gap > 2 ? 2 : 0);
        if (!named) continue;
        painter.setPen(c.muted);
        const QString name = painter.fontMetrics().elidedText(m_classes[i].first, Qt::ElideRight, int(step - 2));
        painter.drawText(QRectF(double(i) * step, plot.bottom() + 1, step - gap, 15), Qt::AlignCenter, name);
    }
}

bool ClassBalance::event(QEvent* event) {
    if (event->type() == QEvent::ToolTip) {
        const auto* help = static_cast<QHelpEvent*>(event);
        const auto index = std::size_t(std::max(0.0, help->pos().x() / barWidth()));
        if (index < m_classes.size())
            QToolTip::showText(help->globalPos(), tr("%1: %n sample(s)", nullptr, int(m_classes[index].second)).arg(m_classes[index].first.toHtmlEscaped()), this);
        return true;
    }
    return QWidget::event(event);
}

}  // namespace lathe::pages
