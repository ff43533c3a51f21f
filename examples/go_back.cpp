// A plug-in: "evaluate every 100 updates; when that is worse than the best so far, go back to it". In the configuration:
//   plugins: {go_back: {every: 100, metric: loss, worse_by: 0.01}}          # or {metric: accuracy, higher_is_better: true}
#include "base/number_text.h"
#include "engine/plugin/plugin.h"

using namespace lathe::engine;

class GoBack final : public Hook {
public:
    GoBack(std::int64_t every, std::string metric, double worseBy, double sign) : m_every(every), m_metric(std::move(metric)), m_worseBy(worseBy), m_sign(sign) {}
    std::string_view hookName() const override { return "go back"; }
    void at(const HookContext& context, Wishes& wishes) override {
        const lathe::GlobalStep step = context.counters->globalStep;
        if (context.point == Point::TrainStart && context.counters->updateAttempts.value() == 0) wishes.save = true;
        if (context.point == Point::Update && context.update->applied && step.value() % m_every == 0) wishes.evaluate = true;
        if (context.point != Point::EvalEnd) return;
        const double value = m_sign * context.evaluation->metrics.at(m_metric);   // lower is better
        const bool isFirst = m_best.empty();
        if (isFirst ? value == value : value < std::stod(m_best)) m_best = lathe::exactText(value), m_step = step;
        else if (!isFirst && !(value <= std::stod(m_best) + m_worseBy)) wishes.rollBack = RollBack{m_step, m_metric + " is worse than at the best, or no number"};
    }
    HookState state() const override { return {{"best", m_best}, {"step", std::to_string(m_step.value())}}; }
    void setState(const HookState& state) override { m_best = state.at("best"), m_step = lathe::GlobalStep(std::stoll(state.at("step"))); }
private:
    const std::int64_t m_every;
    const std::string m_metric;
    const double m_worseBy, m_sign;
    std::string m_best;   // as text, so that a resumed run compares with the same number
    lathe::GlobalStep m_step;
};

LATHE_PLUGIN("go_back", "1.0", registry) {
    registry.addHook([every = registry.integer("every", 100, 1), metric = registry.text("metric", "loss"), worseBy = registry.number("worse_by", 0, 0),
                      sign = registry.flag("higher_is_better", false) ? -1.0 : 1.0] { return std::make_unique<GoBack>(every, metric, worseBy, sign); });
}
