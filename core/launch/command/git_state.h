// Which commit a working folder is at, read from the files of its repository: no git is run, so that no hook, filter or
// monitor of a foreign repository is either, and a large one costs only its index.
// Thread: pure function of the disk.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace lathe::launch {

struct GitState {
    std::string commit;   ///< hexadecimal; empty before the first commit
    std::string branch;   ///< empty when no branch is checked out
    /// "no"; "yes, 3 files" by size and time of change as the index has them, or "yes, staged"; or "unknown: why".
    /// Files that are not tracked do not count.
    std::string dirty;
};

/// Of the repository that holds `folder` (also a linked work tree or a submodule); nothing when there is none. What cannot
/// be read is left empty.
std::optional<GitState> gitStateOf(const std::filesystem::path& folder);

}  // namespace lathe::launch
