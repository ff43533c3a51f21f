// Line icons drawn from path data on a 24 x 24 grid. They take the theme's colour at paint time, so that they follow a
// change of theme and stay crisp at any scale, without SVG files or an icon theme.
#pragma once

#include <QColor>
#include <QIcon>

namespace lathe::theme {

enum class Icon {
    NewRun, Run, Runs, Compare, Checkpoints, Devices, Play, Pause, Stop, Save, Search, Reset, Follow, LogScale, Resume,
    RollBack, Fork, Weights, Verify, Export, Sun, Moon, HalfSun, Chevron, Warning, Check, Filter, Clock, Smooth, Branch, Pin,
    Trash, Folder, Star, StarFilled, Plus, Tag, Archive, Note, Close, Copy, Again, Data, Switcher, More, Queue, Up, Down, Dot
};

/// What the icon stands on or for; the colour is resolved when it is painted.
enum class Tone { Muted, Text, Accent, OnAccent, Danger, Success, Warning, Paused };
QColor toneColor(Tone tone);  ///< in the current theme

QIcon icon(Icon which, Tone tone = Tone::Muted);
/// The program's mark, for the window and the rail.
QIcon appIcon();

}  // namespace lathe::theme
