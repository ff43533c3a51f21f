// Re-reads checkpoints in the background: what the disk made of them shows before they are needed. A thread of its own at
// the lowest priority of processor and disk, one checkpoint after the other; it only reads.
// Thread: its functions belong to one thread. Made lazily: before the first add() there is no thread.
#pragma once

#include "base/descriptor.h"
#include "rundir/checkpoint_manifest.h"

#include <atomic>
#include <condition_variable>
#include <deque>
#include <filesystem>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

namespace lathe::launch {

class Verifier {
public:
    explicit Verifier(std::filesystem::path checkpoints) : m_checkpoints(std::move(checkpoints)) {}
    /// Gives up what it is at.
    ~Verifier();
    Verifier(const Verifier&) = delete;
    Verifier& operator=(const Verifier&) = delete;

    /// Each folder once; takes effect in the background. One that could not be read counts as not added.
    void add(const std::string& folder);
    struct Finding {
        std::string folder;
        Descriptor held;                     ///< of the folder that was read: by now another one may have its name
        rundir::Verification found;
        std::filesystem::path place() const { return kDescriptors + std::to_string(held.get()); }
    };
    /// It may be added again: there is another one of that name.
    void forget(const std::string& folder) { m_known.erase(folder); }
    /// What was found since the last call.
    std::vector<Finding> take();

private:
    void work();

    const std::filesystem::path m_checkpoints;
    std::set<std::string> m_known;
    std::mutex m_mutex;                      ///< guards what follows
    std::condition_variable m_changed;
    std::deque<std::string> m_waiting;       ///< the first one is being read
    std::vector<Finding> m_findings;
    std::vector<std::string> m_unread;       ///< to be added again
    std::atomic<bool> m_leaving{false};
    std::thread m_thread;
};

}  // namespace lathe::launch
