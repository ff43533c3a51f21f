// Writes checkpoints: everything registered in a TrainState, hashed on the way, synced, and published by one rename.
// Either the whole folder appears or nothing does; earlier checkpoints are never touched.
// Thread: one thread at a time.
#pragma once

#include "engine/checkpoint/tensor_file.h"
#include "engine/checkpoint/trainer_record.h"
#include "engine/train/trainer.h"

#include <functional>

namespace lathe::engine {

struct CheckpointPlace {
    std::filesystem::path folder;              ///< …/checkpoints
    std::string runId;
    int session = 1;
    std::string configHash, layout;
    std::string previous;                      ///< folder name of the checkpoint that was loaded, or empty
};

/// What a save needs of the recording side.
struct RecordingHooks {
    /// Last frame of each ring now; these must be recorded before the checkpoint may be seen.
    std::function<std::map<int, std::uint64_t>()> lastFrames = [] { return std::map<int, std::uint64_t>(); };
    /// Everything is synced under the dotted name: returns when the frames are safe.
    std::function<Result<void>(GlobalStep)> beforePublish = [](GlobalStep) { return Result<void>(); };
};

class CheckpointWriter final : public Saver {
public:
    /// `record` is saved with each checkpoint, its state and probe filled in. `state` must outlive the writer.
    CheckpointWriter(FileSystem& fs, CheckpointPlace place, const TrainState& state, TrainerRecord record, RecordingHooks hooks);

    Result<SaveOutcome> save(const SaveRequest& request) override;
    const std::string& newest() const { return m_place.previous; }

private:
    struct Shard {
        std::string name;
        NamedTensors tensors;
        bool frozen = false;
        std::string linkFrom;                  ///< file of the previous checkpoint with the same content, or empty
        rundir::FileEntry unchanged;           ///< what it is then
    };
    void clearLeftovers();
    std::vector<Shard> shards() const;
    void findUnchanged(Shard& shard) const;
    Result<void> checkSpace(const std::vector<Shard>& shards) const;
    Result<std::vector<rundir::FileEntry>> writeFiles(const std::filesystem::path& folder, std::vector<Shard>& shards, const SaveRequest& request,
                                                      SaveOutcome& outcome);
    Result<void> publish(const std::filesystem::path& temporary, const std::string& name);
    rundir::CheckpointManifest manifestOf(const std::vector<Shard>& shards, const SaveRequest& request) const;

    FileSystem& m_fs;
    CheckpointPlace m_place;
    const TrainState& m_state;
    TrainerRecord m_record;
    RecordingHooks m_hooks;
    std::vector<rundir::FileEntry> m_previousFiles;
};

}  // namespace lathe::engine
