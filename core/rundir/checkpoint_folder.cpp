// Checkpoints as folders: reading, verifying, listing.
#include "rundir/checkpoint_manifest.h"

#include "base/file_system.h"
#include "base/hash.h"
#include "base/lasting.h"
#include "base/number_text.h"
#include "rundir/checkpoint_content.h"
#include "rundir/run_folder.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <tuple>

namespace lathe::rundir {

namespace stdfs = std::filesystem;

static constexpr std::uint64_t kMaxManifestBytes = 64u << 20;

namespace {

Result<CheckpointManifest> readManifestOf(const stdfs::path& folder) {
    const stdfs::path file = folder / kManifestFile;
    auto text = readFile(file, kMaxManifestBytes);
    if (!text && text.error().code == ErrorCode::NotFound) {
        std::error_code ignored;
        if (!stdfs::exists(folder, ignored)) return Error{ErrorCode::NotFound, "There is no checkpoint " + folder.string(), {}, {}};
        return Error{ErrorCode::Corrupt, "Incomplete: there is no manifest.json", {}, {}};
    }
    if (!text) return std::move(text).error();
    LATHE_TRY_ASSIGN(CheckpointManifest manifest, parseManifest(*text));
    const auto named = parseCheckpointName(folder.filename().string());
    if (named && named->step != manifest.counters.globalStep)
        return Error{ErrorCode::Corrupt, "The folder is named for step " + std::to_string(named->step.value()) + ", its manifest says "
                     + std::to_string(manifest.counters.globalStep.value()), {}, {}};
    if (named && named->session != 0 && named->session != manifest.session)  // session 0 holds another run's
        return Error{ErrorCode::Corrupt, "The folder is named for session " + std::to_string(named->session) + ", its manifest says "
                     + std::to_string(manifest.session), {}, {}};
    return manifest;
}

}  // namespace

Result<CheckpointManifest> readCheckpoint(const stdfs::path& folder) {
    auto manifest = readManifestOf(folder);
    if (!manifest) return std::move(manifest).error().in("in checkpoint " + folder.filename().string());
    for (const FileEntry& entry : manifest->files) {
        if (auto listed = openListed(folder, entry); !listed) return std::move(listed).error().in("in checkpoint " + folder.filename().string());
    }
    return manifest;
}

Result<Verification> verifyCheckpoint(const stdfs::path& folder, const Reading& reading) {
    auto manifest = readManifestOf(folder);
    if (!manifest) return std::move(manifest).error().in("in checkpoint " + folder.filename().string());
    Verification out;
    std::string hashes;
    for (const FileEntry& entry : manifest->files) {
        const auto checked = openWhole(folder, entry, *manifest, reading);
        if (!checked && !isLasting(checked.error())) return Error(checked.error()).in("in checkpoint " + folder.filename().string());
        ++out.filesChecked;
        out.bytesChecked += entry.bytes;
        hashes += entry.name + " " + entry.hash + "\n";
        if (!checked) out.badFiles.push_back({entry.name, shownPaths(checked.error().sentence)});
    }
    out.digest = hashHex(std::as_bytes(std::span(hashes)));
    return out;
}

static void takeVerified(const std::optional<VerifiedRecord>& record, CheckpointInfo& info) {
    if (!record) return;
    if (record->badFiles.empty()) info.verifiedNs = record->wallNs;
    else info.problem = "Damaged: " + record->badFiles.front().text() + (record->badFiles.size() > 1 ? " and " + std::to_string(record->badFiles.size() - 1) + " more files" : "");
}

std::vector<CheckpointInfo> listCheckpoints(const stdfs::path& checkpointsFolder, const std::vector<std::string>& pinned) {
    auto all = readCheckpoints(checkpointsFolder, pinned);
    return all ? std::move(*all) : std::vector<CheckpointInfo>();
}

Result<std::vector<CheckpointInfo>> readCheckpoints(const stdfs::path& checkpointsFolder, const std::vector<std::string>& pinned) {
    std::vector<CheckpointInfo> out;
    const auto names = listFolder(checkpointsFolder);
    if (!names && names.error().code == ErrorCode::NotFound) return out;
    if (!names) return names.error();
    const bool isUp = RunLock::isHeld(checkpointsFolder.parent_path() / "lock") || RunLock::isHeld(checkpointsFolder.parent_path() / "workers.lock");
    for (const std::string& name : *names) {
        // An unfinished folder keeps the name it was to get behind the dot: ".s003-000000120" or ".s003-000000120.<more>".
        const bool unfinished = name.starts_with(".");
        const std::string plain = unfinished ? name.substr(1, name.find('.', 1) - 1) : name;
        const auto parsed = parseCheckpointName(plain);
        if (!parsed) continue;
        CheckpointInfo info;
        info.folder = name;
        info.session = parsed->session;
        info.step = parsed->step;
        info.pinned = std::find(pinned.begin(), pinned.end(), name) != pinned.end();
        if (unfinished) {
            if (isUp && name.ends_with(".removed")) continue;
            info.isBeingWritten = isUp;
            info.problem = isUp ? "It is being written" : "Incomplete: it was not finished";
        } else if (const auto manifest = readCheckpoint(checkpointsFolder / name)) {
            for (const FileEntry& file : manifest->files) info.bytes += file.bytes;
            info.attempt = manifest->counters.updateAttempts;
            info.wallNs = manifest->wallNs;
            info.metrics = manifest->metrics;
            info.best = manifest->best;
            takeVerified(readVerified(checkpointsFolder / name), info);
        } else {
            info.problem = shownPaths(manifest.error().sentence);
            info.isUnread = !isLasting(manifest.error());
        }
        out.push_back(std::move(info));
    }
    std::stable_sort(out.begin(), out.end(), [](const CheckpointInfo& a, const CheckpointInfo& b) {
        return std::pair(a.session, a.step) < std::pair(b.session, b.step);
    });
    // Each was the best when it was written; only the newest of them still is.
    bool seen = false;
    for (auto info = out.rbegin(); info != out.rend(); ++info) {
        info->best = info->best && !seen;
        seen = seen || info->best;
    }
    return out;
}

static std::optional<double> valueOf(const CheckpointInfo& info, const std::string& metric) {
    const auto found = info.metrics.find(metric);
    const auto value = found == info.metrics.end() ? std::nullopt : readDouble(found->second);
    return value && std::isnan(*value) ? std::nullopt : value;
}

std::vector<const CheckpointInfo*> bestFirst(const std::vector<CheckpointInfo>& all, const std::string& metric, bool higherIsBetter) {
    struct Ranked {
        double value, loss;
        const CheckpointInfo* info;
    };
    std::vector<Ranked> ranked;
    for (const CheckpointInfo& info : all) {
        const auto value = info.problem.empty() ? valueOf(info, metric) : std::nullopt;
        if (value) ranked.push_back({higherIsBetter ? -*value : *value, valueOf(info, "eval/loss").value_or(HUGE_VAL), &info});
    }
    std::stable_sort(ranked.begin(), ranked.end(), [](const Ranked& a, const Ranked& b) {
        return std::tuple(a.value, a.loss, a.info->session, a.info->step) < std::tuple(b.value, b.loss, b.info->session, b.info->step);
    });
    std::vector<const CheckpointInfo*> out;
    for (const Ranked& one : ranked) out.push_back(one.info);
    return out;
}

}  // namespace lathe::rundir
