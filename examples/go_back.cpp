// A plug-in: "when an evaluation is worse than the best so far, go back to it". In the configuration:
//   plugins:
//     go_back: {metric: loss, worse_by: 0.01}
#include "engine/plugin/plugin.h"

#include <string>

using namespace lathe::engine;

class GoBack final : public Hook {
public:
    GoBack(std::string metric, double worseBy) : m_metric(std::move(metric)), m_worseBy(worseBy) {}
    std::string_view hookName() const override { return "go back"; }
    void at(const HookContext& context, Wishes& wishes) override {
        if (context.point == Point::TrainStart && context.counters->updateAttempts.value() == 0) wishes.save = true;
        if (context.point != Point::EvalEnd) return;
        const double value = context.evaluation->metrics.at(m_metric);
        if (m_best.empty() || value < std::stod(m_best)) m_best = std::to_string(value), m_step = context.counters->globalStep;
        else if (value > std::stod(m_best) + m_worseBy) wishes.rollBack = RollBack{m_step, m_metric + " is worse than " + m_best};
    }
    HookState state() const override { return {{"best", m_best}, {"step", std::to_string(m_step.value())}}; }
    void setState(const HookState& state) override { m_best = state.at("best"), m_step = lathe::GlobalStep(std::stoll(state.at("step"))); }

private:
    const std::string m_metric;
    const double m_worseBy;
    std::string m_best;   // as text, so that a resumed run compares with the same number
    lathe::GlobalStep m_step;
};

LATHE_PLUGIN("go_back", "1.0", registry) {
    const std::string metric = registry.text("metric", "loss");
    const double worseBy = registry.number("worse_by", 0, 0);
    registry.addHook([=] { return std::make_unique<GoBack>(metric, worseBy); });
}
