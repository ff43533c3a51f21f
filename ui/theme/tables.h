// Tables as all pages have them.
#pragma once

#include <QString>

class QFrame;
class QPainter;
class QStyleOptionViewItem;
class QTableView;
class QWidget;

namespace lathe::theme {

/// A table of rows of one height: one is marked at a time, nothing is edited, and Tab leaves it.
QTableView* rowTable(const char* objectName, const QString& accessibleName, int rowHeight);
/// A card that a table or tree fills, but for its edge.
QFrame* tableCard(QWidget* content);
/// For delegates that paint a cell themselves: the ground of a row that is marked or under the mouse, and the line below it.
void paintRowGround(QPainter* painter, const QStyleOptionViewItem& option);

}  // namespace lathe::theme
