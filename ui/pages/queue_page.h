// The queue: what waits for a device, in order, and what a person changes in it. Every change is made by lathe-trainer,
// so that it is the same as on the command line.
#pragma once

#include "models/queue_model.h"
#include "pages/context.h"

#include <QWidget>

class QComboBox;
class QFrame;
class QLabel;
class QPushButton;
class QStackedLayout;
class QTableView;

namespace lathe::pages {

class RunVerbs;

class QueuePage : public QWidget {
    Q_OBJECT

public:
    QueuePage(Context context, RunVerbs& verbs, QWidget* parent = nullptr);

    models::QueueModel& model() { return m_model; }
    QString subtitle() const;

Q_SIGNALS:
    void openRun(const QString& folder);
    void newRun();
    void failed(const QString& sentence);
    void subtitleChanged();

private:
    void build();
    QWidget* buildBar();
    QWidget* buildNotice();
    void buildTable();
    void addKeys();
    void refresh();
    void refreshButtons();
    void showMenu(const QPoint& at);
    void openSelected();
    void moveSelected(int by);
    void toggleHold();
    void takeOut();
    void tell(const QStringList& words);

    Context m_context;
    RunVerbs& m_verbs;
    models::QueueModel m_model;
    QPushButton *m_up = nullptr, *m_down = nullptr, *m_hold = nullptr, *m_remove = nullptr, *m_wake = nullptr;
    QComboBox* m_policy = nullptr;
    QFrame* m_notice = nullptr;
    QLabel* m_noticeText = nullptr;
    QTableView* m_table = nullptr;
    QStackedLayout* m_content = nullptr;
    QString m_selected;      ///< id, kept over every reset of the model
    bool m_restoring = false;
};

}  // namespace lathe::pages
