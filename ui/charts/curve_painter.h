// One painting of a scene into an image. Used by CurveItem; apart from it so that it can be tested without a view.
#pragma once

#include "charts/curve_item.h"

#include <vector>

namespace lathe::charts {

class CurvePainter {
public:
    /// `image` is premultiplied ARGB32, cleared from pixel column `left` on; what is left of it stays as it is. `ratio` is
    /// device pixels a logical one.
    CurvePainter(QImage& image, const Scene& scene, double ratio, int left = 0);
    void paint();
    /// Whether some column has a mark with a triangle: neighbours flow together and move it, so it cannot be painted in part.
    bool marked() const;

private:
    struct Pass {
        bool abandoned, smooth;
    };
    struct Stroke {
        QColor color;
        double width;
    };
    void paintPass(Pass pass);
    void paintPiece(const Curve& curve, const CurvePiece& piece, bool smooth);
    void join(const Curve& curve, const CurvePiece& from, const CurvePiece& to);
    Stroke strokeOf(const Curve& curve, const CurvePiece& piece, bool smooth) const;
    void paintColumns(const Stroke& stroke);
    void paintPoints(const CurvePiece& piece, bool smooth, bool everyPoint, const Stroke& stroke);
    void paintDots(const std::vector<QPointF>& dots, const QColor& color);
    void flagColumns();
    void paintEvents();
    void begin(QPainter& painter) const;
    enum class Edge { Bottom, Top };
    void paintFlags(const std::vector<unsigned char>& flags, const QColor& color, Edge edge, bool triangle);

    QImage& m_image;
    const Scene& m_scene;
    double m_ratio;
    int m_left;
    std::vector<session::PixelColumn> m_columns;
    std::vector<unsigned char> m_nonFinite, m_nonPositive, m_above, m_below;
};

}  // namespace lathe::charts
