#include "shell/top_bar.h"

#include "pages/state_look.h"
#include "theme/parts.h"
#include "theme/plain_tip.h"

#include <QHBoxLayout>

namespace lathe::shell {

static constexpr int kNarrow = 1000;

TopBar::TopBar(pages::Context context, pages::RunVerbs& verbs, QWidget* parent) : QWidget(parent) {
    theme::setRole(this, "topbar");
    setAttribute(Qt::WA_StyledBackground);
    setObjectName(QStringLiteral("topBar"));
    setFixedHeight(52);
    auto* row = new QHBoxLayout(this);
    row->setContentsMargins(20, 0, 16, 0);
    row->setSpacing(10);
    m_title = new theme::ElidedLabel(theme::TextRole::Title);
    m_title->setObjectName(QStringLiteral("title"));
    row->addWidget(m_title);
    m_pill = new theme::Pill;
    m_pill->setObjectName(QStringLiteral("statePill"));
    row->addWidget(m_pill);
    m_subtitle = new theme::ElidedLabel(theme::TextRole::Body, "muted");
    m_subtitle->setObjectName(QStringLiteral("subtitle"));
    row->addWidget(m_subtitle, 1);
    m_actions = new pages::RunActions(context, verbs);
    row->addWidget(m_actions);
    m_switcher = theme::flatButton(theme::Icon::Switcher, tr("Switch run"));
    m_switcher->setObjectName(QStringLiteral("switcher"));
    m_switcher->setToolTip(tr("Go to a run by its name (Ctrl+P)"));
    row->addWidget(m_switcher);
    connect(m_switcher, &QToolButton::clicked, this, &TopBar::switcherWanted);
    setRun(nullptr);
}

void TopBar::setTitle(const QString& title, const QString& subtitle) {
    m_title->setFullText(title);
    m_subtitle->setFullText(subtitle);
}

void TopBar::setRun(const std::shared_ptr<session::RunSession>& session) {
    m_pill->setVisible(session != nullptr);
    if (session) m_pill->setState(pages::stateWord(session->standing().state, session->standing().snag), pages::stateTone(session->standing().state, session->standing().snag));
    if (session) {
        const QString why = session->standing().why;
        m_pill->setToolTip(theme::plainTip(why));
        m_pill->setAccessibleDescription(why);
    }
    m_actions->setSession(session);
}

void TopBar::resizeEvent(QResizeEvent* event) {
    QWidget::resizeEvent(event);
    m_switcher->setToolButtonStyle(width() < kNarrow ? Qt::ToolButtonIconOnly : Qt::ToolButtonTextBesideIcon);   // how the run stands needs the room more
}

QString TopBar::title() const { return m_title->fullText(); }

}  // namespace lathe::shell
