#include "launch/workers/left_memory.h"

#include "base/file_system.h"
#include "launch/process/identity.h"

#include <fcntl.h>
#include <utility>

namespace lathe::launch {

namespace stdfs = std::filesystem;

/// Through its descriptor, only to be read. Its token tells that it is the session's.
static std::unique_ptr<live::Segment> segmentOf(const rundir::ProcessIdentity& worker) {
    const auto process = VerifiedProcess::find(worker);
    const stdfs::path folder = "/proc/" + std::to_string(worker.pid) + "/fd";
    const auto names = process ? listFolder(folder) : Result<std::vector<std::string>>(std::vector<std::string>());
    for (std::size_t i = 0; names && i < names->size(); ++i) {
        std::error_code gone;
        if (!stdfs::read_symlink(folder / (*names)[i], gone).native().starts_with("/memfd:")) continue;
        const int fd = ::open((folder / (*names)[i]).c_str(), O_RDONLY | O_CLOEXEC);
        if (fd < 0) continue;
        auto segment = live::Segment::open(fd, false);
        if (segment && (*segment)->token() == worker.token && process->isAlive()) return std::move(*segment);
    }
    return nullptr;
}

LeftMemory LeftMemory::find(const std::vector<rundir::ProcessIdentity>& workers) {
    LeftMemory found;
    found.m_workers = workers;
    for (std::size_t i = 0; !found.m_segment && i < workers.size(); ++i) found.m_segment = segmentOf(workers[i]);
    return found;
}

HangDoctor::Beats LeftMemory::beats() const {
    HangDoctor::Beats beats;
    for (std::size_t rank = 0; m_segment && static_cast<int>(rank) + 1 < m_segment->writers(); ++rank) {
        const bool isGone = rank < m_workers.size() && !VerifiedProcess::find(m_workers[rank]);
        beats.push_back(isGone ? std::nullopt : m_segment->heartbeat(static_cast<int>(rank)));
    }
    return beats;
}

}  // namespace lathe::launch
