// Everything that reads bytes which somebody else may have written, as plain functions: for the seeded mutations of tst_fuzz
// and for libFuzzer (preset fuzz). None may crash, hang or take much memory; what a reader accepts must keep its promises.
// Thread: one.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace lathe::fuzz {

using Input = std::span<const std::byte>;

struct Target {
    const char* name;                      ///< also its folder in corpus/
    /// True when it was accepted. Ends the program where what was accepted breaks a promise.
    bool (*read)(Input);
    std::vector<std::string> (*seeds)();   ///< valid inputs, made by the writers of the format
    bool isSealed = false;                 ///< under checksums: whatever differs from a seed by content is refused
    unsigned cost = 1;                     ///< about how many times as long as the others it takes
};

const std::vector<Target>& targets();
/// Null where there is none of that name.
const Target* targetNamed(const std::string& name);

}  // namespace lathe::fuzz
