#include "base/program_paths.h"

#include <cstdlib>
#include <pwd.h>
#include <unistd.h>

#ifndef LATHE_SOURCE_RESOURCES
#define LATHE_SOURCE_RESOURCES ""
#endif

namespace lathe {

namespace stdfs = std::filesystem;

stdfs::path programFolder() {
    std::error_code ignored;
    return stdfs::read_symlink("/proc/self/exe", ignored).parent_path();
}

stdfs::path siblingProgram(const char* name) {
    if (const char* folder = std::getenv("LATHE_PROGRAMS"); folder && *folder) return stdfs::path(folder) / name;
    return programFolder() / name;
}

stdfs::path resourceFolder() {
    if (const char* folder = std::getenv("LATHE_RESOURCES"); folder && *folder) return folder;
    std::error_code ignored;
    const stdfs::path installed = programFolder().parent_path() / "share" / "lathe";
    if (stdfs::is_directory(installed / "presets", ignored)) return installed;
    return LATHE_SOURCE_RESOURCES;
}

stdfs::path pluginFolder() {
    if (const char* folder = std::getenv("LATHE_PLUGINS"); folder && *folder) return folder;
    if (const char* data = std::getenv("XDG_DATA_HOME"); data && *data) return stdfs::path(data) / "lathe" / "plugins";
    const char* home = std::getenv("HOME");
    return stdfs::path(home && *home ? home : "/nonexistent") / ".local" / "share" / "lathe" / "plugins";
}

stdfs::path workspaceFolder(const stdfs::path& chosen) {
    if (!chosen.empty()) return stdfs::absolute(chosen);
    if (const char* folder = std::getenv("LATHE_WORKSPACE"); folder && *folder) return stdfs::absolute(folder);
    if (const char* home = std::getenv("HOME"); home && *home) return stdfs::path(home) / "lathe";
    const passwd* user = getpwuid(getuid());
    return stdfs::path(user && user->pw_dir ? user->pw_dir : "/tmp") / "lathe";
}

}  // namespace lathe
