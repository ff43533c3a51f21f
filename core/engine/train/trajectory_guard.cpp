#include "engine/train/trajectory_guard.h"

#include "base/number_text.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace lathe::engine {
namespace {

constexpr std::size_t kLongestWindow = 1000;

/// Requires: not empty. Of an even number the mean of the two in the middle.
double medianOf(std::vector<double> values) {
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    if (values.size() % 2 == 1) return *middle;
    return (*std::max_element(values.begin(), middle) + *middle) / 2;
}

std::string textOf(const std::deque<double>& values) {
    std::string text;
    for (const double value : values) text += (text.empty() ? "" : " ") + exactText(value);
    return text;
}

Result<std::deque<double>> valuesOf(const std::string& text) {
    std::deque<double> values;
    std::size_t begin = 0;
    while (begin < text.size()) {
        const std::size_t end = std::min(text.find(' ', begin), text.size());
        const auto value = readDouble(text.substr(begin, end - begin));
        if (!value || !std::isfinite(*value) || values.size() == kLongestWindow)
            return Error{ErrorCode::Corrupt, "The saved window of the guard is not a list of at most 1000 finite numbers", {}, {}};
        values.push_back(*value);
        begin = end + 1;
    }
    return values;
}

}  // namespace

std::optional<GuardFinding> TrajectoryGuard::judge(const UpdateResult& result) const {
    if (result.notFinite) {
        const bool isScaling = result.scale != 1 && std::isfinite(result.loss);
        if (isScaling) return std::nullopt;
        return GuardFinding{"not finite", m_section.onNotFinite, result.reason, {{"loss", result.loss}, {"grad_norm", result.gradNorm}}, {}};
    }
    if (!result.applied) return std::nullopt;
    if (auto finding = judgeLoss(result.loss)) return finding;
    return judgeNorm(result.gradNorm);
}

std::optional<GuardFinding> TrajectoryGuard::judgeLoss(double loss) const {
    if (m_section.onLossSpike == "go_on" || !isFull(m_losses)) return std::nullopt;
    std::vector<double> values = newest(m_losses);
    const double median = medianOf(values);
    for (double& value : values) value = std::abs(value - median);
    const double spread = std::max(1.4826 * medianOf(values), 0.001 * std::abs(median));
    if (spread == 0) return std::nullopt;  // all losses are 0: nothing to measure by
    const double score = (loss - median) / spread;
    if (!(score > m_section.spikeScore)) return std::nullopt;
    return GuardFinding{"loss spike", m_section.onLossSpike,
                        "the loss of " + shortText(loss) + " stands " + shortText(score) + " robust deviations above the median of " + shortText(median),
                        {{"loss", loss}, {"median", median}, {"spread", spread}, {"score", score}, {"limit", m_section.spikeScore}}, {}};
}

std::optional<GuardFinding> TrajectoryGuard::judgeNorm(double norm) const {
    if (m_section.onGradientExplosion == "go_on" || !isFull(m_norms)) return std::nullopt;
    const double median = medianOf(newest(m_norms));
    if (median == 0 || !(norm > m_section.explosionFactor * median)) return std::nullopt;
    return GuardFinding{"gradient explosion", m_section.onGradientExplosion,
                        "the gradient norm of " + shortText(norm) + " is " + shortText(norm / median) + " times the median of " + shortText(median),
                        {{"grad_norm", norm}, {"median", median}, {"factor", norm / median}, {"limit", m_section.explosionFactor}}, {}};
}

void TrajectoryGuard::take(const UpdateResult& result) {
    if (!watches()) {  // what is not kept on cannot be judged by later
        m_losses.clear();
        m_norms.clear();
        return;
    }
    for (const auto& [values, value] : {std::pair(&m_losses, result.loss), std::pair(&m_norms, result.gradNorm)}) {
        values->push_back(value);
        while (static_cast<std::int64_t>(values->size()) > m_section.window) values->pop_front();
    }
}

/// A window that was made shorter since a checkpoint still holds more until the next update.
std::vector<double> TrajectoryGuard::newest(const std::deque<double>& values) const {
    return {values.end() - static_cast<std::ptrdiff_t>(m_section.window), values.end()};
}

StateValues TrajectoryGuard::stateValues() const {
    if (m_losses.empty()) return {};
    return {{"losses", textOf(m_losses)}, {"grad_norms", textOf(m_norms)}};
}

Result<void> TrajectoryGuard::setStateValues(const StateValues& values) {
    StateValueReader reader(values);
    const std::string losses = reader.text("losses"), norms = reader.text("grad_norms");
    LATHE_TRY(reader.finish(stateName()));
    LATHE_TRY_ASSIGN(std::deque<double> readLosses, valuesOf(losses));
    LATHE_TRY_ASSIGN(std::deque<double> readNorms, valuesOf(norms));
    if (readLosses.size() != readNorms.size())
        return Error{ErrorCode::Corrupt, "The saved window of the guard has " + std::to_string(readLosses.size()) + " losses and " +
                     std::to_string(readNorms.size()) + " norms", {}, {}};
    m_losses = std::move(readLosses);
    m_norms = std::move(readNorms);
    return {};
}

}  // namespace lathe::engine
