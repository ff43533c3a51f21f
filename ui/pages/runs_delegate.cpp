#include "pages/runs_delegate.h"

#include "models/runs_model.h"
#include "pages/state_look.h"
#include "theme/parts.h"
#include "theme/tables.h"

#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QPolygonF>

#include <algorithm>
#include <cmath>

namespace lathe::pages {
namespace {

using models::RunsModel;

constexpr int kPadding = 11, kOtherTags = 22;

void paintTick(QPainter* painter, const QRect& box, bool on) {
    const theme::Colors& c = theme::colors();
    painter->setPen(QPen(on ? c.accent : c.borderStrong, 1));
    painter->setBrush(on ? c.accent : c.field);
    painter->drawRoundedRect(QRectF(box).adjusted(0.5, 0.5, -0.5, -0.5), 3, 3);
    if (on) theme::icon(theme::Icon::Check, theme::Tone::OnAccent).paint(painter, box.adjusted(1, 1, -1, -1));
}

void paintName(QPainter* painter, const QRect& cell, const QModelIndex& index) {
    const theme::Colors& c = theme::colors();
    const QRect box = RunsDelegate::tickBox(cell);
    paintTick(painter, box, index.data(Qt::CheckStateRole).toInt() == Qt::Checked);
    QRect text = cell.adjusted(box.right() - cell.left() + 10, 0, -kPadding, 0);
    if (index.data(RunsModel::StarRole).toBool()) {
        theme::icon(theme::Icon::StarFilled, theme::Tone::Warning).paint(painter, QRect(text.right() - 13, text.center().y() - 6, 13, 13));
        text.adjust(0, 0, -18, 0);
    }
    QFont font = theme::textFont(theme::TextRole::Body);
    font.setWeight(QFont::Medium);
    painter->setFont(font);
    painter->setPen(index.data(RunsModel::ArchivedRole).toBool() ? c.muted : c.text);
    painter->drawText(text, Qt::AlignVCenter, painter->fontMetrics().elidedText(index.data().toString(), Qt::ElideMiddle, text.width()));
}

void paintProgress(QPainter* painter, const QRect& cell, const QModelIndex& index) {
    const theme::Colors& c = theme::colors();
    const double fraction = index.data(RunsModel::FractionRole).toDouble();
    const QRect text = cell.adjusted(kPadding, 0, -kPadding, fraction >= 0 ? -6 : 0);
    painter->setFont(theme::textFont(theme::TextRole::Body));
    painter->setPen(c.text);
    painter->drawText(text, Qt::AlignVCenter | Qt::AlignRight, painter->fontMetrics().elidedText(index.data().toString(), Qt::ElideRight, text.width()));
    if (fraction < 0) return;
    const QRectF bar(cell.right() - kPadding - 76, cell.bottom() - 8, 76, 3);
    painter->setPen(Qt::NoPen);
    painter->setBrush(c.track);
    painter->drawRoundedRect(bar, 1.5, 1.5);
    painter->setBrush(theme::toneColor(stateTone(rundir::State(index.data(RunsModel::StateRole).toInt()), session::Snag(index.data(RunsModel::SnagRole).toInt()))));
    painter->drawRoundedRect(QRectF(bar.topLeft(), QSizeF(bar.width() * std::min(1.0, fraction), 3)), 1.5, 1.5);
}

void paintSparkline(QPainter* painter, const QRect& cell, const QModelIndex& index) {
    const auto points = index.data(RunsModel::SparklineRole).value<QVector<QPointF>>();
    double low = INFINITY, high = -INFINITY;
    for (const QPointF& point : points)
        if (std::isfinite(point.y())) {
            low = std::min(low, point.y());
            high = std::max(high, point.y());
        }
    if (points.size() < 2 || low > high) return;
    const bool alive = index.data(RunsModel::AliveRole).toBool();
    const QRectF area = QRectF(cell).adjusted(kPadding, 8, -kPadding, -8);
    const double x0 = points.front().x(), width = std::max(1e-9, points.back().x() - x0), height = std::max(1e-12, high - low);
    QPolygonF line;
    QList<QPointF> bad;
    for (const QPointF& point : points) {
        const double x = area.left() + (point.x() - x0) / width * area.width();
        if (std::isfinite(point.y())) line << QPointF(x, area.bottom() - (point.y() - low) / height * area.height());
        else bad << QPointF(x, area.bottom());
    }
    painter->setPen(QPen(alive ? theme::colors().accent : theme::colors().muted, 1.4, Qt::SolidLine, Qt::RoundCap, Qt::RoundJoin));
    painter->setBrush(Qt::NoBrush);
    painter->drawPolyline(line);
    painter->setPen(Qt::NoPen);
    painter->setBrush(theme::colors().danger);
    for (const QPointF& at : bad) painter->drawPolygon(QPolygonF({at + QPointF(-3.5, 0), at + QPointF(3.5, 0), at + QPointF(0, -6)}));
}

void paintTags(QPainter* painter, const QRect& cell, const QString& text) {
    const theme::Colors& c = theme::colors();
    painter->setFont(theme::textFont(theme::TextRole::Caption));
    int x = cell.left() + kPadding;
    const QStringList tags = text.split(QStringLiteral(", "), Qt::SkipEmptyParts);
    for (qsizetype i = 0; i < tags.size(); ++i) {
        const QString& tag = tags[i];
        const int width = painter->fontMetrics().horizontalAdvance(tag) + 12, others = i + 1 < tags.size() ? kOtherTags : 0;
        if (x + width + others > cell.right()) {
            painter->setPen(c.muted);
            painter->drawText(QRect(x, cell.center().y() - 9, kOtherTags, 19), Qt::AlignVCenter, QStringLiteral("+%1").arg(tags.size() - i));
            break;
        }
        painter->setPen(QPen(c.borderStrong, 1));
        painter->setBrush(Qt::NoBrush);
        painter->drawRoundedRect(QRectF(x + 0.5, cell.center().y() - 8.5, width, 18), 4, 4);
        painter->setPen(c.muted);
        painter->drawText(QRect(x, cell.center().y() - 9, width, 19), Qt::AlignCenter, tag);
        x += width + 5;
    }
}

void paintText(QPainter* painter, const QRect& cell, const QModelIndex& index) {
    const bool main = index.column() == RunsModel::Metric;
    painter->setFont(theme::textFont(theme::TextRole::Body));
    painter->setPen(main ? theme::colors().text : theme::colors().muted);
    const QVariant alignment = index.data(Qt::TextAlignmentRole);
    const QRect box = cell.adjusted(kPadding, 0, -kPadding, 0);
    painter->drawText(box, alignment.isValid() ? alignment.toInt() : int(Qt::AlignLeft | Qt::AlignVCenter),
                      painter->fontMetrics().elidedText(index.data().toString(), Qt::ElideRight, box.width()));
}

}  // namespace

QRect RunsDelegate::tickBox(const QRect& cell) { return {cell.left() + kPadding, cell.center().y() - 7, 15, 15}; }

void RunsDelegate::paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const {
    painter->save();
    theme::paintRowGround(painter, option);
    painter->setRenderHint(QPainter::Antialiasing);
    painter->setClipRect(option.rect);
    switch (index.column()) {
    case RunsModel::Name: paintName(painter, option.rect, index); break;
    case RunsModel::State: {
        const auto state = rundir::State(index.data(RunsModel::StateRole).toInt());
        const auto snag = session::Snag(index.data(RunsModel::SnagRole).toInt());
        const int place = index.data(RunsModel::PlaceRole).toInt();
        const QString word = place > 0 && state == rundir::State::Queued ? stateWord(state) + QStringLiteral(" · %1").arg(place) : stateWord(state, snag);
        theme::Pill::paint(painter, QRectF(option.rect).adjusted(kPadding, 0, 0, -1), word, theme::toneColor(stateTone(state, snag)));
        break;
    }
    case RunsModel::Progress: paintProgress(painter, option.rect, index); break;
    case RunsModel::Sparkline: paintSparkline(painter, option.rect, index); break;
    case RunsModel::Tags: paintTags(painter, option.rect, index.data().toString()); break;
    default: paintText(painter, option.rect, index);
    }
    painter->restore();
}

QSize RunsDelegate::sizeHint(const QStyleOptionViewItem& option, const QModelIndex& index) const {
    const int text = QFontMetrics(theme::textFont(theme::TextRole::Body)).horizontalAdvance(index.data().toString());
    return {text + 2 * kPadding + 1, QStyledItemDelegate::sizeHint(option, index).height()};
}

bool RunsDelegate::editorEvent(QEvent* event, QAbstractItemModel* model, const QStyleOptionViewItem& option, const QModelIndex& index) {
    if (index.column() != RunsModel::Name) return false;
    const auto toggle = [&] {
        const bool on = index.data(Qt::CheckStateRole).toInt() == Qt::Checked;
        return model->setData(index, on ? Qt::Unchecked : Qt::Checked, Qt::CheckStateRole);
    };
    if (event->type() == QEvent::MouseButtonRelease) {
        const auto* mouse = static_cast<QMouseEvent*>(event);
        // The whole left end of the row counts: a tick box of 15 pixels is a small target.
        if (mouse->button() == Qt::LeftButton && mouse->position().x() < tickBox(option.rect).right() + 8) return toggle();
    }
    if (event->type() == QEvent::KeyPress && static_cast<QKeyEvent*>(event)->key() == Qt::Key_Space) return toggle();
    return false;
}

}  // namespace lathe::pages
