// Counts of training as distinct types, so that an update can never be taken for a micro-step.
// What each of them means is fixed in the loop (core/engine/train/trainer.h).
#pragma once

#include <compare>
#include <cstdint>

namespace lathe {

/// An integer that converts to and from nothing by itself. Comparable and countable within its own kind.
template <typename Tag>
class Count {
public:
    constexpr Count() = default;
    constexpr explicit Count(std::int64_t value) : m_value(value) {}

    constexpr std::int64_t value() const { return m_value; }
    constexpr Count next() const { return Count(m_value + 1); }
    constexpr auto operator<=>(const Count&) const = default;
    constexpr Count operator+(Count other) const { return Count(m_value + other.m_value); }
    constexpr Count operator-(Count other) const { return Count(m_value - other.m_value); }
    constexpr Count& operator+=(Count other) { m_value += other.m_value; return *this; }

private:
    std::int64_t m_value = 0;
};

using MicroStep = Count<struct MicroStepTag>;          ///< forward/backward passes done
using UpdateAttempt = Count<struct UpdateAttemptTag>;  ///< windows finished, applied or skipped; never goes back within a session line
using GlobalStep = Count<struct GlobalStepTag>;        ///< applied optimizer updates
using SkippedUpdates = Count<struct SkippedTag>;       ///< attempts that changed nothing
using SampleCount = Count<struct SampleTag>;           ///< samples consumed, over all ranks
using TokenCount = Count<struct TokenTag>;             ///< tokens consumed, over all ranks
using Epoch = Count<struct EpochTag>;                  ///< 0-based passes over the training data
using PlanEntry = Count<struct PlanEntryTag>;          ///< 0-based place within an epoch's order, in samples
using SessionNumber = Count<struct SessionTag>;        ///< 1-based; a session begins at every load of state

/// Where training stands: one immutable record, replaced whole after each attempt.
struct Counters {
    MicroStep microStep;
    UpdateAttempt updateAttempts;
    GlobalStep globalStep;
    SkippedUpdates skippedUpdates;
    SampleCount samples;
    TokenCount tokens;
    Epoch epoch;           ///< of the next sample
    PlanEntry planEntry;   ///< of the next sample within `epoch`

    bool operator==(const Counters&) const = default;
};

}  // namespace lathe
