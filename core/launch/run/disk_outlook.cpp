#include "launch/run/disk_outlook.h"

#include "base/descriptor.h"
#include "base/number_text.h"
#include "launch/run/run_settings.h"
#include "rundir/checkpoint_manifest.h"
#include "rundir/checkpoint_publishing.h"
#include "rundir/tensor_files.h"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

namespace lathe::launch {

namespace stdfs = std::filesystem;

static constexpr double kLeastActiveSeconds = 60;

DiskRoom roomOf(const stdfs::path& workspace) {
    struct statvfs info {};
    std::error_code gone;
    if (!stdfs::is_directory(workspace, gone) || ::statvfs(workspace.c_str(), &info) != 0) return {false, false, 0};
    DiskRoom room{true, (info.f_flag & ST_RDONLY) == 0 && ::access(workspace.c_str(), W_OK | X_OK) == 0, std::uint64_t(info.f_bavail) * info.f_frsize};
    if (const Descriptor made(::open(workspace.c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600)); made) return room;
    if (errno == EROFS || errno == EACCES || errno == EPERM) room.isWritable = false;
    if ((errno == ENOSPC || errno == EDQUOT) && room.freeBytes >= kLeastForSession) room.hasInodes = false;   // anything else: it has no such files
    return room;
}

/// What a folder takes on the disk, links not followed, one of its folders left out.
static std::uint64_t bytesOf(const stdfs::path& folder, const stdfs::path& without) {
    std::uint64_t bytes = 0;
    std::error_code ended;
    for (auto it = stdfs::recursive_directory_iterator(folder, ended); !ended && it != stdfs::recursive_directory_iterator(); it.increment(ended)) {
        if (it->path() == without) it.disable_recursion_pending();
        struct stat info {};
        if (::lstat(it->path().c_str(), &info) == 0 && S_ISREG(info.st_mode)) bytes += std::uint64_t(info.st_blocks) * 512;
    }
    return bytes;
}

static std::vector<rundir::CheckpointInfo> usableCheckpoints(const rundir::RunFolder& run) {
    const auto user = rundir::readUser(run);
    auto all = rundir::listCheckpoints(run.checkpoints(), user ? user->pinned : std::vector<std::string>());
    std::erase_if(all, [](const rundir::CheckpointInfo& info) { return !info.problem.empty(); });
    return all;
}

/// As the writer asks for it: what did not change since the checkpoint before is linked.
static std::uint64_t nextSaveAfter(const stdfs::path& checkpoint) {
    const auto manifest = rundir::readCheckpoint(checkpoint);
    if (!manifest) return 0;
    std::uint64_t bytes = rundir::kSmallFilesBytes;
    for (const rundir::FileEntry& file : manifest->files) bytes += rundir::isTensorFileOf(rundir::kFrozenTensors, file.name) ? 0 : file.bytes;
    return bytes;
}

std::uint64_t nextSaveOf(const rundir::RunFolder& run) {
    const auto usable = usableCheckpoints(run);
    return usable.empty() ? 0 : nextSaveAfter(run.checkpoints() / usable.back().folder);
}

RunWrites writesOf(const rundir::RunFolder& run) {
    RunWrites writes;
    const auto summary = rundir::readSummary(run);
    const double perHour = summary && summary->activeSeconds >= kLeastActiveSeconds ? 3600 / summary->activeSeconds : 0;
    if (perHour > 0) writes.bytesPerHour = static_cast<double>(bytesOf(run.root(), run.checkpoints())) * perHour;
    const auto config = configOf(run, rundir::newestSession(run));
    const auto usable = usableCheckpoints(run);
    if (!config || usable.empty() || config::isCommand(*config)) return writes;
    const std::uint64_t each = usable.back().bytes;
    writes.nextSave = nextSaveAfter(run.checkpoints() / usable.back().folder);
    const std::int64_t kept = config->checkpoint.keepLast + config->checkpoint.keepBest;
    // Pinned ones take no place of those that the rule counts.
    const std::int64_t there = std::count_if(usable.begin(), usable.end(), [](const rundir::CheckpointInfo& info) { return !info.pinned; });
    writes.toCome = static_cast<std::uint64_t>(std::max<std::int64_t>(0, kept - there)) * each;
    if (config->checkpoint.keepEvery && perHour > 0) {
        const double updates = static_cast<double>(summary->counters.globalStep.value()) * perHour;
        writes.bytesPerHour += updates / static_cast<double>(*config->checkpoint.keepEvery) * static_cast<double>(each);
    }
    return writes;
}

DiskOutlook outlookFrom(const DiskRoom& room, const std::vector<RunWrites>& runs) {
    using Kind = DiskOutlook::Kind;
    DiskOutlook out;
    out.freeBytes = room.freeBytes;
    std::uint64_t toCome = 0;
    for (const RunWrites& run : runs) {
        out.bytesPerHour += run.bytesPerHour;
        toCome += run.toCome;
        if (run.nextSave > room.freeBytes) out.nextSave = std::max(out.nextSave, run.nextSave);
    }
    const double left = static_cast<double>(room.freeBytes) - static_cast<double>(toCome);
    if (toCome > 0 && left <= 0) out.hoursLeft = 0;
    else if (out.bytesPerHour > 0) out.hoursLeft = left / out.bytesPerHour;
    out.kind = !room.isThere ? Kind::Gone : !room.isWritable ? Kind::ReadOnly : !room.hasInodes ? Kind::NoInodes : out.nextSave > 0 || room.freeBytes < kLeastForSession ? Kind::Full
             : out.hoursLeft && *out.hoursLeft < kWarnHours ? Kind::Filling : Kind::Fine;
    return out;
}

DiskOutlook diskOutlook(const stdfs::path& workspace) {
    std::vector<RunWrites> writes;
    const DiskRoom room = roomOf(workspace);
    for (const std::string& folder : room.isThere ? rundir::runFolderNames(workspace) : std::vector<std::string>()) {
        const rundir::RunFolder run = rundir::runNamed(workspace, folder);
        if (rundir::RunLock::isHeld(run.lock())) writes.push_back(writesOf(run));
    }
    return outlookFrom(room, writes);
}

std::string outlookText(const DiskOutlook& outlook, const stdfs::path& workspace) {
    const std::string place = workspace.string(), free = diskText(outlook.freeBytes);
    switch (outlook.kind) {
        case DiskOutlook::Kind::Fine: return {};
        case DiskOutlook::Kind::Gone: return place + " is not there any more";
        case DiskOutlook::Kind::ReadOnly: return place + " cannot be written: no run can start or save there";
        case DiskOutlook::Kind::NoInodes: return "The disk of " + place + " takes no more files (" + free + " free): its inodes are used up, or a quota is; no run can start or save there";
        case DiskOutlook::Kind::Full:
            return "The disk of " + place + " is full (" + free + " free): "
                   + (outlook.nextSave > 0 ? "runs there cannot save, the next checkpoint needs " + diskText(outlook.nextSave) : "no run can start there");
        case DiskOutlook::Kind::Filling: break;
    }
    if (*outlook.hoursLeft <= 0) return "The disk of " + place + " has " + free + " free, less than the checkpoints need that the runs there keep";
    return "The disk of " + place + " is full in about " + durationText(*outlook.hoursLeft * 3600) + ": " + free + " free, the runs that are up write "
           + diskText(static_cast<std::uint64_t>(outlook.bytesPerHour)) + " an hour";
}

}  // namespace lathe::launch
