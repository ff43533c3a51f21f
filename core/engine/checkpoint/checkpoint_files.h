// One checkpoint as a folder of files: written in one pass over the state, hashed on the way, synced, and published by one
// rename. Either the whole folder appears or nothing does; earlier checkpoints are never touched.
// Thread: one thread at a time.
#pragma once

#include "engine/checkpoint/tensor_file.h"
#include "engine/checkpoint/trainer_record.h"
#include "engine/train/saver.h"

#include <chrono>
#include <functional>

namespace lathe::engine {

struct CheckpointPlace {
    std::filesystem::path folder;              ///< …/checkpoints
    std::string runId;
    int session = 1;
    std::string configHash, layout;
    std::string previous;                      ///< folder name of the checkpoint that unchanged files are linked from, or empty
};

/// What a save needs of the recording side.
struct RecordingHooks {
    /// Last frame of each ring now; these must be recorded before the checkpoint may be seen. Training thread.
    std::function<std::map<int, std::uint64_t>()> lastFrames = [] { return std::map<int, std::uint64_t>(); };
    /// Everything is synced under the dotted name: returns when the frames up to these are safe. Writing thread.
    std::function<Result<void>(const std::map<int, std::uint64_t>&)> beforePublish = [](const std::map<int, std::uint64_t>&) { return Result<void>(); };
    /// Called now and then while the training thread waits for the disk.
    std::function<void()> whileWaiting = [] {};
};

/// What a checkpoint is written from: everything as it was when the save began.
struct SavedMoment {
    std::vector<StatePart> parts;
    Counters counters;
    bool evaluationPending = false, isBest = false;
    Metrics metrics;
    Probe probe;
    std::string reason;
    std::map<int, std::uint64_t> lastFrames;
    std::chrono::steady_clock::time_point began;
    std::int64_t wallNs = 0;
};

class CheckpointFiles {
public:
    /// `record` is saved with each checkpoint, its state and probe filled in. Sweeps what a process that died left.
    CheckpointFiles(FileSystem& fs, CheckpointPlace place, TrainerRecord record, const RecordingHooks& hooks);

    Result<SaveOutcome> write(SavedMoment moment);
    /// Folder name of the newest one that write() published; empty: none yet.
    const std::string& newest() const { return m_newest; }

private:
    /// A tensor file of the checkpoint that is being written.
    struct Shard {
        std::string name;
        NamedTensors tensors;
        bool frozen = false;
        std::unique_ptr<HashingFile> file;     ///< open: it is being written
        rundir::FileEntry entry;               ///< what it is, once that is known
    };
    struct Shards {
        std::vector<Shard> all;
        std::vector<std::size_t> of;           ///< of each tensor of the state in order: its shard
    };
    void dropDamaged();
    static Shards shardsOf(const std::vector<StatePart>& parts);
    const std::string* sameAsBefore(const rundir::FileEntry& entry) const;
    rundir::FileEntry entryOf(const Shard& shard);
    Result<void> checkSpace(Shards& shards, const Counters& counters);
    Error noSpace(std::uint64_t need, std::uint64_t have) const;
    Result<void> open(const std::filesystem::path& folder, Shards& shards, SaveOutcome& outcome);
    Result<std::string> pour(const std::vector<StatePart>& parts, Shards& shards);
    Result<std::vector<rundir::FileEntry>> finish(const std::filesystem::path& folder, Shards& shards, SaveOutcome& outcome);
    Result<rundir::FileEntry> writeRecord(const std::filesystem::path& folder, SavedMoment& moment);
    Result<void> writeManifest(const std::filesystem::path& folder, const SavedMoment& moment, const Shards& shards, std::string digest,
                               const std::vector<rundir::FileEntry>& files);

    FileSystem& m_fs;
    CheckpointPlace m_place;
    TrainerRecord m_record;
    const RecordingHooks& m_hooks;
    std::string m_newest;
    std::optional<UpdateAttempt> m_newestAttempt;        ///< after which it was saved
    std::vector<rundir::FileEntry> m_previousFiles;
    std::map<std::string, rundir::FileEntry> m_frozen;   ///< files of what no update changes, by name
};

}  // namespace lathe::engine
