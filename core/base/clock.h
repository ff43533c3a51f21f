// Time behind an interface, so that tests can move it. Order is never decided by wall time.
#pragma once

#include <cstdint>
#include <string>

namespace lathe {

class Clock {
public:
    virtual ~Clock() = default;
    /// Nanoseconds since boot, never going back (CLOCK_MONOTONIC); comparable between processes of one boot.
    virtual std::int64_t monotonicNs() const = 0;
    /// Nanoseconds since 1970-01-01 UTC; may jump.
    virtual std::int64_t wallNs() const = 0;

    /// Thread: safe from any thread.
    static const Clock& system();
};

/// "2026-11-29T18:20:42Z" for files, in UTC.
std::string isoTime(std::int64_t wallNs);

}  // namespace lathe
