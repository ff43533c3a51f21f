// The process that keeps a queue, found by the lock file it has open.
#pragma once

#include "launch/queue/queue.h"

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <string>

namespace lathe::test {

/// 0 where there is none.
inline std::int64_t keeperPid(const launch::Queue& queue) {
    for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
        std::error_code gone;
        if (entry.path().filename().string().find_first_not_of("0123456789") != std::string::npos) continue;
        for (const auto& fd : std::filesystem::directory_iterator(entry.path() / "fd", gone))
            if (std::filesystem::read_symlink(fd.path(), gone) == queue.keeperLock()) return std::atoll(entry.path().filename().c_str());
    }
    return 0;
}

}  // namespace lathe::test
