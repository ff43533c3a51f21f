// Tables as all pages have them.
#pragma once

#include <QString>

#include <vector>

class QFrame;
class QHeaderView;
class QPainter;
class QStyleOptionViewItem;
class QTableView;
class QWidget;

namespace lathe::theme {

/// A table of rows of one height: one is marked at a time, nothing is edited, and Tab leaves it.
QTableView* rowTable(const char* objectName, const QString& accessibleName, int rowHeight);
/// These columns grow to the longest text among the rows in sight, so that no number is shortened; up to a limit, and none that
/// a person gave a width. They never shrink: nothing jumps while one scrolls. Call it once the table has its model.
void keepWhole(QTableView* table, std::vector<int> columns);
/// Where there is no room for all columns `shrinks` gets narrower, down to `least`, and then these hide, the first first, until
/// there is. Call it once the columns have their widths; `last`: what the one at the end, which stretches, needs.
void giveWay(QHeaderView* header, int last, int shrinks, int least, std::vector<int> order);
/// A card that a table or tree fills, but for its edge.
QFrame* tableCard(QWidget* content);
/// For delegates that paint a cell themselves: the ground of a row that is marked or under the mouse, and the line below it.
void paintRowGround(QPainter* painter, const QStyleOptionViewItem& option);

}  // namespace lathe::theme
