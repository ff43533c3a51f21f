#include "engine/data/batch_cursor.h"
#include "engine/data/loader_kinds.h"

#include <condition_variable>
#include <mutex>
#include <optional>
#include <thread>

namespace lathe::engine {
namespace {

/// Micro-batches are claimed in plan order by whichever thread is free and delivered in plan order from a ring of
/// slots. Slot k % ring holds batch k; a batch is claimed only when its slot is free, so the ring bounds prefetching.
class StreamLoader final : public Loader {
public:
    StreamLoader(PartReader reader, LoaderSettings settings)
        : m_reader(std::move(reader)), m_settings(settings), m_cursor(cursorOf(settings)),
          m_slots(static_cast<std::size_t>(settings.batchesAhead)) {
        m_epoch = m_cursor.epoch();
        m_entry = m_cursor.entry();
        for (int i = 0; i < m_settings.threads; ++i)
            m_threads.emplace_back([this](const std::stop_token& stop) { work(stop); });
    }

    ~StreamLoader() override {
        for (std::jthread& thread : m_threads)
            thread.request_stop();
        m_threads.clear();
    }

    void limitMicroBatch(std::int64_t most) override {
        const std::lock_guard lock(m_mutex);
        m_cursor.limit(most);
    }

    void seek(Epoch epoch, PlanEntry entry, UpdateAttempt attempt) override {
        const std::lock_guard lock(m_mutex);
        m_cursor.seek(epoch, entry, attempt);
        m_start = epoch;
        m_epoch = m_cursor.epoch();
        m_entry = m_cursor.entry();
        m_claimed = m_delivered = 0;
        ++m_generation;
        for (auto& slot : m_slots)
            slot.reset();
        m_changed.notify_all();
    }

    Result<Batch> next() override {
        LATHE_ASSERT(!atEnd());
        Slot slot = m_threads.empty() ? readHere() : waitForNext();
        if (!slot.batch)
            return slot.batch;
        m_epoch = slot.place.nextEpoch;
        m_entry = slot.place.nextEntry;
        return toDevice(std::move(*slot.batch));
    }

    bool atEnd() const override { return m_settings.oneEpoch && m_epoch != m_start; }
    Epoch epoch() const override { return m_epoch; }
    PlanEntry planEntry() const override { return m_entry; }
    const plan::OrderShape& shape() const override { return m_settings.shape; }
    bool foreseesWindows() const override { return m_settings.foreseesWindows; }
    bool inMemory() const override { return false; }

private:
    using Order = std::vector<std::int64_t>;
    struct Slot {
        BatchPlace place;
        Result<Batch> batch;
    };
    struct Claim {
        BatchPlace place;
        std::shared_ptr<const Order> order;
        std::int64_t number = 0;
        std::uint64_t generation = 0;
    };

    /// Requires: m_mutex held, or no threads.
    Claim claim() {
        Claim claim{m_cursor.take(), nullptr, m_claimed++, m_generation};
        if (!m_order || m_orderEpoch != claim.place.epoch) {
            m_order = std::make_shared<const Order>(
                plan::epochOrder(m_settings.shape.samples, m_settings.seed, claim.place.epoch, m_settings.shuffle));
            m_orderEpoch = claim.place.epoch;
        }
        claim.order = m_order;
        return claim;
    }

    bool canClaim() const {
        const bool past = m_settings.oneEpoch && m_cursor.epoch() != m_start;
        return !past && !m_cursor.isIdle() && m_claimed - m_delivered < static_cast<std::int64_t>(m_slots.size());
    }

    Result<Batch> read(const Claim& claim, const std::stop_token& stop) const {
        try {
            const auto storage = m_settings.device.is_cuda() ? PartReader::Storage::PinnedNumbers : PartReader::Storage::Numbers;
            Batch batch = m_reader.allocate(claim.place.end - claim.place.begin, storage);
            for (std::int64_t i = claim.place.begin; i < claim.place.end; ++i) {
                if (stop.stop_requested())
                    return Error{ErrorCode::Stopped, "Stopped while a batch was read", "", {}};
                const std::int64_t entry = (*claim.order)[static_cast<std::size_t>(i)];
                if (auto ok = m_reader.read(entry, claim.place.epoch.value(), i - claim.place.begin, batch); !ok)
                    return std::move(ok).error();
            }
            return batch;
        } catch (const std::exception&) {  // nothing but allocation throws here
            return Error{ErrorCode::OutOfMemory, "No memory for a micro-batch; lower data.batch_size or data.loader_threads", "data.batch_size", {}};
        }
    }

    Slot readHere() {
        const BatchCursor before = m_cursor;
        const Claim mine = claim();
        Result<Batch> batch = read(mine, {});
        if (!batch)
            m_cursor = before;
        return {mine.place, std::move(batch)};
    }

    Slot waitForNext() {
        std::unique_lock lock(m_mutex);
        std::optional<Slot>& slot = m_slots[static_cast<std::size_t>(m_delivered) % m_slots.size()];
        m_changed.wait(lock, [&] { return slot.has_value(); });
        if (!slot->batch)
            return *slot;  // stays: the error is the answer until the next seek
        Slot result = std::move(*slot);
        slot.reset();
        ++m_delivered;
        m_changed.notify_all();
        return result;
    }

    void work(const std::stop_token& stop) {
        std::unique_lock lock(m_mutex);
        while (m_changed.wait(lock, stop, [this] { return canClaim(); })) {
            const Claim mine = claim();
            lock.unlock();
            Slot slot{mine.place, read(mine, stop)};
            lock.lock();
            if (mine.generation == m_generation)
                m_slots[static_cast<std::size_t>(mine.number) % m_slots.size()] = std::move(slot);
            m_changed.notify_all();
        }
    }

    Result<Batch> toDevice(Batch batch) const {
        if (m_settings.device.is_cpu())
            return batch;
        batch.input = batch.input.to(m_settings.device, /*non_blocking=*/true);
        batch.target = batch.target.to(m_settings.device, true);
        if (batch.weight.defined())
            batch.weight = batch.weight.to(m_settings.device, true);
        return batch;
    }

    const PartReader m_reader;
    const LoaderSettings m_settings;
    // Position of the caller: touched by next(), seek() and atEnd() alone; m_start also by threads, under m_mutex.
    Epoch m_start, m_epoch;
    PlanEntry m_entry;

    std::mutex m_mutex;  ///< guards all below
    std::condition_variable_any m_changed;
    BatchCursor m_cursor;  ///< next micro-batch to claim
    std::shared_ptr<const Order> m_order;
    Epoch m_orderEpoch;
    std::vector<std::optional<Slot>> m_slots;
    std::int64_t m_claimed = 0, m_delivered = 0;
    std::uint64_t m_generation = 0;
    std::vector<std::jthread> m_threads;
};

}  // namespace

std::unique_ptr<Loader> openStreamLoader(PartReader reader, LoaderSettings settings) {
    return std::make_unique<StreamLoader>(std::move(reader), settings);
}

}  // namespace lathe::engine
