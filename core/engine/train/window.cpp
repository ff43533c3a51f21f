// The part of the trainer that computes: one attempt at an update, and evaluation.
#include "engine/train/guard.h"
#include "engine/train/trainer.h"

#include <chrono>
#include <cmath>

namespace lathe::engine {

UpdateResult Trainer::attempt(bool apply) {
    const auto start = std::chrono::steady_clock::now();
    UpdateResult result;
    for (const PhaseParts& parts : m_parts.phases) {
        UpdateResult phase = runPhase(parts, apply);
        if (parts.phase.primary) result = std::move(phase);
    }
    for (const Batch& batch : m_batches) result.samples += batch.count();
    result.microBatches = static_cast<std::int64_t>(m_batches.size());
    result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return result;
}

UpdateResult Trainer::runPhase(const PhaseParts& parts, bool apply) {
    UpdateResult result;
    result.learningRate = m_settings.baseRate * plan::factorAt(m_settings.schedule, m_progress.counters.globalStep);
    double weight = 0;
    for (const Batch& batch : m_batches) weight += m_parts.task->weightOf(batch);
    weight = m_parts.parallel->sum(weight);
    if (weight == 0) {
        result.loss = result.gradNorm = std::nan("");
        result.reason = "no sample of the window has weight";
        return result;
    }
    parts.storage->clearGradients();
    m_statistics.clear();
    m_lossSum = 0;
    m_deviceSums.clear();
    m_parts.parallel->runWindow(m_batches.size(), [&](std::size_t microBatch, bool) {
        forwardBackward(parts, microBatch, weight);
        if (!apply) return;
        visit({.point = Point::MicroStep, .batches = &m_batches, .done = static_cast<std::int64_t>(microBatch) + 1,
               .total = static_cast<std::int64_t>(m_batches.size())});
    });
    m_parts.parallel->reduce(*parts.storage);
    result.loss = m_parts.parallel->sum(windowLoss(weight));
    const GradientNorm norm = m_parts.parallel->globalNorm(*parts.storage);
    result.gradNorm = norm.value;
    result.reason = m_parts.precision->verdict(result.loss, norm);
    result.applied = !m_parts.parallel->any(!result.reason.empty());
    if (result.applied && apply) applyPhase(parts, result);
    return result;
}

void Trainer::forwardBackward(const PhaseParts& parts, std::size_t microBatch, double weight) {
    const Batch& batch = m_batches[microBatch];
    Context context;
    context.training = true;
    context.seed = m_settings.seed;
    context.attempt = m_progress.counters.updateAttempts.value();
    context.microBatch = static_cast<std::int64_t>(microBatch);
    context.statistics = &m_statistics;
    const at::Tensor output = parts.model->forward(context, batch.input);
    const std::vector<LossTerm> terms = m_parts.task->loss(output, batch);
    for (const LossTerm& term : terms) {
        if (term.sum.is_cpu()) m_lossSum += term.coefficient * term.sum.item<double>();
        else m_deviceSums.push_back(term.sum.detach().to(at::kDouble) * term.coefficient);
    }
    at::Tensor total = terms.front().sum;
    double factor = terms.front().coefficient / weight;
    if (terms.size() > 1) {
        total = total * factor;
        for (std::size_t i = 1; i < terms.size(); ++i) total = total + terms[i].sum * (terms[i].coefficient / weight);
        factor = 1;
    }
    if (total.requires_grad()) total.backward(seedGradient(factor, total));
}

/// The gradient that a backward pass begins with, made anew only when it changes.
at::Tensor Trainer::seedGradient(double factor, const at::Tensor& like) {
    if (!m_seed.defined() || m_seedFactor != factor || m_seed.scalar_type() != like.scalar_type())
        m_seed = at::scalar_tensor(factor, like.options().requires_grad(false));
    m_seedFactor = factor;
    return m_seed;
}

double Trainer::windowLoss(double weight) const {
    if (m_deviceSums.empty()) return m_lossSum / weight;
    return (m_lossSum + at::stack(m_deviceSums).sum().item<double>()) / weight;  // one read from the device for all of them
}

void Trainer::applyPhase(const PhaseParts& parts, const UpdateResult& result) {
    const at::NoGradGuard noGrad;
    m_applying = true;
    if (m_settings.maxGradNorm) {
        // The small constant is PyTorch's, so that clipped runs can be compared number for number.
        const double factor = *m_settings.maxGradNorm / (result.gradNorm + 1e-6);
        if (factor < 1) parts.storage->scaleGradients(factor);
    }
    parts.optimizer->step(result.learningRate);
    for (const StatisticsUpdate& update : m_statistics) update.block->applyStatistics(update);
    m_applying = false;
}

void Trainer::evaluate() {
    m_wishes.evaluate = false;
    if (!m_parts.evaluationData) return;
    m_progress.evaluationPending = true;
    m_unsaved = true;
    auto outcome = guarded("evaluating", [&] { return evaluateOnce(); });
    if (!outcome.ok()) return endBy(outcome.error(), true);
    if (!outcome->has_value()) return;
    EvaluationOutcome& done = **outcome;
    m_progress.evaluationPending = false;
    m_progress.evaluatedStep = m_progress.counters.globalStep;
    m_metrics = done.metrics;
    done.isBest = m_newBest = m_parts.best->take(done.metrics, m_progress.counters.globalStep);
    visit({.point = Point::EvalEnd, .evaluation = &done});
    checkTarget();
}

Result<std::optional<EvaluationOutcome>> Trainer::evaluateOnce() {
    const at::NoGradGuard noGrad;
    const auto start = std::chrono::steady_clock::now();
    EvaluationOutcome outcome;
    EvaluationSource& data = *m_parts.evaluationData;
    const std::unique_ptr<MetricPool> pool = m_parts.task->metrics();
    Context context;
    context.seed = m_settings.seed;
    data.rewind();
    visit({.point = Point::EvalStart, .total = data.samples()});
    while (!data.atEnd()) {
        LATHE_TRY_ASSIGN(const Batch batch, data.next());
        pool->add(m_parts.phases.front().model->forward(context, batch.input), batch);
        outcome.samples += batch.count();
        visit({.point = Point::EvalBatch, .done = outcome.samples, .total = data.samples()});
        if (m_wishes.stop) return std::optional<EvaluationOutcome>();
    }
    outcome.metrics = pool->values();
    outcome.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return std::optional<EvaluationOutcome>(std::move(outcome));
}

ActiveTime::ActiveTime(const Clock& clock) : m_clock(clock), m_startNs(clock.monotonicNs()) {}

double ActiveTime::seconds() const {
    const std::int64_t now = m_pauseBeganNs ? m_pauseBeganNs : m_clock.monotonicNs();
    return static_cast<double>(now - m_startNs - m_pausedNs) * 1e-9;
}

void ActiveTime::pause() { m_pauseBeganNs = m_clock.monotonicNs(); }

void ActiveTime::unpause() {
    m_pausedNs += m_clock.monotonicNs() - m_pauseBeganNs;
    m_pauseBeganNs = 0;
}

}  // namespace lathe::engine
