// One run: tabs Charts, Checkpoints, Records, Config, Log.
#pragma once

#include "pages/context.h"
#include "pages/remedies_card.h"
#include "session/run_session.h"

#include <QWidget>

#include <memory>

class QStackedWidget;
class QTabBar;

namespace lathe::pages {

class ChartsTab;
class CheckpointsTab;
class ConfigTab;
class LogTab;
class RecordsTab;
class RunVerbs;

class RunPage : public QWidget {
    Q_OBJECT

public:
    enum Tab { Charts, Checkpoints, Records, Config, Log };

    RunPage(Context context, RunVerbs& verbs, QWidget* parent = nullptr);

    /// Folder name below runs/; empty shows nothing.
    void open(const QString& folder);
    void openTab(Tab tab);
    Tab tab() const;
    QString folder() const { return m_folder; }
    const std::shared_ptr<session::RunSession>& session() const { return m_session; }
    /// "digits · branch 2, rolled back to 120 · loading data 210/300"
    QString subtitle() const;

Q_SIGNALS:
    void sessionChanged();     ///< another run, or this one's name, state or phase
    void runAgain(const QString& folder);
    void runAgainWith(const QString& folder, const lathe::pages::Edits& edits);

private:
    Context m_context;
    QString m_folder;
    std::shared_ptr<session::RunSession> m_session;
    QTabBar* m_tabs;
    QStackedWidget* m_stack;
    ChartsTab* m_charts;
    CheckpointsTab* m_checkpoints;
    RecordsTab* m_records;
    ConfigTab* m_config;
    LogTab* m_log;
};

}  // namespace lathe::pages
