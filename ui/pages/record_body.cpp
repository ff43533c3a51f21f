#include "pages/record_body.h"

#include "base/number_text.h"
#include "pages/picture_view.h"
#include "session/qt_text.h"
#include "theme/parts.h"
#include "theme/tables.h"

#include <QClipboard>
#include <QEvent>
#include <QGuiApplication>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QPainter>
#include <QPlainTextEdit>
#include <QScrollBar>
#include <QStyledItemDelegate>
#include <QTableView>
#include <QVBoxLayout>

#include <algorithm>
#include <cmath>

namespace lathe::pages {
namespace {

using models::RecordTableModel;
using session::toQt;

constexpr qsizetype kLongestLine = 2000;  // laying out a longer one takes seconds
constexpr int kWidestColumn = 460, kMatrixColumn = 52, kWidestText = 860;

/// Shades the numbers of a matrix by their part of the row: what is right in one colour, what is mistaken in another.
class TableDelegate final : public QStyledItemDelegate {
public:
    using QStyledItemDelegate::QStyledItemDelegate;

    void paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const override {
        const QVariant share = index.data(RecordTableModel::ShareRole);
        if (share.isValid() && !(option.state & QStyle::State_Selected)) {
            const theme::Colors& c = theme::colors();
            const bool right = index.data(RecordTableModel::DiagonalRole).toBool();
            // Mistakes are few where a model is any good: the root makes them visible.
            const double part = std::clamp(share.toDouble(), 0.0, 1.0), strength = right ? part : std::sqrt(part);
            QColor shade = right ? c.accent : c.warning;
            shade.setAlphaF(float(strength * (c.dark ? 0.5 : 0.38)));
            painter->fillRect(option.rect, shade);
        }
        QStyledItemDelegate::paint(painter, option, index);
    }
};

/// Line breaks put into lines that have none for too long.
QString broken(const QString& text) {
    QString out;
    qsizetype begin = 0;
    while (begin < text.size()) {
        const qsizetype end = text.indexOf(QLatin1Char('\n'), begin);
        const qsizetype length = (end < 0 ? text.size() : end + 1) - begin;
        if (length > kLongestLine + 1) {
            out += QStringView(text).mid(begin, kLongestLine);
            out += QLatin1Char('\n');
            begin += kLongestLine;
        } else {
            out += QStringView(text).mid(begin, length);
            begin += length;
        }
    }
    return out;
}

}  // namespace

RecordBody::RecordBody(QWidget* parent) : QStackedWidget(parent) {
    addWidget(m_nothing = new QWidget);
    m_problem = theme::label({}, theme::TextRole::Body, "muted");
    m_problem->setObjectName(QStringLiteral("recordProblem"));
    m_problem->setAlignment(Qt::AlignCenter);
    m_problem->setWordWrap(true);
    m_problem->setTextInteractionFlags(Qt::TextSelectableByMouse);
    m_problem->setContentsMargins(40, 20, 40, 20);
    addWidget(m_problem);
    m_text = new QPlainTextEdit;
    m_text->setObjectName(QStringLiteral("recordText"));
    m_text->setAccessibleName(tr("Text"));
    m_text->setReadOnly(true);
    m_text->setTabChangesFocus(true);
    m_text->setFrameShape(QFrame::NoFrame);
    m_text->setStyleSheet(QStringLiteral("QPlainTextEdit { border: none; background: transparent; padding: 6px 12px; }"));
    m_text->setMaximumWidth(kWidestText);  // longer lines are hard to read
    m_textPage = new QWidget;
    auto* textRow = new QHBoxLayout(m_textPage);
    textRow->setContentsMargins(4, 0, 0, 0);
    textRow->addWidget(m_text, 1000);
    textRow->addStretch(1);
    addWidget(m_textPage);
    addWidget(buildTable());
    addWidget(m_histogramPage = buildHistogram());
    m_picture = new PictureView;
    m_picture->setObjectName(QStringLiteral("recordPicture"));
    addWidget(m_picture);
    applyPalette();
}

QWidget* RecordBody::buildTable() {
    m_table = theme::rowTable("recordTable", tr("Table"), 28);
    m_table->setSelectionBehavior(QAbstractItemView::SelectItems);
    m_table->setSelectionMode(QAbstractItemView::ExtendedSelection);
    m_table->setModel(&m_tableModel);
    m_table->setItemDelegate(new TableDelegate(m_table));
    m_table->setHorizontalScrollMode(QAbstractItemView::ScrollPerPixel);
    m_table->horizontalHeader()->setMinimumSectionSize(30);
    return m_table;
}

QWidget* RecordBody::buildHistogram() {
    auto* page = new QWidget;
    auto* column = new QVBoxLayout(page);
    column->setContentsMargins(0, 4, 0, 4);
    column->setSpacing(2);
    m_histogram = new charts::HistogramView;
    m_histogram->setObjectName(QStringLiteral("recordHistogram"));
    m_strip = new charts::HistogramStrip;
    m_strip->setObjectName(QStringLiteral("recordStrip"));
    column->addWidget(m_histogram, 3);
    QLabel* caption = theme::label(tr("Over the steps: a column each, stronger where more values lie"), theme::TextRole::Caption, "muted");
    caption->setContentsMargins(64, 6, 0, 0);
    column->addWidget(caption);
    column->addWidget(m_strip, 2);
    connect(m_strip, &charts::HistogramStrip::placeClicked, this, &RecordBody::placeWanted);
    return page;
}

void RecordBody::showNothing() { setCurrentWidget(m_nothing); }

void RecordBody::showRecord(const session::ShownRecord& record, const QString& name) {
    const bool same = record.key == m_shownKey;
    m_shownKey = record.key;
    if (!record.problem.isEmpty()) {
        m_problem->setText(record.problem);
        setCurrentWidget(m_problem);
        return;
    }
    switch (record.key.type) {
    case live::FrameType::Histogram:
        m_counts = record.histogram;
        m_histogram->setHistogram(record.histogram);
        m_histogram->setAccessibleName(tr("Histogram of %1").arg(name));
        setCurrentWidget(m_histogramPage);
        break;
    case live::FrameType::Image:
        m_picture->setPicture(record.image);
        m_picture->setAccessibleName(tr("Picture %1").arg(name));
        setCurrentWidget(m_picture);
        break;
    case live::FrameType::Text: {
        const int scrolled = same ? m_text->verticalScrollBar()->value() : 0;
        m_whole = record.text;
        m_text->setPlainText(broken(record.text));
        m_text->verticalScrollBar()->setValue(scrolled);
        setCurrentWidget(m_textPage);
        break;
    }
    default:
        m_tableModel.setTable(record.table);
        if (!same) fitColumns();
        setCurrentWidget(m_table);
        break;
    }
}

void RecordBody::fitColumns() {
    m_table->resizeColumnsToContents();
    const int first = m_tableModel.isMatrix() ? kMatrixColumn : 0;
    for (int i = 0; i < m_tableModel.columnCount(); ++i) m_table->setColumnWidth(i, std::clamp(m_table->columnWidth(i) + 8, first, kWidestColumn));
    m_table->scrollToTop();
}

void RecordBody::setStrip(const session::RunRecords& records) {
    std::vector<charts::HistogramStrip::Column> columns;
    for (const auto& column : records.columns()) columns.push_back({column.place, records.places()[column.place].step, column.histogram});
    m_strip->setColumns(columns);
}

bool RecordBody::canCopy() const { return currentWidget() != m_nothing && currentWidget() != m_problem; }

QString RecordBody::histogramText() const {
    QStringList lines{QStringList{tr("From"), tr("To"), tr("Count")}.join(QLatin1Char('\t'))};
    for (std::size_t i = 0; i < m_counts.counts.size(); ++i)
        lines << toQt(exactText(m_counts.edges[i]) + "\t" + exactText(m_counts.edges[i + 1]) + "\t" + exactText(m_counts.counts[i]));
    return lines.join(QLatin1Char('\n'));
}

void RecordBody::copy() const {
    QClipboard* clipboard = QGuiApplication::clipboard();
    if (currentWidget() == m_textPage) clipboard->setText(m_whole);
    else if (currentWidget() == m_table) clipboard->setText(m_tableModel.text());
    else if (currentWidget() == m_histogramPage) clipboard->setText(histogramText());
    else if (currentWidget() == m_picture) clipboard->setImage(m_picture->picture());
}

void RecordBody::applyPalette() {
    const charts::Palette& palette = charts::Palette::of(theme::colors().dark);
    m_histogram->setColors(palette);
    m_strip->setColors(palette);
}

void RecordBody::changeEvent(QEvent* event) {
    QStackedWidget::changeEvent(event);
    if (event->type() == QEvent::StyleChange && m_strip != nullptr) applyPalette();
}

}  // namespace lathe::pages
