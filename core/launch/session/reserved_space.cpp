#include "launch/session/reserved_space.h"

#include "base/file_system.h"
#include "base/log.h"

#include <cstdint>
#include <utility>

namespace lathe::launch {

static constexpr std::uint64_t kReserveBytes = 1u << 20, kRecordReserveBytes = 128u << 10;

Result<void> reserveSpace(const rundir::RunFolder& run) {
    for (const auto& [file, bytes] : {std::pair(run.reserve(), kReserveBytes), std::pair(run.recordReserve(), kRecordReserveBytes)}) {
        giveSpaceBack(file);
        LATHE_TRY_ASSIGN(const auto room, FileSystem::real().create(file));
        LATHE_TRY(room->reserve(bytes));
    }
    return {};
}

void giveSpaceBack(const std::filesystem::path& reserve) {
    if (const auto removed = FileSystem::real().remove(reserve); !removed && removed.error().code != ErrorCode::NotFound) log::warning(removed.error().text());
}

}  // namespace lathe::launch
