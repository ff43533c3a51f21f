// The hook that tells what training does: a row for every logged update, events, and the phase in the heartbeat.
#pragma once

#include "base/interval.h"
#include "engine/session/frame_writer.h"
#include "engine/session/pulse.h"
#include "engine/train/trainer.h"

namespace lathe::engine {

class Telemetry final : public Hook {
public:
    Telemetry(FrameWriter& frames, Pulse& pulse, const ActiveTime& time, const BestValue& best, Interval logEvery);
    std::string_view hookName() const override { return "telemetry"; }
    void at(const HookContext& context, Wishes& wishes) override;

private:
    void update(const Counters& counters, const UpdateResult& result);
    void evaluated(const Counters& counters, const EvaluationOutcome& outcome);
    void saved(const Counters& counters, const SaveOutcome& outcome);

    FrameWriter& m_frames;
    Pulse& m_pulse;
    const ActiveTime& m_time;
    const BestValue& m_best;
    Trigger m_logEvery;
    bool m_updated = false;   ///< the first update is done
    std::uint16_t m_loss, m_rate, m_norm, m_speed, m_skipped;
};

/// Emits "best". Requires: there is a value.
void tellBest(FrameWriter& frames, const BestValue& best, const Counters& counters);
/// Metrics by series name as exact text.
std::map<std::string, std::string> metricTexts(const Metrics& metrics);

}  // namespace lathe::engine
