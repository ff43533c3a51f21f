#include "shell/message_bar.h"

#include "theme/parts.h"

#include <QAccessible>
#include <QEvent>
#include <QHBoxLayout>
#include <QPushButton>

#include <algorithm>
#include <utility>

namespace lathe::shell {
namespace {

constexpr int kLeaveMs = 8000, kUndoMs = 20'000;
constexpr int kWidest = 720, kSide = 20, kAboveBottom = 80;   // free of the buttons at the foot of a page

}  // namespace

MessageBar::MessageBar(QWidget* page) : QFrame(page->parentWidget()), m_page(page) {
    theme::setRole(this, "message");
    page->installEventFilter(this);
    setObjectName(QStringLiteral("messageBar"));
    auto* row = new QHBoxLayout(this);
    row->setContentsMargins(14, 7, 8, 7);
    row->setSpacing(10);
    m_icon = new QLabel;
    row->addWidget(m_icon);
    m_text = theme::label({});
    m_text->setObjectName(QStringLiteral("message"));
    m_text->setWordWrap(true);
    m_text->setTextInteractionFlags(Qt::TextSelectableByMouse);
    row->addWidget(m_text, 1);
    m_undo = new QPushButton;
    m_undo->setObjectName(QStringLiteral("messageAct"));
    row->addWidget(m_undo);
    connect(m_undo, &QPushButton::clicked, this, [this] {
        hide();
        if (const auto act = std::exchange(m_act, {})) act();
    });
    QToolButton* close = theme::flatButton(theme::Icon::Close, {});
    close->setObjectName(QStringLiteral("closeMessage"));
    close->setAccessibleName(tr("Close the message"));
    close->setIconSize({12, 12});
    row->addWidget(close);
    connect(close, &QToolButton::clicked, this, &QWidget::hide);
    m_leave.setSingleShot(true);
    connect(&m_leave, &QTimer::timeout, this, &QWidget::hide);
    hide();
}

void MessageBar::say(const QString& sentence) { show(sentence, false); }

void MessageBar::sayWithUndo(const QString& sentence, const QString& undo, std::function<void()> act) {
    show(sentence, false);
    m_act = std::move(act);
    m_undo->setText(undo);
    m_undo->show();
    place();
    m_leave.start(kUndoMs);
}

void MessageBar::fail(const QString& sentence) { show(sentence, true); }

QString MessageBar::text() const { return isHidden() ? QString() : m_text->text(); }

void MessageBar::show(const QString& sentence, bool failure) {
    m_act = {};
    m_undo->hide();
    m_text->setText(sentence);
    m_text->setAccessibleName(sentence);
    theme::setRole(m_text, failure ? "error" : "");
    m_icon->setPixmap(theme::icon(failure ? theme::Icon::Warning : theme::Icon::Check, failure ? theme::Tone::Danger : theme::Tone::Success)
                          .pixmap(QSize(16, 16), devicePixelRatioF()));
    m_leave.stop();
    if (!failure) m_leave.start(kLeaveMs);
    setVisible(!sentence.isEmpty());
    if (sentence.isEmpty()) return;
    place();
    QAccessibleEvent alert(m_text, QAccessible::Alert);
    QAccessible::updateAccessibility(&alert);
}

void MessageBar::place() {
    const QRect page = m_page->geometry();
    const int text = m_text->fontMetrics().horizontalAdvance(m_text->text()) + 4, others = minimumSizeHint().width() - m_text->minimumSizeHint().width();
    const int width = std::min({text + others, kWidest, page.width() - 2 * kSide});
    const int height = layout()->hasHeightForWidth() ? layout()->heightForWidth(width) : sizeHint().height();
    setGeometry(page.center().x() - width / 2, page.bottom() - kAboveBottom - height, width, height);
    raise();
}

bool MessageBar::eventFilter(QObject* watched, QEvent* event) {
    if (watched == m_page && (event->type() == QEvent::Resize || event->type() == QEvent::Move) && isVisible()) place();
    return QFrame::eventFilter(watched, event);
}

}  // namespace lathe::shell
