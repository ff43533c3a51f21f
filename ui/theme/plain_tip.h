// Texts of tooltips. Qt guesses whether they are rich text, and wraps only those that are.
#pragma once

#include <QString>

namespace lathe::theme {

/// A tooltip that shows `text` letter by letter, whatever it looks like, with lines of a readable length.
QString plainTip(const QString& text);

}  // namespace lathe::theme
