// Spill files: frames of a ring that the recorder was too slow to take, written beside it so that none is lost.
// A helper thread of the worker writes them once the ring is more than half full of unrecorded frames; the recorder
// (or the next session's start) takes them in by sequence number. Layout in FORMAT.md.
#pragma once

#include "base/result.h"
#include "live/segment.h"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
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

/// One file of what was written aside.
struct SpillFile {
    int ring = 0;
    int part = 0;                     ///< 0: "s003-r0.spill"; 1, 2 …: "s003-r0.spill.1", which went on after a failed write
    std::filesystem::path file;
};
/// Those of a session that lie in its run's spill folder, in order of ring and part; also where earlier parts are gone.
Result<std::vector<SpillFile>> spillFiles(const std::filesystem::path& folder, int session);

struct Spilled {
    std::vector<Frame> frames;        ///< whole ones in order, each once
    std::optional<Error> damage;      ///< what cannot be understood: what is whole before and behind it is in `frames`
};
/// From `fromSequence` on. A record that was torn off at the end of a file is no damage. The error is of a file that cannot be
/// read just now, or that a newer program wrote.
Result<Spilled> readSpillFile(const std::filesystem::path& file, std::uint64_t fromSequence);
/// The same of all files of a ring; nothing where there is none.
Result<Spilled> readSpill(const std::filesystem::path& folder, int session, int ring, std::uint64_t fromSequence);

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
    std::filesystem::path m_folder;
    int m_session;
    RingReader m_reader;
    std::uint64_t m_next;                ///< sequence expected next
    std::vector<Frame> m_held;           ///< read from the ring, behind a gap that is not settled yet
};

}  // namespace lathe::live
