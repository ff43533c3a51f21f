// What can be done with the open run now, for the top bar: pause, save now and stop while it is up; continue and run again
// once it is over; the rest in a menu.
#pragma once

#include "pages/context.h"
#include "session/run_session.h"

#include <QWidget>

#include <memory>

class QPushButton;
class QToolButton;

namespace lathe::pages {

class RunVerbs;

class RunActions : public QWidget {
    Q_OBJECT

public:
    RunActions(Context context, RunVerbs& verbs, QWidget* parent = nullptr);
    void setSession(std::shared_ptr<session::RunSession> session);
    void refresh();

    /// Also reached by shortcuts.
    void saveNow();
    void togglePause();
    void stop();

Q_SIGNALS:
    void runAgain(const QString& folder);
    void said(const QString& sentence);

private:
    void ask(session::RunSession::Request request);
    void showMenu();
    void showPauseMenu();
    QString folder() const;

    Context m_context;
    RunVerbs& m_verbs;
    std::shared_ptr<session::RunSession> m_session;
    QPushButton *m_pause, *m_save, *m_stop, *m_continue, *m_again;
    QToolButton *m_pauseHow, *m_more;
};

}  // namespace lathe::pages
