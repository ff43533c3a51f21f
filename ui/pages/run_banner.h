// One line above a run's charts: what it is doing before curves move, with a bar where the amount is known; or why it
// ended, with the way to its log.
#pragma once

#include "session/run_session.h"

#include <QFrame>

class QLabel;
class QProgressBar;
class QPushButton;

namespace lathe::pages {

class RunBanner : public QFrame {
    Q_OBJECT

public:
    explicit RunBanner(QWidget* parent = nullptr);
    /// `waits`: where it stands in the queue, or empty.
    void show(const session::RunSession& session, const QString& waits = {});
    QString text() const;

Q_SIGNALS:
    void logWanted();

private:
    QLabel* m_icon;
    QLabel* m_text;
    QProgressBar* m_bar;
    QPushButton* m_log;
};

}  // namespace lathe::pages
