// Checkpoints as folders: reading, verifying, listing.
#include "rundir/checkpoint_manifest.h"

#include "base/descriptor.h"
#include "base/file_system.h"
#include "base/hash.h"
#include "base/number_text.h"
#include "rundir/run_folder.h"
#include "rundir/safetensors_header.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <fcntl.h>
#include <span>
#include <sys/stat.h>
#include <tuple>
#include <unistd.h>

namespace lathe::rundir {

namespace stdfs = std::filesystem;

static constexpr std::uint64_t kMaxManifestBytes = 64u << 20;

namespace {

/// Size of a listed file; the error says what is wrong with it.
Result<void> checkSize(int fd, const FileEntry& entry) {
    struct stat info {};
    if (::fstat(fd, &info) != 0) return fileError("read", entry.name, errno);
    if (static_cast<std::uint64_t>(info.st_size) == entry.bytes) return {};
    return Error{ErrorCode::Corrupt, entry.name + " has " + std::to_string(info.st_size) + " bytes, the manifest says "
                 + std::to_string(entry.bytes), {}, {}};
}

Result<void> checkContent(int fd, const FileEntry& entry, const Reading& reading) {
    if (reading.fromDisk) static_cast<void>(::posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED));
    std::vector<std::byte> buffer(1u << 20);
    Hasher hasher;
    std::uint64_t total = 0;
    while (true) {
        if (!reading.goesOn()) return Error{ErrorCode::Stopped, "Given up while reading " + entry.name, {}, {}};
        const ssize_t got = ::pread(fd, buffer.data(), buffer.size(), static_cast<off_t>(total));
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return fileError("read", entry.name, errno);
        if (got == 0) break;
        hasher.update(std::span(buffer).first(static_cast<std::size_t>(got)));
        total += static_cast<std::uint64_t>(got);
    }
    if (hasher.hex() == entry.hash) return {};
    return Error{ErrorCode::Corrupt, entry.name + " differs from its checksum: the file was changed or the disk damaged it", {}, {}};
}

/// Every piece that the manifest places in this file is there with its type and shape.
Result<void> checkPieces(int fd, const FileEntry& entry, const CheckpointManifest& manifest) {
    if (!entry.name.ends_with(".safetensors")) return {};
    LATHE_TRY_ASSIGN(const SafetensorsHeader header, readSafetensorsHeader(fd, entry.name));
    for (const TensorEntry& tensor : manifest.tensors) {
        for (const Piece& piece : tensor.pieces) {
            if (piece.file != entry.name) continue;
            const auto found = header.tensors.find(piece.key);
            if (found == header.tensors.end())
                return Error{ErrorCode::Corrupt, entry.name + " lacks the tensor \"" + piece.key + "\"", {}, {}};
            if (found->second.dtype != tensor.dtype || found->second.shape != piece.shape)
                return Error{ErrorCode::Corrupt, entry.name + " holds \"" + piece.key + "\" with another type or shape than the manifest says", {}, {}};
        }
    }
    return {};
}

Result<void> checkFile(const stdfs::path& folder, const FileEntry& entry, const CheckpointManifest& manifest, const Reading* reading) {
    LATHE_TRY_ASSIGN(const int opened, openBelow(folder, entry.name));
    const Descriptor file(opened);
    LATHE_TRY(checkSize(file.get(), entry));
    if (!reading) return {};
    LATHE_TRY(checkContent(file.get(), entry, *reading));
    return checkPieces(file.get(), entry, manifest);
}

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
        auto checked = checkFile(folder, entry, *manifest, nullptr);
        if (!checked) return std::move(checked).error().in("in checkpoint " + folder.filename().string());
    }
    return manifest;
}

Result<Verification> verifyCheckpoint(const stdfs::path& folder, const Reading& reading) {
    auto manifest = readManifestOf(folder);
    if (!manifest) return std::move(manifest).error().in("in checkpoint " + folder.filename().string());
    Verification out;
    std::string hashes;
    for (const FileEntry& entry : manifest->files) {
        const auto checked = checkFile(folder, entry, *manifest, &reading);
        const bool isBad = !checked && (checked.error().code == ErrorCode::Corrupt || checked.error().code == ErrorCode::NotFound);
        if (!checked && !isBad) return Error(checked.error()).in("in checkpoint " + folder.filename().string());
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
    std::vector<CheckpointInfo> out;
    const auto names = listFolder(checkpointsFolder);
    if (!names) return out;
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
