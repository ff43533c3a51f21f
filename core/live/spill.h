// Spill files: frames of a ring that the recorder was too slow to take, written beside it so that none is lost.
// A helper thread of the worker writes them once the ring is more than half full of unrecorded frames; the recorder
// (or the next session's start) takes them in by sequence number. Layout in FORMAT.md.
#pragma once

#include "base/result.h"
#include "live/segment.h"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace lathe::live {

/// "s003-r0.spill"
std::string spillName(int session, int ring);

/// Watches one ring from the writer's process. Thread: has a thread of its own; construct and destroy on one thread.
class Spiller {
public:
    /// `folder` is the run's spill folder; the file in it is made when it is first needed.
    Spiller(Segment& segment, int ring, std::filesystem::path folder, int session);
    ~Spiller();
    Spiller(const Spiller&) = delete;
    Spiller& operator=(const Spiller&) = delete;

    std::uint64_t spilledFrames() const;
    std::uint64_t lostFrames() const;  ///< overwritten before they could be spilled; counted exactly
    /// Writes out and syncs every frame that is not recorded yet (the supervisor is gone, this process is about to end). After an
    /// error what still stands in the ring is tried again with the next call.
    Result<void> flushAll();

private:
    struct Impl;
    std::unique_ptr<Impl> m_impl;
};

/// All whole frames of a spill file in order, from `fromSequence` on; what follows a torn or damaged record is left out.
Result<std::vector<Frame>> readSpill(const std::filesystem::path& file, std::uint64_t fromSequence);

/// The recorder's view of one ring: frames in order and without doubles, from the ring, and where that was overwritten
/// from the spill file. What neither has is counted, once. Thread: one.
class RingFeed {
public:
    RingFeed(const Segment& segment, int ring, std::filesystem::path folder, int session, std::uint64_t fromSequence = 1);
    struct Batch {
        std::vector<Frame> frames;
        std::uint64_t lost = 0;  ///< frames that nobody has any more
    };
    /// New frames, or nothing while a gap is still being spilled; with `final` (the writer is gone) gaps are settled at once.
    Batch read(std::size_t maxBytes = 1u << 20, bool final = false);
    std::uint64_t position() const { return m_reader.position(); }

private:
    const Segment& m_segment;
    int m_ring;
    std::filesystem::path m_file;
    RingReader m_reader;
    std::uint64_t m_next;                ///< sequence expected next
    std::vector<Frame> m_held;           ///< read from the ring, behind a gap that is not settled yet
};

}  // namespace lathe::live
