// What happened in a run: why it failed with the end of its log, its events, and its log files while they grow.
#pragma once

#include "models/events_model.h"
#include "models/log_model.h"
#include "session/background.h"
#include "session/run_session.h"

#include <QWidget>

class QFrame;
class QLabel;
class QListView;
class QPlainTextEdit;
class QTableView;

namespace lathe::theme {
class ChoiceBox;
}

namespace lathe::pages {

class LogTab : public QWidget {
    Q_OBJECT

public:
    explicit LogTab(QWidget* parent = nullptr);
    void setSession(std::shared_ptr<session::RunSession> session);

protected:
    void showEvent(QShowEvent* event) override;
    void hideEvent(QHideEvent* event) override;

private:
    void build();
    QWidget* buildFailure();
    QWidget* buildEvents();
    QWidget* buildFiles();
    void fillFiles();
    void takeFiles(const QStringList& names);
    void showFile();
    void refreshFailure();
    void showTail();

    std::shared_ptr<session::RunSession> m_session;
    models::EventsModel m_events;
    models::LogModel m_log;
    models::LogModel m_tail;        ///< of the log that tells why a run failed
    session::NewestJob m_listing{session::jobPool()};
    QFrame* m_failure = nullptr;
    QLabel* m_cause = nullptr;
    QPlainTextEdit* m_lastLines = nullptr;
    QTableView* m_table = nullptr;
    theme::ChoiceBox* m_file = nullptr;
    QLabel* m_fileProblem = nullptr;
    QListView* m_lines = nullptr;
};

}  // namespace lathe::pages
