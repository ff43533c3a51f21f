#include "theme/icons.h"

#include "theme/theme.h"

#include <QIconEngine>
#include <QPainter>
#include <QPainterPath>

#include <cctype>
#include <cstdlib>

namespace lathe::theme {
namespace {

double readNumber(const char*& at) {
    char* end = nullptr;
    const double value = std::strtod(at, &end);
    at = end;
    return value;
}

/// M L H V C Z of SVG path data, absolute; O x y r is a circle.
QPainterPath parsePath(const char* at) {
    QPainterPath path;
    const auto point = [&at] { const double x = readNumber(at); return QPointF(x, readNumber(at)); };
    while (*at != '\0') {
        const char command = *at++;
        switch (command) {
        case ' ': break;
        case 'M': path.moveTo(point()); break;
        case 'L': path.lineTo(point()); break;
        case 'H': path.lineTo(readNumber(at), path.currentPosition().y()); break;
        case 'V': path.lineTo(path.currentPosition().x(), readNumber(at)); break;
        case 'C': { const QPointF a = point(), b = point(); path.cubicTo(a, b, point()); break; }
        case 'O': { const QPointF centre = point(); const double r = readNumber(at); path.addEllipse(centre, r, r); break; }
        case 'Z': path.closeSubpath(); break;
        default: return path;
        }
    }
    return path;
}

struct Glyph {
    const char* stroke;
    const char* fill = "";
};

constexpr auto kStar = "M12 3.8L14.5 9.2L20.3 9.9L16 13.9L17.1 19.7L12 16.8L6.9 19.7L8 13.9L3.7 9.9L9.5 9.2Z";

Glyph glyph(Icon which) {
    switch (which) {
    case Icon::NewRun: return {"M4 7H11 M17 7H20 M4 17H7 M13 17H20 O14 7 2.6 O10 17 2.6"};
    case Icon::Run: return {"M3 13H7L10 5L14 19L17 11L18.5 13H21"};
    case Icon::Runs: return {"M4 6H20 M4 12H20 M4 18H14"};
    case Icon::Compare: return {"M4 18L9 11L13 14L20 6 M4 12L8 15L13 8L20 14"};
    case Icon::Checkpoints: return {"M6 4H18V20L12 15.5L6 20Z"};
    case Icon::Devices: return {"M6 6H18V18H6Z M10 10H14V14H10Z M9 3V6 M15 3V6 M9 18V21 M15 18V21 M3 9H6 M3 15H6 M18 9H21 M18 15H21"};
    case Icon::Play: return {"", "M7 4.5L19.5 12L7 19.5Z"};
    case Icon::Pause: return {"", "M6.5 5H10V19H6.5Z M14 5H17.5V19H14Z"};
    case Icon::Stop: return {"", "M6 6H18V18H6Z"};
    case Icon::Save: return {"M12 4V14 M8 10.5L12 14.5L16 10.5 M5 19H19"};
    case Icon::Search: return {"O10.5 10.5 6 M15 15L20 20"};
    case Icon::Reset:
        return {"M5 5V10H10 M5.6 10C7 6.6 10 5 13 5.4C17 6 19.6 9 19.4 12.8C19.2 16.6 16 19.4 12.4 19.3C9.6 19.2 7.4 17.8 6.2 15.6"};
    case Icon::Follow: return {"M4 12H15 M11 7.5L15.5 12L11 16.5 M20 5V19"};
    case Icon::LogScale: return {"M5 4V19H20 M8 15C12 15 12 7 19 6"};
    case Icon::Resume: return {"M5 5V19", "M10 5L20 12L10 19Z"};
    case Icon::RollBack: return {"M9 5L4 10L9 15 M4 10H14C18 10 20 12.5 20 15.5C20 17 19.4 18.3 18.5 19.2"};
    case Icon::Fork: return {"O6 5.5 2.2 O18 5.5 2.2 O12 19 2.2 M6 7.8C6 12 12 11 12 16.7 M18 7.8C18 12 12 11 12 16.7"};
    case Icon::Weights: return {"M4 8L12 4L20 8L12 12Z M4 12L12 16L20 12 M4 16L12 20L20 16"};
    case Icon::Verify: return {"O12 12 8.2 M8.5 12.2L11 14.7L15.8 9.4"};
    case Icon::Export: return {"M12 15V4 M8 8L12 4L16 8 M5 14V20H19V14"};
    case Icon::Sun:
        return {"O12 12 4 M12 3V5 M12 19V21 M3 12H5 M19 12H21 M5.6 5.6L7 7 M17 17L18.4 18.4 M18.4 5.6L17 7 M7 17L5.6 18.4"};
    case Icon::Moon:
        return {"M19.5 14.2C15 16.5 9.2 13.4 9.2 8C9.2 6.6 9.6 5.3 10.2 4.2C6.4 5 4 8.2 4.3 12C4.6 16.4 8.2 19.8 12.4 19.7C15.7 19.6 18.4 17.4 19.5 14.2Z"};
    case Icon::HalfSun: return {"O12 12 8", "M12 4C16.4 4 20 7.6 20 12C20 16.4 16.4 20 12 20Z"};
    case Icon::Chevron: return {"M8 10L12 14L16 10"};
    case Icon::Warning: return {"M12 4L21 19.5H3Z M12 10V14.2 M12 16.6V17"};
    case Icon::Check: return {"M5 12.5L10 17.5L19.5 7"};
    case Icon::Filter: return {"M4 5H20L14 12.5V19L10 17V12.5Z"};
    case Icon::Clock: return {"O12 12 8.2 M12 7V12L15.2 14"};
    case Icon::Smooth: return {"M3 15C6 15 6 8 9.5 8C13 8 12.5 16 16 16C18.6 16 18.6 11 21 11"};
    case Icon::Branch: return {"O7 5.5 2.2 O7 18.5 2.2 O17 8.5 2.2 M7 7.8V16.2 M17 10.8C17 14 12 13 8.4 16.6"};
    case Icon::Pin: return {"M9 4H15L14 10L17 13V15H7V13L10 10Z M12 15V20"};
    case Icon::Trash: return {"M4 7H20 M9 7V4H15V7 M6 7L7 20H17L18 7 M10 11V16 M14 11V16"};
    case Icon::Folder: return {"M4 6H10L12 8.5H20V19H4Z"};
    case Icon::Star: return {kStar};
    case Icon::StarFilled: return {"", kStar};
    case Icon::Plus: return {"M12 5V19 M5 12H19"};
    case Icon::Tag: return {"M4 4H12L20 12L12 20L4 12Z O8.5 8.5 1.2"};
    case Icon::Archive: return {"M4 5H20V9H4Z M5.5 9V19H18.5V9 M10 13H14"};
    case Icon::Note: return {"M5 4H19V20H5Z M8.5 9H15.5 M8.5 13H15.5 M8.5 17H12"};
    case Icon::Close: return {"M6 6L18 18 M18 6L6 18"};
    case Icon::Copy: return {"M9 9H20V20H9Z M15 9V4H4V15H9"};
    case Icon::Again: return {"M19 5V10H14 M18.4 10C17 6.6 14 5 11 5.4C7 6 4.4 9 4.6 12.8C4.8 16.6 8 19.4 11.6 19.3C14.4 19.2 16.6 17.8 17.8 15.6"};
    case Icon::Data: return {"M4 5H10V11H4Z M14 5H20V11H14Z M4 14H10V20H4Z M14 14H20V20H14Z"};
    case Icon::Switcher: return {"M8 10L12 6L16 10 M8 14L12 18L16 14"};
    case Icon::Queue: return {"M9 6H20 M9 12H20 M9 18H20 O4.8 6 1.2 O4.8 12 1.2 O4.8 18 1.2"};
    case Icon::Up: return {"M12 19V6 M7 11L12 6L17 11"};
    case Icon::Down: return {"M12 5V18 M7 13L12 18L17 13"};
    case Icon::Dot: return {"", "O12 12 4.5"};
    case Icon::More: return {"", "O5 12 1.7 O12 12 1.7 O19 12 1.7"};
    }
    return {""};
}

class PathIcon final : public QIconEngine {
public:
    PathIcon(Icon which, Tone tone) : m_which(which), m_tone(tone) {}

