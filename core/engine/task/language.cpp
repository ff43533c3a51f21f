#include "config/utf8.h"
#include "engine/model/text_operators.h"
#include "engine/task/task_kinds.h"
#include "plan/random.h"

#include <ATen/core/Reduction.h>

#include <cmath>
#include <limits>
#include <numbers>

namespace lathe::engine {
namespace {

constexpr std::int64_t kSymbols = 256;   ///< bytes
constexpr std::int64_t kNoTarget = -100;

/// Sums over the bytes of each row in double, then over the rows in order: neither batches, ranks nor threads change a bit
/// of what a row adds. A row of statistics is [loss, right answers, bytes].
class LanguagePool final : public MetricPool {
public:
    explicit LanguagePool(std::vector<config::Metric> metrics) : m_metrics(std::move(metrics)) {}

    void add(const at::Tensor& output, const Batch& batch) override {
        const at::NoGradGuard noGrad;
        const std::int64_t rows = output.size(0);
        const at::Tensor loss = at::cross_entropy_loss(output.flatten(0, 1), batch.target.flatten(), {}, at::Reduction::None, kNoTarget).view({rows, -1});
        const at::Tensor counts = batch.target.ne(kNoTarget), right = output.argmax(2).eq(batch.target);
        m_rows.push_back(at::stack({loss.to(at::kDouble).sum(1), right.sum(1).to(at::kDouble), counts.sum(1).to(at::kDouble)}, 1));
    }
    at::Tensor statistics() const override { return m_rows.empty() ? at::empty({0}, at::kDouble) : at::cat(m_rows).flatten(); }
    void merge(const at::Tensor& statistics) override {
        if (statistics.numel() > 0) m_rows.push_back(statistics.view({-1, 3}));
    }
    std::map<std::string, double> values() const override {
        double loss = 0, right = 0, bytes = 0;
        const at::Tensor rows = statistics().cpu().contiguous();
        const double* row = rows.const_data_ptr<double>();
        for (const double* end = row + rows.numel(); row != end; row += 3) {
            loss += row[0];
            right += row[1];
            bytes += row[2];
        }
        const double mean = bytes > 0 ? loss / bytes : std::numeric_limits<double>::quiet_NaN();
        return chosenOf({{"loss", mean}, {"perplexity", std::exp(mean)}, {"bits_per_byte", mean / std::numbers::ln2}, {"accuracy", right / bytes}}, m_metrics);
    }

private:
    const std::vector<config::Metric> m_metrics;
    std::vector<at::Tensor> m_rows;   ///< [rows of a batch, 3]
};

class Language final : public Task {
public:
    Language(const config::RunConfig& config, std::vector<config::Metric> metrics)
        : m_evaluation(config.evaluation), m_context(config.data.context), m_metrics(std::move(metrics)) {}

    std::int64_t outputs() const override { return kSymbols; }
    std::vector<double> weightsOf(const Batch& batch) const override { return {sumOfWeights(batch)}; }
    bool weighsTokens() const override { return true; }
    std::vector<LossTerm> loss(const at::Tensor& output, const Batch& batch) const override {
        return {LossTerm{crossEntropySum(output, batch.target)}};
    }
    std::unique_ptr<MetricPool> metrics() const override { return std::make_unique<LanguagePool>(m_metrics); }
    std::vector<config::Metric> metricInfo() const override { return m_metrics; }
    std::vector<EvaluationRecord> demonstrate(const Forward& forward, const Demonstration& place) const override;

private:
    std::uint8_t drawn(const at::Tensor& logits, plan::Stream& stream) const;

    const config::EvaluationSection m_evaluation;
    const std::int64_t m_context;
    const std::vector<config::Metric> m_metrics;
};

/// The next byte out of [256] logits.
std::uint8_t Language::drawn(const at::Tensor& logits, plan::Stream& stream) const {
    const at::Tensor scores = logits.to(at::kCPU, at::kDouble);
    if (m_evaluation.sampleTemperature == 0) return static_cast<std::uint8_t>(scores.argmax().item<std::int64_t>());
    const at::Tensor chances = at::softmax(scores / m_evaluation.sampleTemperature, 0).contiguous();
    double left = stream.uniform();
    std::int64_t likely = 0;
    for (std::int64_t symbol = 0; symbol < kSymbols; ++symbol) {
        const double chance = chances.const_data_ptr<double>()[symbol];
        if (!(chance > 0)) continue;
        likely = symbol;   // where rounding leaves a rest, the last one that can be
        left -= chance;
        if (left < 0) break;
    }
    return static_cast<std::uint8_t>(likely);
}

/// A text that goes on from the prompt: a function of weights, seed and update.
std::vector<EvaluationRecord> Language::demonstrate(const Forward& forward, const Demonstration& place) const {
    if (m_evaluation.sampleBytes == 0) return {};
    plan::Stream stream(place.seed, plan::Purpose::Sampling, static_cast<std::uint64_t>(place.step.value()));
    const std::string prompt = m_evaluation.samplePrompt.empty() ? "\n" : m_evaluation.samplePrompt;
    std::vector<std::int64_t> bytes;
    for (const char c : prompt) bytes.push_back(static_cast<unsigned char>(c));
    std::string text = m_evaluation.samplePrompt;
    for (std::int64_t i = 0; i < m_evaluation.sampleBytes; ++i) {
        if (!place.goesOn()) return {};
        const auto seen = std::min<std::int64_t>(m_context, static_cast<std::int64_t>(bytes.size()));
        const at::Tensor tail = at::from_blob(bytes.data() + bytes.size() - seen, {seen}, at::kLong);
        const at::Tensor output = forward(at::stack({tail, at::zeros_like(tail)}).unsqueeze(0).to(place.device));
        const std::uint8_t next = drawn(output[0][seen - 1], stream);
        bytes.push_back(next);
        text.push_back(static_cast<char>(next));
    }
    for (char& c : text)
        if (c == '\0') c = '?';
    return {{EvaluationRecord::Kind::Text, "samples", config::repairedUtf8(std::move(text))}};
}

}  // namespace

Result<std::unique_ptr<Task>> makeLanguage(const config::RunConfig& config) {
    LATHE_TRY_ASSIGN(std::vector<config::Metric> metrics, config::chosenMetrics(config));
    return std::unique_ptr<Task>(std::make_unique<Language>(config, std::move(metrics)));
}

}  // namespace lathe::engine
