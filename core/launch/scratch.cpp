#include "launch/scratch.h"

#include "base/file_system.h"
#include "base/log.h"

#include <algorithm>
#include <utility>

namespace lathe::launch {
namespace {

namespace stdfs = std::filesystem;

constexpr const char* kFolder = "scratch";
constexpr const char* kLock = "lock";

FileSystem& disk() { return FileSystem::real(); }

/// Workers of a supervisor that was killed may still be about to leave. What cannot be told is in use.
bool isInUse(const stdfs::path& scratch) {
    const auto mayBeHeld = [](const stdfs::path& lock) {
        const auto held = rundir::RunLock::look(lock);
        return !held || *held;
    };
    if (mayBeHeld(scratch / kLock)) return true;
    const auto runs = rundir::listRuns(scratch);
    return std::any_of(runs.begin(), runs.end(), [&](const rundir::RunFolder& run) { return mayBeHeld(run.lock()) || mayBeHeld(run.workersLock()); });
}

void removeLeftovers(const stdfs::path& parent) {
    const auto names = listFolder(parent);
    for (std::size_t i = 0; names && i < names->size(); ++i) {
        if (isInUse(parent / (*names)[i])) continue;
        if (const auto removed = removeTree(disk(), parent / (*names)[i]); !removed) log::warning(removed.error().text());
    }
}

Result<rundir::RunLock> makeLocked(const stdfs::path& folder) {
    LATHE_TRY(makeFolders(disk(), folder));
    return rundir::RunLock::acquire(folder / kLock);
}

}  // namespace

Result<Scratch> Scratch::beside(const rundir::RunFolder& run) {
    const stdfs::path runs = run.place().parent_path();
    return make(runs.filename() == "runs" ? runs.parent_path() : runs);
}

Result<Scratch> Scratch::make(const stdfs::path& workspace) {
    const stdfs::path parent = workspace / kFolder;
    const std::string id = rundir::newRunId();
    removeLeftovers(parent);
    auto lock = makeLocked(parent / id);
    if (lock) return Scratch(parent / id, std::move(*lock));
    std::error_code ignored;
    const stdfs::path other = stdfs::temp_directory_path(ignored) / ("lathe-scratch-" + id);
    auto second = makeLocked(other);
    if (second) return Scratch(other, std::move(*second));
    return std::move(lock).error().in("while making a scratch folder");
}

Scratch::~Scratch() {
    if (m_folder.empty()) return;  // moved from
    if (const auto removed = removeTree(disk(), m_folder); !removed) log::warning(removed.error().text());
    std::error_code stillUsed;
    if (m_folder.parent_path().filename() == kFolder) std::filesystem::remove(m_folder.parent_path(), stillUsed);
}

bool isScratch(const rundir::RunFolder& run) {
    const auto workspace = rundir::workspaceOf(run);
    return workspace && rundir::RunLock::isHeld(*workspace / kLock);
}

}  // namespace lathe::launch
