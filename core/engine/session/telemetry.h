// The hook that tells what training does: a row for every logged update, events, and the phase in the heartbeat.
#pragma once

#include "base/interval.h"
#include "engine/session/frame_writer.h"
#include "engine/session/pulse.h"
#include "engine/train/trainer.h"

namespace lathe::engine {

class Telemetry final : public Hook, public HookLog {
public:
    /// `tellsAll`: of the first rank, which speaks for all; another one shows its phase and tells its warnings.
    /// `groups`: a rate of its own is a series of its own ("train/lr/head.*").
    Telemetry(FrameWriter& frames, Pulse& pulse, const ActiveTime& time, const BestValue& best, Interval logEvery, bool tellsAll = true,
              const std::vector<plan::ParamGroup>& groups = {});
    std::string_view hookName() const override { return "telemetry"; }
    void at(const HookContext& context, Wishes& wishes) override;
    void value(std::string_view series, double value) override;
    void event(std::string_view kind, std::string_view text, std::string_view json) override;

private:
    void found(const Counters& counters, const GuardFinding& finding);
    void update(const Counters& counters, const UpdateResult& result);
    void tellDistributions(const Counters& counters, const Distributions& seen);
    void evaluated(const Counters& counters, const EvaluationOutcome& outcome);
    void saved(const SaveOutcome& outcome);

    FrameWriter& m_frames;
    Pulse& m_pulse;
    const ActiveTime& m_time;
    const BestValue& m_best;
    bool m_toldUndefined = false;
    std::string m_saved;      ///< folder of the newest checkpoint
    Trigger m_logEvery;
    const bool m_tellsAll;
    Counters m_counters;      ///< as the point that is being visited has them
    std::map<std::string, std::int64_t, std::less<>> m_hookSeries;   ///< attempt of the newest value of each
    bool m_updated = false;   ///< the first update is done
    std::uint16_t m_loss = 0, m_rate = 0, m_norm = 0, m_speed = 0, m_skipped = 0;
    std::uint16_t m_tokenSpeed = 0;   ///< 0: no tokens have been counted
    std::vector<std::string> m_groupNames;
    std::vector<std::pair<std::uint16_t, double>> m_groupRates;   ///< series and factor of each rate that is not train/lr
    std::uint16_t m_scale = 0;   ///< 0: the loss has never been scaled
};

/// Emits "best". Requires: there is a value.
void tellBest(FrameWriter& frames, const BestValue& best, const Counters& counters);
/// What groups the parameters are in, for the plan event and for `describe`.
nlohmann::json groupsJson(const std::vector<plan::ParamGroup>& groups);
/// Metrics by series name as exact text.
std::map<std::string, std::string> metricTexts(const Metrics& metrics);

}  // namespace lathe::engine
