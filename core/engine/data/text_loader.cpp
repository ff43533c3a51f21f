// Rows of a text, which lies in memory as its bytes: a batch is copied together when it is asked for, in the caller.
#include "dataset/text_rows.h"
#include "engine/data/batch_cursor.h"
#include "engine/data/loader_kinds.h"

namespace lathe::engine {
namespace {

class TextLoader final : public Loader {
public:
    TextLoader(DataPart part, LoaderSettings settings)
        : m_part(std::move(part)), m_rows(*m_part.dataset->text()), m_settings(std::move(settings)), m_cursor(cursorOf(m_settings)) {
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
        if (m_order.empty() || m_orderEpoch != place.epoch) {
            m_order = plan::epochOrder(m_settings.shape.samples, m_settings.seed, place.epoch, m_settings.shuffle);
            m_orderEpoch = place.epoch;
        }
        m_epoch = place.nextEpoch;
        m_entry = place.nextEntry;
        return batchOf(place);
    }

    bool atEnd() const override { return m_settings.oneEpoch && m_epoch != m_start; }
    Epoch epoch() const override { return m_epoch; }
    PlanEntry planEntry() const override { return m_entry; }
    const plan::OrderShape& shape() const override { return m_settings.shape; }
    bool foreseesWindows() const override { return m_settings.foreseesWindows; }
    bool inMemory() const override { return true; }

private:
    Batch batchOf(const BatchPlace& place) const {
        const std::int64_t count = place.end - place.begin, context = m_rows.context();
        const auto width = static_cast<std::size_t>(context);
        Batch batch;
        batch.input = at::empty({count, 2, context}, at::kLong);
        batch.target = at::empty({count, context}, at::kLong);
        batch.weight = at::empty({count}, at::kDouble);
        std::int64_t* input = batch.input.mutable_data_ptr<std::int64_t>();
        std::int64_t* target = batch.target.mutable_data_ptr<std::int64_t>();
        double* weights = batch.weight.mutable_data_ptr<double>();
        for (std::int64_t row = 0; row < count; ++row, input += 2 * context, target += context) {
            const std::int64_t sample = m_part.ids[static_cast<std::size_t>(m_order[static_cast<std::size_t>(place.begin + row)])];
            m_rows.read(sample, {std::span(input, width), std::span(target, width), std::span(input + context, width)});
            weights[row] = static_cast<double>(m_rows.weight(sample));
            batch.ids.push_back(sample);
        }
        batch.input = batch.input.to(m_settings.device);
        batch.target = batch.target.to(m_settings.device);
        return batch;
    }

    DataPart m_part;
    const dataset::TextRows& m_rows;
    LoaderSettings m_settings;
    BatchCursor m_cursor;
    Epoch m_start, m_epoch, m_orderEpoch;
    PlanEntry m_entry;
    std::vector<std::int64_t> m_order;   ///< of m_orderEpoch
};

}  // namespace

std::unique_ptr<Loader> openTextLoader(DataPart part, const LoaderSettings& settings) { return std::make_unique<TextLoader>(std::move(part), settings); }

}  // namespace lathe::engine
