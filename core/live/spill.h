// Spill files: frames of a ring that the recorder was too slow to take, written beside it so that none is lost.
// A helper thread of the worker writes them once the ring is more than half full of unrecorded frames; the recorder
// (or the next session's start) takes them in by sequence number, dropping doubles. Layout in FORMAT.md.
#pragma once

#include "base/result.h"
#include "live/segment.h"

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <vector>

namespace lathe::live {

/// Watches one ring from the writer's process. Thread: has a thread of its own; construct and destroy on one thread.
class Spiller {
public:
    Spiller(const Segment& segment, int ring, std::filesystem::path folder, int session);
    ~Spiller();
    std::uint64_t spilledFrames() const;
    std::uint64_t lostFrames() const;  ///< overwritten before they could be spilled, counted exactly
    /// Writes out every frame that is not recorded yet (the supervisor is gone, this process is about to end).
    Result<void> flushAll();

private:
    struct Impl;
    std::unique_ptr<Impl> m_impl;
};

/// All whole frames of a spill file in order; a torn tail is left out. Corrupt content ends the reading there.
Result<std::vector<Frame>> readSpill(const std::filesystem::path& file, std::uint64_t fromSequence);
/// "s003-r0.spill"
std::string spillName(int session, int ring);

}  // namespace lathe::live
