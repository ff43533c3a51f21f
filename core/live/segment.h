// The shared memory of one session: a memfd with size seals, made by the supervisor, inherited by its workers, handed
// read-only to windows over the socket. Holds a header, a control block, a heartbeat slot and a byte ring for each
// writer (rank 0 … world-1, then the supervisor). Byte layout in FORMAT.md.
//
// Nothing in here ever makes a writer wait: a slow reader is lapped, notices, and refills from run.sqlite.
// Thread: one thread writes a ring; any number of threads and processes read. Every index read from the memory is
// checked against the size that fstat gives, so a hostile writer can at worst show wrong numbers.
#pragma once

#include "base/counters.h"
#include "base/result.h"
#include "live/frame.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace lathe::live {

/// What a rank is doing; shown to people while they wait.
enum class Phase : std::uint32_t {
    Starting = 0, LoadingData, BuildingModel, LoadingCheckpoint, FirstUpdate, Training, Evaluating, Saving, Paused, Finishing, Ended
};
std::string_view name(Phase phase);  ///< "loading data"

/// What a rank is in within an update, so that one which does not get on can be told where.
enum class Activity : std::uint32_t { None = 0, Reading, Computing, Reducing, Exchanging, Applying };
std::string_view name(Activity activity);  ///< "forward and backward"; empty for None and for what is not known

struct Heartbeat {
    Phase phase = Phase::Starting;
    std::int64_t done = 0, total = 0;   ///< within the phase; total 0 = unknown
    std::int64_t attempt = 0, step = 0;
    std::int64_t collective = 0;        ///< number of the collective the rank is in or last left
    std::int64_t monotonicNs = 0;       ///< of this beat
    std::int64_t acknowledged = 0;      ///< newest Control::number that was read
    std::int64_t durableCheckpoints = 0;///< of this session, whose pieces of this rank are synced; the newest waits for its frames to be recorded
    std::uint64_t spilledFrames = 0, lostFrames = 0;
    std::int32_t pid = 0;
    Activity activity = Activity::None;
    std::int64_t movedNs = 0;           ///< monotonic: when the training thread was last seen to get on (within a tenth of a second); 0: not told
};

/// What the supervisor asks of all ranks. A request is the current wish, not a queue: the newest number counts.
struct Control {
    enum class Stop : std::uint32_t { None = 0, SaveAndStop = 1, Discard = 2 };
    std::int64_t number = 0;       ///< grows by one with each change
    Stop stop = Stop::None;
    bool pause = false;
    std::int64_t saveRequests = 0; ///< total of "save now" so far
    /// For each ring: frames up to this sequence number are in run.sqlite, synced (0 = none yet).
    std::vector<std::uint64_t> recordedSeq;
};

/// A frame with its place. `sequence` starts at 1 in each ring and session and has no gaps.
struct Frame {
    FrameType type = FrameType::Points;
    std::uint64_t sequence = 0;
    std::vector<std::byte> payload;
};

class Segment;

/// Reader of one ring. Owned by its user; must not outlive the Segment.
class RingReader {
public:
    struct Batch {
        std::vector<Frame> frames;
        std::uint64_t lapped = 0;  ///< frames overwritten before they could be read, since the last call
    };
    /// Copies out what is new, at most `maxBytes` of it. Never blocks.
    Batch read(std::size_t maxBytes = 1u << 20);
    std::uint64_t nextSequence() const { return m_next; }
    /// Bytes of the ring's whole life that lie behind the next frame; comparable with Segment::writtenBytes.
    std::uint64_t position() const { return m_position; }

private:
    friend class Segment;
    RingReader(const Segment* segment, int ring, std::uint64_t next) : m_segment(segment), m_ring(ring), m_next(next) {}
    const Segment* m_segment;
    int m_ring;
    std::uint64_t m_next;
    std::uint64_t m_position = 0;
};

class Segment {
public:
    struct Shape {
        int writers = 2;                        ///< ranks + 1 (the supervisor's ring is the last); at most kMaxWriters
        std::size_t ringBytes = 4u << 20;       ///< of each ring; a power of two from 4 KiB to 1 GiB
        std::uint64_t lastSequence = 0;         ///< of the first ring: what the session had before this segment was made
    };
    static constexpr int kMaxWriters = 256;
    /// A new sealed memfd, space reserved. `token` identifies the session (run id + number, at most 63 bytes).
    static Result<std::unique_ptr<Segment>> create(const Shape& shape, std::string_view token);
    /// Maps an inherited or received descriptor after checking seals, magic, version and sizes. Takes over `fd`.
    static Result<std::unique_ptr<Segment>> open(int fd, bool writable);
    ~Segment();
    Segment(const Segment&) = delete;
    Segment& operator=(const Segment&) = delete;

    int fd() const;
    std::string token() const;
    /// A descriptor of the same memory that can only be mapped read-only; the caller closes it.
    Result<int> readOnlyFd() const;
    int writers() const;
    std::size_t ringBytes() const;

    /// Appends a frame and returns its sequence number. Payloads over a quarter of the ring are refused (Usage).
    /// Requires: only one thread of one process writes this ring. Wait-free: overwrites the oldest frames.
    Result<std::uint64_t> write(int ring, FrameType type, std::span<const std::byte> payload);
    /// Reads from `fromSequence` on, or from the oldest frame still there.
    RingReader reader(int ring, std::uint64_t fromSequence = 1) const;
    /// Number of the newest frame; of a writer that was killed perhaps of the one that it did not finish, which nobody sees.
    std::uint64_t lastSequence(int ring) const;
    /// Bytes written since the ring began, and bytes the recorder has taken (its own report): for the spill decision.
    std::uint64_t writtenBytes(int ring) const;
    std::uint64_t recorderBytes(int ring) const;
    void setRecorderBytes(int ring, std::uint64_t bytes);
    /// Frames up to this sequence number are recorded, in the spill file, or counted as lost (the spiller's report).
    std::uint64_t spillSettled(int ring) const;
    void setSpillSettled(int ring, std::uint64_t sequence);

    void beat(int ring, const Heartbeat& heartbeat);
    std::optional<Heartbeat> heartbeat(int ring) const;  ///< nothing while it is being changed all the time

    void setControl(const Control& control);             ///< supervisor only
    Control control() const;
    std::int64_t controlNumber() const;                  ///< cheap: whether control() has something new
    std::uint64_t recordedSequence(int ring) const;      ///< Control::recordedSeq of one ring

private:
    friend class RingReader;
    struct Impl;
    explicit Segment(std::unique_ptr<Impl> impl);
    std::unique_ptr<Impl> m_impl;
};

}  // namespace lathe::live
