// New run from a person's own command: a line, where it runs, a name. Lathe starts and watches it and shows what it logs.
#pragma once

#include "pages/context.h"

#include <QWidget>

class QLineEdit;
class QPlainTextEdit;
class QPushButton;
class QLabel;

namespace lathe::pages {

class CommandStart : public QWidget {
    Q_OBJECT

public:
    explicit CommandStart(Context context, QWidget* parent = nullptr);
    /// Fills the form, for example with what an earlier run was told.
    void setCommand(const QString& line, const QString& folder);

Q_SIGNALS:
    void runStarted(const QString& folder);
    void runQueued(const QString& name);
    void failed(const QString& sentence);

private:
    void build();
    void changed();
    void start(session::When when);

    Context m_context;
    bool m_starting = false;
    QPlainTextEdit* m_line = nullptr;
    QLineEdit *m_folder = nullptr, *m_name = nullptr;
    QLabel* m_state = nullptr;
    QPushButton *m_start = nullptr, *m_queue = nullptr;
};

}  // namespace lathe::pages
