#include "engine/data/batch_cursor.h"
#include "engine/data/byte_rows_kernel.h"
#include "engine/data/loader_kinds.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <limits>
#include <mutex>
#include <thread>

namespace lathe::engine {
namespace {

/// Reads all samples of a part into one batch, with threads beside the caller; the caller alone reports progress.
class WholeRead {
public:
    WholeRead(const PartReader& reader, Batch& all) : m_reader(reader), m_all(all) {}

    Result<void> run(int threads, const LoadProgress& progress) {
        const std::int64_t count = m_all.count();
        {
            std::vector<std::jthread> others;
            for (int i = 1; i < threads; ++i)
                others.emplace_back([this] { work([] { return true; }); });
            work([&] { return !progress || progress(std::min(m_next.load(), count), count); });
        }
        if (!m_error && progress && !progress(count, count))
            stop();
        if (m_error)
            return std::move(*m_error);
        return {};
    }

private:
    template <typename MayGoOn>
    void work(const MayGoOn& mayGoOn) {
        const std::int64_t count = m_all.count();
        for (std::int64_t row = m_next++, mine = 0; row < count && !m_stop; row = m_next++, ++mine) {
            if (auto ok = read(row); !ok)
                fail(row, std::move(ok).error());
            if (mine % 32 == 0 && !mayGoOn())
                stop();
        }
    }

    void stop() { fail(-1, Error{ErrorCode::Stopped, "Stopped while the data were read", "", {}}); }

    Result<void> read(std::int64_t row) const {
        try {
            return m_reader.read(row, 0, row, m_all);
        } catch (const std::bad_alloc&) {
            return Error{ErrorCode::OutOfMemory, "No memory to decode a sample; free memory or lower data.loader_threads", "data.loader_threads", {}};
        }
    }

    void fail(std::int64_t row, Error error) {
        const std::lock_guard lock(m_mutex);
        if (row < m_errorRow) {
            m_errorRow = row;
            m_error = std::move(error);
        }
        m_stop = true;
    }

    const PartReader& m_reader;
    Batch& m_all;
    std::atomic<std::int64_t> m_next = 0;
    std::atomic<bool> m_stop = false;
    std::mutex m_mutex;
    std::int64_t m_errorRow = std::numeric_limits<std::int64_t>::max();
    std::optional<Error> m_error;
};

class MemoryLoader final : public Loader {
public:
    MemoryLoader(Batch all, LoaderSettings settings) : m_all(std::move(all)), m_settings(settings), m_cursor(cursorOf(settings)) {
        seek(Epoch{}, PlanEntry{}, UpdateAttempt{});
    }

    void limitMicroBatch(std::int64_t most) override { m_cursor.limit(most); }

    void seek(Epoch epoch, PlanEntry entry, UpdateAttempt attempt) override {
        m_cursor.seek(epoch, entry, attempt);
        m_start = epoch;
        m_epoch = m_cursor.epoch();
        m_entry = m_cursor.entry();
    }

    Result<Batch> next() override {
        LATHE_ASSERT(!atEnd());
        const BatchPlace place = m_cursor.take();
        Batch batch = m_settings.shuffle ? selected(place) : slice(place);
        m_epoch = place.nextEpoch;
        m_entry = place.nextEntry;
        return batch;
    }

    bool atEnd() const override { return m_settings.oneEpoch && m_epoch != m_start; }
    Epoch epoch() const override { return m_epoch; }
    PlanEntry planEntry() const override { return m_entry; }
    const plan::OrderShape& shape() const override { return m_settings.shape; }
    bool foreseesWindows() const override { return m_settings.foreseesWindows; }
    bool inMemory() const override { return true; }

private:
    Batch slice(const BatchPlace& place) const {
        const std::int64_t count = place.end - place.begin;
        Batch batch;
        batch.input = asNumbers(m_all.input.narrow(0, place.begin, count));
        batch.target = m_all.target.narrow(0, place.begin, count);
        if (m_all.weight.defined())
            batch.weight = m_all.weight.narrow(0, place.begin, count);
        batch.ids.assign(m_all.ids.begin() + place.begin, m_all.ids.begin() + place.end);
        return batch;
    }

