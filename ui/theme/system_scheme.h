// Whether the desktop prefers dark windows. Qt 6.4 cannot say, so the settings portal is asked over D-Bus; without it
// the lightness of the palette at start decides.
#pragma once

#include <functional>

namespace lathe::theme {

bool systemPrefersDark();
/// Asks once and calls `changed` whenever the answer becomes another. Never blocks.
void watchSystemScheme(std::function<void()> changed);

}  // namespace lathe::theme
