// Diagnostics of the programs themselves (training output goes through frames, never through this).
// Thread: safe from any thread.
#pragma once

#include <filesystem>
#include <string_view>

namespace lathe::log {

enum class Level { Debug, Info, Warning, Error };

/// Sends everything from now on to `file`, capped at 8 MiB and rotated twice, instead of standard error.
void toFile(const std::filesystem::path& file);

void write(Level level, std::string_view text);
inline void debug(std::string_view text) { write(Level::Debug, text); }
inline void info(std::string_view text) { write(Level::Info, text); }
inline void warning(std::string_view text) { write(Level::Warning, text); }
inline void error(std::string_view text) { write(Level::Error, text); }

}  // namespace lathe::log
