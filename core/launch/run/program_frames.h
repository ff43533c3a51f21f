// What a program that is not ours logs becomes frames of the session: its messages come in through the producer socket and
// leave through one ring of the shared memory, which nobody else writes. Arrival order is the attempt of a point, so that
// steps that go backwards, or come twice, lose nothing.
// Thread: one, the supervisor's loop.
#pragma once

#include "config/series_names.h"
#include "live/frame.h"
#include "live/producer_socket.h"
#include "live/segment.h"
#include "rundir/run_folder.h"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace lathe::launch {

/// 32 random hexadecimal digits.
std::string newProgramToken();

class ProgramFrames {
public:
    /// How the program said it ends, from its goodbye.
    struct Goodbye {
        enum class How : std::uint8_t { Fine = 0, Failed = 1, Stopped = 2 };
        How how = How::Fine;
        std::string why;   ///< a sentence, or empty
    };

    /// Listens in the run folder. `segment` outlives this; `ring` is written by this alone.
    static Result<std::unique_ptr<ProgramFrames>> listen(const rundir::RunFolder& run, const rundir::Summary& summary, live::Segment& segment, int ring,
                                                         int session, std::string token = newProgramToken());
    ~ProgramFrames();
    ProgramFrames(const ProgramFrames&) = delete;
    ProgramFrames& operator=(const ProgramFrames&) = delete;

    /// For the program's environment: LATHE_SOCKET (path), LATHE_TOKEN, LATHE_RUN (id).
    std::vector<std::pair<std::string, std::string>> environment() const;
    int pollFd() const { return m_server->pollFd(); }
    /// Takes what has come, as much as makes about a MiB of frames; drain the ring before the next call.
    void poll() { m_server->poll(); }
    /// Frames up to this sequence number are durable: where those are all, programs are told that what they sent is safe.
    void acknowledge(std::uint64_t recordedSequence);
    /// Whether programs wait for that: one says goodbye, or much of what they sent is not safe yet.
    bool wantsFlush() const { return m_flushDue || m_server->unacknowledged() >= live::ProducerServer::kMostAtOnce; }
    /// Tells what was left out or went missing, as events. Once, when no program is heard any more.
    void tellTheRest();
    void setWishes(const live::Control& control) { m_server->setWishes(control.stop, control.saveRequests); }

    int producers() const { return m_server->producers(); }      ///< programs that have ever said hello
    int connections() const { return m_server->connections(); }
    std::vector<std::int64_t> peers() const { return m_server->peers(); }   ///< processes behind the connections
    /// Whether a program that is connected has said that it heeds this wish.
    bool listensForStop() const { return listensFor(1); }
    bool listensForSave() const { return listensFor(2); }
    std::int64_t savedRequests() const { return m_saved; }       ///< newest "save now" that the program says it has done
    std::uint64_t missing() const { return m_server->missing(); }///< messages that programs had to drop
    /// Of the program that connected first; while it has not said any, of the one that did so last.
    const std::optional<Goodbye>& goodbye() const { return m_goodbye; }

private:
    ProgramFrames(rundir::RunFolder run, live::Segment& segment, int ring, int session, std::string token);
    /// One program, over all its connections.
    struct Sender {
        const live::Producer* from = nullptr;
        std::map<std::uint16_t, std::uint16_t> names;   ///< what its series ids mean
        unsigned heeds = 0;                             ///< wishes: 1 stop, 2 save
        bool hasLeft = false;                           ///< it said goodbye
    };

    Result<std::size_t> take(const live::Producer& from, std::uint16_t type, std::span<const std::byte> body);
    Result<void> takeFrame(const live::Producer& from, live::FrameType type, std::span<const std::byte> body);
    Result<void> takeMessage(const live::Producer& from, live::ProducerMessage type, std::span<const std::byte> body);
    void takeHello(const live::Producer& from);
    Result<void> takeSeries(const live::Producer& from, std::span<const std::byte> body);
    Result<void> takePoints(const live::Producer& from, std::span<const std::byte> body);
    void writePoints(live::PointsFrame& points);
    Result<void> takeEvent(std::span<const std::byte> body);
    Result<void> takeRecord(live::FrameType type, std::span<const std::byte> body);
    Result<void> takeTotal(std::span<const std::byte> body);
    Result<void> takeGoodbye(const live::Producer& from, std::span<const std::byte> body);
    Result<void> takeListens(const live::Producer& from, std::span<const std::byte> body);
    std::optional<std::uint16_t> declare(const std::string& name, const std::string& unit);
    std::optional<std::uint16_t> seriesOf(const Sender& sender, std::uint16_t id);
    bool listensFor(unsigned wish) const;
    void tellMissing(const live::Producer& from);
    void replace(const std::string& cause, std::int64_t step, std::int64_t wallNs);
    void tell(const std::string& kind, const std::string& text, const std::string& json, std::int64_t step, std::int64_t wallNs);
    void write(live::FrameType type);
    std::int64_t activeAt(std::int64_t wallNs) const;

    const rundir::RunFolder m_run;
    std::string m_runId;
    live::Segment& m_segment;
    const int m_ring, m_session;
    std::string m_token;
    std::int64_t m_attempt = 0, m_step = 0, m_saved = 0;
    std::int64_t m_startMonotonicNs = 0, m_startWallNs = 0;
    config::SeriesNames m_names;
    std::map<std::string, std::uint16_t> m_series;        ///< by standard name: id in the ring
    std::map<std::string, Sender> m_senders;              ///< by id
    std::map<std::string, std::uint64_t> m_notKept;       ///< why something is not kept as it came, and how often
    std::string m_first;                                  ///< sender that connected first
    bool m_firstHasLeft = false, m_flushDue = false;
    std::size_t m_written = 0;                            ///< bytes of payloads
    std::optional<Goodbye> m_goodbye;
    std::vector<std::byte> m_payload;
    std::vector<bool> m_inRow;                             ///< series that the row being made has a value of
    std::unique_ptr<live::ProducerServer> m_server;
};

}  // namespace lathe::launch
