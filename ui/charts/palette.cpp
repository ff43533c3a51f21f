#include "charts/palette.h"

namespace lathe::charts {

const Palette& Palette::light() {
    static const Palette palette{false, QColor(0xFFFFFF), QColor(0xECEEF2), QColor(0xDFE2E7), QColor(0x1C2430), QColor(0x5A6675), QColor(0x74808D), QColor(0x0B62B8), QColor(0xC2341D), QColor(0x9A6200),
                                 QColor(0x6B52B5), QColor(0x1A7F4B),
                                 {QColor(0x0072B2), QColor(0xD55E00), QColor(0x009E73), QColor(0xB5548B), QColor(0x9900FF), QColor(0x7E0D00), QColor(0x552936), QColor(0x460D9C)}};
    return palette;
}

const Palette& Palette::darkOne() {
    static const Palette palette{true, QColor(0x1C2026), QColor(0x262B33), QColor(0x2C323B), QColor(0xE4E8ED), QColor(0x9BA6B3), QColor(0x707B88), QColor(0x4C9FEA), QColor(0xF2745C), QColor(0xE3A83B),
                                 QColor(0xA893EE), QColor(0x4CC38A),
                                 {QColor(0x4FA8E8), QColor(0xF08A4B), QColor(0x3CC49A), QColor(0xDB8ABF), QColor(0x9148FF), QColor(0xD4114C), QColor(0xEBEB13), QColor(0xACF799)}};
    return palette;
}

QColor mix(const QColor& a, const QColor& b, double t) {
    const auto between = [t](float from, float to) { return float(double(from) + (double(to) - double(from)) * t); };
    return QColor::fromRgbF(between(a.redF(), b.redF()), between(a.greenF(), b.greenF()), between(a.blueF(), b.blueF()));
}

}  // namespace lathe::charts
