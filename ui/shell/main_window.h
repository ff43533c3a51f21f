// The window: owns workspace, launcher and pages, and leads from one page to the other. It can be closed or killed at any
// time without touching a run.
#pragma once

#include "pages/context.h"
#include "pages/run_page.h"
#include "session/disk_watch.h"
#include "shell/notifier.h"
#include "shell/rail.h"

#include <QMainWindow>

#include <filesystem>

class QStackedWidget;

namespace lathe::pages {
class ComparePage;
class DevicesPage;
class NewRunPage;
class QueuePage;
class RunsPage;
class RunVerbs;
}

namespace lathe::shell {

class AwayBar;
class GoneBar;
class MessageBar;
class RunSwitcher;
class RunWatch;
class TopBar;

class MainWindow : public QMainWindow {
    Q_OBJECT

public:
    /// What the window talks to beside the workspace; all of it outlives the window.
    struct Surroundings {
        session::Settings& settings;
        pages::Prompts& prompts;
        Notifier& notifier;
    };
    MainWindow(const std::filesystem::path& workspace, Surroundings surroundings);
    ~MainWindow() override;

    void openPage(Page page);
    void openRun(const QString& folder, pages::RunPage::Tab tab = pages::RunPage::Charts);
    /// RUN of the command line: id, beginning of one, name, folder, or "latest". A sentence appears where there is none.
    void openReference(const QString& run);
    /// Page New run with a preset; unsaved changes that were brought back are asked about first.
    void openPreset(const QString& name);
    /// Page, tab, run, geometry and unsaved form as they were when the window was closed.
    void restore();

    Page page() const { return m_page; }
    session::Workspace& workspace() { return m_workspace; }
    session::Launcher& launcher() { return m_launcher; }
    pages::NewRunPage& newRunPage() { return *m_newRun; }
    pages::RunsPage& runsPage() { return *m_runs; }
    pages::QueuePage& queuePage() { return *m_queuePage; }
    session::DiskWatch& disk() { return m_disk; }
    session::QueueFeed& queue() { return m_queue; }
    pages::ComparePage& comparePage() { return *m_compare; }
    pages::RunPage& runPage() { return *m_run; }
    MessageBar& messages() { return *m_messages; }

protected:
    void closeEvent(QCloseEvent* event) override;

private:
    void build();
    void connectPages();
    void addShortcuts();
    void refreshTop();
    void runAgain(const QString& folder, const pages::Edits& edits = {});
    void compare(const QStringList& folders);
    void runWasQueued(const QString& name);
    void runWasRemoved(const QString& folder);
    void runEnded(const QString& folder, const QString& sentence);
    void tellUnseen();
    void save();
    void chooseTheme(theme::Mode mode);
    void chooseLanguage(const QString& language);

    Surroundings m_surroundings;
    QString m_folderProblem;
    session::Workspace m_workspace;
    session::Launcher m_launcher;
    session::QueueFeed m_queue;
    session::DiskWatch m_disk;
    pages::LaunchReplies m_replies;
    pages::Context m_context;
    Page m_page = Page::NewRun;
    pages::RunVerbs* m_verbs = nullptr;
    Rail* m_rail = nullptr;
    TopBar* m_top = nullptr;
    AwayBar* m_away = nullptr;
    GoneBar* m_gone = nullptr;
    MessageBar* m_messages = nullptr;
    QStackedWidget* m_stack = nullptr;
    RunSwitcher* m_switcher = nullptr;
    RunWatch* m_watch = nullptr;
    pages::NewRunPage* m_newRun = nullptr;
    pages::RunsPage* m_runs = nullptr;
    pages::QueuePage* m_queuePage = nullptr;
    pages::ComparePage* m_compare = nullptr;
    pages::DevicesPage* m_devices = nullptr;
    pages::RunPage* m_run = nullptr;
};

}  // namespace lathe::shell
