// How a row of the Runs table looks: tick box and star, pill, progress, sparkline, tags. Only visible cells are painted.
#pragma once

#include <QStyledItemDelegate>

namespace lathe::pages {

class RunsDelegate : public QStyledItemDelegate {
    Q_OBJECT

public:
    using QStyledItemDelegate::QStyledItemDelegate;
    void paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const override;
    QSize sizeHint(const QStyleOptionViewItem& option, const QModelIndex& index) const override;
    bool editorEvent(QEvent* event, QAbstractItemModel* model, const QStyleOptionViewItem& option, const QModelIndex& index) override;

    static QRect tickBox(const QRect& cell);
};

}  // namespace lathe::pages
