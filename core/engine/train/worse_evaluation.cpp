#include "engine/train/worse_evaluation.h"

#include "base/number_text.h"

#include <nlohmann/json.hpp>

#include <cmath>
#include <stdexcept>

namespace lathe::engine {

bool WorseEvaluation::isWorse(const EvaluationOutcome& outcome) const {
    const auto found = outcome.metrics.find(m_best.metric());
    if (outcome.isBest || found == outcome.metrics.end()) return false;
    if (isUndefined(outcome.metrics, m_best.metric())) return false;
    if (std::isnan(found->second)) return true;
    if (!m_best.value()) return false;
    const double loss = m_best.higherIsBetter() ? *m_best.value() - found->second : found->second - *m_best.value();
    return loss > m_section.worseBy;
}

void WorseEvaluation::at(const HookContext& context, Wishes& wishes) {
    if (context.point != Point::EvalEnd) return;
    m_inARow = isWorse(*context.evaluation) ? m_inARow + 1 : 0;
    if (m_inARow < m_section.worseInARow) return;
    const double value = context.evaluation->metrics.at(m_best.metric());
    const std::string best = m_best.value() ? shortText(*m_best.value()) : "none";
    const std::string sentence = "The evaluation at update " + std::to_string(context.counters->globalStep.value()) + " is worse than the best one: " +
                                 m_best.metric() + " " + shortText(value) + ", best " + best + " at update " + std::to_string(m_best.step().value());
    const nlohmann::json facts = {{"trigger", "worse evaluation"}, {"action", m_section.onWorse}, {"sample_count", 0}, {"samples", nlohmann::json::array()},
                                  {"values", {{m_best.metric(), exactText(value)}, {"best", m_best.value() ? exactText(*m_best.value()) : "none"}}}};
    context.log->event("guard", sentence, facts.dump());
    m_inARow = 0;
    if (m_section.onWorse == "roll_back") {
        wishes.rollBack = RollBack{m_best.step(), sentence, rundir::State::Stopped};
    } else if (m_section.onWorse == "pause") {
        wishes.hold = true;
        wishes.holdWhy = sentence + " (guard.on_worse)";
    } else if (!wishes.stop) {
        wishes.stop = Ending{rundir::State::Stopped, sentence + ", so it stops (guard.on_worse)", true};
    }
}

void WorseEvaluation::setState(const HookState& state) {
    const auto found = state.find("worse_in_a_row");
    const auto count = found == state.end() ? std::nullopt : readInteger(found->second);
    if (!count || *count < 0) throw std::runtime_error("worse_in_a_row is not a count");
    m_inARow = *count;
}

}  // namespace lathe::engine
