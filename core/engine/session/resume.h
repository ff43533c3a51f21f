// What a resume tells: which settings differ from those of the checkpoint, and whether the run continues exactly; and
// what is kept so that a later resume can tell.
#pragma once

#include "config/config.h"
#include "engine/checkpoint/trainer_record.h"
#include "engine/session/frame_writer.h"
#include "engine/session/setup.h"
#include "engine/train/hooks.h"
#include "rundir/run_folder.h"

#include <string>
#include <vector>

namespace lathe::engine {

/// Settings that differ between the checkpoint's configuration and this session's.
struct ConfigChanges {
    std::vector<std::string> sentences;   ///< "optimizer.learning_rate 0.001 → 0.0001", all of them
    std::vector<std::string> numeric;     ///< those after which numbers cannot be equal
};
Result<ConfigChanges> configChanges(const std::string& savedYaml, const config::RunConfig& now);

/// Whether the rates of coming updates depend on what evaluations give.
bool evaluationsDecideRates(const config::RunConfig& config);

/// What a session tells that goes on from a checkpoint.
struct Reconciliation {
    std::vector<std::string> settings, curve, others;   ///< what changed since the checkpoint, a sentence each
    std::vector<std::string> reasons;                   ///< why it cannot be compared with what was kept; empty when it can
};
/// Brings a setup whose state is that of the checkpoint in line with what is configured now. Data error where the training
/// data are others. `environment`: of this session.
Result<Reconciliation> reconcile(Setup& setup, const TrainerRecord& saved, const Environment& environment, const std::string& checkpoint, bool newCurve);

/// What the updates from `attempt` on must give: those that were recorded, else the first one as the checkpoint foretells it.
std::vector<rundir::ExpectedUpdate> expectedUpdates(std::vector<rundir::ExpectedUpdate> recorded, const Probe& foretold, std::int64_t attempt);

/// Compares the first updates of a session with what is expected of them and emits "resume_report": at once where they
/// cannot be compared or differ, else when all were compared or the session ends.
class ResumeReport final : public Hook {
public:
    /// `reasons`: why the two cannot be compared; empty when they can. `replay`: the session ends with the report.
    ResumeReport(FrameWriter& frames, std::vector<rundir::ExpectedUpdate> expected, std::vector<std::string> reasons, bool replay = false);
    std::string_view hookName() const override { return "resume report"; }
    void at(const HookContext& context, Wishes& wishes) override;

private:
    void compare(const HookContext& context);
    void tell(const char* outcome, const std::string& detail, const Counters& counters);

    FrameWriter& m_frames;
    std::vector<rundir::ExpectedUpdate> m_expected;
    std::vector<std::string> m_reasons;
    std::size_t m_compared = 0;
    const bool m_replay;
    bool m_done = false;
};

/// Emits digests of the updates that follow a checkpoint.
class DigestKeeper final : public Hook {
public:
    explicit DigestKeeper(FrameWriter& frames) : m_frames(frames) {}
    std::string_view hookName() const override { return "digests"; }
    void at(const HookContext& context, Wishes& wishes) override;

private:
    FrameWriter& m_frames;
    std::int64_t m_until = 0;   ///< newest attempt to keep
};

}  // namespace lathe::engine
