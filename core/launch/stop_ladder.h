// Ending a worker in bounded time: ask, then SIGTERM, then SIGKILL, each step with a time that people can see.
// Thread: plain value; the clock comes from outside.
#pragma once

#include <cstdint>
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
    /// The stage to enter now, or None when there is nothing to do. `saving`: the worker shows that it is writing a
    /// checkpoint right now; that may take as long as kSavingSeconds.
    Stage advance(std::int64_t nowNs, bool saving);

    Stage stage() const { return m_stage; }
    bool discards() const { return m_discard; }
    bool isHurried() const { return m_hurried; }
    /// "asked to save and stop; SIGTERM in 52 s", empty before a wish.
    std::string text(std::int64_t nowNs) const;
    /// Why a worker that was killed by this ladder had to be.
    std::string reason() const;
    double secondsLeft(std::int64_t nowNs) const;

    static constexpr int kAskSeconds = 60, kDiscardSeconds = 10, kTermSeconds = 15, kHurrySeconds = 3, kSavingSeconds = 900;

private:
    void enter(Stage stage, std::int64_t nowNs, std::int64_t seconds);

    Stage m_stage = Stage::None;
    bool m_discard = false, m_hurried = false, m_listens = true;
    std::int64_t m_askedNs = 0, m_deadlineNs = 0;
};

}  // namespace lathe::launch
