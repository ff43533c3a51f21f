// Where this build's own programs and resources lie, found from the running executable.
#pragma once

#include <filesystem>

namespace lathe {

/// The folder of the running executable.
std::filesystem::path programFolder();
/// "lathe-worker" and the like, beside the running executable; $LATHE_PROGRAMS overrides the folder (tests).
std::filesystem::path siblingProgram(const char* name);
/// The folder that holds presets/ and samples/: $LATHE_RESOURCES, else ../share/lathe beside the programs, else the source tree.
std::filesystem::path resourceFolder();
/// --workspace beats $LATHE_WORKSPACE beats ~/lathe. `chosen` may be empty. Always absolute.
std::filesystem::path workspaceFolder(const std::filesystem::path& chosen = {});

/// $LATHE_PLUGINS, else $XDG_DATA_HOME/lathe/plugins, else ~/.local/share/lathe/plugins.
std::filesystem::path pluginFolder();

}  // namespace lathe
