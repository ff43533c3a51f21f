// What a resume tells: which settings differ from those of the checkpoint, and whether the run continues exactly.
#pragma once

#include "config/config.h"
#include "engine/checkpoint/trainer_record.h"
#include "engine/session/frame_writer.h"
#include "engine/train/hooks.h"

#include <string>
#include <vector>

namespace lathe::engine {

/// Settings that differ between the checkpoint's configuration and this session's.
struct ConfigChanges {
    std::vector<std::string> sentences;   ///< "optimizer.learning_rate 0.001 → 0.0001", all of them
    std::vector<std::string> numeric;     ///< those after which numbers cannot be equal
};
Result<ConfigChanges> configChanges(const std::string& savedYaml, const config::RunConfig& now);

/// Compares the first window of the session with the checkpoint's probe and emits "resume_report".
class ResumeReport final : public Hook {
public:
    /// `reasons`: why the two cannot be compared; empty when they can.
    ResumeReport(FrameWriter& frames, Probe expected, std::vector<std::string> reasons);
    std::string_view hookName() const override { return "resume report"; }
    void at(const HookContext& context, Wishes& wishes) override;

private:
    FrameWriter& m_frames;
    Probe m_expected;
    std::vector<std::string> m_reasons;
    bool m_done = false;
};

}  // namespace lathe::engine
