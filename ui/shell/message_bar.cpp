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

constexpr int kLeaveMs = 8000, kActMs = 20'000;
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
    m_button = new QPushButton;
    m_button->setObjectName(QStringLiteral("messageAct"));
    row->addWidget(m_button);
    connect(m_button, &QPushButton::clicked, this, [this] {
        const Act act = std::exchange(m_act, {});
        hide();
        if (act.run) act.run();
        if (isHidden()) Q_EMIT left();
    });
    QToolButton* close = theme::flatButton(theme::Icon::Close, {});
    close->setObjectName(QStringLiteral("closeMessage"));
    close->setAccessibleName(tr("Close the message"));
    close->setIconSize({12, 12});
    row->addWidget(close);
    connect(close, &QToolButton::clicked, this, [this] {
        if (const auto closed = std::exchange(m_closed, {})) closed();
        leave();
    });
    m_leave.setSingleShot(true);
    connect(&m_leave, &QTimer::timeout, this, &MessageBar::leave);
    hide();
}

void MessageBar::say(const QString& sentence, Act act) {
    const int stays = act.run ? kActMs : kLeaveMs;
    show(Kind::Success, sentence, std::move(act));
    m_leave.start(stays);
}

void MessageBar::fail(const QString& sentence, const QString& run) {
    show(Kind::Error, sentence, {});
    m_run = run;
}

void MessageBar::notice(const QString& sentence, Act act, std::function<void()> closed) {
    show(Kind::Notice, sentence, std::move(act));
    m_closed = std::move(closed);
}

void MessageBar::settle(const QString& run) {
    if (isError() && m_run == run) leave();
}

void MessageBar::openedPage(const QString& run) {
    if (isError() && (m_run.isEmpty() || m_run != run)) leave();
}

void MessageBar::leave() {
    hide();
    Q_EMIT left();
}

QString MessageBar::text() const { return isHidden() ? QString() : m_text->text(); }

void MessageBar::show(Kind kind, const QString& sentence, Act act) {
    const bool bad = kind != Kind::Success;
    m_kind = kind;
    m_run.clear();
    m_closed = {};
    m_act = std::move(act);
    m_button->setText(m_act.label);
    m_button->setVisible(bool(m_act.run));
    m_text->setText(sentence);
    m_text->setAccessibleName(sentence);
    theme::setRole(m_text, bad ? "error" : "");
    m_icon->setPixmap(theme::icon(bad ? theme::Icon::Warning : theme::Icon::Check, bad ? theme::Tone::Danger : theme::Tone::Success)
                          .pixmap(QSize(16, 16), devicePixelRatioF()));
    m_leave.stop();
    setVisible(!sentence.isEmpty());
    if (sentence.isEmpty()) return;
    place();
    QAccessibleEvent alert(m_text, QAccessible::Alert);
    QAccessible::updateAccessibility(&alert);
}

/// As wide as one line needs, where there is that room; else as high as the sentence is when it is broken into lines. The
/// layout says how wide that leaves the text, since it alone knows the rest.
void MessageBar::place() {
    const QRect page = m_page->geometry();
    ensurePolished();
    layout()->activate();
    const int text = m_text->fontMetrics().horizontalAdvance(m_text->text()) + 4, others = minimumSizeHint().width() - m_text->minimumSizeHint().width();
    const int width = std::min({text + others, kWidest, page.width() - 2 * kSide});
    const int height = hasHeightForWidth() ? heightForWidth(width) : sizeHint().height();
    setGeometry(page.center().x() - width / 2, page.bottom() - kAboveBottom - height, width, height);
    raise();
}

bool MessageBar::eventFilter(QObject* watched, QEvent* event) {
    if (watched == m_page && (event->type() == QEvent::Resize || event->type() == QEvent::Move) && isVisible()) place();
    return QFrame::eventFilter(watched, event);
}

}  // namespace lathe::shell
