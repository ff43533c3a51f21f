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
    const std::vector<at::Tensor> valuesByRank = parallel.gather(mine.empty() ? at::empty({0}, at::kDouble) : at::cat(mine));
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

Result<UpdateResult> Trainer::attempt(bool apply) {
    const auto start = std::chrono::steady_clock::now();
    UpdateResult result;
    bool isHalfDone = false;
    for (const PhaseParts& parts : m_parts.phases) {
        auto phase = runPhase(parts, apply);
        if (!phase.ok()) {
            if (isHalfDone) {  // neither a state to save nor one to begin again from
                m_applying = true;
                m_allFellShort = false;
            }
            return std::move(phase).error();
        }
        isHalfDone = isHalfDone || (apply && phase->applied);
        if (parts.phase.primary) result = std::move(phase).value();
    }
    result.samples = m_window.samples();
    result.microBatches = static_cast<std::int64_t>(m_window.microBatches.size());
    result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return result;
}

Result<UpdateResult> Trainer::runPhase(const PhaseParts& parts, bool apply) {
    UpdateResult result;
    m_shortage.reset();
    m_shortageRecord.reset();
    m_allFellShort = false;
    result.learningRate = m_parts.curve->rateAt(m_progress.counters.globalStep);
    result.scale = m_parts.precision->scale();
    weighWindow(result);
    if (std::all_of(m_totals.begin(), m_totals.end(), [](double total) { return total == 0; })) {
        result.loss = result.gradNorm = std::nan("");
        result.reason = "no sample of the window has weight";
        result.weightless = true;
        return result;
    }
    m_statistics.clear();
    m_losses.clear();
    m_deviceLosses.clear();
    m_devicePlaces.clear();
    m_parts.parallel->runWindow(*parts.storage, m_window.microBatches.size(), [&](std::size_t microBatch) {
        runMicroStep(parts, microBatch, result.scale);
        if (!apply || m_shortage) return;
        visit({.point = Point::MicroStep, .batches = &m_batches, .done = static_cast<std::int64_t>(microBatch) + 1,
               .total = static_cast<std::int64_t>(m_window.microBatches.size())});
    });
    if (result.scale != 1) parts.storage->scaleGradients(1 / result.scale);
    const GradientNorm norm = takeNumbers(parts, result);
    if (m_allFellShort) {
        if (m_shortage) return *m_shortage;
        return Error{ErrorCode::OutOfMemory, "The memory of another rank ran out while computing an update", {}, {}};
    }
    result.reason = m_parts.precision->verdict(result.loss, norm);
    result.applied = result.reason.empty();
    result.notFinite = !result.applied;
    if (apply) veto(result);
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

/// Where a hook of any rank asked for it.
void Trainer::veto(UpdateResult& result) {
    if (!m_isVetoed || !result.applied) return;
    const std::string mine = m_wishes.skip.value_or("");
    const std::vector<std::string> said = gatherTexts(*m_parts.parallel, mine);
    const auto first = std::find_if(said.begin(), said.end(), [](const std::string& text) { return !text.empty(); });
    result.applied = false;
    result.vetoed = true;
    result.reason = "a hook asked for it" + (first == said.end() ? "" : ": " + *first);
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
    m_microStep = microBatch;
    Context context;
    context.training = true;
    context.attempt = m_progress.counters.updateAttempts.value();
    context.microBatch = static_cast<std::int64_t>(microBatch);
    context.statistics = &m_statistics;
    const std::vector<LossTerm> terms = m_parts.task->loss(forward(parts, context, batch.input), batch);  // the output is not kept through the backward pass
    LATHE_ASSERT(terms.size() == m_totals.size());
    at::Tensor total;
    double seed = 1;
    for (std::size_t i = 0; i < terms.size(); ++i) {
        const LossTerm& term = terms[i];
        keepLoss(term);
        if (m_totals[i] == 0) continue;  // it counts for nothing, whatever its value
        const double factor = term.coefficient * scale / m_totals[i];
        if (terms.size() == 1) {
            total = term.sum;
            seed = factor;
        } else {
            total = total.defined() ? total + term.sum * factor : term.sum * factor;
        }
    }
    if (total.defined() && total.requires_grad()) total.backward(seedGradient(seed, total));
    m_microStep.reset();
}

/// What lies on another device is read at the end of the window, all at once.
void Trainer::keepLoss(const LossTerm& term) {
    m_losses.push_back(term.sum.is_cpu() ? term.coefficient * term.sum.item<double>() : 0);
    if (term.sum.is_cpu()) return;
    m_deviceLosses.push_back(term.sum.detach().to(at::kDouble) * term.coefficient);
    m_devicePlaces.push_back(m_losses.size() - 1);
}

/// The gradient that a backward pass begins with, made anew only when it changes.
at::Tensor Trainer::seedGradient(double factor, const at::Tensor& like) {
    if (!m_seed.defined() || m_seedFactor != factor || m_seed.scalar_type() != like.scalar_type())
        m_seed = at::scalar_tensor(factor, like.options().requires_grad(false));
    m_seedFactor = factor;
    return m_seed;
}

/// What all ranks act on: the loss of the window, Σ over terms of what all micro-batches gave divided by the term's weight,
/// the norm as the first rank has it (unlike devices differ in its
/// last bits), and whether any rank fell short of memory.
GradientNorm Trainer::takeNumbers(const PhaseParts& parts, UpdateResult& result) {
    if (m_shortage) {  // as many numbers as the others wait for
        m_losses.assign(m_share.count() * m_totals.size(), 0);
        m_deviceLosses.clear();
        m_devicePlaces.clear();
    }
    if (!m_deviceLosses.empty()) {  // one read from the device for all of them
        const at::Tensor losses = at::stack(m_deviceLosses).cpu();
        for (std::size_t i = 0; i < m_devicePlaces.size(); ++i) m_losses[m_devicePlaces[i]] = losses.const_data_ptr<double>()[i];
    }
    GradientNorm norm = m_parts.parallel->globalNorm(*parts.storage);
    const std::vector<ShardView>& views = parts.storage->views();
    const auto bad = norm.notFinite.empty() ? views.end() : std::find_if(views.begin(), views.end(), [&](const ShardView& view) { return view.parameter == norm.notFinite; });
    enum : int { Skips = 1, FellShort = 2 };
    m_losses.push_back(norm.value);
    m_losses.push_back(static_cast<double>(bad - views.begin()));  // all of them: there is none
    m_losses.push_back((m_wishes.skip ? Skips : 0) + (m_shortage ? FellShort : 0));
    m_parts.parallel->gather(m_losses);
    std::vector<double> sums(m_totals.size(), 0.0);
    m_isVetoed = false;
    const double* next = m_losses.data();
    for (int rank = 0; rank < m_parts.parallel->world(); ++rank) {
        const std::size_t count = m_parts.parallel->sharing().ofRank(m_window.microBatches.size(), rank).count();
        for (std::size_t i = 0; i < count * sums.size(); ++i) sums[i % sums.size()] += *next++;
        if (rank == 0) norm = {next[0], next[1] < static_cast<double>(views.size()) ? views[static_cast<std::size_t>(next[1])].parameter : std::string()};
        const int told = static_cast<int>(next[2]);
        m_isVetoed = m_isVetoed || (told & Skips) != 0;
        m_allFellShort = m_allFellShort || (told & FellShort) != 0;
        next += 3;
    }
    result.loss = 0;
    for (std::size_t term = 0; term < sums.size(); ++term)
        if (m_totals[term] != 0) result.loss += sums[term] / m_totals[term];
    result.gradNorm = norm.value;
    return norm;
}

void Trainer::applyPhase(const PhaseParts& parts, const UpdateResult& result) {
    const at::NoGradGuard noGrad;
    turnTo(live::Activity::Applying);
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

/// True: it is the best so far.
bool Trainer::evaluate() {
    m_wishes.evaluate = m_agreed = false;
    auto outcome = guarded("evaluating", [&] { return evaluateOnce(); });
    if (!outcome.ok()) endBy(outcome.error(), true);
    if (!outcome.ok() || !outcome->has_value()) return false;
    EvaluationOutcome& done = **outcome;
    m_unsaved = true;
    m_progress.evaluationPending = false;
    m_progress.evaluatedStep = m_progress.counters.globalStep;
    m_progress.metrics = done.metrics;
    done.isBest = m_parts.best->take(done.metrics, m_progress.counters.globalStep);
    done.rateCut = m_parts.curve->take(done.metrics, m_progress.counters.globalStep);
    visit({.point = Point::EvalEnd, .evaluation = &done});
    checkTarget();
    return done.isBest;
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
            if (part) mine.push_back(part->statistics().cpu());  // one that pooled nothing lies on no device
            done += batch.count();
        }
        if (keepInStep(std::min(done * parallel.world(), data.samples()), false).stops) return std::optional<EvaluationOutcome>();
    }
    if (!isAlone) mergeInOrder(parallel, mine, *pool);
    outcome.metrics = pool->values();
    outcome.records = pool->records();
    demonstrate(outcome);
    outcome.seconds = m_parts.time->seconds() - start;
    return std::optional<EvaluationOutcome>(std::move(outcome));
}

