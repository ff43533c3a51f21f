#include "shell/message_bar.h"

#include "theme/parts.h"

#include <QHBoxLayout>
#include <QPushButton>

#include <utility>

namespace lathe::shell {
namespace {

constexpr int kLeaveMs = 8000, kUndoMs = 20'000;

}  // namespace

MessageBar::MessageBar(QWidget* parent) : QFrame(parent) {
    theme::setRole(this, "topbar");
    setAttribute(Qt::WA_StyledBackground);
    setObjectName(QStringLiteral("messageBar"));
    auto* row = new QHBoxLayout(this);
    row->setContentsMargins(20, 6, 12, 6);
    row->setSpacing(10);
    m_icon = new QLabel;
    row->addWidget(m_icon, 0, Qt::AlignTop);
    m_text = theme::label({});
    m_text->setObjectName(QStringLiteral("message"));
    m_text->setWordWrap(true);
    m_text->setTextInteractionFlags(Qt::TextSelectableByMouse);
    row->addWidget(m_text, 1);
    m_undo = new QPushButton;
    m_undo->setObjectName(QStringLiteral("messageAct"));
    row->addWidget(m_undo, 0, Qt::AlignTop);
    connect(m_undo, &QPushButton::clicked, this, [this] {
        hide();
        if (const auto act = std::exchange(m_act, {})) act();
    });
    QToolButton* close = theme::flatButton(theme::Icon::Close, {});
    close->setObjectName(QStringLiteral("closeMessage"));
    close->setAccessibleName(tr("Close the message"));
    close->setIconSize({12, 12});
    row->addWidget(close, 0, Qt::AlignTop);
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
}

}  // namespace lathe::shell
