#include "theme/tables.h"

#include "theme/parts.h"

#include <QEvent>
#include <QHeaderView>
#include <QPainter>
#include <QScrollBar>
#include <QStyleOptionViewItem>
#include <QTableView>
#include <QTimer>
#include <QVBoxLayout>

#include <algorithm>

namespace lathe::theme {
namespace {

constexpr int kWidestNumber = 300;

/// Looks at the rows in sight once whatever happened is over, however much that was.
class WholeColumns final : public QObject {
public:
    WholeColumns(QTableView* table, std::vector<int> columns) : QObject(table), m_table(table), m_columns(std::move(columns)) {
        m_later.setSingleShot(true);
        connect(&m_later, &QTimer::timeout, this, [this] { fit(); });
        const auto later = [this] { m_later.start(0); };
        connect(table->model(), &QAbstractItemModel::modelReset, this, later);
        connect(table->model(), &QAbstractItemModel::rowsInserted, this, later);
        connect(table->model(), &QAbstractItemModel::dataChanged, this, later);
        connect(table->verticalScrollBar(), &QScrollBar::valueChanged, this, later);
        connect(table->verticalScrollBar(), &QScrollBar::rangeChanged, this, later);
        connect(table->horizontalHeader(), &QHeaderView::sectionResized, this, [this](int column) {
            if (!m_fitting) std::erase(m_columns, column);
        });
        later();
    }

private:
    void fit() {
        const int first = std::max(0, m_table->rowAt(0)), bottom = m_table->rowAt(m_table->viewport()->height() - 1);
        const int last = bottom < 0 ? m_table->model()->rowCount() - 1 : bottom;
        m_fitting = true;
        for (const int column : m_columns) {
            int width = m_table->columnWidth(column);
            for (int row = first; row <= last; ++row) width = std::max(width, std::min(kWidestNumber, m_table->sizeHintForIndex(m_table->model()->index(row, column)).width()));
            if (width != m_table->columnWidth(column)) m_table->setColumnWidth(column, width);
        }
        m_fitting = false;
    }

    QTableView* m_table;
    std::vector<int> m_columns;
    QTimer m_later;
    bool m_fitting = false;
};

class YieldingColumns final : public QObject {
public:
    YieldingColumns(QHeaderView* header, int last, int shrinks, int least, std::vector<int> order)
        : QObject(header), m_header(header), m_shrinks(shrinks), m_least(least), m_order(std::move(order)) {
        for (int column = 0; column < header->count(); ++column) m_wanted.push_back(header->sectionSize(column));
        m_wanted.back() = last;
        m_later.setSingleShot(true);
        connect(&m_later, &QTimer::timeout, this, [this] { fit(); });
        connect(header, &QHeaderView::sectionResized, this, [this](int column, int, int size) {
            if (m_fitting || size == 0 || column == stretched()) return;
            m_wanted[std::size_t(column)] = size;
            m_later.start(0);
        });
        header->installEventFilter(this);
    }

    bool eventFilter(QObject*, QEvent* event) override {
        if (event->type() == QEvent::Resize) m_later.start(0);
        return false;
    }

private:
    int stretched() const {
        int column = m_header->count() - 1;
        while (column > 0 && m_header->isSectionHidden(column)) --column;
        return column;
    }
    void fit() {
        int needed = m_least - m_wanted[std::size_t(m_shrinks)];
        for (const int width : m_wanted) needed += width;
        const int room = m_header->viewport()->width();
        m_fitting = true;
        for (const int column : m_order) {
            const bool hides = needed > room;
            if (hides) needed -= m_wanted[std::size_t(column)];
            if (m_header->isSectionHidden(column) != hides) m_header->setSectionHidden(column, hides);
        }
        const int width = std::min(m_wanted[std::size_t(m_shrinks)], m_least + std::max(0, room - needed));
        if (m_header->sectionSize(m_shrinks) != width) m_header->resizeSection(m_shrinks, width);
        m_fitting = false;
    }

    QHeaderView* m_header;
    std::vector<int> m_wanted;   ///< width of each column where there is room
    int m_shrinks, m_least;
    std::vector<int> m_order;
    QTimer m_later;
    bool m_fitting = false;
};

}  // namespace

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

void keepWhole(QTableView* table, std::vector<int> columns) { new WholeColumns(table, std::move(columns)); }

void giveWay(QHeaderView* header, int last, int shrinks, int least, std::vector<int> order) { new YieldingColumns(header, last, shrinks, least, std::move(order)); }

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
