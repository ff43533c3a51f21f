// Paths in configurations: relative to their file, or below the resource folder.
#pragma once

#include <filesystem>
#include <string>

namespace lathe::config {

/// Absolute and without "." or ".."; "$resources/…" points below the resource folder; empty stays empty.
std::string absolutePath(const std::string& written, const std::filesystem::path& base);
/// The way back for files: "$resources/…" for what lies below the resource folder, else the path itself.
std::string writtenPath(const std::string& absolute);

}  // namespace lathe::config
