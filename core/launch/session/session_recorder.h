// What is told in a session, made durable: the shared memory whose rings carry it, the book that takes it into run.sqlite and
// the summary, and TensorBoard events beside that. Its own ring, which comes after those of the ranks, carries what the
// supervisor itself has to say.
// Thread: that of the session.
#pragma once

#include "launch/run/frame_book.h"
#include "launch/run/write_end.h"
#include "launch/session/live_events.h"
#include "launch/session/time_left.h"
#include "live/segment.h"
#include "live/spill.h"
#include "rundir/run_folder.h"
#include "store/run_store.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace lathe::launch {

class SessionRecorder {
public:
    /// All of them outlive this object and are filled before begin(); `summary` follows what is taken in.
    SessionRecorder(const rundir::RunFolder& run, int session, const rundir::SessionRecord& record, rundir::Summary& summary)
        : m_run(run), m_session(session), m_record(record), m_summary(summary) {}

    /// run.sqlite, and the session's row in it. Nothing else is called before, but for end().
    Result<void> begin();
    bool hasBegun() const { return m_book != nullptr; }
    /// A ring for each rank and the own one, nothing wished for yet. Nothing below is called before, but for end().
    Result<void> openMemory(int ranks, const std::string& token);
    /// Into `folder`, from `firstStep` on; beside the run's own record and less than it: what cannot be written is told, and
    /// nothing more.
    void openEvents(const std::filesystem::path& folder, std::int64_t firstStep);

    live::Segment& memory() { return *m_segment; }
    const live::Segment& memory() const { return *m_segment; }
    int ownRing() const { return m_segment->writers() - 1; }
    const FrameBook& book() const { return *m_book; }
    FrameBook& book() { return *m_book; }
    store::RunWriter& writer() { return *m_writer; }

    /// An event of the session at the attempt that is recorded last; it is logged too.
    void tell(const std::string& kind, const std::string& text, const std::string& json = {});
    /// The supervisor's sign of life.
    void beat();
    /// Shows the ranks what is wished for now, beside what is recorded (recordedSeq of `wishes` is not looked at).
    void setWishes(const live::Control& wishes);

    /// Takes in what the rings have, of each at most 16 MiB, so that requests are heard meanwhile; or all of it, gaps settled,
    /// once their writers are gone.
    void drain(bool all);
    /// Makes durable what was taken in. What fails is logged, stands in problem(), and is tried again the next time.
    void flush();
    /// A checkpoint waits for its points to be recorded: `durable` is how many were told of (Heartbeat::durableCheckpoints).
    void recordFor(std::int64_t durable);
    /// Called after each flush with the number of the first ring's newest frame that is durable. Takes the place of the one before.
    void whenRecorded(std::function<void(std::uint64_t)> then) { m_whenRecorded = std::move(then); }
    /// More is waiting than should.
    bool isFull() const { return m_writer->pendingBytes() > m_segment->ringBytes() / 4; }
    /// Steps of a person's own program begin wherever it begins: booked once it has told of one.
    void bookFirstStep();

    std::uint64_t lost() const { return m_lost; }                      ///< frames that nobody has
    const std::string& problem() const { return m_problem; }           ///< why the last flush failed, or empty
    /// Until the run has made `planned` updates.
    std::optional<double> secondsUntil(std::int64_t planned) const { return m_timeLeft.secondsFor(planned - m_book->lastStep()); }
    /// What is to be written of the session when it ends, whether or not it has begun.
    EndOfRecording end() const;

private:
    const rundir::RunFolder& m_run;
    const int m_session;
    const rundir::SessionRecord& m_record;
    rundir::Summary& m_summary;
    std::unique_ptr<live::Segment> m_segment;
    std::vector<live::RingFeed> m_feeds;
    live::Control m_control;
    std::unique_ptr<store::RunWriter> m_writer;
    std::unique_ptr<FrameBook> m_book;
    std::optional<LiveEvents> m_events;             ///< as long as its file can be written
    std::function<void(std::uint64_t)> m_whenRecorded;
    TimeLeft m_timeLeft;
    std::uint64_t m_lost = 0;
    std::string m_problem;
    std::int64_t m_durableSeen = 0;
    std::optional<std::int64_t> m_bookedFirst;      ///< first step, as run.sqlite has it
};

}  // namespace lathe::launch
