// What was deleted and can still come back: runs and single checkpoints, restored one by one or removed for good.
#pragma once

#include "pages/context.h"
#include "session/background.h"

#include <QStandardItemModel>
#include <QTimer>
#include <QWidget>

#include <cstdint>

class QPushButton;
class QStackedLayout;
class QTableView;
class QVBoxLayout;

namespace lathe::pages {

class RunVerbs;

class TrashList : public QWidget {
    Q_OBJECT

public:
    TrashList(Context context, RunVerbs& verbs, QWidget* parent = nullptr);
    /// Asks lathe-trainer what is in the trash. While this is seen, whatever comes or goes there is noticed by itself.
    void refresh();

Q_SIGNALS:
    void failed(const QString& sentence);

private:
    void buildBar(QVBoxLayout* column);
    void buildTable();
    void look();
    void take(const QByteArray& json);
    void restore();
    void refreshButtons();

    Context m_context;
    RunVerbs& m_verbs;
    QStandardItemModel m_model;
    QByteArray m_shown;               ///< what the rows were made from
    std::int64_t m_stamp = 0;         ///< of the trash when it was last looked at
    session::NewestJob m_looks;
    QTimer m_timer;
    QPushButton *m_restore = nullptr, *m_empty = nullptr;
    QTableView* m_table = nullptr;
    QStackedLayout* m_content = nullptr;
};

}  // namespace lathe::pages
