#include "theme/plain_tip.h"

#include <QTextDocument>

namespace lathe::theme {

static constexpr qsizetype kOneLine = 90;   // letters

QString plainTip(const QString& text) {
    if (text.size() <= kOneLine && !Qt::mightBeRichText(text)) return text;
    return QStringLiteral("<p style=\"white-space: pre-wrap\">") + text.toHtmlEscaped() + QStringLiteral("</p>");
}

}  // namespace lathe::theme
