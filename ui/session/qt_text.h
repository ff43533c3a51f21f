// std::string of the core to QString and back: always UTF-8.
#pragma once

#include <QString>

#include <string>
#include <string_view>

namespace lathe::session {

inline QString toQt(std::string_view text) { return QString::fromUtf8(text.data(), qsizetype(text.size())); }
inline std::string toStd(const QString& text) { return text.toStdString(); }

}  // namespace lathe::session
