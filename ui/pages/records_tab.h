// What a run recorded beside its curves: texts, tables, histograms, pictures, summary values, checkpoint files. Names on
// the left, what one of them says on the right, with a slider over its steps. Follows a run that is up.
#pragma once

#include "models/record_names_model.h"
#include "session/run_records.h"
#include "session/run_session.h"

#include <QTimer>
#include <QWidget>

#include <memory>

class QLabel;
class QLineEdit;
class QPushButton;
class QSlider;
class QStackedWidget;
class QTableView;
class QToolButton;

namespace lathe::theme {
class ElidedLabel;
class EmptyState;
}

namespace lathe::pages {

class RecordBody;

class RecordsTab : public QWidget {
    Q_OBJECT

public:
    explicit RecordsTab(QWidget* parent = nullptr);
    void setSession(std::shared_ptr<session::RunSession> session);

protected:
    void showEvent(QShowEvent* event) override;
    void hideEvent(QHideEvent* event) override;
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    QWidget* buildNames();
    QWidget* buildRecord();
    QWidget* buildSteps();
    void begin();
    void look();
    void takeNames();
    void takePlaces();
    void takeShown();
    void choose(int row);
    void showPlace(int place);
    void refreshHead();

    std::shared_ptr<session::RunSession> m_session;
    std::unique_ptr<session::RunRecords> m_records;   ///< of the session, once the page was seen
    models::RecordNamesModel m_model;
    QTimer m_tick;
    std::size_t m_place = 0;
    QStackedWidget* m_stack = nullptr;
    theme::EmptyState* m_empty = nullptr;
    QWidget* m_split = nullptr;
    QLineEdit* m_filter = nullptr;
    QTableView* m_table = nullptr;
    theme::ElidedLabel* m_name = nullptr;
    theme::ElidedLabel* m_where = nullptr;
    QLabel* m_note = nullptr;
    QPushButton* m_copy = nullptr;
    QWidget* m_steps = nullptr;
    QSlider* m_slider = nullptr;
    QToolButton* m_newest = nullptr;
    RecordBody* m_body = nullptr;
};

}  // namespace lathe::pages
