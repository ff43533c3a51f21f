// Interval: "every 100 updates", "every epoch", "every 10 min", or never. Written in configurations as text.
#pragma once

#include "base/result.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace lathe {

struct Interval {
    enum class Unit { Never, Updates, Epochs, Seconds };

    Unit unit = Unit::Never;
    std::int64_t count = 0;  ///< > 0 unless never

    bool operator==(const Interval&) const = default;
};

/// Reads "never", "100 updates", "100" (updates), "1 epoch", "90 s", "10 min", "2 h".
Result<Interval> parseInterval(std::string_view text);
/// The canonical form, read back equal: "never", "100 updates", "1 epoch", "10 min".
std::string toText(const Interval& interval);

}  // namespace lathe
