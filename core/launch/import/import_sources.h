// Which run of a workspace was made from which folder of event files. Each run is looked into once, however many folders
// are asked for.
// Thread: one.
#pragma once

#include "rundir/run_folder.h"

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace lathe::launch {

class ImportSources {
public:
    explicit ImportSources(std::filesystem::path workspace) : m_workspace(std::move(workspace)) {}

    struct Taken {
        rundir::RunFolder run;
        rundir::RunLock lock;   ///< the run's
        bool isNew = false;
    };
    /// The newest run that was made from this folder (an absolute path) and is still there, or a new one named `name`. Busy
    /// where another process holds it.
    Result<Taken> take(const std::filesystem::path& folder, const std::string& name);

    /// The newest run that was made from this folder. An error where one that may be it cannot be read. Ask while rundir::importLock is held: other imports make runs too.
    Result<std::optional<rundir::RunFolder>> runOf(const std::filesystem::path& folder);

private:
    struct Made {
        std::int64_t createdNs = 0;
        rundir::RunFolder run;
    };
    std::filesystem::path m_workspace;
    std::set<std::string> m_seen;                      ///< names of run folders
    std::map<std::string, std::vector<Made>> m_made;   ///< by source
};

}  // namespace lathe::launch
