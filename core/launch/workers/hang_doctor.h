// Finds the rank that holds up a session: one that gives no sign of life (stopped, or stuck in the kernel), or one that
// beats and whose training thread does not get on. It looks and names; what is done about it is the session's.
//
// A rank that waits for others in an operation is never the one that holds up; where all of them wait, they wait for one
// another. What takes long for good reason (loading, the first update, saving …) has a limit of its own. Nothing is held
// against a rank for a time in which nobody looked: this process may have been stopped itself.
// Thread: one; the clock comes from outside.
#pragma once

#include "live/segment.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace lathe::launch {

class HangDoctor {
public:
    struct Finding {
        int rank = 0;
        bool isSilent = false;       ///< no beat; else it beats and does not get on
        bool isMutual = false;       ///< all ranks wait for one another
        double seconds = 0;          ///< so far
        double limit = 0;            ///< s that it might have taken
        live::Heartbeat beat;        ///< its newest
    };
    /// Of all ranks; nothing for one that has ended or was never up.
    using Beats = std::vector<std::optional<live::Heartbeat>>;

    /// To be called many times a second.
    void look(const Beats& beats, std::int64_t nowNs);
    /// What is the matter now.
    const std::optional<Finding>& finding() const { return m_finding; }
    /// Median of the newest updates; nothing before there are any.
    std::optional<double> secondsOfUpdate() const;

    static constexpr double kSilentSeconds = 1.5;   ///< a beat comes ten times a second

private:
    void measure(const live::Heartbeat& beat, std::int64_t nowNs);
    double limitOf(const live::Heartbeat& beat) const;
    std::optional<Finding> silent(const Beats& beats, std::int64_t nowNs) const;
    std::optional<Finding> still(const Beats& beats, std::int64_t nowNs) const;
    double since(std::int64_t thenNs, std::int64_t nowNs) const;

    std::optional<Finding> m_finding;
    std::int64_t m_lookedNs = 0, m_lookingSinceNs = 0;
    std::int64_t m_attempt = -1, m_attemptNs = 0;    ///< of the first rank, and when it got there
    std::vector<double> m_updates;                   ///< seconds of the newest ones
    std::size_t m_next = 0;
};

/// While it trains, and while a save looks at the window after it.
bool isInUpdate(const live::Heartbeat& beat);
/// "Rank 1 has been silent for 3 s in reduce gradients, update 120; rank 0 waits in reduce gradients".
std::string sentenceOf(const HangDoctor::Finding& finding, const HangDoctor::Beats& beats);
/// "Rank 1 gives no sign of life in reduce gradients, update 120": what holds for as long as the hang lasts.
std::string standstillOf(const HangDoctor::Finding& finding, int ranks);
/// "forward and backward", else the name of the phase.
std::string placeOf(const live::Heartbeat& beat);

}  // namespace lathe::launch
