// Runs from TensorBoard event files: each folder with some becomes a run, read once or followed while its files grow.
#pragma once

#include "pages/context.h"

#include <QStringList>
#include <QWidget>

class QLabel;
class QLineEdit;
class QPushButton;

namespace lathe::theme {
class Switch;
}

namespace lathe::pages {

class ImportStart : public QWidget {
    Q_OBJECT

public:
    explicit ImportStart(Context context, QWidget* parent = nullptr);

Q_SIGNALS:
    /// Folders of the runs, newest first, and a sentence about what was read.
    void imported(const QStringList& folders, const QString& sentence);
    void failed(const QString& sentence);

private:
    void build();
    void changed();
    void start();
    void take(const session::LaunchResult& result);

    Context m_context;
    bool m_reading = false;
    QLineEdit *m_folder = nullptr, *m_name = nullptr;
    theme::Switch* m_follow = nullptr;
    QLabel* m_state = nullptr;
    QPushButton* m_start = nullptr;
};

}  // namespace lathe::pages
