// The learning rate over the run.
#pragma once

#include "config/sections.h"

#include <QWidget>

#include <vector>

namespace lathe::pages {

class SchedulePreview : public QWidget {
    Q_OBJECT

public:
    explicit SchedulePreview(QWidget* parent = nullptr);
    /// Over `updates` updates; `updatesKnown` false: the length is not known yet, the axis then says "end of the run". What was
    /// drawn is gone.
    void setSchedule(const config::ScheduleSection& schedule, double peak, std::int64_t updates, bool updatesKnown);
    /// Numbers of applied updates, evenly over the axis, and what part of the peak the rate is there: a line through them.
    std::vector<std::int64_t> steps() const;
    void setFactors(std::vector<double> factors);
    const std::vector<double>& factors() const { return m_factors; }
    QSize sizeHint() const override { return {280, 104}; }

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    std::vector<double> m_factors;
    double m_peak = 0;
    std::int64_t m_updates = 1;
    bool m_updatesKnown = false;
};

}  // namespace lathe::pages
