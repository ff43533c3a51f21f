#include "shell/away_bar.h"

#include "pages/state_look.h"
#include "session/qt_text.h"
#include "theme/parts.h"

#include <QHBoxLayout>

#include <algorithm>

namespace lathe::shell {
namespace {

constexpr std::size_t kMostLinks = 3;

}  // namespace

AwayBar::AwayBar(QWidget* parent) : QFrame(parent) {
    theme::setRole(this, "topbar");
    setAttribute(Qt::WA_StyledBackground);
    setObjectName(QStringLiteral("awayBar"));
    auto* row = new QHBoxLayout(this);
    row->setContentsMargins(20, 6, 12, 6);
    row->setSpacing(10);
    auto* sign = new QLabel;
    sign->setPixmap(theme::icon(theme::Icon::Clock, theme::Tone::Accent).pixmap(QSize(16, 16), devicePixelRatioF()));
    row->addWidget(sign);
    m_text = theme::label({});
    m_text->setObjectName(QStringLiteral("awayText"));
    m_text->setWordWrap(true);
    m_text->setTextInteractionFlags(Qt::TextSelectableByMouse);
    row->addWidget(m_text, 1);
    m_links = new QHBoxLayout;
    m_links->setSpacing(2);
    row->addLayout(m_links);
    QToolButton* close = theme::flatButton(theme::Icon::Close, {});
    close->setObjectName(QStringLiteral("closeAway"));
    close->setAccessibleName(tr("Close what happened while you were away"));
    close->setIconSize({12, 12});
    row->addWidget(close);
    connect(close, &QToolButton::clicked, this, &QWidget::hide);
    hide();
}

QString AwayBar::text() const { return isHidden() ? QString() : m_text->text(); }

void AwayBar::show(const std::vector<launch::RunEnding>& endings, std::int64_t nowNs) {
    if (endings.empty()) return;
    m_text->setText(tr("While you were away: %1").arg(session::toQt(launch::endingsText(endings, nowNs))));
    // Those that need somebody come first, then the newest.
    std::vector<launch::RunEnding> order(endings.rbegin(), endings.rend());
    std::stable_partition(order.begin(), order.end(), [](const launch::RunEnding& ending) { return rundir::isTrouble(ending.state); });
    const auto add = [this](const QString& text, const QString& name, const QString& help) {
        auto* link = new QPushButton(text);
        theme::setRole(link, "link");
        link->setObjectName(name);
        link->setToolTip(help.toHtmlEscaped());
        link->setAccessibleDescription(help);
        m_links->addWidget(link);
        return link;
    };
    for (std::size_t i = 0; i < std::min(order.size(), kMostLinks); ++i) {
        const launch::RunEnding& ending = order[i];
        const QString state = pages::stateWord(ending.state), why = session::toQt(ending.why);
        QPushButton* link = add(session::toQt(ending.name), QStringLiteral("awayRun%1").arg(i), why.isEmpty() ? state : state + QStringLiteral(": ") + why);
        connect(link, &QPushButton::clicked, this, [this, folder = session::toQt(ending.run.name())] { Q_EMIT runChosen(folder); });
    }
    if (order.size() > kMostLinks)
        connect(add(tr("and %n more", nullptr, int(order.size() - kMostLinks)), QStringLiteral("awayAll"), tr("Opens the table of runs")), &QPushButton::clicked, this, &AwayBar::allWanted);
    setVisible(true);
}

}  // namespace lathe::shell