    Batch selected(const BatchPlace& place) {
        if (!m_rows.defined() || m_orderEpoch != place.epoch) {
            m_order = plan::epochOrder(m_settings.shape.samples, m_settings.seed, place.epoch, true);
            m_orderEpoch = place.epoch;
            m_rows = at::from_blob(m_order.data(), {m_settings.shape.samples}, at::kLong).to(m_settings.device);
        }
        const at::Tensor rows = m_rows.narrow(0, place.begin, place.end - place.begin);
        Batch batch;
        batch.input = selectedInput(rows);
        batch.target = m_all.target.index_select(0, rows);
        if (m_all.weight.defined())
            batch.weight = m_all.weight.index_select(0, rows);
        batch.ids.reserve(static_cast<std::size_t>(place.end - place.begin));
        for (std::int64_t i = place.begin; i < place.end; ++i)
            batch.ids.push_back(m_all.ids[static_cast<std::size_t>(m_order[static_cast<std::size_t>(i)])]);
        return batch;
    }

    bool holdsBytes() const { return m_all.input.scalar_type() == at::kByte; }

    /// Bytes v as v / 255.
    at::Tensor asNumbers(const at::Tensor& input) const { return holdsBytes() ? input.to(m_settings.dtype).div_(255) : input; }

    /// An input of `count` samples in main memory: an earlier one that nobody holds any more, else a new one. Large new
    /// memory costs more in page faults than its filling.
    at::Tensor freeInput(std::int64_t count) {
        std::vector<std::int64_t> sizes = m_all.input.sizes().vec();
        sizes[0] = count;
        for (const at::Tensor& spare : m_spares)
            if (spare.defined() && spare.use_count() == 1 && spare.storage().use_count() == 1 && spare.sizes() == sizes)
                return spare;
        at::Tensor made = at::empty(sizes, m_settings.dtype);
        m_spares[m_nextSpare++ % m_spares.size()] = made;
        return made;
    }

    at::Tensor selectedInput(const at::Tensor& rows) {
        if (!m_all.input.is_cpu())
            return asNumbers(m_all.input.index_select(0, rows));
        at::Tensor out = freeInput(rows.size(0));
        if (!holdsBytes())
            return at::index_select_out(out, m_all.input, 0, rows);
        const std::int64_t width = m_all.input.stride(0);
        const auto* bytes = m_all.input.const_data_ptr<std::uint8_t>();
        const auto* index = rows.const_data_ptr<std::int64_t>();
        if (m_settings.dtype == at::kFloat)
            selectByteRows(bytes, width, index, rows.size(0), out.mutable_data_ptr<float>());
        else
            selectByteRows(bytes, width, index, rows.size(0), out.mutable_data_ptr<double>());
        return out;
    }

    Batch m_all;
    LoaderSettings m_settings;
    BatchCursor m_cursor;
    Epoch m_start, m_epoch, m_orderEpoch;
    PlanEntry m_entry;
    std::vector<std::int64_t> m_order;
    at::Tensor m_rows;  ///< m_order on the device
    std::array<at::Tensor, 3> m_spares;
    std::size_t m_nextSpare = 0;
};

}  // namespace

Result<std::unique_ptr<Loader>> openMemoryLoader(PartReader reader, LoaderSettings settings, const LoadProgress& progress) {
    Batch all;
    try {
        // Pictures are bytes mostly: a quarter of the memory, and quicker to select from.
        const auto readAll = [&](PartReader::Storage storage) {
            all = reader.allocate(settings.shape.samples, storage);
            return WholeRead(reader, all).run(settings.threads, progress);
        };
        const bool mayBeBytes = reader.part().dataset->info().images && !reader.part().standardization;
        Result<void> done = readAll(mayBeBytes ? PartReader::Storage::Bytes : PartReader::Storage::Numbers);
        if (!done && done.error().code == ErrorCode::Unsupported)
            done = readAll(PartReader::Storage::Numbers);
        if (!done)
            return std::move(done).error();
        all.input = all.input.to(settings.device);
        all.target = all.target.to(settings.device);
        if (all.weight.defined())
            all.weight = all.weight.to(settings.device);
    } catch (const std::exception&) {  // out of memory is all that allocating and copying can throw
        return Error{ErrorCode::OutOfMemory,
                     "No memory for " + std::to_string(settings.shape.samples) + " samples of " +
                         std::to_string(reader.bytesPerSample()) + " bytes; lower data.image_size or free memory",
                     "data.train", {}};
    }
    return std::unique_ptr<Loader>(std::make_unique<MemoryLoader>(std::move(all), settings));
}

}  // namespace lathe::engine
