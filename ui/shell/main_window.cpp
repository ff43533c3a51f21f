#include "shell/main_window.h"

#include "base/file_system.h"
#include "pages/compare_page.h"
#include "pages/new_run_page.h"
#include "pages/queue_page.h"
#include "pages/runs_page.h"
#include "session/qt_text.h"
#include "shell/gone_bar.h"
#include "shell/message_bar.h"
#include "shell/run_watch.h"
#include "shell/top_bar.h"
#include "theme/icons.h"

#include <QApplication>
#include <QCloseEvent>
#include <QScreen>
#include <QStackedWidget>

#include <algorithm>

namespace lathe::shell {

using session::toQt;
using session::toStd;

namespace {

/// What a window manager puts around a window, which is known only once it has done so.
constexpr QSize kFrame(16, 48);
constexpr int kMostNames = 3;

/// Makes the folder before anything looks into it; what went wrong is told once there is a place to tell it.
std::filesystem::path prepared(const std::filesystem::path& workspace, QString& problem) {
    if (const auto made = makeFolders(FileSystem::real(), workspace); !made.ok()) problem = toQt(made.error().text());
    return workspace;
}

}  // namespace

MainWindow::MainWindow(const std::filesystem::path& workspace, Surroundings surroundings)
    : m_surroundings(surroundings), m_workspace(prepared(workspace, m_folderProblem)), m_launcher(workspace), m_queue(workspace), m_disk(workspace), m_replies(m_launcher),
      m_context{m_workspace, m_launcher, m_replies, m_queue, surroundings.settings, surroundings.prompts} {
    setObjectName(QStringLiteral("mainWindow"));
    setWindowTitle(QStringLiteral("Lathe"));
    setWindowIcon(theme::appIcon());
    setMinimumSize(960, 600);
    resize(QSize(1440, 900).boundedTo(screen()->availableSize() - kFrame));
    build();
    if (!m_folderProblem.isEmpty()) m_messages->fail(m_folderProblem);
    connectPages();
    addShortcuts();
    m_newRun->restoreDraft();
    openPage(Page::NewRun);
}

MainWindow::~MainWindow() = default;

void MainWindow::openPage(Page page) {
    m_page = page;
    const QString run = page == Page::Run ? m_run->folder() : QString();
    m_watch->sawRun(run);
    if (isVisible()) m_messages->openedPage(run);   // before that nobody has read it
    m_rail->setPage(page);
    m_stack->setCurrentIndex(int(page));
    // The page takes the keys; no widget of it shows a focus frame that nobody asked for.
    m_stack->currentWidget()->setFocus();
    refreshTop();
}

void MainWindow::openRun(const QString& folder, pages::RunPage::Tab tab) {
    m_run->open(folder);
    m_run->openTab(tab);
    openPage(Page::Run);
}

void MainWindow::openReference(const QString& run) {
    const auto found = rundir::findRun(m_workspace.folder(), toStd(run));
    if (found.ok()) openRun(toQt(found->name()));
    else m_messages->fail(toQt(found.error().text()));
}

void MainWindow::openPreset(const QString& name) {
    openPage(Page::NewRun);
    m_newRun->choosePreset(name);
}

void MainWindow::runAgain(const QString& folder, const pages::Edits& edits) {
    openPage(Page::NewRun);
    m_newRun->runAgain(folder, edits);
}

void MainWindow::compare(const QStringList& folders) {
    m_compare->setRuns(folders);
    openPage(Page::Compare);
}

/// The form stays open: the next one may be put behind it at once.
void MainWindow::runWasQueued(const QString& name) {
    m_workspace.refresh();
    m_queue.refresh();
    m_messages->say(tr("%1 is in the queue and starts when its device is free.").arg(name));
}

void MainWindow::runWasRemoved(const QString& folder) {
    if (m_run->folder() != folder) return;
    m_run->open({});
    if (m_page == Page::Run) openPage(Page::Runs);
}

void MainWindow::refreshTop() {
    switch (m_page) {
    case Page::NewRun: m_top->setTitle(tr("New run"), m_newRun->subtitle()); break;
    case Page::Runs: m_top->setTitle(tr("Runs"), m_runs->subtitle()); break;
    case Page::Queue: m_top->setTitle(tr("Queue"), m_queuePage->subtitle()); break;
    case Page::Compare: m_top->setTitle(tr("Compare"), m_compare->subtitle()); break;
    case Page::Devices: m_top->setTitle(tr("Devices"), {}); break;
    case Page::Run: m_top->setTitle(m_run->session() ? m_run->session()->name() : QString(), m_run->subtitle()); break;
    }
    m_top->setRun(m_page == Page::Run ? m_run->session() : nullptr);
    m_gone->show(m_page == Page::Run ? m_run->session() : nullptr);
    const QString title = m_top->title();
    setWindowTitle(m_page == Page::Run && !title.isEmpty() ? title + QStringLiteral(" – Lathe") : QStringLiteral("Lathe"));
}

void MainWindow::runEnded(const QString& folder, const QString& sentence) {
    const bool onItsPage = m_page == Page::Run && m_run->folder() == folder;
    if (!isActiveWindow() || !onItsPage) m_surroundings.notifier.notify(tr("Lathe"), sentence);
    // Its own page shows it; elsewhere the window tells it itself, since not every desktop has notifications.
    if (onItsPage) return m_watch->sawRun(folder);
    const auto& unseen = m_watch->unseen();
    const bool bad = std::any_of(unseen.begin(), unseen.end(), [&](const RunWatch::Unseen& one) { return one.folder == folder; });
    if (bad) tellUnseen();
    else if (!m_messages->isError() && !m_messages->isNotice()) m_messages->say(sentence, {tr("Open the run"), [this, folder] { openRun(folder); }});
}

/// One by its sentence, several by their names; until somebody has looked, or has closed it.
void MainWindow::tellUnseen() {
    const auto& unseen = m_watch->unseen();
    if (unseen.empty()) return;
    const auto closed = [this] { m_watch->sawAll(); };
    if (unseen.size() == 1) {
        m_messages->notice(unseen.front().sentence, {tr("Open the run"), [this, folder = unseen.front().folder] { openRun(folder); }}, closed);
        return;
    }
    QStringList names;
    for (const RunWatch::Unseen& one : unseen) names << one.name;
    if (names.size() > kMostNames) names = names.mid(0, kMostNames) << QStringLiteral("…");
    m_messages->notice(tr("%1 runs have ended badly: %2").arg(unseen.size()).arg(names.join(QStringLiteral(", "))), {tr("Show the runs"), [this] {
        m_watch->sawAll();
        openPage(Page::Runs);
    }}, closed);
}

void MainWindow::chooseTheme(theme::Mode mode) {
    theme::apply(mode);
    m_surroundings.settings.setValue(QStringLiteral("window/theme"), int(mode));
}

void MainWindow::chooseLanguage(const QString& language) {
    m_surroundings.settings.setValue(QStringLiteral("window/language"), language);
    m_messages->say(tr("The language changes when Lathe is opened again."));
}

void MainWindow::save() {
    session::Settings& settings = m_surroundings.settings;
    settings.setValue(QStringLiteral("window/geometry"), saveGeometry());
    settings.setValue(QStringLiteral("window/page"), int(m_page));
    settings.setValue(QStringLiteral("window/run"), m_run->folder());
    settings.setValue(QStringLiteral("window/tab"), int(m_run->tab()));
    settings.setValue(QStringLiteral("window/compare"), m_compare->runs());
    settings.setValue(QStringLiteral("window/workspace"), toQt(m_workspace.folder().string()));
    m_newRun->saveDraft();
    m_watch->remember();
    settings.sync();
}

void MainWindow::restore() {
    const session::Settings& settings = m_surroundings.settings;
    restoreGeometry(settings.value(QStringLiteral("window/geometry")).toByteArray());
    // What was open belongs to a workspace; another one starts at its first page.
    if (settings.value(QStringLiteral("window/workspace")).toString() != toQt(m_workspace.folder().string())) return;
    const int page = settings.value(QStringLiteral("window/page")).toInt();
    const QString run = settings.value(QStringLiteral("window/run")).toString();
    const QStringList compared = settings.value(QStringLiteral("window/compare")).toStringList();
    const int tab = std::clamp(settings.value(QStringLiteral("window/tab")).toInt(), 0, int(pages::RunPage::Log));
    // Runs that are gone are not opened; names in a settings file are not trusted as paths.
    const auto exists = [this](const QString& folder) {
        return !folder.isEmpty() && !folder.contains(QLatin1Char('/')) && std::filesystem::exists(m_workspace.runFolder(toStd(folder)).runJson());
    };
    if (exists(run)) m_run->open(run);
    m_run->openTab(pages::RunPage::Tab(tab));
    if (!compared.isEmpty()) {
        connect(&m_workspace, &session::Workspace::runsChanged, this, [this, compared] { m_compare->setRuns(compared); }, Qt::SingleShotConnection);
    }
    if (page == int(Page::Run) && m_run->session()) openPage(Page::Run);
    else if (page >= 0 && page <= int(Page::Devices)) openPage(Page(page));
}

void MainWindow::closeEvent(QCloseEvent* event) {
    save();
    session::Settings& settings = m_surroundings.settings;
    const QStringList up = m_watch->upNow();
    if (!up.isEmpty() && !settings.value(QStringLiteral("window/closeTold")).toBool()) {
        m_surroundings.notifier.notify(tr("Training goes on"),
                                       tr("%1 keeps running without this window. Open Lathe again to watch or stop it, or use: lathe-trainer stop %1").arg(up.front()), true);
        settings.setValue(QStringLiteral("window/closeTold"), true);
        settings.sync();
    }
    event->accept();
}

}  // namespace lathe::shell
