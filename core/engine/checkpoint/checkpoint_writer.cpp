#include "engine/checkpoint/checkpoint_writer.h"

#include "base/clock.h"
#include "engine/train/guard.h"

#include <sys/resource.h>
#include <utility>

namespace lathe::engine {
namespace {

/// Of the calling thread alone, on Linux. Where training wants the processor too, the writer gets a fifteenth of it.
void yieldToTraining() {
    constexpr int kNicer = 12;
    static_cast<void>(::setpriority(PRIO_PROCESS, 0, ::getpriority(PRIO_PROCESS, 0) + kNicer));
}

constexpr auto kBetweenSigns = std::chrono::milliseconds(100);

}  // namespace

CheckpointWriter::CheckpointWriter(FileSystem& fs, CheckpointPlace place, const TrainState& state, TrainerRecord record, RecordingHooks hooks,
                                   std::uint64_t memory)
    : m_state(state), m_hooks(std::move(hooks)), m_memory(memory), m_files(fs, std::move(place), std::move(record), m_hooks) {
    reserve(m_state.parts());
    m_touching = m_snapshot != nullptr;
    m_thread = std::thread([this] { work(); });
}

CheckpointWriter::~CheckpointWriter() {
    {
        const std::lock_guard lock(m_mutex);
        m_leaving = true;
    }
    m_changed.notify_all();
    m_thread.join();
}

void CheckpointWriter::reserve(const std::vector<StatePart>& parts) {
    m_snapshot.reset();   // never two at a time
    auto snapshot = Snapshot::reserve(parts, m_memory);
    m_waitsBecause = snapshot.ok() ? std::string() : snapshot.error().text();
    m_snapshot = snapshot.ok() ? std::move(snapshot).value() : nullptr;
}

SavedMoment CheckpointWriter::momentOf(const SaveRequest& request) {
    SavedMoment moment{.parts = m_state.parts(), .counters = request.progress.counters, .evaluationPending = request.progress.evaluationPending,
                       .isBest = request.isBest, .metrics = request.metrics, .probe = request.probe, .reason = request.reason,
                       .lastFrames = m_hooks.lastFrames(), .began = std::chrono::steady_clock::now(), .wallNs = Clock::system().wallNs()};
    if (m_snapshot && !m_snapshot->fits(moment.parts)) reserve(moment.parts);  // more state than at the start
    if (m_snapshot) m_snapshot->take(moment.parts);
    return moment;
}

void CheckpointWriter::begin(const SaveRequest& request) {
    {
        std::unique_lock lock(m_mutex);
        LATHE_ASSERT(!m_isBusy);
        m_isBusy = true;
        m_changed.wait(lock, [this] { return !m_touching; });
    }
    auto moment = guarded("copying the state for a checkpoint", [&]() -> Result<SavedMoment> { return momentOf(request); });
    {
        const std::lock_guard lock(m_mutex);
        if (moment.ok()) m_begun = std::move(moment).value();
        else m_outcome = std::move(moment).error();
        m_ended = m_outcome.has_value();
    }
    m_changed.notify_all();
    if (!m_snapshot) waitForEnd();
}

void CheckpointWriter::waitForEnd() {
    std::unique_lock lock(m_mutex);
    while (!m_changed.wait_for(lock, kBetweenSigns, [this] { return m_outcome.has_value(); })) {
        lock.unlock();
        m_hooks.whileWaiting();
        lock.lock();
    }
}

Result<SaveOutcome> CheckpointWriter::finish() {
    waitForEnd();
    const std::lock_guard lock(m_mutex);
    Result<SaveOutcome> outcome = *std::move(m_outcome);
    m_outcome.reset();
    m_ended = m_isBusy = false;
    return outcome;
}

Result<SaveOutcome> CheckpointWriter::save(const SaveRequest& request) {
    begin(request);
    return finish();
}

void CheckpointWriter::work() {
    yieldToTraining();
    std::unique_lock lock(m_mutex);
    if (m_touching) {
        lock.unlock();
        m_snapshot->touch();
        lock.lock();
        m_touching = false;
        m_changed.notify_all();
    }
    while (true) {
        m_changed.wait(lock, [this] { return m_leaving || m_begun; });
        if (!m_begun) return;
        SavedMoment moment = *std::exchange(m_begun, std::nullopt);
        lock.unlock();
        auto outcome = guarded("writing a checkpoint", [&] { return m_files.write(std::move(moment)); });
        lock.lock();
        m_outcome = std::move(outcome);
        m_ended = true;
        m_changed.notify_all();
    }
}

}  // namespace lathe::engine