    QIconEngine* clone() const override { return new PathIcon(*this); }

    void paint(QPainter* painter, const QRect& rect, QIcon::Mode mode, QIcon::State state) override {
        QColor color = toneColor(m_tone);
        if (m_tone == Tone::Muted && mode == QIcon::Active) color = colors().text;
        if (m_tone == Tone::Muted && state == QIcon::On) color = colors().accent;
        if (mode == QIcon::Disabled) color = colors().faint;
        const Glyph shape = glyph(m_which);
        painter->save();
        painter->setRenderHint(QPainter::Antialiasing);
        painter->translate(rect.topLeft());
        painter->scale(rect.width() / 24.0, rect.height() / 24.0);
        painter->setPen(QPen(color, 1.8, Qt::SolidLine, Qt::RoundCap, Qt::RoundJoin));
        painter->setBrush(Qt::NoBrush);
        painter->drawPath(parsePath(shape.stroke));
        painter->setPen(QPen(color, 1.0, Qt::SolidLine, Qt::RoundCap, Qt::RoundJoin));
        painter->setBrush(color);
        painter->drawPath(parsePath(shape.fill));
        painter->restore();
    }

    QPixmap pixmap(const QSize& size, QIcon::Mode mode, QIcon::State state) override { return scaledPixmap(size, mode, state, 1.0); }

    QPixmap scaledPixmap(const QSize& size, QIcon::Mode mode, QIcon::State state, qreal) override {
        QPixmap pixmap(size);  // Qt asks in device pixels here
        pixmap.fill(Qt::transparent);
        QPainter painter(&pixmap);
        paint(&painter, QRect(QPoint(), size), mode, state);
        return pixmap;
    }

private:
    Icon m_which;
    Tone m_tone;
};

}  // namespace

QColor toneColor(Tone tone) {
    const Colors& c = colors();
    switch (tone) {
    case Tone::Muted: return c.muted;
    case Tone::Text: return c.text;
    case Tone::Accent: return c.accent;
    case Tone::OnAccent: return c.onAccent;
    case Tone::Danger: return c.danger;
    case Tone::Success: return c.success;
    case Tone::Warning: return c.warning;
    case Tone::Paused: return c.paused;
    }
    return c.muted;
}

QIcon icon(Icon which, Tone tone) { return QIcon(new PathIcon(which, tone)); }

QIcon appIcon() { return icon(Icon::Run, Tone::Accent); }

}  // namespace lathe::theme
