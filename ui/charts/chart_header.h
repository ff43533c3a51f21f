// The top of a chart card: title, and beside it either the legend (a click hides a curve) or, while the mouse is over one
// of the linked charts, the values there. Values stand here so that no box covers a curve.
#pragma once

#include "charts/curve.h"
#include "charts/palette.h"

#include <QWidget>

#include <vector>

namespace lathe::charts {

class ChartHeader : public QWidget {
    Q_OBJECT
public:
    struct Entry {
        QString name, value;  ///< value is empty in the legend
        QColor color;
        bool visible = true;
    };

    explicit ChartHeader(QWidget* parent = nullptr);
    void setTitle(const QString& title, const QString& unit);
    void setColors(const Palette& palette);
    void setLegend(std::vector<Entry> entries);
    /// `place` is "step 38,200"; no entries and no place: the legend shows again.
    void setReadOut(const QString& place, std::vector<Entry> entries);
    QString readOutText() const;
    /// Lines that the legend takes; a chart beside another one may be given more, so that their plots stand level.
    int legendLines() const { return m_lines; }
    void setLeastLines(int lines);
    QSize sizeHint() const override;

Q_SIGNALS:
    void entryClicked(int index);
    void legendLinesChanged();

protected:
    void paintEvent(QPaintEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;

private:
    /// Places of entries from the left of `from`, flowing to more lines; returns the lines used.
    int flow(const std::vector<Entry>& entries, double from, std::vector<QRectF>& places) const;
    double widthOf(const Entry& entry) const;
    double titleWidth() const;
    void layOut();
    void paintEntry(QPainter& painter, const Entry& entry, const QRectF& place) const;
    int entryAt(QPointF position) const;

    QString m_title, m_unit, m_place;
    const Palette* m_palette = &Palette::light();
    std::vector<Entry> m_legend, m_readOut;
    std::vector<QRectF> m_legendPlaces;
    int m_lines = 1, m_leastLines = 1;
};

}  // namespace lathe::charts
