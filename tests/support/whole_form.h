// Sweeps draw a sample unless LATHE_FULL is set; then LATHE_PART=2/8 runs the second of eight parts, which together are all.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <cstdlib>

namespace lathe::test {

inline bool isWhole() { return std::getenv("LATHE_FULL") != nullptr; }

/// Whether the part that was asked for has this point, state …; all have it where none was.
inline bool isInPart(std::size_t index) {
    static const auto part = [] {
        struct { std::size_t number = 1, of = 1; } asked;
        const char* text = std::getenv("LATHE_PART");
        if (text && std::sscanf(text, "%zu/%zu", &asked.number, &asked.of) != 2) std::abort();
        return asked;
    }();
    return index % std::max<std::size_t>(part.of, 1) + 1 == part.number;
}

/// Qt ends a test function after five minutes; how long a sweep may take is what CTest says.
inline const int kQtWaits = ::setenv("QTEST_FUNCTION_TIMEOUT", "86400000", 0);

}  // namespace lathe::test
