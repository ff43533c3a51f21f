// The part of the trainer that meets memory that runs out: what is known of it, and the window from its start in smaller
// micro-batches.
#include "engine/train/guard.h"
#include "engine/train/memory_facts.h"
#include "engine/train/trainer.h"
#include "rundir/json_reader.h"

#include <nlohmann/json.hpp>

#include <algorithm>

namespace lathe::engine {

/// Memory that runs out here is met after the window, by all ranks: this one computes no more of it meanwhile.
void Trainer::runMicroStep(std::size_t microBatch, double scale) {
    if (m_shortage) return;
    turnTo(live::Activity::Computing);
    try {
        forwardBackward(microBatch, scale);
    } catch (...) {
        Error error = currentException("computing an update");
        if (error.code != ErrorCode::OutOfMemory) throw;
        m_shortageRecord = memoryRecord(error);
        m_shortage = std::move(error);
        m_microStep.reset();
    }
}

/// With the piece of work that was under way.
rundir::MemoryRecord Trainer::memoryRecord(const Error& error) const {
    const auto facts = error.memory ? error.memory : mainMemoryFacts("reading a batch");   // a loader knows no more
    rundir::MemoryRecord record{.facts = facts ? *facts : MemoryFacts(), .rank = m_parts.parallel->rank(),
                                .attempt = m_progress.counters.updateAttempts.value() + 1, .epoch = m_progress.counters.epoch.value()};
    if (record.facts.device.empty()) record.facts.device = m_parts.model->parameters().front().tensor.device().str();
    if (!m_microStep) return record;
    const Batch& batch = m_batches[*m_microStep - m_share.begin];
    record.microStep = static_cast<std::int64_t>(*m_microStep) + 1;
    record.microSteps = static_cast<std::int64_t>(m_window.microBatches.size());
    record.shape = batch.input.sizes().vec();
    record.samples.assign(batch.ids.begin(), batch.ids.begin() + static_cast<std::ptrdiff_t>(std::min(batch.ids.size(), rundir::MemoryRecord::kMostSamples)));
    return record;
}

/// The same window from its start, in micro-batches of half the size, where memory ran out and that is wished. All ranks
/// decide alike: by the window, which is the same everywhere.
bool Trainer::beginAgain(const Error& error) {
    const bool isAlone = m_parts.parallel->world() == 1 && error.code == ErrorCode::OutOfMemory && !m_applying;
    if (!m_settings.halvesMicroBatches || m_parts.microBatchLimit == nullptr || !(m_allFellShort || isAlone)) return false;
    std::int64_t largest = 0;
    for (const plan::Window::Range& range : m_window.microBatches) largest = std::max(largest, range.end - range.begin);
    if (largest < 2) return false;
    m_parts.microBatchLimit->most = (largest + 1) / 2;
    m_windowLoaded = false;
    m_batches.clear();
    tellSmaller(largest, error);
    releaseCachedMemory(m_parts.model->parameters().front().tensor.device());
    return true;
}

void Trainer::tellSmaller(std::int64_t before, const Error& error) {
    const std::int64_t most = m_parts.microBatchLimit->most;
    const rundir::MemoryRecord record = m_shortageRecord ? *m_shortageRecord : memoryRecord(error);
    const std::string what = m_shortage || m_parts.parallel->world() == 1 ? rundir::sentenceOf(record) : "Another rank's memory ran out";
    std::string text = what + ". From here on " + (most == 1 ? "one sample is computed at a time" : "at most " + std::to_string(most) + " samples are computed at a time") + " instead of " + std::to_string(before) +
                       ": updates have the same samples and are the same but for rounding";
    if (!m_parts.model->buffers().empty()) text += ", and for BatchNorm, whose statistics are of fewer samples";
    if (m_parts.parallel->rank() != 0) {
        if (m_shortage) visit({.point = Point::Exception, .text = text});
        return;
    }
    if (m_parts.log == nullptr) return;
    const std::int64_t attempt = m_progress.counters.updateAttempts.value() + 1;
    nlohmann::json facts = {{"from", before}, {"to", most}, {"attempt", attempt}};
    if (m_shortage || m_parts.parallel->world() == 1) facts["memory"] = rundir::memoryJson(record);
    m_parts.log->event("micro_batch_halved", text, facts.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
}

static Batch partOf(const Batch& batch, std::int64_t begin, std::int64_t count) {
    Batch part{batch.input.narrow(0, begin, count), batch.target.narrow(0, begin, count), {}, {}};
    if (batch.weight.defined()) part.weight = batch.weight.narrow(0, begin, count);
    part.ids.assign(batch.ids.begin() + begin, batch.ids.begin() + begin + count);
    return part;
}

/// A batch of an evaluation, in parts where memory ran out with whole ones. Other ranks need not know: sums are the same but
/// for rounding.
void Trainer::addEvaluated(MetricPool& pool, const Batch& batch) {
    for (std::int64_t begin = 0; begin < batch.count();) {
        const std::int64_t left = batch.count() - begin, size = m_evaluatedAtOnce > 0 ? std::min(m_evaluatedAtOnce, left) : left;
        const Batch part = size == batch.count() ? batch : partOf(batch, begin, size);
        const auto output = evaluated(part);
        if (!output) continue;
        pool.add(*output, part);
        begin += size;
    }
}

/// Nothing where memory ran out and a smaller part may fit.
std::optional<at::Tensor> Trainer::evaluated(const Batch& batch) {
    try {
        Context context;
        return forward(context, batch.input);
    } catch (...) {
        const Error error = currentException("evaluating");
        if (error.code != ErrorCode::OutOfMemory || !m_settings.halvesMicroBatches || batch.count() < 2) throw;
        m_evaluatedAtOnce = (batch.count() + 1) / 2;
        rundir::MemoryRecord record = memoryRecord(error);
        record.shape = batch.input.sizes().vec();
        const std::string text = rundir::sentenceOf(record) + ". Evaluations compute at most " + std::to_string(m_evaluatedAtOnce) + " samples at a time from here on, until the session ends";
        if (m_parts.parallel->rank() != 0) visit({.point = Point::Exception, .text = text});
        else if (m_parts.log) m_parts.log->event("evaluation_halved", text, nlohmann::json({{"to", m_evaluatedAtOnce}, {"memory", rundir::memoryJson(record)}}).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
        releaseCachedMemory(batch.input.device());
        return std::nullopt;
    }
}

/// All ranks are at the same place, before the update: its state can be kept.
void Trainer::endOutOfMemory(const Error& error) {
    std::string why = m_shortageRecord ? rundir::sentenceOf(*m_shortageRecord) : error.text();
    if (m_settings.halvesMicroBatches) why += ". Its micro-batches cannot be smaller than one sample";
    end(rundir::State::OutOfMemory, why);
    m_ending->lostContact = m_ending->lostContact || !m_shortage;   // the rank that fell short tells of it
    if (m_shortageRecord) m_ending->memory = std::make_shared<rundir::MemoryRecord>(*m_shortageRecord);
    visit({.point = Point::Exception, .text = why});
}

}  // namespace lathe::engine
