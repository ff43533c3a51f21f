// A checkpoint on disk as seen without LibTorch: manifest, verification. The engine writes the tensors.
//
//   checkpoints/s003-000000120/      session 3, global step 120
//     manifest.json                  written last inside the temporary folder; lists every file and tensor
//     model-00000.safetensors …      parameters and buffers by the model's own names
//     optimizer-00000.safetensors …  state as "<parameter>/exp_avg" …
//     frozen-00000.safetensors …     tensors that no update can change
//     trainer.json                   counters and small state, < 1 MiB, floats as exact text
//     verified.json                  when it was re-read and what was found; added later by the supervisor
// A folder whose name starts with "." (".s003-000000120") is unfinished. Rename publishes it.
// Session 0 holds what came from another run (fork, start from weights); the manifest inside still names its origin, so
// a loader does not demand that run and session match the folder.
// Thread: values and functions without shared state.
#pragma once

#include "base/counters.h"
#include "base/result.h"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace lathe {
class FileSystem;
}

namespace lathe::rundir {

constexpr int kCheckpointFormat = 2;   ///< 1 had no seal

/// A part of a logical tensor: `key` in `file` holds the block that starts at `offset` and has `shape`.
struct Piece {
    std::string file, key;
    std::vector<std::int64_t> offset, shape;
};

struct TensorEntry {
    std::string name;
    std::string role;                  ///< parameter | buffer | optimizer | state
    std::string dtype;                 ///< safetensors word: F32, F64, I64, U8 …
    std::vector<std::int64_t> shape;   ///< global
    std::vector<Piece> pieces;
};

struct FileEntry {
    std::string name;
    std::uint64_t bytes = 0;
    std::string hash;                  ///< XXH3-128 of the whole file, hexadecimal
};

struct CheckpointManifest {
    int format = kCheckpointFormat;
    std::string runId;
    int session = 0;
    Counters counters;
    std::int64_t wallNs = 0;
    std::string configHash;
    std::string stateDigest;                      ///< over all registered trajectory state, checked before the first update
    std::map<int, std::uint64_t> lastFrame;       ///< ring -> sequence of its last frame before the save
    std::map<std::string, std::string> metrics;   ///< newest evaluation, exact text
    bool evaluationPending = false;               ///< an evaluation was due here and has not finished
    bool best = false;                            ///< the best so far when it was written
    std::string layout;                           ///< ranks and reduction, "single"
    std::vector<FileEntry> files;
    std::vector<TensorEntry> tensors;
};

constexpr const char* kManifestFile = "manifest.json";

std::string checkpointName(int session, GlobalStep step);                     ///< "s003-000000120"
struct CheckpointName { int session = 0; GlobalStep step; };
std::optional<CheckpointName> parseCheckpointName(const std::string& name);

Result<CheckpointManifest> parseManifest(const std::string& json);
std::string manifestJson(const CheckpointManifest& manifest);
/// The text of an object with its last line, the checksum of everything before it; one that is there is made anew.
std::string sealed(std::string json);
/// Reads and checks names, sizes and that every file of the list is there; content is not read.
Result<CheckpointManifest> readCheckpoint(const std::filesystem::path& folder);
/// A listed file that is missing, or holds something else than it should.
struct BadFile {
    std::string name, why;
    std::string text() const { return name + ": " + why; }
};
struct Verification {
    std::uint64_t filesChecked = 0, bytesChecked = 0;
    std::string digest;                           ///< of the manifest's list of hashes
    std::vector<BadFile> badFiles;
    bool ok() const { return badFiles.empty(); }
};
/// How a checkpoint is read: by default as fast as it goes.
struct Reading {
    bool fromDisk = false;                        ///< what the system still has of it in memory proves nothing and is dropped first
    std::function<bool()> goesOn = [] { return true; };  ///< asked before each block; false: given up (Stopped)
};
/// Reads every byte: sizes, hashes, safetensors headers, pieces against shapes. What could not be read now (the disk, the
/// permissions, too many open files) is the error: it says nothing about the checkpoint.
Result<Verification> verifyCheckpoint(const std::filesystem::path& folder, const Reading& reading = {});

/// The files of a whole checkpoint under the new folder `to`: hard links, copies where the disk cannot link. They last once
/// this has returned; after an error whatever `to` holds is for the caller to remove.
Result<void> takeOverCheckpoint(FileSystem& fs, const std::filesystem::path& from, const std::filesystem::path& to);

/// verified.json of a checkpoint: when it was re-read, and what was wrong with it.
struct VerifiedRecord {
    std::int64_t wallNs = 0;
    std::vector<BadFile> badFiles;
};
Result<void> writeVerified(FileSystem& fs, const std::filesystem::path& folder, const Verification& found, std::int64_t wallNs);
std::optional<VerifiedRecord> readVerified(const std::filesystem::path& folder);   ///< nothing: it was not, as far as can be read

struct CheckpointInfo {
    std::string folder;                           ///< name below checkpoints/
    int session = 0;
    GlobalStep step;
    UpdateAttempt attempt;                        ///< update attempts when it was saved
    std::uint64_t bytes = 0;
    std::int64_t wallNs = 0;
    std::int64_t verifiedNs = 0;                  ///< when it was re-read and found whole; 0: it was not
    std::string problem;                          ///< why it cannot be used, or empty; also what was found when it was re-read
    std::map<std::string, std::string> metrics;
    bool best = false, pinned = false;
    bool isBeingWritten = false;                  ///< a save under way; `problem` says so
    bool isUnread = false;                        ///< `problem` is of now: read another time it may be usable
};
/// All checkpoint folders, oldest first by (session, step); incomplete ones with their problem. What is just being removed is
/// left out. For whoever decides or writes by it.
Result<std::vector<CheckpointInfo>> readCheckpoints(const std::filesystem::path& checkpointsFolder, const std::vector<std::string>& pinned = {});
/// The same for those who only show them: none also where the folder cannot be listed.
std::vector<CheckpointInfo> listCheckpoints(const std::filesystem::path& checkpointsFolder, const std::vector<std::string>& pinned = {});

/// Usable ones that have a value of `metric` (a series), the best first. Of equal ones the lower eval/loss, then the older.
std::vector<const CheckpointInfo*> bestFirst(const std::vector<CheckpointInfo>& all, const std::string& metric, bool higherIsBetter);

}  // namespace lathe::rundir
