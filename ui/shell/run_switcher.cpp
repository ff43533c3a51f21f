#include "shell/run_switcher.h"

#include "pages/state_look.h"
#include "session/qt_text.h"
#include "theme/parts.h"

#include <QKeyEvent>
#include <QLineEdit>
#include <QListWidget>
#include <QPainter>
#include <QStyledItemDelegate>
#include <QVBoxLayout>

#include <algorithm>

namespace lathe::shell {
namespace {

constexpr int kWidth = 480, kHeight = 360, kMostRows = 200;
constexpr int kState = Qt::UserRole + 1, kSnag = Qt::UserRole + 2, kBeside = 12;

/// The name, and at the right end how the run stands.
class SwitcherDelegate final : public QStyledItemDelegate {
public:
    using QStyledItemDelegate::QStyledItemDelegate;

    void paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const override {
        const auto state = rundir::State(index.data(kState).toInt());
        const auto snag = session::Snag(index.data(kSnag).toInt());
        const QString word = pages::stateWord(state, snag);
        const int width = theme::Pill::widthOf(word);
        QStyleOptionViewItem name = option;
        name.rect.adjust(0, 0, -width - kBeside, 0);
        if (option.state & QStyle::State_Selected) painter->fillRect(option.rect, theme::colors().selection);
        name.textElideMode = Qt::ElideMiddle;
        QStyledItemDelegate::paint(painter, name, index);
        painter->save();
        theme::Pill::paint(painter, QRectF(option.rect.right() - width - kBeside / 2, option.rect.top(), width, option.rect.height()), word, theme::toneColor(pages::stateTone(state, snag)));
        painter->restore();
    }
};

}  // namespace

RunSwitcher::RunSwitcher(session::Workspace& workspace, QWidget* window) : QFrame(window), m_workspace(workspace) {
    theme::setRole(this, "card");
    setObjectName(QStringLiteral("runSwitcher"));
    setAutoFillBackground(true);
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(10, 10, 10, 10);
    m_filter = new QLineEdit;
    m_filter->setObjectName(QStringLiteral("switcherFilter"));
    m_filter->setPlaceholderText(tr("Name of a run"));
    m_filter->setAccessibleName(tr("Name of a run"));
    column->addWidget(m_filter);
    m_list = new QListWidget;
    m_list->setObjectName(QStringLiteral("switcherList"));
    m_list->setAccessibleName(tr("Runs"));
    m_list->setFocusPolicy(Qt::NoFocus);
    m_list->setItemDelegate(new SwitcherDelegate(m_list));
    column->addWidget(m_list, 1);
    m_filter->installEventFilter(this);
    connect(m_filter, &QLineEdit::textChanged, this, &RunSwitcher::fill);
    connect(m_list, &QListWidget::itemClicked, this, &RunSwitcher::accept);
    hide();
}

void RunSwitcher::open() {
    const QSize area = parentWidget()->size();
    setGeometry((area.width() - kWidth) / 2, 60, std::min(kWidth, area.width()), std::min(kHeight, area.height() - 80));
    m_filter->clear();
    fill();
    show();
    raise();
    m_filter->setFocus(Qt::PopupFocusReason);
}

void RunSwitcher::fill() {
    m_list->clear();
    const QStringList words = m_filter->text().split(QLatin1Char(' '), Qt::SkipEmptyParts);
    for (const session::RunEntry& entry : m_workspace.runs()) {
        const QString name = entry.name();
        if (!std::all_of(words.begin(), words.end(), [&](const QString& word) { return name.contains(word, Qt::CaseInsensitive); })) continue;
        auto* item = new QListWidgetItem(name);
        item->setData(kState, int(entry.state));
        item->setData(kSnag, int(entry.snag));
        item->setData(Qt::AccessibleTextRole, name + QStringLiteral(", ") + pages::stateWord(entry.state, entry.snag));
        item->setData(Qt::UserRole, session::toQt(entry.folder));
        m_list->addItem(item);
        if (m_list->count() >= kMostRows) break;
    }
    m_list->setCurrentRow(0);
}

void RunSwitcher::accept() {
    const QListWidgetItem* item = m_list->currentItem();
    hide();
    if (item != nullptr) Q_EMIT runChosen(item->data(Qt::UserRole).toString());
}

bool RunSwitcher::eventFilter(QObject* watched, QEvent* event) {
    if (event->type() == QEvent::FocusOut) {
        hide();
        return false;
    }
    if (event->type() != QEvent::KeyPress) return QFrame::eventFilter(watched, event);
    const int rows = m_list->count();
    switch (static_cast<QKeyEvent*>(event)->key()) {
    case Qt::Key_Down: m_list->setCurrentRow(std::min(rows - 1, m_list->currentRow() + 1)); return true;
    case Qt::Key_Up: m_list->setCurrentRow(std::max(0, m_list->currentRow() - 1)); return true;
    case Qt::Key_Return:
    case Qt::Key_Enter: accept(); return true;
    case Qt::Key_Escape: hide(); return true;
    default: return QFrame::eventFilter(watched, event);
    }
}

}  // namespace lathe::shell
