#include "shell/gone_bar.h"

#include "session/qt_text.h"
#include "theme/parts.h"

#include <QHBoxLayout>
#include <QPushButton>

namespace lathe::shell {

using session::Whereabouts;

GoneBar::GoneBar(QWidget* parent) : QFrame(parent) {
    theme::setRole(this, "topbar");
    setAttribute(Qt::WA_StyledBackground);
    setObjectName(QStringLiteral("goneBar"));
    auto* row = new QHBoxLayout(this);
    row->setContentsMargins(20, 6, 16, 6);
    row->setSpacing(10);
    auto* sign = new QLabel;
    sign->setPixmap(theme::icon(theme::Icon::Trash, theme::Tone::Warning).pixmap(QSize(16, 16), devicePixelRatioF()));
    row->addWidget(sign);
    m_text = theme::label({});
    m_text->setObjectName(QStringLiteral("goneText"));
    m_text->setWordWrap(true);
    m_text->setTextInteractionFlags(Qt::TextSelectableByMouse);
    row->addWidget(m_text, 1);
    m_restore = theme::button(tr("Restore"), theme::Icon::RollBack);
    m_restore->setObjectName(QStringLiteral("restoreRun"));
    row->addWidget(m_restore);
    connect(m_restore, &QPushButton::clicked, this, [this] { Q_EMIT restoreWanted(m_folder, m_name); });
    hide();
}

QString GoneBar::text() const { return isHidden() ? QString() : m_text->text(); }

void GoneBar::show(const std::shared_ptr<session::RunSession>& session) {
    const Whereabouts now = session ? session->standing().whereabouts : Whereabouts::InPlace;
    if (now == Whereabouts::InPlace) return hide();
    m_folder = session::toQt(session->run().name());
    m_name = session->name();
    m_text->setText(now == Whereabouts::InTrash ? tr("%1 is in the trash. It can be looked at; nothing can be done with it until it is restored.").arg(m_name)
                                                : tr("The folder of %1 is not there any more. What is shown here is as it was when it was seen last.").arg(m_name));
    m_text->setAccessibleName(m_text->text());
    m_restore->setVisible(now == Whereabouts::InTrash);
    setVisible(true);
}

}  // namespace lathe::shell
