#include "pages/queue_page.h"

#include "pages/run_verbs.h"
#include "session/qt_text.h"
#include "theme/parts.h"
#include "theme/tables.h"

#include <QHBoxLayout>
#include <QHeaderView>
#include <QMenu>
#include <QPainter>
#include <QShortcut>
#include <QStackedLayout>
#include <QStyledItemDelegate>
#include <QTableView>
#include <QVBoxLayout>

namespace lathe::pages {
namespace {

using launch::Wait;
using models::QueueModel;

constexpr int kRowHeight = 38, kPadding = 11;
enum Content { kTable, kEmpty };

theme::Tone toneOf(Wait::For what) {
    switch (what) {
    case Wait::For::Device: return theme::Tone::Accent;
    case Wait::For::Other: return theme::Tone::Muted;
    case Wait::For::Release: return theme::Tone::Paused;
    case Wait::For::Machine: return theme::Tone::Danger;
    }
    return theme::Tone::Muted;
}

class QueueDelegate final : public QStyledItemDelegate {
public:
    using QStyledItemDelegate::QStyledItemDelegate;

    void paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const override {
        const theme::Colors& c = theme::colors();
        painter->save();
        theme::paintRowGround(painter, option);
        painter->setRenderHint(QPainter::Antialiasing);
        painter->setClipRect(option.rect);
        if (index.column() == QueueModel::State) {
            theme::Pill::paint(painter, QRectF(option.rect).adjusted(kPadding, 0, 0, -1), index.data().toString(), theme::toneColor(toneOf(Wait::For(index.data(QueueModel::WaitRole).toInt()))));
        } else {
            const bool isName = index.column() == QueueModel::Name;
            QFont font = theme::textFont(theme::TextRole::Body);
            if (isName) font.setWeight(QFont::Medium);
            painter->setFont(font);
            painter->setPen(isName && !index.data(QueueModel::OtherPlaceRole).toBool() ? c.text : c.muted);
            const QRect box = option.rect.adjusted(kPadding, 0, -kPadding, 0);
            painter->drawText(box, index.data(Qt::TextAlignmentRole).toInt(), painter->fontMetrics().elidedText(index.data().toString(), isName ? Qt::ElideMiddle : Qt::ElideRight, box.width()));
        }
        painter->restore();
    }
};

}  // namespace

QueuePage::QueuePage(Context context, RunVerbs& verbs, QWidget* parent) : QWidget(parent), m_context(context), m_verbs(verbs), m_model(context.queue) {
    build();
    addKeys();
    connect(&m_context.queue, &session::QueueFeed::changed, this, &QueuePage::refresh);
    connect(&m_model, &QueueModel::moveWanted, this, [this](const QString& id, int place) { tell({QStringLiteral("move"), id, QString::number(place)}); });
    refresh();
}

void QueuePage::build() {
    auto* column = theme::pageColumn(this);
    column->addWidget(buildNotice());
    column->addWidget(buildBar());
    buildTable();
    auto* host = new QWidget;
    m_content = new QStackedLayout(host);
    m_content->addWidget(theme::tableCard(m_table));
    QPushButton* make = theme::button(tr("New run"), theme::Icon::NewRun);
    make->setObjectName(QStringLiteral("queueNewRun"));
    connect(make, &QPushButton::clicked, this, &QueuePage::newRun);
    m_content->addWidget(new theme::EmptyState(theme::Icon::Queue, tr("Nothing waits"),
                                               tr("A run that is put in the queue starts by itself once no other run uses its device, also when this window is closed."), make));
    column->addWidget(host, 1);
}

QWidget* QueuePage::buildNotice() {
    m_notice = theme::card();
    m_notice->setObjectName(QStringLiteral("queueNotice"));
    auto* row = new QHBoxLayout(m_notice);
    row->setContentsMargins(14, 7, 10, 7);
    row->setSpacing(10);
    auto* sign = new QLabel;
    sign->setFixedSize(16, 16);
    sign->setPixmap(theme::icon(theme::Icon::Warning, theme::Tone::Warning).pixmap(QSize(16, 16), devicePixelRatioF()));
    row->addWidget(sign);
    m_noticeText = theme::label({});
    m_noticeText->setObjectName(QStringLiteral("queueNoticeText"));
    m_noticeText->setWordWrap(true);
    row->addWidget(m_noticeText, 1);
    m_wake = theme::button(tr("Start the keeper"), theme::Icon::Play);
    m_wake->setObjectName(QStringLiteral("wakeKeeper"));
    connect(m_wake, &QPushButton::clicked, this, [this] { tell({}); });
    row->addWidget(m_wake);
    return m_notice;
}

QWidget* QueuePage::buildBar() {
    auto* bar = new QWidget;
    auto* row = new QHBoxLayout(bar);
    row->setContentsMargins(0, 0, 0, 0);
    row->setSpacing(6);
    const auto add = [this, row](QPushButton*& button, theme::Icon icon, const QString& text, const char* name, const QString& help, auto slot,
                                 theme::ButtonKind kind = theme::ButtonKind::Normal) {
        button = theme::button(text, icon, kind);
        button->setObjectName(QLatin1String(name));
        button->setToolTip(help);
        row->addWidget(button);
        connect(button, &QPushButton::clicked, this, slot);
    };
    add(m_up, theme::Icon::Up, tr("Up"), "queueUp", tr("Starts one place earlier (Alt+Up; Alt+Home: first)"), [this] { moveSelected(-1); });
    add(m_down, theme::Icon::Down, tr("Down"), "queueDown", tr("Starts one place later (Alt+Down; Alt+End: last)"), [this] { moveSelected(1); });
    add(m_hold, theme::Icon::Pause, tr("Hold"), "queueHold", tr("Keeps its place and lets the others pass (Space)"), [this] { toggleHold(); });
    add(m_remove, theme::Icon::Close, tr("Take out…"), "queueRemove", tr("It does not start; it stays in the list of runs (Delete)"), [this] { takeOut(); }, theme::ButtonKind::Danger);
    row->addStretch();
    QLabel* caption = theme::label(tr("When a run fails"), theme::TextRole::Body, "muted");
    row->addWidget(caption);
    m_policy = new theme::ChoiceBox;
    m_policy->setObjectName(QStringLiteral("queuePolicy"));
    m_policy->setAccessibleName(tr("When a run fails"));
    m_policy->addItems({tr("go on with the next"), tr("hold those behind it")});
    caption->setBuddy(m_policy);
    row->addWidget(m_policy);
    connect(m_policy, &QComboBox::activated, this, [this](int index) { tell({QStringLiteral("after-failure"), index == 1 ? QStringLiteral("hold") : QStringLiteral("go-on")}); });
    return bar;
}

void QueuePage::buildTable() {
    m_table = theme::rowTable("queueTable", tr("Queue"), kRowHeight);
    m_table->setAccessibleDescription(tr("Alt with the arrow keys moves a run, Space holds or releases it, Delete takes it out"));
    m_table->setModel(&m_model);
    m_table->setItemDelegate(new QueueDelegate(m_table));
    m_table->setMouseTracking(true);
    m_table->setContextMenuPolicy(Qt::CustomContextMenu);
    m_table->setDragDropMode(QAbstractItemView::InternalMove);
    m_table->setDragDropOverwriteMode(false);
    m_table->setDropIndicatorShown(true);
    QHeaderView* header = m_table->horizontalHeader();
    // What has no end in its length shares what the others leave.
    for (const int column : {QueueModel::Name, QueueModel::WaitsFor}) header->setSectionResizeMode(column, QHeaderView::Stretch);
    header->setStretchLastSection(false);
    const std::pair<int, int> widths[] = {{QueueModel::Place, 64}, {QueueModel::State, 126}, {QueueModel::Since, 124}};
    for (const auto& [column, width] : widths) header->resizeSection(column, width);
    connect(m_table, &QTableView::customContextMenuRequested, this, &QueuePage::showMenu);
    connect(m_table, &QTableView::activated, this, &QueuePage::openSelected);
    connect(m_table, &QTableView::doubleClicked, this, &QueuePage::openSelected);
    connect(m_table->selectionModel(), &QItemSelectionModel::currentRowChanged, this, [this](const QModelIndex& now) {
        if (!m_restoring && now.isValid()) m_selected = now.data(QueueModel::IdRole).toString();
        refreshButtons();
    });
}

void QueuePage::addKeys() {
    const auto add = [this](const QKeySequence& keys, auto slot) {
        auto* shortcut = new QShortcut(keys, m_table);
        shortcut->setContext(Qt::WidgetShortcut);
        connect(shortcut, &QShortcut::activated, this, slot);
    };
    const int far = 1 << 20;
    add(Qt::ALT | Qt::Key_Up, [this] { moveSelected(-1); });
    add(Qt::ALT | Qt::Key_Down, [this] { moveSelected(1); });
    add(Qt::ALT | Qt::Key_Home, [this] { moveSelected(-far); });
    add(Qt::ALT | Qt::Key_End, [this] { moveSelected(far); });
    add(Qt::Key_Space, [this] { toggleHold(); });
    add(Qt::Key_Delete, [this] { takeOut(); });
}

QString QueuePage::subtitle() const {
    const auto count = int(m_context.queue.now().runs.size());
    return count > 0 ? tr("%n run(s) of yours on this machine", nullptr, count) : QString();
}

void QueuePage::refresh() {
    const session::QueueNow& now = m_context.queue.now();
    m_content->setCurrentIndex(now.runs.empty() ? kEmpty : kTable);
    m_policy->setCurrentIndex(now.holdsAfterFailure ? 1 : 0);
    const bool alone = m_context.queue.isLeftAlone();
    const QString& problem = now.problem.isEmpty() ? now.keeperNote : now.problem;
    m_notice->setVisible(alone || !problem.isEmpty());
    m_wake->setVisible(problem.isEmpty());
    m_noticeText->setText(!problem.isEmpty() ? problem : tr("The keeper of the queue is not at work, so nothing starts by itself. Runs that are up are not touched by that."));
    if (const int row = m_model.rowOf(m_selected); row >= 0 && m_table->currentIndex().row() != row) {
        m_restoring = true;
        m_table->selectRow(row);
        m_restoring = false;
    }
    refreshButtons();
    Q_EMIT subtitleChanged();
}

void QueuePage::refreshButtons() {
    const int row = m_model.rowOf(m_selected);
    const bool held = row >= 0 && m_model.index(row, 0).data(QueueModel::HeldRole).toBool();
    m_up->setEnabled(row > 0);
    m_down->setEnabled(row >= 0 && row + 1 < m_model.rowCount());
    m_hold->setEnabled(row >= 0);
    m_hold->setText(held ? tr("Release") : tr("Hold"));
    m_hold->setIcon(theme::icon(held ? theme::Icon::Play : theme::Icon::Pause));
    m_remove->setEnabled(row >= 0);
}

void QueuePage::openSelected() {
    const QString key = m_table->currentIndex().data(QueueModel::KeyRole).toString();
    if (!key.isEmpty()) Q_EMIT openRun(key);
}

void QueuePage::moveSelected(int by) {
    const int row = m_model.rowOf(m_selected);
    const int to = std::clamp(row + by, 0, m_model.rowCount() - 1);
    if (row >= 0 && to != row) tell({QStringLiteral("move"), m_selected, QString::number(to + 1)});
}

void QueuePage::toggleHold() {
    const int row = m_model.rowOf(m_selected);
    if (row < 0) return;
    const bool held = m_model.index(row, 0).data(QueueModel::HeldRole).toBool();
    tell({held ? QStringLiteral("release") : QStringLiteral("hold"), m_selected});
}

void QueuePage::takeOut() {
    const int row = m_model.rowOf(m_selected);
    if (row >= 0) m_verbs.takeOutOfQueue(m_selected, m_model.index(row, QueueModel::Name).data().toString());
}

void QueuePage::tell(const QStringList& words) {
    m_context.replies.await(m_context.launcher.verb(QStringList{QStringLiteral("queue")} + words), this, [this](const session::LaunchResult& result) {
        m_context.queue.refresh();
        if (result.ok) return;
        refresh();   // what a box shows already was not done
        Q_EMIT failed(result.sentence);
    });
}

void QueuePage::showMenu(const QPoint& at) {
    const int row = m_model.rowOf(m_selected);
    if (row < 0) return;
    auto* menu = new QMenu(this);
    menu->setObjectName(QStringLiteral("queueMenu"));
    menu->setAttribute(Qt::WA_DeleteOnClose);
    const auto add = [&](theme::Icon icon, const QString& text, bool possible, auto slot) {
        QAction* action = menu->addAction(theme::icon(icon), text);
        action->setEnabled(possible);
        connect(action, &QAction::triggered, this, slot);
    };
    const int last = m_model.rowCount() - 1, far = 1 << 20;
    const QModelIndex index = m_model.index(row, 0);
    add(theme::Icon::Run, tr("Open"), !index.data(QueueModel::KeyRole).toString().isEmpty(), [this] { openSelected(); });
    menu->addSeparator();
    add(theme::Icon::Up, tr("Move to the front"), row > 0, [this] { moveSelected(-far); });
    add(theme::Icon::Down, tr("Move to the end"), row < last, [this] { moveSelected(far); });
    const bool held = index.data(QueueModel::HeldRole).toBool();
    add(held ? theme::Icon::Play : theme::Icon::Pause, held ? tr("Release") : tr("Hold"), true, [this] { toggleHold(); });
    menu->addSeparator();
    add(theme::Icon::Close, tr("Take out of the queue…"), true, [this] { takeOut(); });
    menu->popup(m_table->viewport()->mapToGlobal(at));
}

}  // namespace lathe::pages