/// Adds what the model makes of its own. The first rank computes, and all of them go on hearing what any of them is asked.
void Trainer::demonstrate(EvaluationOutcome& outcome) {
    const std::int64_t done = m_parts.evaluationData->samples();
    const bool isAlone = m_parts.parallel->world() == 1;
    if (m_parts.parallel->rank() != 0) {
        while (keepInStep(done, false).isBusy) {}
        return;
    }
    const PhaseParts& parts = m_parts.phases.front();
    const auto output = [&](const at::Tensor& input) {
        Context context;
        return forward(parts, context, input);
    };
    const Demonstration place{m_settings.seed, m_progress.counters.globalStep, parts.model->parameters().front().tensor.device(),
                              [&] { return !keepInStep(done, true).stops; }};
    for (EvaluationRecord& record : m_parts.task->demonstrate(output, place)) outcome.records.push_back(std::move(record));
    if (!isAlone) keepInStep(done, false);
}

/// Between two steps of an evaluation, which can be long: acts on what ranks wish meanwhile.
Trainer::Going Trainer::keepInStep(std::int64_t done, bool isBusy) {
    enum : std::uint64_t { Stop = 1, Pause = 2, Busy = 4 };
    visit({.point = Point::EvalBatch, .done = done, .total = m_parts.evaluationData->samples()});
    while (true) {
        const std::uint64_t agreed = m_parts.parallel->agree((m_wishes.stop ? Stop : 0) | (m_wishes.pause ? Pause : 0) | (isBusy ? Busy : 0));
        const Going going{(agreed & Stop) != 0, (agreed & Busy) != 0};
        if (going.stops && m_parts.parallel->world() > 1) adoptStop();
        if (going.stops || (agreed & Pause) == 0) return going;
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

ActiveTime::Pause::Pause(ActiveTime& time) : m_time(time) { m_time.m_pauseBeganNs = m_time.m_clock.monotonicNs(); }

ActiveTime::Pause::~Pause() {
    m_time.m_pausedNs += m_time.m_clock.monotonicNs() - m_time.m_pauseBeganNs;
    m_time.m_pauseBeganNs = 0;
}

}  // namespace lathe::engine
