// The part of the trainer that computes: one attempt at an update.
#include "base/hash.h"
#include "engine/train/distribution.h"
#include "engine/train/statistics.h"
#include "engine/train/trainer.h"

#include <algorithm>
#include <chrono>
#include <cmath>

namespace lathe::engine {

Result<UpdateResult> Trainer::attempt(bool apply) {
    const auto start = std::chrono::steady_clock::now();
    LATHE_TRY_ASSIGN(UpdateResult result, compute(apply));
    result.samples = m_window.samples();
    result.microBatches = static_cast<std::int64_t>(m_window.microBatches.size());
    result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return result;
}

Result<UpdateResult> Trainer::compute(bool apply) {
    UpdateResult result;
    m_shortage.reset();
    m_shortageRecord.reset();
    m_allFellShort = false;
    result.learningRate = m_parts.curve->rateAt(m_progress.counters.globalStep);
    result.scale = m_parts.precision->scale();
    weighWindow(result);
    happens("weights");
    if (std::all_of(m_totals.begin(), m_totals.end(), [](double total) { return total == 0; })) {
        result.loss = result.gradNorm = std::nan("");
        result.reason = "no sample of the window has weight";
        result.weightless = true;
        return result;
    }
    sumGradients(result.scale, apply);
    happens("reduce");
    if (result.scale != 1) {
        happens("unscale");
        m_parts.storage->scaleGradients(1 / result.scale);
    }
    happens("norm");
    const GradientNorm norm = takeNumbers(result);
    if (m_allFellShort) {
        if (m_shortage) return *m_shortage;
        return Error{ErrorCode::OutOfMemory, "The memory of another rank ran out while computing an update", {}, {}};
    }
    happens("verdict");
    result.reason = m_parts.precision->verdict(result.loss, norm);
    result.applied = result.reason.empty();
    result.notFinite = !result.applied;
    if (apply) veto(result);
    if (apply) watch(result);
    if (!result.applied || !apply) return result;
    lookInside(result);
    applyUpdate(result);
    return result;
}

/// Those of the whole window, reduced.
void Trainer::sumGradients(double scale, bool apply) {
    m_statistics.clear();
    m_losses.clear();
    m_deviceLosses.clear();
    m_devicePlaces.clear();
    const std::size_t count = m_window.microBatches.size();
    m_parts.parallel->runWindow(*m_parts.storage, count, [&](std::size_t microBatch) {
        runMicroStep(microBatch, scale);
        if (!apply || m_shortage) return;
        visit({.point = Point::MicroStep, .batches = &m_batches, .done = static_cast<std::int64_t>(microBatch) + 1, .total = static_cast<std::int64_t>(count)});
    });
}

/// Gradients as they were reduced, and the weights that they are of, for those who look at them; decides nothing.
void Trainer::lookInside(UpdateResult& result) {
    if (m_parts.parallel->rank() != 0) return;
    Counters next = m_progress.counters;
    next.globalStep = next.globalStep.next();
    next.epoch = m_window.nextEpoch;
    const double seconds = m_parts.time->seconds();
    const bool norms = m_normsEvery.due(next, seconds), histograms = m_histogramsEvery.due(next, seconds);
    if (!norms && !histograms) return;
    auto seen = std::make_shared<Distributions>();
    if (norms) seen->groupNorms = normsByGroup(*m_parts.storage);
    if (histograms) seen->histograms = histogramsOf(*m_parts.storage);
    result.distributions = std::move(seen);
}

/// The guard's word on an update that is about to be applied, or on one that cannot be.
void Trainer::watch(UpdateResult& result) {
    if (!m_parts.guard) return;
    happens("guard");
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
    m_weights.clear();
    for (const Batch& batch : m_batches) {
        const std::vector<double> weights = m_parts.task->weightsOf(batch);
        m_weights.insert(m_weights.end(), weights.begin(), weights.end());
        m_weights.push_back(digestValue(hash64(std::as_bytes(std::span(batch.ids)), batch.ids.size())));
    }
    m_parts.parallel->gather(m_weights);
    const std::size_t terms = m_weights.size() / m_window.microBatches.size() - 1;
    LATHE_ASSERT(terms > 0 && m_weights.size() == (terms + 1) * m_window.microBatches.size());
    m_totals.assign(terms, 0);
    for (std::size_t i = 0; i < m_weights.size(); i += terms + 1) {
        for (std::size_t term = 0; term < terms; ++term) m_totals[term] += m_weights[i + term];
        result.windowDigest = hash64(std::as_bytes(std::span(&m_weights[i + terms], 1)), result.windowDigest);
    }
    result.weight = m_totals.front();
}

at::Tensor Trainer::forward(Context& context, const at::Tensor& input) {
    context.seed = m_settings.seed;
    const WeightAverage::InUse mean(context.training || !m_settings.evaluatesAverage ? nullptr : m_parts.average);
    const std::optional<at::ScalarType> castType = m_parts.precision->castType();
    at::Tensor output;
    {
        const CastScope scope(input.device().type(), castType);
        output = m_parts.model->forward(context, input);
    }
    return castType ? output.to(at::kFloat) : output;  // loss and metrics are never computed in a short format
}

void Trainer::forwardBackward(std::size_t microBatch, double scale) {
    const Batch& batch = m_batches[microBatch - m_share.begin];
    m_microStep = microBatch;
    Context context;
    context.training = true;
    context.attempt = m_progress.counters.updateAttempts.value();
    context.microBatch = static_cast<std::int64_t>(microBatch);
    context.statistics = &m_statistics;
    happens("forward");
    at::Tensor output = forward(context, batch.input);
    happens("loss");
    const std::vector<LossTerm> terms = m_parts.task->loss(output, batch);
    output.reset();  // not kept through the backward pass
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
    happens("backward");
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
/// the norm as the first rank has it (unlike devices differ in its last bits), and whether any rank fell short of memory.
GradientNorm Trainer::takeNumbers(UpdateResult& result) {
    if (m_shortage) {  // as many numbers as the others wait for
        m_losses.assign(m_share.count() * m_totals.size(), 0);
        m_deviceLosses.clear();
        m_devicePlaces.clear();
    }
    if (!m_deviceLosses.empty()) {  // one read from the device for all of them
        const at::Tensor losses = at::stack(m_deviceLosses).cpu();
        for (std::size_t i = 0; i < m_devicePlaces.size(); ++i) m_losses[m_devicePlaces[i]] = losses.const_data_ptr<double>()[i];
    }
    GradientNorm norm = m_parts.parallel->globalNorm(*m_parts.storage);
    const std::vector<ShardView>& views = m_parts.storage->views();
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

void Trainer::applyUpdate(const UpdateResult& result) {
    const at::NoGradGuard noGrad;
    turnTo(live::Activity::Applying);
    m_applying = true;
    if (m_settings.maxGradNorm) {
        happens("clip");
        // The small constant is PyTorch's, so that clipped runs can be compared number for number.
        const double factor = *m_settings.maxGradNorm / (result.gradNorm + 1e-6);
        if (factor < 1) m_parts.storage->scaleGradients(factor);
    }
    if (m_settings.maxGradValue) {
        happens("clip");
        m_parts.storage->clampGradients(*m_settings.maxGradValue);
    }
    happens("optimizer");
    m_parts.optimizer->step(result.learningRate);
    if (m_parts.average) {
        happens("ema");
        m_parts.average->update();
    }
    happens("buffers");
    if (m_parts.parallel->world() > 1 && !m_parts.model->buffers().empty()) gatherStatistics(*m_parts.parallel, *m_parts.model, m_statistics);
    for (const StatisticsUpdate& update : m_statistics) update.block->applyStatistics(update);
    m_applying = false;
}

}  // namespace lathe::engine
