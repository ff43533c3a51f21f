#include "rundir/checkpoint_publishing.h"

#include "base/file_system.h"
#include "base/log.h"
#include "rundir/checkpoint_hold.h"
#include "rundir/checkpoint_manifest.h"

#include <algorithm>
#include <string_view>

namespace lathe::rundir {

namespace stdfs = std::filesystem;

static constexpr std::string_view kAside = ".old-";
static std::string asideName(const std::string& name) { return std::string(kAside) + name; }
static bool isAsideName(std::string_view name) { return name.starts_with(kAside); }

static bool isThere(const stdfs::path& path) {
    std::error_code ignored;
    return stdfs::exists(stdfs::symlink_status(path, ignored));
}

/// Nobody waits for this: it takes up room, and no name. Tried again, since who re-reads it may be writing down what it found.
static void removeLater(FileSystem& fs, const stdfs::path& folder) {
    auto removed = removeTree(fs, folder);
    for (int more = 0; more < 2 && !removed; ++more) removed = removeTree(fs, folder);
    if (!removed) log::warning(removed.error().text() + "; it is removed when the run is next taken up");
}

/// Two steps, with `aside` for what had the name.
static Result<void> replaceByWayOf(FileSystem& fs, const stdfs::path& aside, const stdfs::path& finished, const stdfs::path& target) {
    LATHE_TRY(removeTree(fs, aside));   // of an earlier time: the name is taken
    LATHE_TRY(fs.rename(target, aside));
    auto published = fs.rename(finished, target);
    if (!published) static_cast<void>(fs.rename(aside, target));
    return published;
}

Result<void> publishCheckpoint(FileSystem& fs, const stdfs::path& checkpoints, const std::string& name) {
    const stdfs::path target = checkpoints / name, finished = checkpoints / ("." + name), aside = checkpoints / asideName(name);
    if (!isThere(target)) {
        LATHE_TRY(fs.rename(finished, target));
        auto lasts = fs.syncFolder(checkpoints);
        if (!lasts) static_cast<void>(fs.rename(target, finished));
        return lasts;
    }
    const auto exchanged = fs.exchange(finished, target);
    if (!exchanged && exchanged.error().code != ErrorCode::Unsupported) return exchanged;
    if (!exchanged) LATHE_TRY(replaceByWayOf(fs, aside, finished, target));
    if (auto lasts = fs.syncFolder(checkpoints); !lasts) {
        if (exchanged) static_cast<void>(fs.exchange(finished, target));
        else if (fs.rename(target, finished)) static_cast<void>(fs.rename(aside, target));
        return lasts;
    }
    removeLater(fs, exchanged ? finished : aside);
    return {};
}

Result<void> removeCheckpoint(FileSystem& fs, const stdfs::path& checkpoints, const std::string& name) {
    LATHE_TRY_ASSIGN(const CheckpointHold alone, CheckpointHold::takeAlone(checkpoints / name));
    const stdfs::path hidden = checkpoints / ("." + name + ".removed");
    if (isThere(hidden)) removeLater(fs, hidden);
    LATHE_TRY(fs.rename(checkpoints / name, hidden));
    LATHE_TRY(fs.syncFolder(checkpoints));
    removeLater(fs, hidden);
    return {};
}

bool isBeingWritten(const stdfs::path& checkpoints, int session) {
    const auto names = listFolder(checkpoints);
    return names && std::any_of(names->begin(), names->end(), [&](const std::string& name) {
        const auto unfinished = name.starts_with('.') ? parseCheckpointName(name.substr(1)) : std::nullopt;
        return unfinished && unfinished->session == session;
    });
}

static void bringBack(FileSystem& fs, const stdfs::path& checkpoints, const std::string& name) {
    const auto back = fs.rename(checkpoints / asideName(name), checkpoints / name);
    if (!back) log::warning("Checkpoint " + name + " lies in " + asideName(name) + " and cannot get its name back: " + back.error().text() + "; that is tried again when the run is next taken up");
}

void clearUnfinished(FileSystem& fs, const stdfs::path& checkpoints) {
    const auto names = listFolder(checkpoints);
    for (std::size_t i = 0; names && i < names->size(); ++i) {
        const std::string& name = (*names)[i];
        const bool isAside = isAsideName(name);
        const std::string original = isAside ? name.substr(kAside.size()) : name.substr(0, name.find('.', 1)).substr(name.starts_with('.') ? 1 : 0);
        if (!name.starts_with('.') || !parseCheckpointName(original)) continue;
        const bool isPublished = isThere(checkpoints / original);
        if (isAside && !isPublished) bringBack(fs, checkpoints, original);
        else if (isPublished || !isThere(checkpoints / asideName(original))) removeLater(fs, checkpoints / name);
    }
}

}  // namespace lathe::rundir
