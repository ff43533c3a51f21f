// Numbers as people say them, for sentences about a plan. Thread: pure functions.
#pragma once

#include <cstdint>
#include <string>

namespace lathe::plan {

/// "1 sample", "3 samples", "2 micro-batches".
inline std::string countText(std::int64_t n, const std::string& one) {
    return std::to_string(n) + " " + one + (n == 1 ? "" : one.ends_with("ch") ? "es" : "s");
}

}  // namespace lathe::plan
