// A workspace for one piece of work that leaves nothing behind: `scratch/<id>/` beside the runs, so that checkpoints can be
// linked into it. It is removed with the object; what a killed program left is removed by the next one (among temporary
// files: by the system).
// Thread: one.
#pragma once

#include "base/result.h"
#include "rundir/run_folder.h"

#include <filesystem>

namespace lathe::launch {

class Scratch {
public:
    /// In a workspace, or among temporary files where that cannot be written to.
    static Result<Scratch> make(const std::filesystem::path& workspace);
    /// In the workspace that a run lies in.
    static Result<Scratch> beside(const rundir::RunFolder& run);
    ~Scratch();
    Scratch(Scratch&&) noexcept = default;
    Scratch& operator=(Scratch&&) = delete;

    const std::filesystem::path& workspace() const { return m_folder; }

private:
    Scratch(std::filesystem::path folder, rundir::RunLock lock) : m_folder(std::move(folder)), m_lock(std::move(lock)) {}
    std::filesystem::path m_folder;
    rundir::RunLock m_lock;
};

/// Whether a run lies in the workspace of such an object that lives.
bool isScratch(const rundir::RunFolder& run);

}  // namespace lathe::launch
