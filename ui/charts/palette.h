// Colours of charts, for a light and a dark surface. Chosen to be told apart with the usual colour weaknesses.
#pragma once

#include <QColor>

namespace lathe::charts {

struct Palette {
    bool dark = false;
    QColor surface, grid, border, text, muted, faint, accent, danger, warning, paused, success;
    QColor curves[8];

    /// Stable: the same number, the same colour. Above 8 the colours repeat (tell curves apart by dash or label).
    const QColor& curve(int number) const { return curves[(number % 8 + 8) % 8]; }
    static const Palette& light();
    static const Palette& darkOne();
    static const Palette& of(bool dark) { return dark ? darkOne() : light(); }
};

/// `t` = 0: a, 1: b.
QColor mix(const QColor& a, const QColor& b, double t);

}  // namespace lathe::charts
