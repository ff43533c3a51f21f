// The part of the trainer that computes: one attempt at an update, and evaluation.
#include "base/hash.h"
#include "engine/train/distribution.h"
#include "engine/train/guard.h"
#include "engine/train/statistics.h"
#include "engine/train/trainer.h"

#include <algorithm>
#include <chrono>
#include <cmath>

namespace lathe::engine {
namespace {

/// Statistics of the batches of all ranks into one pool, in the order of the batches.
void mergeInOrder(Parallel& parallel, const std::vector<at::Tensor>& mine, MetricPool& pool) {
    std::vector<double> lengths;
    for (const at::Tensor& part : mine) lengths.push_back(static_cast<double>(part.numel()));
    const std::vector<at::Tensor> lengthsByRank = parallel.gather(at::tensor(lengths, at::kDouble));
    const std::vector<at::Tensor> valuesByRank = parallel.gather(mine.empty() ? at::empty({0}, at::kDouble) : at::cat(mine).cpu());
    std::vector<std::int64_t> place(valuesByRank.size(), 0);
    std::int64_t turns = 0;
    for (const at::Tensor& lengthsOfRank : lengthsByRank) turns = std::max(turns, lengthsOfRank.numel());
    for (std::int64_t turn = 0; turn < turns; ++turn) {
        for (std::size_t rank = 0; rank < valuesByRank.size(); ++rank) {
            if (turn >= lengthsByRank[rank].numel()) continue;
            const auto length = static_cast<std::int64_t>(lengthsByRank[rank][turn].item<double>());
            pool.merge(valuesByRank[rank].narrow(0, place[rank], length));
            place[rank] += length;
        }
    }
}

}  // namespace

UpdateResult Trainer::attempt(bool apply) {
    const auto start = std::chrono::steady_clock::now();
    UpdateResult result;
    for (const PhaseParts& parts : m_parts.phases) {
        UpdateResult phase = runPhase(parts, apply);
        if (parts.phase.primary) result = std::move(phase);
    }
    result.samples = m_window.samples();
    result.microBatches = static_cast<std::int64_t>(m_window.microBatches.size());
    result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return result;
}

UpdateResult Trainer::runPhase(const PhaseParts& parts, bool apply) {
    UpdateResult result;
    result.learningRate = m_parts.curve->rateAt(m_progress.counters.globalStep);
    result.scale = m_parts.precision->scale();
    weighWindow(result);
    if (std::all_of(m_totals.begin(), m_totals.end(), [](double total) { return total == 0; })) {
        result.loss = result.gradNorm = std::nan("");
        result.reason = "no sample of the window has weight";
        return result;
    }
    m_statistics.clear();
    m_losses.clear();
    m_deviceLosses.clear();
    m_parts.parallel->runWindow(*parts.storage, m_window.microBatches.size(), [&](std::size_t microBatch) {
        forwardBackward(parts, microBatch, result.scale);
        if (!apply) return;
        visit({.point = Point::MicroStep, .batches = &m_batches, .done = static_cast<std::int64_t>(microBatch) + 1,
               .total = static_cast<std::int64_t>(m_window.microBatches.size())});
    });
    if (result.scale != 1) parts.storage->scaleGradients(1 / result.scale);
    result.loss = windowLoss();
    const GradientNorm norm = m_parts.parallel->globalNorm(*parts.storage);
    result.gradNorm = norm.value;
    result.reason = m_parts.precision->verdict(result.loss, norm);
    result.applied = result.reason.empty();
    result.notFinite = !result.applied;
    if (apply) watch(result);
    if (!result.applied || !apply) return result;
    if (parts.phase.primary) lookInside(parts, result);
    applyPhase(parts, result);
    return result;
}

/// Gradients as they were reduced, and the weights that they are of, for those who look at them; decides nothing.
void Trainer::lookInside(const PhaseParts& parts, UpdateResult& result) {
    if (m_parts.parallel->rank() != 0) return;
    Counters next = m_progress.counters;
    next.globalStep = next.globalStep.next();
    next.epoch = m_window.nextEpoch;
    const double seconds = m_parts.time->seconds();
    const bool norms = m_normsEvery.due(next, seconds), histograms = m_histogramsEvery.due(next, seconds);
    if (!norms && !histograms) return;
    auto seen = std::make_shared<Distributions>();
    if (norms) seen->groupNorms = normsByGroup(*parts.storage);
    if (histograms) seen->histograms = histogramsOf(*parts.storage);
    result.distributions = std::move(seen);
}

/// The guard's word on an update that is about to be applied, or on one that cannot be.
void Trainer::watch(UpdateResult& result) {
    if (!m_parts.guard) return;
    result.finding = m_parts.guard->judge(result);
    if (!result.finding) return;
    result.finding->samples = samplesOfWindow();
    result.applied = false;
    result.reason = result.finding->reason;
}

/// Ids on all ranks: shares are contiguous, so that rank order is the order of the window.
std::vector<std::int64_t> Trainer::samplesOfWindow() {
    std::vector<std::int64_t> ids;
    for (const Batch& batch : m_batches) ids.insert(ids.end(), batch.ids.begin(), batch.ids.end());
    std::vector<std::int64_t> all;
    for (const at::Tensor& part : m_parts.parallel->gather(at::tensor(ids, at::kLong)))
        all.insert(all.end(), part.const_data_ptr<std::int64_t>(), part.const_data_ptr<std::int64_t>() + part.numel());
    return all;
}

/// Σ weights of each term and the digest of the sample ids, over all ranks in the order of the window.
void Trainer::weighWindow(UpdateResult& result) {
    constexpr std::uint64_t kExact = (std::uint64_t{1} << 53) - 1;  // digests travel as doubles
    const std::size_t terms = m_parts.task->terms();
    m_weights.clear();
    for (const Batch& batch : m_batches) {
        const std::vector<double> weights = m_parts.task->weightsOf(batch);
        LATHE_ASSERT(weights.size() == terms);
        m_weights.insert(m_weights.end(), weights.begin(), weights.end());
        m_weights.push_back(static_cast<double>(hash64(std::as_bytes(std::span(batch.ids)), batch.ids.size()) & kExact));
    }
    m_parts.parallel->gather(m_weights);
    m_totals.assign(terms, 0);
    for (std::size_t i = 0; i < m_weights.size(); i += terms + 1) {
        for (std::size_t term = 0; term < terms; ++term) m_totals[term] += m_weights[i + term];
        result.windowDigest = hash64(std::as_bytes(std::span(&m_weights[i + terms], 1)), result.windowDigest);
    }
    result.weight = m_totals.front();
}

at::Tensor Trainer::forward(const PhaseParts& parts, Context& context, const at::Tensor& input) {
    context.seed = m_settings.seed;
    const WeightAverage::InUse mean(context.training || !m_settings.evaluatesAverage ? nullptr : parts.average);
    const std::optional<at::ScalarType> castType = m_parts.precision->castType();
    at::Tensor output;
    {
        const CastScope scope(input.device().type(), castType);
        output = parts.model->forward(context, input);
    }
    return castType ? output.to(at::kFloat) : output;  // loss and metrics are never computed in a short format
}

void Trainer::forwardBackward(const PhaseParts& parts, std::size_t microBatch, double scale) {
    const Batch& batch = m_batches[microBatch - m_share.begin];
    Context context;
    context.training = true;
    context.attempt = m_progress.counters.updateAttempts.value();
    context.microBatch = static_cast<std::int64_t>(microBatch);
    context.statistics = &m_statistics;
    const at::Tensor output = forward(parts, context, batch.input);
    const std::vector<LossTerm> terms = m_parts.task->loss(output, batch);
    LATHE_ASSERT(terms.size() == m_totals.size());
    at::Tensor total = terms.front().sum;
    double seed = 0;
    for (std::size_t i = 0; i < terms.size(); ++i) {
        const LossTerm& term = terms[i];
        if (term.sum.is_cpu()) m_losses.push_back(term.coefficient * term.sum.item<double>());
        else m_deviceLosses.push_back(term.sum.detach().to(at::kDouble) * term.coefficient);
        const double factor = m_totals[i] == 0 ? 0 : term.coefficient * scale / m_totals[i];
        if (terms.size() == 1) seed = factor;
        else total = i == 0 ? term.sum * factor : total + term.sum * factor;
    }
    if (terms.size() > 1) seed = 1;
    if (total.requires_grad()) total.backward(seedGradient(seed, total));
}

/// The gradient that a backward pass begins with, made anew only when it changes.
at::Tensor Trainer::seedGradient(double factor, const at::Tensor& like) {
    if (!m_seed.defined() || m_seedFactor != factor || m_seed.scalar_type() != like.scalar_type())
        m_seed = at::scalar_tensor(factor, like.options().requires_grad(false));
    m_seedFactor = factor;
    return m_seed;
}

/// Σ over terms of what all micro-batches gave, divided by the term's weight.
double Trainer::windowLoss() {
    if (!m_deviceLosses.empty()) {  // one read from the device for all of them
        const at::Tensor losses = at::stack(m_deviceLosses).cpu();
        m_losses.assign(losses.const_data_ptr<double>(), losses.const_data_ptr<double>() + losses.numel());
    }
    m_parts.parallel->gather(m_losses);
    double loss = 0;
    for (std::size_t term = 0; term < m_totals.size(); ++term) {
        double sum = 0;
        for (std::size_t i = term; i < m_losses.size(); i += m_totals.size()) sum += m_losses[i];
        if (m_totals[term] != 0) loss += sum / m_totals[term];
    }
    return loss;
}

void Trainer::applyPhase(const PhaseParts& parts, const UpdateResult& result) {
    const at::NoGradGuard noGrad;
    m_applying = true;
    if (m_settings.maxGradNorm) {
        // The small constant is PyTorch's, so that clipped runs can be compared number for number.
        const double factor = *m_settings.maxGradNorm / (result.gradNorm + 1e-6);
        if (factor < 1) parts.storage->scaleGradients(factor);
    }
    if (m_settings.maxGradValue) parts.storage->clampGradients(*m_settings.maxGradValue);
    parts.optimizer->step(result.learningRate);
    if (parts.average) parts.average->update();
    if (m_parts.parallel->world() > 1 && !parts.model->buffers().empty()) gatherStatistics(*m_parts.parallel, *parts.model, m_statistics);
    for (const StatisticsUpdate& update : m_statistics) update.block->applyStatistics(update);
    m_applying = false;
}

void Trainer::evaluate() {
    m_wishes.evaluate = m_agreed = false;
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
    done.rateCut = m_parts.curve->take(done.metrics, m_progress.counters.globalStep);
    visit({.point = Point::EvalEnd, .evaluation = &done});
    checkTarget();
}

Result<std::optional<EvaluationOutcome>> Trainer::evaluateOnce() {
    const at::NoGradGuard noGrad;
    const double start = m_parts.time->seconds();  // without pauses
    EvaluationOutcome outcome;
    EvaluationSource& data = *m_parts.evaluationData;
    Parallel& parallel = *m_parts.parallel;
    const bool isAlone = parallel.world() == 1;
    const std::unique_ptr<MetricPool> pool = poolOf(*m_parts.task);
    std::vector<at::Tensor> mine;   // statistics of each of this rank's batches, for ranks to pool what one process would
    outcome.samples = data.samples();
    data.rewind();
    visit({.point = Point::EvalStart, .total = data.samples()});
    std::int64_t done = 0;
    for (std::int64_t first = 0; first < data.batches(); first += parallel.world()) {
        if (!data.atEnd()) {
            LATHE_TRY_ASSIGN(const Batch batch, data.next());
            Context context;
            const at::Tensor output = forward(m_parts.phases.front(), context, batch.input);
            const std::unique_ptr<MetricPool> part = isAlone ? nullptr : poolOf(*m_parts.task);
            (isAlone ? *pool : *part).add(output, batch);
            if (part) mine.push_back(part->statistics());
            done += batch.count();
        }
        visit({.point = Point::EvalBatch, .done = std::min(done * parallel.world(), data.samples()), .total = data.samples()});
        if (!evaluationGoesOn()) return std::optional<EvaluationOutcome>();
    }
    if (!isAlone) mergeInOrder(parallel, mine, *pool);
    outcome.metrics = pool->values();
    outcome.records = pool->records();
    if (parallel.rank() == 0) demonstrate(outcome);
    outcome.seconds = m_parts.time->seconds() - start;
    return std::optional<EvaluationOutcome>(std::move(outcome));
}

/// Adds what the model makes of its own.
void Trainer::demonstrate(EvaluationOutcome& outcome) {
    const PhaseParts& parts = m_parts.phases.front();
    const auto output = [&](const at::Tensor& input) {
        Context context;
        return forward(parts, context, input);
    };
    const Demonstration place{m_settings.seed, m_progress.counters.globalStep, parts.model->parameters().front().tensor.device()};
    for (EvaluationRecord& record : m_parts.task->demonstrate(output, place)) outcome.records.push_back(std::move(record));
}

bool Trainer::evaluationGoesOn() {
    enum : std::uint64_t { Stop = 1, Pause = 2 };
    while (true) {
        const std::uint64_t agreed = m_parts.parallel->agree((m_wishes.stop ? Stop : 0) | (m_wishes.pause ? Pause : 0));
        if ((agreed & Stop) != 0) {
            if (m_parts.parallel->world() > 1) adoptStop();
            return false;
        }
        if ((agreed & Pause) == 0) return true;
        m_wishes.pause = true;
        holdWhilePaused();
        m_agreed = false;
    }
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
