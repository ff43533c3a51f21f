// std::string of the core to QString and back: always UTF-8.
#pragma once

#include <QCoreApplication>
#include <QString>

#include <string>
#include <string_view>

namespace lathe::session {

inline QString toQt(std::string_view text) { return QString::fromUtf8(text.data(), qsizetype(text.size())); }
/// A text of the schema (label, help, unit …) in the language of the window.
inline QString schemaText(const std::string& text) { return QCoreApplication::translate("schema", text.c_str()); }
inline std::string toStd(const QString& text) { return text.toStdString(); }

}  // namespace lathe::session
