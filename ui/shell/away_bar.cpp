#include "shell/away_bar.h"

#include "pages/state_look.h"
#include "session/qt_text.h"
#include "session/told.h"
#include "theme/parts.h"
#include "theme/plain_tip.h"

#include <QCoreApplication>
#include <QHBoxLayout>
#include <QVBoxLayout>

#include <algorithm>
#include <map>

namespace lathe::shell {
namespace {

constexpr std::size_t kMostLinks = 3;
constexpr int kLinkPadding = 8, kWidestName = 190;

/// "2 completed, 1 diverged at 03:12": what went well first, the time of what did not.
QString endingsText(const std::vector<launch::RunEnding>& endings) {
    std::map<rundir::State, std::pair<int, std::int64_t>> groups;   // in the order of the states
    for (const launch::RunEnding& ending : endings) {
        auto& [count, last] = groups[ending.state];
        ++count;
        last = std::max(last, ending.endedNs);
    }
    QStringList parts;
    for (const auto& [state, group] : groups) {
        const auto& [count, last] = group;
        const QString many = QCoreApplication::translate("lathe::shell::AwayBar", "%1 %2", "how many, how they ended: 2 completed").arg(count).arg(session::stateWord(state).toLower());
        if (state == rundir::State::Completed) parts << many;
        else parts << (count == 1 ? QCoreApplication::translate("lathe::shell::AwayBar", "%1 at %2", "1 failed at 03:12") : QCoreApplication::translate("lathe::shell::AwayBar", "%1 (the last at %2)")).arg(many, session::dayTimeText(last));
    }
    return parts.join(QCoreApplication::translate("lathe::shell::AwayBar", ", ", "between endings"));
}

}  // namespace

AwayBar::AwayBar(QWidget* parent) : QFrame(parent) {
    theme::setRole(this, "topbar");
    setAttribute(Qt::WA_StyledBackground);
    setObjectName(QStringLiteral("awayBar"));
    auto* row = new QHBoxLayout(this);
    row->setContentsMargins(20, 8, 12, 6);
    row->setSpacing(10);
    auto* sign = new QLabel;
    sign->setPixmap(theme::icon(theme::Icon::Clock, theme::Tone::Accent).pixmap(QSize(16, 16), devicePixelRatioF()));
    row->addWidget(sign, 0, Qt::AlignTop);
    auto* words = new QVBoxLayout;
    words->setSpacing(2);
    row->addLayout(words, 1);
    m_text = theme::label({});
    m_text->setObjectName(QStringLiteral("awayText"));
    m_text->setWordWrap(true);
    m_text->setTextInteractionFlags(Qt::TextSelectableByMouse);
    words->addWidget(m_text);
    m_links = new QHBoxLayout;
    m_links->setSpacing(2);
    m_links->setContentsMargins(-kLinkPadding, 0, 0, 0);   // their words stand below the sentence
    words->addLayout(m_links);
    QToolButton* close = theme::flatButton(theme::Icon::Close, {});
    close->setObjectName(QStringLiteral("closeAway"));
    close->setAccessibleName(tr("Close what happened while you were away"));
    close->setIconSize({12, 12});
    row->addWidget(close, 0, Qt::AlignTop);
    connect(close, &QToolButton::clicked, this, &QWidget::hide);
    hide();
}

QString AwayBar::text() const { return isHidden() ? QString() : m_text->text(); }

void AwayBar::show(const std::vector<launch::RunEnding>& endings) {
    if (endings.empty()) return;
    m_text->setText(tr("While you were away: %1").arg(endingsText(endings)));
    // Those that need somebody come first, then the newest.
    std::vector<launch::RunEnding> order(endings.rbegin(), endings.rend());
    std::stable_partition(order.begin(), order.end(), [](const launch::RunEnding& ending) { return rundir::isTrouble(ending.state); });
    const auto add = [this](const QString& text, const QString& name, const QString& help) {
        auto* link = new QPushButton(text);
        theme::setRole(link, "link");
        link->setObjectName(name);
        link->setToolTip(theme::plainTip(help));
        link->setAccessibleDescription(help);
        m_links->addWidget(link);
        return link;
    };
    for (std::size_t i = 0; i < std::min(order.size(), kMostLinks); ++i) {
        const launch::RunEnding& ending = order[i];
        const QString state = pages::stateWord(ending.state), why = session::told(session::toQt(ending.why)), name = session::toQt(ending.name);
        QPushButton* link = add(fontMetrics().elidedText(name, Qt::ElideMiddle, kWidestName), QStringLiteral("awayRun%1").arg(i), why.isEmpty() ? state : state + QStringLiteral(": ") + why);
        link->setAccessibleName(name);
        link->setIcon(theme::icon(theme::Icon::Dot, pages::stateTone(ending.state)));
        link->setIconSize({12, 12});
        connect(link, &QPushButton::clicked, this, [this, folder = session::toQt(ending.run.name())] { Q_EMIT runChosen(folder); });
    }
    if (order.size() > kMostLinks)
        connect(add(tr("and %n more", nullptr, int(order.size() - kMostLinks)), QStringLiteral("awayAll"), tr("Opens the table of runs")), &QPushButton::clicked, this, &AwayBar::allWanted);
    m_links->addStretch();
    setVisible(true);
}

}  // namespace lathe::shell
