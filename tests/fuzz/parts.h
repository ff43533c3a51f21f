// What the targets share, and the lists of them.
#pragma once

#include "targets.h"

#include <filesystem>

namespace lathe::fuzz {

namespace stdfs = std::filesystem;

inline std::string textOf(Input input) { return {reinterpret_cast<const char*>(input.data()), input.size()}; }
inline Input bytesOf(const std::string& text) { return std::as_bytes(std::span(text)); }

/// Ends the program where it was not kept.
void promise(bool kept, const char* what);

/// A folder in memory for readers that want files; gone with the program.
class MemoryFolder {
public:
    MemoryFolder();
    ~MemoryFolder();
    MemoryFolder(const MemoryFolder&) = delete;
    MemoryFolder& operator=(const MemoryFolder&) = delete;

    stdfs::path put(const stdfs::path& name, Input input) const;
    const stdfs::path& path() const { return m_folder; }

private:
    stdfs::path m_folder;
};
const MemoryFolder& memory();

std::vector<Target> configTargets();
std::vector<Target> runTargets();
std::vector<Target> liveTargets();
std::vector<Target> storeTargets();
std::vector<Target> dataTargets();

}  // namespace lathe::fuzz
