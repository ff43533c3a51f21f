#include "theme/tables.h"

#include "theme/parts.h"

#include <QHeaderView>
#include <QPainter>
#include <QStyleOptionViewItem>
#include <QTableView>
#include <QVBoxLayout>

namespace lathe::theme {

QTableView* rowTable(const char* objectName, const QString& accessibleName, int rowHeight) {
    auto* table = new QTableView;
    table->setObjectName(QLatin1String(objectName));
    table->setAccessibleName(accessibleName);
    table->setShowGrid(false);
    table->setWordWrap(false);
    table->setSelectionBehavior(QAbstractItemView::SelectRows);
    table->setSelectionMode(QAbstractItemView::SingleSelection);
    table->setEditTriggers(QAbstractItemView::NoEditTriggers);
    table->setTabKeyNavigation(false);
    table->verticalHeader()->hide();
    table->verticalHeader()->setDefaultSectionSize(rowHeight);
    table->verticalHeader()->setSectionResizeMode(QHeaderView::Fixed);
    table->horizontalHeader()->setHighlightSections(false);
    return table;
}

QFrame* tableCard(QWidget* content) {
    QFrame* frame = card();
    auto* inner = new QVBoxLayout(frame);
    inner->setContentsMargins(1, 1, 1, 1);
    inner->addWidget(content);
    return frame;
}

void paintRowGround(QPainter* painter, const QStyleOptionViewItem& option) {
    const Colors& c = colors();
    if (option.state & QStyle::State_Selected) painter->fillRect(option.rect, c.selection);
    else if (option.state & QStyle::State_MouseOver) painter->fillRect(option.rect, c.hover);
    painter->setPen(c.border);
    painter->drawLine(option.rect.bottomLeft(), option.rect.bottomRight());
}

}  // namespace lathe::theme
