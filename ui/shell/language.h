// The language of the window: that of the system, or the one that was chosen. Texts are English in the source.
// Thread: GUI thread, before the first widget.
#pragma once

#include <QString>
#include <QStringList>

#include <functional>

namespace lathe::shell {

/// Languages that there are, as locale names; English first.
QStringList languages();
/// "English", "简体中文 (Simplified Chinese)".
QString languageName(const QString& language);
/// A font that is installed has its letters. Needs a QGuiApplication.
bool canBeWritten(const QString& language);
/// `chosen` where it is one of them, else what the system asks for and `writable` says yes to, else "en".
QString languageFor(const QString& chosen, const QStringList& systemLanguages, const std::function<bool(const QString&)>& writable);
/// Installs plural forms of English, and above them a translation where `language` is another one. False when the
/// translation is not there.
bool installLanguage(const QString& language);

}  // namespace lathe::shell
