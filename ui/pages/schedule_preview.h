// The learning rate over the run, as core/plan computes it.
#pragma once

#include "plan/schedule.h"

#include <QWidget>

namespace lathe::pages {

class SchedulePreview : public QWidget {
    Q_OBJECT

public:
    explicit SchedulePreview(QWidget* parent = nullptr);
    /// `updatesKnown` false: the length is not known yet, the axis then says "end of the run".
    void setSchedule(const plan::Schedule& schedule, double peak, bool updatesKnown);
    QSize sizeHint() const override { return {280, 104}; }

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    plan::Schedule m_schedule;
    double m_peak = 0;
    bool m_updatesKnown = false;
};

}  // namespace lathe::pages
