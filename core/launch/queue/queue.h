// The queue of this user on this machine: runs that wait for a device, in order. It lies in one file, queue.json of the
// state folder (device_lock.h), over all workspaces:
//   {"format": 1, "after_failure": "go on" | "hold", "entries": [{"folder": absolute run folder, "run": id,
//    "session": n, "queued_ns": n, "held": bool, "why": sentence or "", "environment": {name: text}}, …]}
// A run that is put in keeps the configuration it had at that moment: its session is prepared, and its state is queued.
// The file is replaced whole under queue.lock; who works it off is the keeper (queue_keeper.h), elected by keeper.lock.
// Thread: plain values on the disk; safe from any process.
#pragma once

#include "base/result.h"
#include "config/config.h"
#include "device/devices.h"
#include "rundir/run_folder.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace lathe::launch {

struct Prepared;   // verbs/prepare.h

struct QueueEntry {
    std::filesystem::path folder;   ///< of the run
    std::string run;                ///< its id
    int session = 1;
    std::int64_t queuedNs = 0;
    bool held = false;              ///< stays where it is, others pass it
    std::string why;                ///< why it is held, where nobody asked for it; of one that is not: what kept it from starting
    std::map<std::string, std::string> environment;   ///< keptEnvironment() of whoever put it in
};

struct QueueState {
    bool holdAfterFailure = false;  ///< when a run fails, those behind it are held; else the queue goes on
    std::vector<QueueEntry> entries;
};

class Queue {
public:
    explicit Queue(std::filesystem::path folder) : m_folder(std::move(folder)) {}
    static Queue ofThisUser();

    const std::filesystem::path& folder() const { return m_folder; }
    std::filesystem::path file() const { return m_folder / "queue.json"; }
    std::filesystem::path keeperLock() const { return m_folder / "keeper.lock"; }
    bool keeperIsUp() const { return rundir::RunLock::isHeld(keeperLock()); }

    /// An empty queue where there is none. A damaged file is an error that says what to do with it.
    Result<QueueState> read() const;
    /// Looks at it while nobody can put anything in.
    Result<void> look(const std::function<void(const QueueState&)>& at) const;
    /// Changes it as one step: nobody else does meanwhile. `change` returning an error changes nothing.
    Result<void> edit(const std::function<Result<void>(QueueState&)>& change) const;
    /// False also where the file is damaged: out of such a queue nobody starts anything. An error: it cannot be told just now.
    Result<bool> holds(const std::string& runId) const;

private:
    std::filesystem::path m_folder;
};

/// Where a run of this configuration can compute on this machine as it is now. An error says why it cannot.
Result<device::Candidates> devicesFor(const config::RunConfig& config, const device::Gpus& gpus = device::gpus());

/// Puts a prepared session at the end of the queue and lets its run go. Where that is refused (it can never run here, the
/// queue cannot be read) nothing of the session stays: a run that was made for it is gone. The keeper is not started.
Result<void> enqueue(const Queue& queue, Prepared prepared);
/// Takes a run out before it has started: it counts as cancelled.
Result<void> dequeue(const Queue& queue, const rundir::RunFolder& run);

}  // namespace lathe::launch
