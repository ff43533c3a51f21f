// Writes checkpoints behind training: begin() copies the state into memory that was made ready beforehand, a thread of its
// own writes and publishes it, finish() tells how that went. One at a time: there is one copy, so finish() comes before the
// next begin(). Where there is no memory for a copy, begin() waits for the disk.
// Thread: begin(), finish() and newest() belong to the training thread, ended() to any. Destroying it finishes what was begun.
#pragma once

#include "engine/checkpoint/checkpoint_files.h"
#include "engine/checkpoint/snapshot.h"

#include <atomic>
#include <condition_variable>
#include <limits>
#include <mutex>
#include <optional>
#include <thread>

namespace lathe::engine {

class CheckpointWriter final : public Saver {
public:
    /// `state` must outlive the writer; `memory`: most bytes that the copy may take.
    CheckpointWriter(FileSystem& fs, CheckpointPlace place, const TrainState& state, TrainerRecord record, RecordingHooks hooks,
                     std::uint64_t memory = std::numeric_limits<std::uint64_t>::max());
    ~CheckpointWriter() override;
    CheckpointWriter(const CheckpointWriter&) = delete;
    CheckpointWriter& operator=(const CheckpointWriter&) = delete;

    void begin(const SaveRequest& request) override;
    bool ended() const override { return m_ended; }
    Result<SaveOutcome> finish() override;
    /// Both at once.
    Result<SaveOutcome> save(const SaveRequest& request);
    /// Folder name of the newest one it published; empty: none yet. Requires: nothing is being written.
    const std::string& newest() const { return m_files.newest(); }
    /// Why training waits for the disk at each save; empty: it does not.
    const std::string& waitsBecause() const { return m_waitsBecause; }

private:
    SavedMoment momentOf(const SaveRequest& request);
    void reserve(const std::vector<StatePart>& parts);
    void work();
    void waitForEnd();

    const TrainState& m_state;
    const RecordingHooks m_hooks;
    const std::uint64_t m_memory;
    CheckpointFiles m_files;                        ///< of the writing thread while something is being written
    std::unique_ptr<Snapshot> m_snapshot;           ///< null: there is no memory for one
    std::string m_waitsBecause;

    std::mutex m_mutex;                             ///< guards what follows
    std::condition_variable m_changed;
    bool m_touching = false, m_leaving = false;
    bool m_isBusy = false;                          ///< from begin() to finish(): the copy is taken
    std::optional<SavedMoment> m_begun;             ///< taken by the writing thread
    std::optional<Result<SaveOutcome>> m_outcome;
    std::atomic<bool> m_ended{false};
    std::thread m_thread;
};

}  // namespace lathe::engine
