// A run's checkpoints by session, newest first, and what can be done with the selected one. A verb that is not possible
// stays in its place and says why.
#pragma once

#include "models/checkpoints_model.h"
#include "pages/context.h"

#include <QTimer>
#include <QWidget>

class QLabel;
class QPushButton;
class QStackedLayout;
class QTreeView;


namespace lathe::charts {
class RunCharts;
}
namespace lathe::theme {
class EmptyState;
}

namespace lathe::pages {

class RunVerbs;

class CheckpointsTab : public QWidget {
    Q_OBJECT

public:
    CheckpointsTab(Context context, RunVerbs& verbs, QWidget* parent = nullptr);

    void setSession(std::shared_ptr<session::RunSession> session);
    void select(const QString& checkpoint);
    QTreeView* tree() const { return m_tree; }

protected:
    void changeEvent(QEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;

private:
    struct Verb {
        QPushButton* button = nullptr;
        QString help;
    };
    void build();
    QWidget* buildVerbs();
    void applyPalette();
    void buildTree();
    void refresh();
    void refreshVerbs();
    void goOnWithChanges(const session::CheckpointItem& item);
    void showQueueMenu(const session::CheckpointItem& item);
    void setVerb(const Verb& verb, const QString& whyNot);
    const session::CheckpointItem* selected() const;
    QString folder() const;
    /// Newest usable checkpoint of the surviving line: the only one that Continue goes on from.
    const session::CheckpointItem* newest() const;

    Context m_context;
    RunVerbs& m_verbs;
    std::shared_ptr<session::RunSession> m_session;
    models::CheckpointsModel m_model;
    QTimer m_ages;
    QString m_selected;
    bool m_chosen = false;   ///< by a person; else the newest of the line is marked, whichever that is now
    bool m_restoring = false;
    charts::RunCharts* m_chart = nullptr;
    QLabel* m_summary = nullptr;
    QLabel* m_help = nullptr;
    QTreeView* m_tree = nullptr;
    QStackedLayout* m_content = nullptr;
    theme::EmptyState* m_none = nullptr;
    Verb m_continue, m_rollBack, m_fork, m_weights, m_changes, m_queue, m_pin, m_verify, m_export, m_delete;
};

}  // namespace lathe::pages
