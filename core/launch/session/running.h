// What a session runs, whatever it is: the workers of a training, a person's own command, or a script that runs already. It is
// made before it is started; until then, and where that failed, it has no processes, nothing is waited for, and it has no end.
// Thread: that of the session; the clock comes from outside.
#pragma once

#include "base/result.h"
#include "config/sections.h"
#include "launch/process/child_process.h"
#include "launch/run/frame_book.h"
#include "launch/run/program_frames.h"
#include "launch/workers/hang_doctor.h"
#include "live/segment.h"
#include "rundir/run_folder.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace lathe::launch {

class Running {
public:
    enum class Kind { Training, Command, Script };
    /// All that it refers to outlives it.
    struct Order {
        const rundir::RunFolder& run;
        const config::RunConfig& config;
        const rundir::Summary& summary;
        int session = 0;
        std::string token;                     ///< of the session: its processes are known by it
        live::Segment& memory;
        /// Tells an event of the session: kind, sentence, and an object of facts or nothing.
        std::function<void(const std::string& kind, const std::string& text, const std::string& json)> tell;
    };
    Running(Kind kind, Order order);
    virtual ~Running() = default;
    Running(const Running&) = delete;
    Running& operator=(const Running&) = delete;

    Kind kind() const { return m_kind; }
    /// Not ours to program: it writes no ring, beats in no slot and saves its own checkpoints.
    bool isProgram() const { return m_kind != Kind::Training; }
    virtual Result<void> start() = 0;
    /// Of what was started.
    virtual std::vector<rundir::ProcessIdentity> identities() const = 0;

    /// Readable when turn() may find an end.
    virtual std::vector<int> pollFds() const = 0;
    /// Collects ends. True: all of it is gone.
    virtual bool turn(std::int64_t nowNs) = 0;
    /// A warning that there is to tell since the last call, or empty.
    virtual std::string takeNews() { return {}; }
    /// To all of it, as far as it lives.
    virtual void signal(int number, std::int64_t nowNs) = 0;
    /// Makes processes stand still that cannot hear a wish to pause, and lets them go on.
    virtual void hold(bool, std::int64_t) {}
    /// How rank `rank` ended, or the program; nothing while it runs.
    virtual std::optional<ExitStatus> end(int rank) const = 0;

    /// What is asked of it now, and how far it has come.
    struct Standing {
        bool isStopping = false, isPaused = false;
        std::int64_t attempt = 0, step = 0;
        std::int64_t wish = 0;                 ///< number of the newest one that was told
    };
    /// Takes the first rank's newest beat, or beats for who cannot: that a program lives is its sign of life.
    virtual void look(const Standing& standing, std::int64_t nowNs) = 0;
    const live::Heartbeat& beat() const { return m_beat; }
    /// Since it was started, pauses left out; nothing where its points tell.
    virtual std::optional<double> workedSeconds(std::int64_t) const { return std::nullopt; }
    /// The rank that has given no sign of life for the longest time, and since when, s.
    virtual std::pair<int, double> silence(std::int64_t nowNs) const;
    /// A checkpoint is being written and every rank is there for it.
    virtual bool isSaving(std::int64_t) const { return false; }
    /// Looks for ranks that do not get on, as long as nothing else ends them. `recorded`: newest update attempt whose points came.
    virtual void watch(std::int64_t, std::int64_t /*recorded*/) {}
    virtual std::optional<HangDoctor::Finding> hang() const { return std::nullopt; }

    /// Keeps what it prints short.
    virtual void capLogs() const;

    /// What the program logs, from start() until stopListening(); none of a training.
    virtual ProgramFrames* frames() const { return nullptr; }
    virtual void stopListening() {}

    // ---- once it is gone
    /// The rank whose end explains the others'. `hadToBeEnded`: by the stop ladder.
    virtual int decidingRank(const FrameBook&, bool /*hadToBeEnded*/) const { return 0; }
    /// Why that rank was ended by this object, or empty.
    virtual std::string endedFor(int /*rank*/) const { return {}; }
    /// Where it was, if it was ended because a rank did not get on.
    virtual std::optional<rundir::HangRecord> hangRecord() const { return std::nullopt; }
    /// The system has ended a process for it since this was made.
    bool systemRanOutOfMemory() const;

protected:
    static double secondsSince(std::int64_t thenNs, std::int64_t nowNs);   ///< 0 where it never was

    const Order m_order;
    live::Heartbeat m_beat;                    ///< of rank 0, the newest one
    std::int64_t m_startedNs = 0;              ///< monotonic

private:
    const Kind m_kind;
    const std::uint64_t m_killsBefore;         ///< by the system, of this machine
};

}  // namespace lathe::launch
