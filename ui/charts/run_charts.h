// The linked charts of one run: loss (train and evaluation), learning rate, gradient norm, samples a second, and one for
// each other series that it records.
// Repaints at most 14 times a second and only when something changed; costs nothing while hidden.
#pragma once

#include "charts/line_chart.h"

#include <QWidget>

#include <memory>
#include <vector>

namespace lathe::session {
class RunSession;
}

namespace lathe::charts {

class RunCharts : public QWidget {
    Q_OBJECT
public:
    static constexpr int kRepaintMs = 70;
    explicit RunCharts(QWidget* parent = nullptr);
    ~RunCharts() override;

    void setSession(std::shared_ptr<session::RunSession> session);
    void setColors(const Palette& palette);
    /// 0: none, up to 0.999.
    void setSmoothing(double weight);
    double smoothing() const;
    void setAxis(session::XAxis axis);
    void setShowAbandoned(bool on);
    bool showAbandoned() const;
    void setIgnoreOutliers(bool on);
    void setLogLoss(bool on);
    /// For a page with room for one chart.
    void showLossOnly();
    ChartLink& link();
    /// Loss, learning rate, gradient norm, throughput; then those of other series, also ones that no run shows now.
    const std::vector<LineChart*>& charts() const;

Q_SIGNALS:
    /// A diamond was clicked: a checkpoint (folder below checkpoints/) or another event (id in run.sqlite).
    void checkpointClicked(const QString& folder);
    void eventClicked(qint64 id);

protected:
    void showEvent(QShowEvent* event) override;
    void hideEvent(QHideEvent* event) override;

private:
    struct Impl;
    std::unique_ptr<Impl> m_impl;
};

}  // namespace lathe::charts
