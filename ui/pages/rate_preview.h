// The learning rate over a run as it was planned and as it will be from a checkpoint on.
#pragma once

#include "models/sheet_model.h"

#include <QWidget>

namespace lathe::pages {

class RatePreview : public QWidget {
    Q_OBJECT

public:
    explicit RatePreview(QWidget* parent = nullptr);
    void setCurve(std::vector<models::SheetFacts::RatePoint> curve, qint64 from);
    QSize sizeHint() const override { return {240, 130}; }

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    std::vector<models::SheetFacts::RatePoint> m_curve;
    qint64 m_from = 0;
};

}  // namespace lathe::pages
