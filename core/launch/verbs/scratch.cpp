#include "launch/verbs/scratch.h"

#include "base/file_system.h"
#include "base/log.h"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace lathe::launch {
namespace {

namespace stdfs = std::filesystem;

constexpr const char* kFolder = "scratch";
constexpr const char* kLock = "lock";

FileSystem& disk() { return FileSystem::real(); }

/// Of the folder that the scratch folders lie in: shared by whoever makes one, alone by whoever removes something there. So
/// nobody removes what another one has made and not locked yet.
class Turn {
public:
    enum class Kind { Making = LOCK_SH, Removing = LOCK_EX | LOCK_NB };
    Turn(const stdfs::path& parent, Kind kind) : m_fd(::open(parent.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
        int got = -1;
        while (m_fd >= 0 && (got = ::flock(m_fd, static_cast<int>(kind))) != 0 && errno == EINTR) {}
        struct stat info {};
        const bool isThere = m_fd >= 0 && ::fstat(m_fd, &info) == 0 && info.st_nlink > 0;   // it may be removed while it was waited for
        m_isMine = isThere && (got == 0 || kind == Kind::Making);   // where the disk has no such locks nothing is removed
    }
    ~Turn() {
        if (m_fd >= 0) ::close(m_fd);
    }
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;
    bool isMine() const { return m_isMine; }

private:
    int m_fd;
    bool m_isMine = false;
};

/// Workers of a supervisor that was killed may still be about to leave. What cannot be told is in use.
bool isInUse(const stdfs::path& scratch) {
    const auto mayBeHeld = [](const stdfs::path& lock) {
        const auto held = rundir::RunLock::look(lock);
        return !held || *held;
    };
    if (mayBeHeld(scratch / kLock)) return true;
    const auto runs = rundir::readRunFolderNames(scratch);
    return !runs || std::any_of(runs->begin(), runs->end(), [&](const std::string& name) {
        const rundir::RunFolder run = rundir::runNamed(scratch, name);
        return mayBeHeld(run.lock()) || mayBeHeld(run.workersLock());
    });
}

void removeLeftovers(const stdfs::path& parent) {
    const Turn turn(parent, Turn::Kind::Removing);
    const auto names = turn.isMine() ? listFolder(parent) : Result<std::vector<std::string>>(std::vector<std::string>());
    for (std::size_t i = 0; names && i < names->size(); ++i) {
        if (isInUse(parent / (*names)[i])) continue;
        if (const auto removed = removeTree(disk(), parent / (*names)[i]); !removed) log::warning(removed.error().text());
    }
}

Result<rundir::RunLock> makeLocked(const stdfs::path& folder) {
    LATHE_TRY(makeFolders(disk(), folder));
    return rundir::RunLock::acquire(folder / kLock);
}

Result<rundir::RunLock> makeInTurn(const stdfs::path& parent, const std::string& id) {
    constexpr int kTries = 100;   // each time somebody has removed the empty folder above
    for (int i = 0; i < kTries; ++i) {
        const auto there = makeFolders(disk(), parent);
        if (!there && there.error().code != ErrorCode::NotFound) return there.error();
        if (const Turn turn(parent, Turn::Kind::Making); turn.isMine()) return makeLocked(parent / id);
    }
    return Error{ErrorCode::Busy, "Others make and remove folders in " + parent.string() + " all the time", {}, {}};
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
    auto lock = makeInTurn(parent, id);
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
    const stdfs::path parent = m_folder.parent_path();
    std::error_code stillUsed;
    if (parent.filename() != kFolder) return;
    if (const Turn turn(parent, Turn::Kind::Removing); turn.isMine()) stdfs::remove(parent, stillUsed);
}

bool isScratch(const rundir::RunFolder& run) {
    const auto workspace = rundir::workspaceOf(run);
    return workspace && rundir::RunLock::isHeld(*workspace / kLock);
}

}  // namespace lathe::launch
