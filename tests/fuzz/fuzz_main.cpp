// Coverage-guided: one program for each target (LATHE_FUZZ_TARGET), built in the preset fuzz. From the repository:
//   build/fuzz/fuzz/fuzz-config -max_total_time=600 tests/fuzz/corpus/config
#include "targets.h"

#include <cstdint>
#include <cstdlib>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static const lathe::fuzz::Target* target = lathe::fuzz::targetNamed(LATHE_FUZZ_TARGET);
    if (target == nullptr) std::abort();
    target->read(std::as_bytes(std::span(data, size)));
    return 0;
}
