// Where event files lie: a folder with files that have "tfevents" in their name is one run, sub-folders are runs of their
// own. Links are followed, also to folders elsewhere, but for those back to a folder that the root lies in; each folder is
// visited once, so that a circle of links ends.
// Thread: pure functions on the disk.
#pragma once

#include "base/result.h"

#include <filesystem>
#include <string>
#include <vector>

namespace lathe::tensorboard {

bool isEventFile(const std::string& name);
/// Names of the event files of a folder, in the order in which they were begun (that of their names).
Result<std::vector<std::string>> eventFilesIn(const std::filesystem::path& folder);

struct FoundFolders {
    std::vector<std::string> withEvents;             ///< relative to the root, "." for itself; sorted
    std::vector<std::filesystem::path> all;          ///< every folder seen: where a new one may appear
    std::vector<std::string> problems;               ///< sentences: folders that cannot be read, that lie too deep, …
};
/// NotFound, Permission … where `root` itself cannot be listed.
Result<FoundFolders> findEventFolders(const std::filesystem::path& root);

/// Of a run's session: "events.out.tfevents.<seconds>.<host>.<session>.0.0", as TensorBoard finds and orders them. Later
/// sessions sort behind earlier ones as long as `seconds` does not fall.
std::string sessionFileName(std::int64_t seconds, const std::string& host, int session);

}  // namespace lathe::tensorboard
