// Ending a worker in bounded time: ask, then SIGTERM, then SIGKILL, each step with a time that people can see.
// Thread: plain value; the clock comes from outside.
#pragma once

#include "launch/workers/hang_doctor.h"
#include "launch/workers/stopping.h"

#include <cstdint>
#include <optional>
#include <string>

namespace lathe::launch {

class StopLadder {
public:
    enum class Stage { None, Asked, Terminated, Killed };

    /// A first wish to stop. Discard leaves less time than saving. What does not listen gets SIGTERM at the next advance(),
    /// and the time it would have had for an answer to leave by that.
    void ask(bool discard, std::int64_t nowNs, bool listens = true);
    /// Leave at once: the next step comes now.
    void hurry(std::int64_t nowNs);
    /// The stage to enter now, or None when there is nothing to do. `saving`: the workers, all of them alive, show that a
    /// checkpoint is being written right now; that may take as long as kSavingSeconds, and the time that is told is that one.
    Stage advance(std::int64_t nowNs, bool saving);

    Stage stage() const { return m_stage; }
    bool discards() const { return m_discard; }
    bool isHurried() const { return m_hurried; }
    /// Why a worker that was killed by this ladder had to be, with the time that it was given.
    std::string reason() const;
    /// Nothing before it was asked; of what the workers do until they are told to leave it knows nothing.
    std::optional<Stopping> stopping(std::int64_t nowNs) const;

    static constexpr int kAskSeconds = 60, kDiscardSeconds = 10, kTermSeconds = 15, kHurrySeconds = 3, kSavingSeconds = 900;

private:
    void enter(Stage stage, std::int64_t nowNs, std::int64_t seconds);
    double secondsLeft(std::int64_t nowNs) const;

    Stage m_stage = Stage::None;
    bool m_discard = false, m_hurried = false, m_listens = true, m_saving = false;
    std::int64_t m_askedNs = 0, m_wishedNs = 0;     ///< first, and as it is wished now
    std::int64_t m_deadlineNs = 0, m_missedNs = 0;  ///< of the next step, and of SIGTERM once that was sent
};

/// The rank that has given no sign of life for the longest time, where that is more than is usual.
std::optional<int> silentRank(const HangDoctor::Beats& beats, std::int64_t nowNs);
/// Whether a checkpoint is being written and every rank is there for it: nobody saves while one of them is stopped.
bool isSaving(const HangDoctor::Beats& beats, std::int64_t nowNs);

}  // namespace lathe::launch
