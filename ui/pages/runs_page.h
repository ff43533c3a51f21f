// The table of all runs: filter, tick boxes for Compare, and what can be done with a run.
#pragma once

#include "models/runs_model.h"
#include "pages/context.h"

#include <QWidget>

class QLabel;
class QLineEdit;
class QPushButton;
class QStackedLayout;
class QTableView;
class QToolButton;

namespace lathe::pages {

class RunVerbs;
class TrashList;

class RunsPage : public QWidget {
    Q_OBJECT

public:
    RunsPage(Context context, RunVerbs& verbs, QWidget* parent = nullptr);

    models::RunsModel& model() { return m_model; }
    QTableView* table() const { return m_table; }
    void focusFilter();
    QString subtitle() const;

Q_SIGNALS:
    void openRun(const QString& folder);
    void runAgain(const QString& folder);
    void compare(const QStringList& folders);
    void newRun();
    void subtitleChanged();

private:
    void build();
    QWidget* buildBar();
    void buildTable();
    void refresh();
    void takePlaces();
    void showMenu(const QPoint& at);
    QString selectedRun() const;
    void openSelected();

    Context m_context;
    RunVerbs& m_verbs;
    models::RunsModel m_model;
    QLineEdit* m_filter = nullptr;
    QToolButton *m_archived = nullptr, *m_trash = nullptr;
    QPushButton* m_compare = nullptr;
    QLabel* m_count = nullptr;
    QTableView* m_table = nullptr;
    QStackedLayout* m_content = nullptr;
    TrashList* m_deleted = nullptr;
    QString m_selected;      ///< kept by folder over every reset of the model
    bool m_restoring = false;
};

}  // namespace lathe::pages
