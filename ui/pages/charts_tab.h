// A run's Charts: the strip of numbers, how the charts are shown, the four linked charts; and in words what the run is
// doing until curves move, and why it ended when it did not end well.
#pragma once

#include "pages/context.h"
#include "pages/remedies_card.h"
#include "session/run_session.h"

#include <QTimer>
#include <QWidget>

class QHBoxLayout;
class QLabel;
class QSlider;
class QToolButton;

namespace lathe::charts {
class RunCharts;
}
namespace lathe::theme {
class ChoiceBox;
class Metric;
}

namespace lathe::pages {

class RunBanner;

class ChartsTab : public QWidget {
    Q_OBJECT

public:
    explicit ChartsTab(Context context, QWidget* parent = nullptr);

    void setSession(std::shared_ptr<session::RunSession> session);
    charts::RunCharts& charts() { return *m_charts; }

Q_SIGNALS:
    void checkpointClicked(const QString& folder);
    void logWanted();
    void remedyChosen(const lathe::pages::Edits& edits, bool goesOn);

protected:
    void changeEvent(QEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;

private:
    QWidget* buildStrip();
    QWidget* buildBar();
    void connectBar();
    void refresh();
    void refreshStrip();
    void refreshRisk();
    void applyPalette();

    Context m_context;
    std::shared_ptr<session::RunSession> m_session;
    QTimer m_tick;
    QHBoxLayout* m_strip = nullptr;
    QWidget* m_lastRule = nullptr;
    theme::Metric *m_step = nullptr, *m_time = nullptr, *m_loss = nullptr, *m_best = nullptr, *m_speed = nullptr, *m_device = nullptr;
    theme::ChoiceBox* m_axis = nullptr;
    QSlider* m_smoothing = nullptr;
    QLabel* m_smoothingText = nullptr;
    QToolButton *m_log = nullptr, *m_follow = nullptr, *m_abandoned = nullptr, *m_outliers = nullptr;
    QLabel* m_risk = nullptr;
    RunBanner* m_banner = nullptr;
    RemediesCard* m_remedies = nullptr;
    charts::RunCharts* m_charts = nullptr;
};

}  // namespace lathe::pages
