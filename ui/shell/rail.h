// The rail at the left: the pages, the runs that are up now, and the theme.
#pragma once

#include "session/queue_feed.h"
#include "session/workspace.h"
#include "theme/theme.h"

#include <QWidget>

#include <vector>

class QMenu;
class QToolButton;
class QVBoxLayout;

namespace lathe::shell {

/// Pages of the window. A run has no place in the rail of its own: it belongs to Runs.
enum class Page { NewRun, Runs, Queue, Compare, Devices, Run };
inline constexpr int kRailPages = int(Page::Run);

class Rail : public QWidget {
    Q_OBJECT

public:
    /// `language` as it was chosen.
    Rail(session::Workspace& workspace, session::QueueFeed& queue, const QString& language, QWidget* parent = nullptr);
    void setPage(Page page);

Q_SIGNALS:
    void pageChosen(lathe::shell::Page page);
    void runChosen(const QString& folder);
    void themeChosen(lathe::theme::Mode mode);
    void languageChosen(const QString& language);  ///< a locale name; empty: that of the system

private:
    void addPages(QVBoxLayout* column);
    void addTheme(QVBoxLayout* column);
    void addLanguages(QMenu* menu, const QString& chosen);
    void refreshRuns();
    void refreshQueue();
    void refreshTheme();

    session::Workspace& m_workspace;
    session::QueueFeed& m_queue;
    std::vector<QToolButton*> m_pages;
    QVBoxLayout* m_runs = nullptr;
    QToolButton* m_theme = nullptr;
};

}  // namespace lathe::shell
