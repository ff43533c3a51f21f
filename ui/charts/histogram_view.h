// One recorded histogram as bars, bins as they were given; and many of one name side by side, a column a record, so that
// what moves over the steps can be seen.
#pragma once

#include "charts/axis_map.h"
#include "charts/palette.h"
#include "store/record_content.h"

#include <QImage>
#include <QWidget>

#include <vector>

namespace lathe::charts {

/// Values between which something was counted (a plain range around it where all lies in one point).
AxisMap countedRange(const store::HistogramContent& histogram);

class HistogramView : public QWidget {
    Q_OBJECT

public:
    explicit HistogramView(QWidget* parent = nullptr);
    void setHistogram(store::HistogramContent histogram);
    void setColors(const Palette& palette);
    QSize sizeHint() const override { return {480, 260}; }
    QSize minimumSizeHint() const override { return {200, 120}; }
    /// The bin below a place, -1: none.
    int binAt(const QPointF& place) const;

protected:
    void paintEvent(QPaintEvent* event) override;
    bool event(QEvent* event) override;

private:
    QRectF plot() const;
    double xOf(double value) const;
    void paintBars(QPainter& painter) const;
    QString binText(int bin) const;

    store::HistogramContent m_histogram;
    AxisMap m_values;
    double m_most = 1;    ///< largest count
    const Palette* m_palette = &Palette::light();
};

class HistogramStrip : public QWidget {
    Q_OBJECT

public:
    struct Column {
        std::size_t place = 0;     ///< of the record among all of its name
        std::int64_t step = 0;
        const store::HistogramContent* histogram = nullptr;
    };

    explicit HistogramStrip(QWidget* parent = nullptr);
    /// Places grow. What the columns point to is read here and not kept.
    void setColumns(const std::vector<Column>& columns);
    void setMarked(std::size_t place);
    void setColors(const Palette& palette);
    int columns() const { return int(m_places.size()); }
    QSize sizeHint() const override { return {480, 190}; }
    QSize minimumSizeHint() const override { return {200, 90}; }

Q_SIGNALS:
    void placeClicked(std::size_t place);

protected:
    void paintEvent(QPaintEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;

private:
    static constexpr int kRows = 256;
    QRectF plot() const;
    int markedColumn() const;
    QImage picture() const;

    struct Place {
        std::size_t place = 0;
        std::int64_t step = 0;
    };
    std::vector<Place> m_places;
    std::vector<std::vector<float>> m_shares;  ///< by column and row from the bottom: 0 … 1 of its largest bin
    AxisMap m_values;
    std::size_t m_marked = 0;
    mutable QImage m_picture;                  ///< null: to be painted again
    const Palette* m_palette = &Palette::light();
};

}  // namespace lathe::charts
