// The language of the window: that of the system, or the one that was chosen. Texts are English in the source.
// Thread: GUI thread, before the first widget.
#pragma once

#include <QString>
#include <QStringList>

namespace lathe::shell {

/// Languages that there are, as locale names; English first.
QStringList languages();
/// `chosen` where it is one of them, else what the system asks for, else "en".
QString languageFor(const QString& chosen, const QStringList& systemLanguages);
/// Installs plural forms of English, and above them a translation where `language` is another one. False when the
/// translation is not there.
bool installLanguage(const QString& language);

}  // namespace lathe::shell
