#include "pages/compare_page.h"

#include "charts/compare_chart.h"
#include "pages/state_look.h"
#include "session/qt_text.h"
#include "theme/parts.h"
#include "theme/plain_tip.h"
#include "theme/tables.h"

#include <QEvent>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QLocale>
#include <QPainter>
#include <QScrollArea>
#include <QSlider>
#include <QSplitter>
#include <QStackedLayout>
#include <QStyledItemDelegate>
#include <QTableView>
#include <QVBoxLayout>

#include <algorithm>
#include <cmath>

namespace lathe::pages {
namespace {

using models::CompareModel;
using session::toQt;
using session::toStd;

constexpr int kListWidth = 262;

/// A short thick line in the colour of a run's curve.
class Swatch : public QWidget {
public:
    explicit Swatch(int index) : m_index(index) { setFixedSize(14, 18); }

protected:
    void paintEvent(QPaintEvent*) override {
        QPainter painter(this);
        painter.setRenderHint(QPainter::Antialiasing);
        painter.setPen(Qt::NoPen);
        painter.setBrush(theme::curveColor(m_index));
        painter.drawRoundedRect(QRectF(0, 7, 14, 4), 2, 2);
    }

private:
    int m_index;
};

/// The best value of a row stands out; what is compared is set apart from the values.
class CompareDelegate final : public QStyledItemDelegate {
public:
    using QStyledItemDelegate::QStyledItemDelegate;

protected:
    void initStyleOption(QStyleOptionViewItem* option, const QModelIndex& index) const override {
        QStyledItemDelegate::initStyleOption(option, index);
        option->displayAlignment = Qt::AlignLeft | Qt::AlignVCenter;
        if (index.column() == 0) {
            option->palette.setColor(QPalette::Text, theme::colors().muted);
        } else if (index.data(CompareModel::BestRole).toBool()) {
            option->font = theme::textFont(theme::TextRole::Strong);
            option->palette.setColor(QPalette::Text, theme::colors().success);
        }
    }
};

/// Long names of runs keep their beginning and end.
class NamesHeader final : public QHeaderView {
public:
    NamesHeader() : QHeaderView(Qt::Horizontal) {}

protected:
    void initStyleOptionForIndex(QStyleOptionHeader* option, int section) const override {
        QHeaderView::initStyleOptionForIndex(option, section);
        option->text = fontMetrics().elidedText(option->text, Qt::ElideMiddle, sectionSize(section) - 24);
    }
};

void clear(QVBoxLayout* list) {
    while (QLayoutItem* item = list->takeAt(0)) {
        delete item->widget();
        delete item;
    }
}

}  // namespace

ComparePage::ComparePage(Context context, QWidget* parent) : QWidget(parent), m_context(context) {
    m_content = new QStackedLayout(this);
    QPushButton* choose = theme::button(tr("Choose runs"), theme::Icon::Runs, theme::ButtonKind::Primary);
    choose->setObjectName(QStringLiteral("chooseRuns"));
    connect(choose, &QPushButton::clicked, this, &ComparePage::chooseRuns);
    m_content->addWidget(new theme::EmptyState(theme::Icon::Compare, tr("Nothing to compare yet"), tr("Tick two or more runs in the table of runs and press Compare."), choose));
    auto* page = new QWidget;
    auto* column = theme::pageColumn(page);
    auto* split = new QSplitter(Qt::Vertical);
    split->setHandleWidth(12);
    split->setChildrenCollapsible(false);
    auto* top = new QWidget;
    auto* row = new QHBoxLayout(top);
    row->setContentsMargins(0, 0, 0, 0);
    row->setSpacing(12);
    row->addWidget(buildList());
    row->addWidget(buildChart(), 1);
    split->addWidget(top);
    split->addWidget(buildTable());
    split->setStretchFactor(0, 5);
    split->setStretchFactor(1, 4);
    column->addWidget(split, 1);
    m_content->addWidget(page);
    applyPalette();
    connect(&m_context.workspace, &session::Workspace::runsChanged, this, &ComparePage::fillList);
}

QWidget* ComparePage::buildList() {
    QFrame* card = theme::card();
    card->setFixedWidth(kListWidth);
    auto* column = new QVBoxLayout(card);
    column->setContentsMargins(14, 12, 8, 12);
    column->setSpacing(8);
    column->addWidget(theme::label(tr("Runs"), theme::TextRole::Strong));
    auto* scroll = new QScrollArea;
    scroll->setWidgetResizable(true);
    scroll->setFocusPolicy(Qt::NoFocus);
    scroll->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    auto* body = new QWidget;
    auto* inner = new QVBoxLayout(body);
    inner->setContentsMargins(0, 0, 6, 0);
    m_list = new QVBoxLayout;
    m_list->setSpacing(8);
    inner->addLayout(m_list);
    inner->addStretch();
    scroll->setWidget(body);
    body->setAutoFillBackground(false);
    scroll->viewport()->setAutoFillBackground(false);
    column->addWidget(scroll, 1);
    QToolButton* add = theme::flatButton(theme::Icon::Plus, tr("Choose runs…"));
    add->setObjectName(QStringLiteral("addRuns"));
    connect(add, &QToolButton::clicked, this, &ComparePage::chooseRuns);
    column->addWidget(add, 0, Qt::AlignLeft);
    return card;
}

QWidget* ComparePage::buildChart() {
    auto* part = new QWidget;
    auto* column = new QVBoxLayout(part);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(10);
    auto* bar = new QHBoxLayout;
    bar->setSpacing(6);
    m_series = new theme::ChoiceBox;
    m_series->setObjectName(QStringLiteral("compareSeries"));
    m_series->setAccessibleName(tr("Series"));
    m_series->setMinimumWidth(200);
    bar->addWidget(m_series);
    bar->addSpacing(10);
    bar->addWidget(theme::label(tr("Smoothing"), theme::TextRole::Body, "muted"));
    m_smoothing = new QSlider(Qt::Horizontal);
    m_smoothing->setObjectName(QStringLiteral("compareSmoothing"));
    m_smoothing->setAccessibleName(tr("Smoothing"));
    m_smoothing->setRange(0, 300);
    m_smoothing->setFixedWidth(110);
    bar->addWidget(m_smoothing);
    m_log = theme::flatButton(theme::Icon::LogScale, tr("Log y"), true);
    m_log->setObjectName(QStringLiteral("compareLog"));
    bar->addWidget(m_log);
    bar->addStretch();
    column->addLayout(bar);
    m_chart = new charts::CompareChart;
    m_chart->setObjectName(QStringLiteral("compareChart"));
    column->addWidget(m_chart, 1);
    connect(m_series, &QComboBox::activated, this, [this] { m_chart->setSeries(m_series->currentText()); });
    connect(m_chart, &charts::CompareChart::availableSeriesChanged, this, &ComparePage::fillSeries);
    connect(m_smoothing, &QSlider::valueChanged, this, [this](int position) { m_chart->setSmoothing(position == 0 ? 0.0 : 1.0 - std::pow(10.0, -position / 100.0)); });
    connect(m_log, &QToolButton::toggled, this, [this](bool on) { m_chart->setLogY(on); });
    m_smoothing->setValue(100);
    m_chart->setSeries(QStringLiteral("train/loss"));
    return part;
}

QWidget* ComparePage::buildTable() {
    QFrame* card = theme::card();
    auto* column = new QVBoxLayout(card);
    column->setContentsMargins(1, 8, 1, 1);
    column->setSpacing(4);
    auto* head = new QHBoxLayout;
    head->setContentsMargins(14, 0, 10, 0);
    head->setSpacing(10);
    head->addWidget(theme::label(tr("What differs"), theme::TextRole::Strong));
    m_note = theme::label({}, theme::TextRole::Body, "muted");
    m_note->setObjectName(QStringLiteral("compareNote"));
    head->addWidget(m_note, 1);
    m_only = theme::flatButton(theme::Icon::Filter, tr("Only differences"), true);
    m_only->setObjectName(QStringLiteral("compareOnlyDifferences"));
    m_only->setChecked(true);
    head->addWidget(m_only);
    column->addLayout(head);
    m_table = theme::rowTable("compareTable", tr("What differs"), 29);
    m_table->setHorizontalHeader(new NamesHeader);
    m_table->setModel(&m_model);
    m_table->setItemDelegate(new CompareDelegate(m_table));
    m_table->horizontalHeader()->setHighlightSections(false);
    m_table->horizontalHeader()->setStretchLastSection(true);
    m_table->setTextElideMode(Qt::ElideMiddle);
    m_table->horizontalHeader()->setDefaultAlignment(Qt::AlignLeft | Qt::AlignVCenter);
    column->addWidget(m_table, 1);
    connect(m_only, &QToolButton::toggled, this, [this](bool on) { m_model.setOnlyDifferences(on); });
    connect(&m_model, &CompareModel::modelReset, this, &ComparePage::refreshNotes);
    connect(&m_model, &CompareModel::settingsRead, this, &ComparePage::refreshNotes);
    return card;
}

void ComparePage::setRuns(const QStringList& folders) {
    m_folders.clear();
    m_sessions.clear();
    for (const QString& folder : folders) {
        if (m_context.workspace.find(toStd(folder)) == nullptr || m_folders.contains(folder)) continue;
        m_folders << folder;
        m_sessions.push_back(m_context.workspace.session(toStd(folder)));
    }
    m_chart->setSessions(m_sessions);
    m_model.setSessions(m_sessions);
    m_content->setCurrentIndex(m_sessions.empty() ? 0 : 1);
    fillList();
    fillSeries();
    refreshNotes();
    Q_EMIT runsChanged();
}

QString ComparePage::subtitle() const { return m_folders.isEmpty() ? QString() : tr("%n run(s)", nullptr, int(m_folders.size())); }

void ComparePage::fillList() {
    clear(m_list);
    for (int i = 0; i < int(m_folders.size()); ++i) {
        const session::RunEntry* entry = m_context.workspace.find(toStd(m_folders[i]));
        auto* item = new QWidget;
        auto* row = new QHBoxLayout(item);
        row->setContentsMargins(0, 0, 0, 0);
        row->setSpacing(8);
        row->addWidget(new Swatch(charts::CompareChart::colorIndex(i)), 0, Qt::AlignTop);
        auto* words = new QVBoxLayout;
        words->setSpacing(0);
        auto* name = new theme::ElidedLabel(theme::TextRole::Body);
        name->setFullText(entry == nullptr ? m_folders[i] : entry->name());
        words->addWidget(name);
        if (entry != nullptr) {
            auto* line = new QHBoxLayout;
            line->setSpacing(8);
            auto* chip = new theme::Pill;
            chip->setObjectName(QStringLiteral("compareState%1").arg(i));
            chip->setState(stateWord(entry->state, entry->snag), stateTone(entry->state, entry->snag));
            chip->setToolTip(theme::plainTip(entry->why));
            chip->setAccessibleDescription(entry->why);
            line->addWidget(chip);
            line->addWidget(theme::label(tr("step %1").arg(QLocale().toString(qint64(entry->summary.counters.globalStep.value()))), theme::TextRole::Caption, "muted"));
            line->addStretch();
            words->addLayout(line);
        }
        row->addLayout(words, 1);
        QToolButton* remove = theme::flatButton(theme::Icon::Close, {});
        remove->setIconSize({12, 12});
        remove->setObjectName(QStringLiteral("removeRun%1").arg(i));
        remove->setAccessibleName(tr("Leave out %1").arg(name->fullText()));
        remove->setToolTip(tr("Leave out"));
        connect(remove, &QToolButton::clicked, this, [this, folder = m_folders[i]] {
            QStringList rest = m_folders;
            rest.removeAll(folder);
            // Not from inside the click of a button that is about to be deleted.
            QMetaObject::invokeMethod(this, [this, rest] { setRuns(rest); }, Qt::QueuedConnection);
        });
        row->addWidget(remove, 0, Qt::AlignTop);
        m_list->addWidget(item);
    }
}

void ComparePage::fillSeries() {
    const QStringList names = m_chart->availableSeries();
    const QString now = m_chart->series();
    m_series->clear();
    m_series->addItems(names);
    if (names.contains(now)) m_series->setCurrentText(now);
    else if (!names.isEmpty()) m_chart->setSeries(m_series->currentText());
}

void ComparePage::refreshNotes() {
    const int columns = m_model.columnCount();
    m_table->setColumnWidth(0, 240);
    for (int column = 1; column < columns; ++column) m_table->setColumnWidth(column, columns > 5 ? 150 : 200);
    if (!m_model.problem().isEmpty()) {
        m_note->setText(m_model.problem());
    } else if (m_model.identical() && m_sessions.size() > 1) {
        m_note->setText(tr("identical in every part"));
    } else if (const auto step = m_model.commonStep()) {
        m_note->setText(tr("results at step %1, the last that all of them reached, and at each run's end").arg(QLocale().toString(qint64(*step))));
    } else {
        m_note->setText({});
    }
}

void ComparePage::applyPalette() { m_chart->setColors(charts::Palette::of(theme::colors().dark)); }

void ComparePage::changeEvent(QEvent* event) {
    QWidget::changeEvent(event);
    if (event->type() == QEvent::StyleChange && m_chart != nullptr) applyPalette();
}

}  // namespace lathe::pages
