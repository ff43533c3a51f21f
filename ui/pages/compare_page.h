// Several runs side by side: one series of all of them on one chart, and a table of the settings and results that differ.
#pragma once

#include "models/compare_model.h"
#include "pages/context.h"

#include <QWidget>

#include <vector>

class QLabel;
class QSlider;
class QStackedLayout;
class QTableView;
class QToolButton;
class QVBoxLayout;

namespace lathe::charts {
class CompareChart;
}
namespace lathe::theme {
class ChoiceBox;
}

namespace lathe::pages {

class ComparePage : public QWidget {
    Q_OBJECT

public:
    explicit ComparePage(Context context, QWidget* parent = nullptr);

    /// Folder names below runs/, in the order of their colours.
    void setRuns(const QStringList& folders);
    QStringList runs() const { return m_folders; }
    QString subtitle() const;
    models::CompareModel& model() { return m_model; }
    charts::CompareChart& chart() { return *m_chart; }

Q_SIGNALS:
    void chooseRuns();
    void openRun(const QString& folder);
    void runsChanged();

protected:
    void changeEvent(QEvent* event) override;

private:
    QWidget* buildList();
    QWidget* buildChart();
    QWidget* buildTable();
    void fillList();
    void fillSeries();
    void refreshNotes();
    void applyPalette();

    Context m_context;
    QStringList m_folders;
    std::vector<std::shared_ptr<session::RunSession>> m_sessions;
    models::CompareModel m_model;
    QStackedLayout* m_content = nullptr;
    QVBoxLayout* m_list = nullptr;
    charts::CompareChart* m_chart = nullptr;
    theme::ChoiceBox* m_series = nullptr;
    QSlider* m_smoothing = nullptr;
    QToolButton* m_log = nullptr;
    QToolButton* m_only = nullptr;
    QTableView* m_table = nullptr;
    QLabel* m_note = nullptr;
};

}  // namespace lathe::pages
