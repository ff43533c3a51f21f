// The learning rate over the run, as core/plan computes it.
#pragma once

#include "config/sections.h"

#include <QWidget>

namespace lathe::pages {

class SchedulePreview : public QWidget {
    Q_OBJECT

public:
    explicit SchedulePreview(QWidget* parent = nullptr);
    /// Over `updates` updates; `updatesKnown` false: the length is not known yet, the axis then says "end of the run".
    void setSchedule(const config::ScheduleSection& schedule, double peak, std::int64_t updates, bool updatesKnown);
    QSize sizeHint() const override { return {280, 104}; }

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    config::ScheduleSection m_schedule;
    double m_peak = 0;
    std::int64_t m_updates = 1;
    bool m_updatesKnown = false;
};

}  // namespace lathe::pages
