// Go to a run by typing a part of its name: a small list over the window, closed by Escape or by leaving it.
#pragma once

#include "session/workspace.h"

#include <QFrame>

class QLineEdit;
class QListWidget;

namespace lathe::shell {

class RunSwitcher : public QFrame {
    Q_OBJECT

public:
    RunSwitcher(session::Workspace& workspace, QWidget* window);
    void open();

Q_SIGNALS:
    void runChosen(const QString& folder);

protected:
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    void fill();
    void accept();

    session::Workspace& m_workspace;
    QLineEdit* m_filter;
    QListWidget* m_list;
};

}  // namespace lathe::shell
