// Putting the window together: its parts, how they are wired, its shortcuts.
#include "pages/compare_page.h"
#include "pages/devices_page.h"
#include "pages/new_run_page.h"
#include "pages/queue_page.h"
#include "pages/run_verbs.h"
#include "pages/runs_page.h"
#include "shell/away_bar.h"
#include "shell/disk_bar.h"
#include "shell/gone_bar.h"
#include "shell/main_window.h"
#include "shell/message_bar.h"
#include "shell/run_switcher.h"
#include "shell/run_watch.h"
#include "shell/top_bar.h"

#include <QHBoxLayout>
#include <QShortcut>
#include <QStackedWidget>
#include <QVBoxLayout>

namespace lathe::shell {

void MainWindow::build() {
    m_verbs = new pages::RunVerbs(m_context, this);
    m_watch = new RunWatch(m_workspace, m_surroundings.settings, this);
    auto* root = new QWidget;
    auto* row = new QHBoxLayout(root);
    row->setContentsMargins(0, 0, 0, 0);
    row->setSpacing(0);
    m_rail = new Rail(m_workspace, m_queue, m_surroundings.settings.value(QStringLiteral("window/language")).toString());
    row->addWidget(m_rail);
    auto* column = new QVBoxLayout;
    column->setSpacing(0);
    m_top = new TopBar(m_context, *m_verbs);
    column->addWidget(m_top);
    column->addWidget(new DiskBar(m_disk));
    m_away = new AwayBar;
    column->addWidget(m_away);
    m_gone = new GoneBar;
    column->addWidget(m_gone);
    m_stack = new QStackedWidget;
    m_stack->setObjectName(QStringLiteral("pages"));
    m_newRun = new pages::NewRunPage(m_context);
    m_runs = new pages::RunsPage(m_context, *m_verbs);
    m_queuePage = new pages::QueuePage(m_context, *m_verbs);
    m_compare = new pages::ComparePage(m_context);
    m_devices = new pages::DevicesPage;
    m_run = new pages::RunPage(m_context, *m_verbs);
    // In the order of Page.
    for (QWidget* page : {static_cast<QWidget*>(m_newRun), static_cast<QWidget*>(m_runs), static_cast<QWidget*>(m_queuePage), static_cast<QWidget*>(m_compare), static_cast<QWidget*>(m_devices), static_cast<QWidget*>(m_run)}) {
        page->setFocusPolicy(Qt::ClickFocus);
        m_stack->addWidget(page);
    }
    column->addWidget(m_stack, 1);
    row->addLayout(column, 1);
    m_messages = new MessageBar(m_stack);
    setCentralWidget(root);
    m_switcher = new RunSwitcher(m_workspace, this);
}

void MainWindow::connectPages() {
    using pages::RunPage;
    connect(m_rail, &Rail::pageChosen, this, &MainWindow::openPage);
    connect(m_rail, &Rail::runChosen, this, [this](const QString& folder) { openRun(folder); });
    connect(m_rail, &Rail::themeChosen, this, &MainWindow::chooseTheme);
    connect(m_rail, &Rail::languageChosen, this, &MainWindow::chooseLanguage);
    connect(m_top, &TopBar::switcherWanted, m_switcher, &RunSwitcher::open);
    connect(m_switcher, &RunSwitcher::runChosen, this, [this](const QString& folder) { openRun(folder); });

    connect(m_newRun, &pages::NewRunPage::runStarted, this, [this](const QString& folder) {
        m_workspace.refresh();
        openRun(folder);
    });
    connect(m_newRun, &pages::NewRunPage::runQueued, this, &MainWindow::runWasQueued);
    connect(m_newRun, &pages::NewRunPage::imported, this, [this](const QStringList& folders, const QString& sentence) {
        m_workspace.refresh();
        if (folders.size() == 1) openRun(folders.front());
        else openPage(Page::Runs);
        m_messages->say(sentence);
    });
    const auto say = [this](const QString& sentence) { m_messages->say(sentence); };
    const auto fail = [this](const QString& sentence) { m_messages->fail(sentence); };
    connect(m_newRun, &pages::NewRunPage::failed, this, fail);
    connect(m_newRun, &pages::NewRunPage::subtitleChanged, this, &MainWindow::refreshTop);
    connect(m_runs, &pages::RunsPage::openRun, this, [this](const QString& folder) { openRun(folder); });
    connect(m_runs, &pages::RunsPage::runAgain, this, [this](const QString& folder) { runAgain(folder); });
    connect(m_runs, &pages::RunsPage::compare, this, &MainWindow::compare);
    connect(m_runs, &pages::RunsPage::newRun, this, [this] { openPage(Page::NewRun); });
    connect(m_runs, &pages::RunsPage::subtitleChanged, this, &MainWindow::refreshTop);
    connect(m_queuePage, &pages::QueuePage::openRun, this, [this](const QString& folder) { openRun(folder); });
    connect(m_queuePage, &pages::QueuePage::newRun, this, [this] { openPage(Page::NewRun); });
    connect(m_queuePage, &pages::QueuePage::failed, this, fail);
    connect(m_queuePage, &pages::QueuePage::subtitleChanged, this, &MainWindow::refreshTop);
    connect(m_compare, &pages::ComparePage::chooseRuns, this, [this] { openPage(Page::Runs); });
    connect(m_compare, &pages::ComparePage::runsChanged, this, &MainWindow::refreshTop);
    connect(m_run, &RunPage::sessionChanged, this, &MainWindow::refreshTop);
    connect(m_run, &RunPage::runAgainWith, this, &MainWindow::runAgain);
    connect(m_run, &RunPage::runAgain, this, [this](const QString& folder) { runAgain(folder); });
    connect(&m_top->actions(), &pages::RunActions::runAgain, this, [this](const QString& folder) { runAgain(folder); });

    connect(m_verbs, &pages::RunVerbs::runStarted, this, [this](const QString& folder) {
        m_messages->settle(folder);
        openRun(folder);
    });
    connect(m_verbs, &pages::RunVerbs::acted, m_messages, &MessageBar::settle);
    connect(m_verbs, &pages::RunVerbs::said, this, say);
    connect(m_verbs, &pages::RunVerbs::trashed, this, [this](const QString& folder, const QString& name) {
        m_messages->say(tr("%1 is in the trash.").arg(name), {tr("Undo"), [this, folder, name] { m_verbs->restore(folder, name); }});
    });
    connect(m_verbs, &pages::RunVerbs::failed, m_messages, &MessageBar::fail);
    connect(m_verbs, &pages::RunVerbs::runRemoved, this, &MainWindow::runWasRemoved);
    connect(&m_top->actions(), &pages::RunActions::said, this, say);
    connect(m_messages, &MessageBar::left, this, &MainWindow::tellUnseen);
    connect(&m_workspace, &session::Workspace::editFailed, this, fail);
    connect(&m_workspace, &session::Workspace::folderCameOrWent, &m_disk, &session::DiskWatch::refresh);
    connect(m_watch, &RunWatch::runEnded, this, &MainWindow::runEnded);
    connect(m_watch, &RunWatch::unseenChanged, this, [this] {
        if (m_messages->isNotice()) m_messages->leave();   // the others are told again
    });
    connect(m_watch, &RunWatch::endedMeanwhile, m_away, &AwayBar::show);
    connect(m_away, &AwayBar::runChosen, this, [this](const QString& folder) { openRun(folder); });
    connect(m_gone, &GoneBar::restoreWanted, m_verbs, &pages::RunVerbs::restore);
    connect(m_away, &AwayBar::allWanted, this, [this] { openPage(Page::Runs); });
}

void MainWindow::addShortcuts() {
    const auto add = [this](const QKeySequence& keys, auto slot) { connect(new QShortcut(keys, this), &QShortcut::activated, this, slot); };
    for (int i = 0; i < kRailPages; ++i) add(QKeySequence(Qt::CTRL | Qt::Key(Qt::Key_1 + i)), [this, i] { openPage(Page(i)); });
    add(QKeySequence(Qt::CTRL | Qt::Key_P), [this] { m_switcher->open(); });
    add(QKeySequence::New, [this] { openPage(Page::NewRun); });
    add(QKeySequence::Save, [this] {
        if (m_page == Page::Run) m_top->actions().saveNow();
    });
    for (int i = 0; i <= pages::RunPage::Log; ++i) {
        add(QKeySequence(Qt::ALT | Qt::Key(Qt::Key_1 + i)), [this, i] {
            if (m_page == Page::Run) m_run->openTab(pages::RunPage::Tab(i));
        });
    }
    add(QKeySequence::Quit, [this] { close(); });
}

}  // namespace lathe::shell
