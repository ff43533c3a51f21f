#include "pages/run_page.h"

#include "pages/charts_tab.h"
#include "pages/checkpoints_tab.h"
#include "pages/config_tab.h"
#include "pages/log_tab.h"
#include "pages/records_tab.h"
#include "pages/run_verbs.h"
#include "pages/state_look.h"
#include "session/qt_text.h"
#include "theme/parts.h"

#include <QLocale>
#include <QStackedWidget>
#include <QTabBar>
#include <QVBoxLayout>

#include <algorithm>

namespace lathe::pages {

using session::toQt;
using session::toStd;

RunPage::RunPage(Context context, RunVerbs& verbs, QWidget* parent) : QWidget(parent), m_context(context) {
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    m_tabs = new QTabBar;
    m_tabs->setObjectName(QStringLiteral("runTabs"));
    m_tabs->setAccessibleName(tr("Parts of the run"));
    m_tabs->setDrawBase(false);
    m_tabs->setExpanding(false);
    m_tabs->setUsesScrollButtons(false);
    m_tabs->setElideMode(Qt::ElideNone);
    for (const QString& text : {tr("Charts"), tr("Checkpoints"), tr("Records"), tr("Config"), tr("Log")}) m_tabs->addTab(text);
    auto* tabRow = new QWidget;
    auto* tabLayout = new QHBoxLayout(tabRow);
    tabLayout->setContentsMargins(20, 6, 20, 0);
    tabLayout->addWidget(m_tabs);
    tabLayout->addStretch();
    column->addWidget(tabRow);
    m_stack = new QStackedWidget;
    m_charts = new ChartsTab(context);
    m_checkpoints = new CheckpointsTab(context, verbs);
    m_records = new RecordsTab;
    m_config = new ConfigTab(context);
    m_log = new LogTab;
    for (QWidget* tab : std::initializer_list<QWidget*>{m_charts, m_checkpoints, m_records, m_config, m_log}) m_stack->addWidget(tab);
    column->addWidget(m_stack, 1);

    connect(m_tabs, &QTabBar::currentChanged, m_stack, &QStackedWidget::setCurrentIndex);
    connect(m_charts, &ChartsTab::logWanted, this, [this] { openTab(Log); });
    connect(m_charts, &ChartsTab::checkpointClicked, this, [this](const QString& checkpoint) {
        m_checkpoints->select(checkpoint);
        openTab(Checkpoints);
    });
    connect(m_charts, &ChartsTab::remedyChosen, this, [this, verbs = &verbs](const Edits& edits, bool goesOn) {
        if (goesOn) verbs->goOnWithChanges(m_folder, {}, {QStringLiteral("continue")}, QStringLiteral("continue"), edits);
        else Q_EMIT runAgainWith(m_folder, edits);
    });
    connect(m_config, &ConfigTab::runAgainWanted, this, [this] { Q_EMIT runAgain(m_folder); });
}

void RunPage::open(const QString& folder) {
    if (folder == m_folder && m_session) return;
    if (m_session) m_session->disconnect(this);
    m_folder = folder;
    m_session = folder.isEmpty() ? nullptr : m_context.workspace.session(toStd(folder));
    if (m_session) {
        for (const auto signal : {&session::RunSession::loaded, &session::RunSession::stateChanged, &session::RunSession::userChanged})
            connect(m_session.get(), signal, this, &RunPage::sessionChanged);
    }
    m_charts->setSession(m_session);
    m_checkpoints->setSession(m_session);
    m_records->setSession(m_session);
    m_config->setSession(m_session);
    m_log->setSession(m_session);
    Q_EMIT sessionChanged();
}

void RunPage::openTab(Tab tab) { m_tabs->setCurrentIndex(tab); }

RunPage::Tab RunPage::tab() const { return Tab(m_tabs->currentIndex()); }

QString RunPage::subtitle() const {
    if (!m_session) return {};
    QStringList parts;
    const auto& sessions = m_session->data().sessions();
    int branches = 0;
    for (const store::SessionRow& row : sessions) branches = std::max(branches, m_session->data().branchOf(row.number));
    if (!sessions.empty() && branches > 0) {
        const store::SessionRow& newest = sessions.back();
        // The first step of a session is the one after its checkpoint.
        const QString from = QLocale().toString(qint64(std::max<std::int64_t>(0, newest.firstStep - 1)));
        parts << (newest.verb == "roll-back" ? tr("branch %1, rolled back to %2").arg(branches + 1).arg(from) : tr("branch %1").arg(branches + 1));
    }
    const session::Standing& now = m_session->standing();
    const bool alive = rundir::isAlive(now.state);
    if (const QString stop = stopText(*m_session); alive && !stop.isEmpty()) parts << stop;
    else if (const QString hang = hangText(*m_session); alive && !hang.isEmpty()) parts << hang;
    else if (alive && now.snag == session::Snag::None && !now.phase.words.isEmpty()) parts << now.phase.text();
    const bool told = now.snag == session::Snag::Hangs && !parts.isEmpty();
    if ((!alive || (now.snag != session::Snag::None && !told) || now.state == rundir::State::Paused) && !now.why.isEmpty()) parts << now.why;
    return parts.join(QStringLiteral(" · "));
}

}  // namespace lathe::pages
