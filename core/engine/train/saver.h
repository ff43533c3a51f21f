// What the loop asks of whoever keeps checkpoints.
// Thread: the training thread, but for ended().
#pragma once

#include "engine/train/hooks.h"
#include "engine/train/probe.h"
#include "engine/train/progress.h"

#include <string>

namespace lathe::engine {

/// What a checkpoint is made of, besides the state.
struct SaveRequest {
    const Progress& progress;
    const Metrics& metrics;        ///< of the evaluation at this very step, else empty
    bool isBest = false;
    const Probe& probe;            ///< of the window that comes next
    std::string reason;            ///< interval | best | asked | stop | end
};

class Saver {
public:
    virtual ~Saver() = default;
    /// Begins a checkpoint of everything as it is now; once this returns the state may change. Requires: finish() was
    /// called for the one before.
    virtual void begin(const SaveRequest& request) = 0;
    /// Whether the one that was begun has ended.
    virtual bool ended() const = 0;
    /// Waits until the one that was begun is durable and published, or has failed and left nothing behind.
    virtual Result<SaveOutcome> finish() = 0;
};

}  // namespace lathe::engine
