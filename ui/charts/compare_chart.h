// One series of several runs on one chart, one stable colour a run.
#pragma once

#include "charts/line_chart.h"

#include <QWidget>

#include <memory>
#include <vector>

namespace lathe::session {
class RunSession;
}

namespace lathe::charts {

class CompareChart : public QWidget {
    Q_OBJECT
public:
    explicit CompareChart(QWidget* parent = nullptr);
    ~CompareChart() override;

    void setSessions(std::vector<std::shared_ptr<session::RunSession>> sessions);
    /// "train/loss" …; names that no run has show a sentence instead of curves.
    void setSeries(const QString& name);
    QString series() const;
    QStringList availableSeries() const;        ///< of all runs together
    void setColors(const Palette& palette);
    void setSmoothing(double weight);
    void setLogY(bool on);
    void setAxis(session::XAxis axis);
    LineChart* chart() const;
    /// The colour of a run here and in every table beside it; the same for the same run and set of runs.
    static int colorIndex(int position) { return position; }

Q_SIGNALS:
    void availableSeriesChanged();

protected:
    void showEvent(QShowEvent* event) override;

private:
    struct Impl;
    std::unique_ptr<Impl> m_impl;
};

}  // namespace lathe::charts
