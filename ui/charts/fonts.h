// Type of charts: the sizes of captions and titles everywhere else in the window.
#pragma once

#include <QFont>
#include <QStringList>

namespace lathe::charts {

inline QFont chartFont(int pixels, QFont::Weight weight = QFont::Normal) {
    QFont font(QStringList{QStringLiteral("Inter"), QStringLiteral("Noto Sans"), QStringLiteral("DejaVu Sans")}, -1);
    font.setPixelSize(pixels);
    font.setWeight(weight);
    return font;
}
inline QFont captionFont() { return chartFont(11); }

}  // namespace lathe::charts
