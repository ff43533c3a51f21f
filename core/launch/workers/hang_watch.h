// Watches the workers of a session for a rank that does not get on: it is named at once, with the stacks of all ranks, and
// ended in the end where guard.on_hang wishes it.
// Thread: that of the session.
#pragma once

#include "config/sections.h"
#include "launch/workers/hang_doctor.h"
#include "launch/workers/stack_reader.h"
#include "launch/workers/worker_group.h"
#include "live/segment.h"
#include "rundir/run_folder.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace lathe::launch {

class HangWatch {
public:
    using Tell = std::function<void(const std::string& kind, const std::string& text, const std::string& json)>;
    /// All of them outlive this object.
    HangWatch(const rundir::RunFolder& run, const config::RunConfig& config, const live::Segment& segment, WorkerGroup& workers, Tell tell);

    /// To be called many times a second while nothing else ends the workers. `recorded`: newest update attempt whose points came.
    void look(std::int64_t nowNs, std::int64_t recorded);
    /// What was told and is not over; of several ranks the one that was found last.
    std::optional<HangDoctor::Finding> finding() const { return m_told.empty() ? std::nullopt : std::optional(m_told.back()); }
    /// Where it was, once the workers are ended for it.
    const std::optional<rundir::HangRecord>& record() const { return m_record; }

private:
    HangDoctor::Beats beats() const;
    void tellHang(const HangDoctor::Finding& found, const HangDoctor::Beats& beats, std::int64_t nowNs);
    void tellOver(const HangDoctor::Beats& beats);
    void tellStacks();
    void endIt(std::int64_t nowNs);
    std::string whyEnded() const;

    const rundir::RunFolder& m_run;
    const config::RunConfig& m_config;
    const live::Segment& m_segment;
    WorkerGroup& m_workers;
    const Tell m_tell;
    HangDoctor m_doctor;
    std::vector<HangDoctor::Finding> m_told;   ///< and not over, one a rank, the one that was found last at the end
    std::optional<StackReader> m_stacks;   ///< of the hang that was told last
    bool m_stacksTold = false;
    std::optional<rundir::HangRecord> m_record;
};

}  // namespace lathe::launch
