#pragma once

#include "theme/theme.h"

namespace lathe::theme {

/// The style sheet for one set of colours. The dynamic property "role" names what a widget is: card, rail, topbar, nav, flat,
/// link, plain, muted, faint, error, warning, success.
QString styleSheet(const Colors& colors);

}  // namespace lathe::theme
