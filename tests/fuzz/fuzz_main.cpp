// Coverage-guided: one program for each target (LATHE_FUZZ_TARGET), built in the preset fuzz. The first folder on the command
// line is where it works; valid inputs are put there first. From the repository:
//   build/fuzz/fuzz/fuzz-config -max_total_time=600 /tmp/config tests/fuzz/corpus/config
#include "targets.h"

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>

static const lathe::fuzz::Target& target() {
    static const lathe::fuzz::Target* found = lathe::fuzz::targetNamed(LATHE_FUZZ_TARGET);
    if (found == nullptr) std::abort();
    return *found;
}

extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
    for (int i = 1; i < *argc; ++i) {
        const std::filesystem::path folder = (*argv)[i];
        if (!std::filesystem::is_directory(folder)) continue;
        int number = 0;
        for (const std::string& seed : target().seeds()) std::ofstream(folder / ("seed-" + std::to_string(number++)), std::ios::binary) << seed;
        break;
    }
    return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    target().read(std::as_bytes(std::span(data, size)));
    return 0;
}
