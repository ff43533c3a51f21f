// The part of the trainer that evaluates.
#include "engine/train/guard.h"
#include "engine/train/trainer.h"

#include <algorithm>

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

/// An evaluation, and the checkpoints that belong to it. Where a save is due as well (`reason` says why, else it is empty)
/// the state is safe before the evaluation begins, and takes in afterwards what it changed. An evaluation that is the best
/// is saved with the weights that it is of, and nothing that is gone back from is.
void Trainer::evaluateAndKeep(const std::string& reason) {
    if (goesBack()) return;
    if (m_parts.evaluationData) {
        m_unsaved = m_unsaved || !m_progress.evaluationPending;
        m_progress.evaluationPending = true;  // until it is done
    }
    if (hasFailed()) return;
    if (m_ending ? m_ending->save && !discards() : !reason.empty()) save(m_ending ? "end" : reason);
    if (!m_parts.evaluationData) return;
    const bool isBest = evaluate();
    Due nothing;
    if (!m_agreed) agreeOnWishes(nothing);
    if (m_ending || goesBack()) return;  // an end saves by itself
    if (!reason.empty() || (isBest && m_settings.saveBest)) save(reason.empty() ? "best" : reason);
}

/// True: it is the best so far.
bool Trainer::evaluate() {
    m_wishes.evaluate = m_agreed = false;
    happens("evaluate");
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
            const std::unique_ptr<MetricPool> part = isAlone ? nullptr : poolOf(*m_parts.task);
            addEvaluated(isAlone ? *pool : *part, batch);
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
    const auto output = [&](const at::Tensor& input) {
        Context context;
        return forward(context, input);
    };
    const Demonstration place{m_settings.seed, m_progress.counters.globalStep, m_parts.model->parameters().front().tensor.device(),
                              [&] { return !keepInStep(done, true).stops; }};
    for (EvaluationRecord& record : m_parts.task->demonstrate(output, place)) outcome.records.push_back(std::move(record));
    if (!isAlone) keepInStep(done, false);
}

/// Between two steps of an evaluation, which can be long: acts on what ranks wish meanwhile.
Trainer::Going Trainer::keepInStep(std::int64_t done, bool isBusy) {
    enum : std::uint64_t { Stop = 1, Pause = 2, Busy = 4, Saved = 8 };
    visit({.point = Point::EvalBatch, .done = done, .total = m_parts.evaluationData->samples()});
    if (hasFailed()) return {.stops = true};
    while (true) {
        const std::uint64_t agreed = m_parts.parallel->agree((m_wishes.stop ? Stop : 0) | (m_wishes.pause ? Pause : 0) | (isBusy ? Busy : 0) | (saveHasEnded() ? Saved : 0));
        if ((agreed & Saved) != 0) settleSave();
        const Going going{(agreed & Stop) != 0, (agreed & Busy) != 0};
        if (going.stops && m_parts.parallel->world() > 1) adoptStop();
        if (going.stops || (agreed & Pause) == 0) return going;
        m_wishes.pause = true;
        holdWhilePaused();
        m_agreed = false;
    }
}

}  // namespace lathe::engine
