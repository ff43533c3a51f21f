#include "pages/records_tab.h"

#include "charts/axis_map.h"
#include "pages/record_body.h"
#include "theme/parts.h"
#include "theme/tables.h"

#include <QDateTime>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QLineEdit>
#include <QScrollBar>
#include <QSlider>
#include <QSplitter>
#include <QStackedWidget>
#include <QTableView>
#include <QVBoxLayout>

#include <algorithm>
#include <limits>

namespace lathe::pages {
namespace {

constexpr int kAliveMs = 500, kOverMs = 3000;
constexpr int kNamesPart = 340;   // of 1000
constexpr int kNarrow = 360;

}  // namespace

RecordsTab::RecordsTab(QWidget* parent) : QWidget(parent) {
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(20, 12, 20, 16);
    m_stack = new QStackedWidget;
    m_empty = new theme::EmptyState(theme::Icon::Note, {}, {});
    m_empty->setObjectName(QStringLiteral("noRecords"));
    m_stack->addWidget(m_empty);
    auto* split = new QSplitter(Qt::Horizontal);
    split->setHandleWidth(12);
    split->setChildrenCollapsible(false);
    split->addWidget(buildNames());
    split->addWidget(buildRecord());
    // A third for the names at any width, until somebody draws the line elsewhere.
    split->setStretchFactor(0, kNamesPart);
    split->setStretchFactor(1, 1000 - kNamesPart);
    split->setSizes({kNamesPart, 1000 - kNamesPart});
    m_stack->addWidget(m_split = split);
    column->addWidget(m_stack, 1);
    connect(&m_tick, &QTimer::timeout, this, &RecordsTab::look);
    refreshHead();
}

QWidget* RecordsTab::buildNames() {
    QFrame* card = theme::card();
    card->setMinimumWidth(270);
    auto* column = new QVBoxLayout(card);
    column->setContentsMargins(1, 10, 1, 1);
    column->setSpacing(8);
    m_filter = new QLineEdit;
    m_filter->setObjectName(QStringLiteral("recordFilter"));
    m_filter->setAccessibleName(tr("Filter names"));
    m_filter->setPlaceholderText(tr("Filter names"));
    m_filter->setClearButtonEnabled(true);
    auto* head = new QHBoxLayout;
    head->setContentsMargins(10, 0, 10, 0);
    head->addWidget(m_filter);
    column->addLayout(head);
    m_table = theme::rowTable("recordNames", tr("Names of records"), 30);
    m_table->setModel(&m_model);
    m_table->setTextElideMode(Qt::ElideMiddle);
    QHeaderView* header = m_table->horizontalHeader();
    header->setSectionResizeMode(models::RecordNamesModel::Name, QHeaderView::Stretch);
    m_table->setColumnWidth(models::RecordNamesModel::Kind, 84);
    m_table->setColumnWidth(models::RecordNamesModel::Count, 74);
    m_table->setColumnWidth(models::RecordNamesModel::LastStep, 82);
    theme::keepWhole(m_table, {models::RecordNamesModel::Kind, models::RecordNamesModel::Count, models::RecordNamesModel::LastStep});
    column->addWidget(m_table, 1);
    m_table->installEventFilter(this);
    connect(m_filter, &QLineEdit::textChanged, this, [this](const QString& text) {
        m_model.setFilter(text.trimmed());
        takeNames();
    });
    connect(m_table->selectionModel(), &QItemSelectionModel::currentRowChanged, this, [this](const QModelIndex& now) {
        if (now.isValid()) choose(now.row());
    });
    return card;
}

bool RecordsTab::eventFilter(QObject* watched, QEvent* event) {
    if (watched == m_table && event->type() == QEvent::Resize) {
        const bool narrow = m_table->width() < kNarrow;   // names need the room
        for (const int column : {models::RecordNamesModel::Kind, models::RecordNamesModel::LastStep}) m_table->setColumnHidden(column, narrow);
    }
    return QWidget::eventFilter(watched, event);
}

QWidget* RecordsTab::buildRecord() {
    QFrame* card = theme::card();
    card->setMinimumWidth(320);
    auto* column = new QVBoxLayout(card);
    column->setContentsMargins(1, 10, 1, 1);
    column->setSpacing(6);
    auto* head = new QHBoxLayout;
    head->setContentsMargins(16, 0, 10, 0);
    head->setSpacing(12);
    auto* words = new QVBoxLayout;
    words->setSpacing(1);
    head->addLayout(words, 1);
    m_name = new theme::ElidedLabel(theme::TextRole::Strong);
    m_name->setObjectName(QStringLiteral("recordName"));
    words->addWidget(m_name);
    m_where = new theme::ElidedLabel(theme::TextRole::Caption, "muted");
    m_where->setObjectName(QStringLiteral("recordWhere"));
    words->addWidget(m_where);
    m_copy = theme::button(tr("Copy"), theme::Icon::Copy);
    m_copy->setObjectName(QStringLiteral("copyRecord"));
    head->addWidget(m_copy);
    column->addLayout(head);
    column->addWidget(m_steps = buildSteps());
    m_note = theme::label({}, theme::TextRole::Caption, "muted");
    m_note->setObjectName(QStringLiteral("recordNote"));
    m_note->setContentsMargins(16, 0, 16, 0);
    m_note->setWordWrap(true);
    m_note->hide();
    column->addWidget(m_note);
    m_body = new RecordBody;
    column->addWidget(m_body, 1);
    connect(m_copy, &QPushButton::clicked, m_body, &RecordBody::copy);
    connect(m_body, &RecordBody::placeWanted, this, [this](std::size_t place) { m_slider->setValue(int(place)); });
    return card;
}

QWidget* RecordsTab::buildSteps() {
    auto* bar = new QWidget;
    auto* row = new QHBoxLayout(bar);
    row->setContentsMargins(16, 0, 10, 0);
    row->setSpacing(8);
    m_slider = new QSlider(Qt::Horizontal);
    m_slider->setObjectName(QStringLiteral("recordSlider"));
    m_slider->setAccessibleName(tr("Which record"));
    m_slider->setSingleStep(1);
    row->addWidget(m_slider, 1);
    m_newest = theme::flatButton(theme::Icon::Follow, tr("Newest"), true);
    m_newest->setObjectName(QStringLiteral("newestRecord"));
    m_newest->setToolTip(tr("Goes on to each record that comes"));
    m_newest->setChecked(true);
    row->addWidget(m_newest);
    connect(m_slider, &QSlider::valueChanged, this, [this](int place) {
        m_newest->setChecked(place == m_slider->maximum());
        showPlace(place);
    });
    connect(m_newest, &QToolButton::clicked, this, [this](bool on) {
        if (on) m_slider->setValue(m_slider->maximum());
    });
    return bar;
}

void RecordsTab::setSession(std::shared_ptr<session::RunSession> session) {
    if (m_session) m_session->disconnect(this);
    m_session = std::move(session);
    m_records.reset();
    m_tick.stop();
    m_filter->clear();
    m_model.setNames({});
    m_stack->setCurrentWidget(m_split);
    m_body->showNothing();
    refreshHead();
    if (!m_session) return;
    // What it wrote at its end is there now.
    connect(m_session.get(), &session::RunSession::runEnded, this, &RecordsTab::look);
    if (isVisible()) begin();
}

void RecordsTab::begin() {
    if (!m_session) return;
    if (!m_records) {
        m_records = std::make_unique<session::RunRecords>(m_session->run());
        connect(m_records.get(), &session::RunRecords::namesChanged, this, &RecordsTab::takeNames);
        connect(m_records.get(), &session::RunRecords::placesChanged, this, &RecordsTab::takePlaces);
        connect(m_records.get(), &session::RunRecords::shownChanged, this, &RecordsTab::takeShown);
        connect(m_records.get(), &session::RunRecords::columnsChanged, this, [this] { m_body->setStrip(*m_records); });
    }
    look();
}

void RecordsTab::look() {
    if (!m_records || !isVisible()) return;
    m_records->refresh();
    m_tick.start(m_session->isAlive() ? kAliveMs : kOverMs);
}

void RecordsTab::takeNames() {
    if (!m_records) return;
    const int scrolled = m_table->verticalScrollBar()->value();
    m_model.setNames(m_records->names());
    const bool nothing = m_records->names().empty();
    if (nothing && m_records->isLoaded()) {
        m_empty->setText(m_records->problem().isEmpty() ? tr("Nothing beside the curves yet") : tr("The records cannot be read"),
                         m_records->problem().isEmpty() ? tr("Texts, tables, histograms and pictures that a program records show up here, for example run.text(step, \"sample\", text) in Python.")
                                                        : m_records->problem());
    }
    m_stack->setCurrentWidget(nothing && m_records->isLoaded() ? static_cast<QWidget*>(m_empty) : m_split);
    const int row = m_model.rowOf(m_records->chosen());
    if (row < 0) return m_records->names().empty() || m_records->hasChosen() ? void() : m_table->selectRow(0);
    if (m_table->currentIndex().row() != row) m_table->selectRow(row);
    m_table->verticalScrollBar()->setValue(scrolled);
}

void RecordsTab::choose(int row) {
    const session::RecordKey key = m_model.at(row).key;
    if (m_records->hasChosen() && key == m_records->chosen()) return;
    m_newest->setChecked(true);
    m_body->showNothing();
    m_records->choose(key);
    refreshHead();
}

void RecordsTab::takePlaces() {
    const auto count = std::min<std::size_t>(m_records->places().size(), std::numeric_limits<int>::max());
    const bool follow = m_newest->isChecked();
    {
        // A range that grows is nobody's wish for another record.
        const QSignalBlocker quiet(m_slider);
        m_slider->setRange(0, std::max(0, int(count) - 1));
        m_slider->setPageStep(std::max(1, int(count) / 10));
        if (follow) m_slider->setValue(m_slider->maximum());
    }
    if (count > 0 && (follow || m_records->shown().key != m_records->chosen())) showPlace(m_slider->value());
    refreshHead();
}

void RecordsTab::showPlace(int place) {
    m_place = std::size_t(place);
    m_body->setMarked(m_place);
    m_records->show(m_place);
    refreshHead();
}

void RecordsTab::takeShown() {
    const session::ShownRecord& record = m_records->shown();
    if (record.key != m_records->chosen()) return;
    m_body->showRecord(record, models::RecordNamesModel::nameText(record.key));
    m_body->setStrip(*m_records);
    refreshHead();
}

void RecordsTab::refreshHead() {
    const bool chosen = m_records && m_records->hasChosen();
    m_name->setFullText(chosen ? models::RecordNamesModel::nameText(m_records->chosen()) : QString());
    const bool placed = chosen && m_place < m_records->places().size();
    m_steps->setVisible(chosen && m_records->places().size() > 1);
    m_copy->setEnabled(m_body->canCopy());
    m_note->setText(chosen && m_records->shown().key == m_records->chosen() ? m_records->shown().note : QString());
    m_note->setVisible(!m_note->text().isEmpty());
    if (!placed) return m_where->setFullText({});
    const store::RecordPlace& place = m_records->places()[m_place];
    QStringList parts{tr("step %1").arg(charts::groupedNumber(place.step))};
    if (m_session->data().sessions().size() > 1) parts << tr("session %1").arg(place.session);
    if (place.wallNs > 0) parts << QDateTime::fromMSecsSinceEpoch(place.wallNs / 1'000'000).toString(QStringLiteral("yyyy-MM-dd HH:mm:ss"));
    parts << tr("%1 of %2").arg(charts::groupedNumber(qint64(m_place) + 1), charts::groupedNumber(qint64(m_records->places().size())));
    m_where->setFullText(parts.join(QStringLiteral("  ·  ")));
    m_slider->setAccessibleDescription(m_where->fullText());
}

void RecordsTab::showEvent(QShowEvent* event) {
    QWidget::showEvent(event);
    begin();
}

void RecordsTab::hideEvent(QHideEvent* event) {
    QWidget::hideEvent(event);
    m_tick.stop();
}

}  // namespace lathe::pages
