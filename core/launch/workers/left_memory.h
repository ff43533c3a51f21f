// The shared memory of a session whose supervisor was lost: a worker that still runs has it.
// Thread: plain value.
#pragma once

#include "launch/workers/hang_doctor.h"
#include "live/segment.h"
#include "rundir/run_folder.h"

#include <memory>
#include <vector>

namespace lathe::launch {

class LeftMemory {
public:
    /// Of the first of these processes that lives and has it; empty where none does.
    static LeftMemory find(const std::vector<rundir::ProcessIdentity>& workers);
    /// Of all ranks, nothing of one whose process is gone: what it said last tells of nobody. None where it is empty.
    HangDoctor::Beats beats() const;

private:
    std::unique_ptr<live::Segment> m_segment;
    std::vector<rundir::ProcessIdentity> m_workers;   ///< by rank
};

}  // namespace lathe::launch
