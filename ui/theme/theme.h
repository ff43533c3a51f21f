// Colours, type and the style sheet of the whole window. Fusion with our own palette does most of the work; the style
// sheet only says what a palette cannot. Colour is asked for at paint time, never kept: a change of theme reaches every
// widget as QEvent::StyleChange.
// Thread: GUI thread only.
#pragma once

#include <QColor>
#include <QFont>
#include <QList>
#include <QString>

namespace lathe::theme {

enum class Mode { System, Light, Dark };

struct Colors {
    bool dark = false;
    QColor window;        ///< behind the cards
    QColor surface;       ///< cards, rail, top bar, tables, plots
    QColor raised;        ///< buttons, tooltips
    QColor field;         ///< editors
    QColor border, borderStrong, grid, track;
    QColor text, muted;   ///< both carry meaning
    QColor faint;         ///< hints and disabled things only
    QColor accent;        ///< selected, primary, changed; nothing else
    QColor onAccent, selection, hover;
    QColor success, warning, danger, paused;
    QList<QColor> curves; ///< eight, told apart by colour-blind eyes too
};

const Colors& colors();
/// Colour of the n-th curve, cycling.
QColor curveColor(int index);

/// Sets style, palette, font and style sheet of the application; can be called again at any time.
void apply(Mode mode);
Mode mode();
/// Follows the desktop's light or dark preference while the mode is System (settings portal; else the palette at start).
void followSystem();

/// The type scale, in pixels at 1x so that charts and widgets agree.
enum class TextRole { Caption, Body, Strong, Title, Display, Mono };
QFont textFont(TextRole role);

}  // namespace lathe::theme
