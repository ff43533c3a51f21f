#include "engine/data/part_reader.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace lathe::engine {

PartReader::PartReader(DataPart part, at::ScalarType dtype, bool augmentFlip, std::int64_t augmentShift, std::uint64_t seed)
    : m_part(std::move(part)), m_dtype(dtype), m_seed(seed), m_elements(m_part.dataset->info().inputElements()) {
    if (m_part.dataset->info().images) {
        m_flip = augmentFlip;
        m_shift = augmentShift;
    }
    LATHE_ASSERT(dtype == at::kFloat || dtype == at::kDouble);
    LATHE_ASSERT(!m_part.standardization || static_cast<std::int64_t>(m_part.standardization->mean.size()) == m_elements);
}

std::int64_t PartReader::bytesPerSample() const {
    const std::int64_t targets = static_cast<std::int64_t>(m_part.dataset->info().targetNames.size());
    return (m_elements + targets + 1) * static_cast<std::int64_t>(c10::elementSize(m_dtype)) + 8;
}

Batch PartReader::allocate(std::int64_t count, Storage storage) const {
    const dataset::Info& info = m_part.dataset->info();
    const auto floats = at::TensorOptions().dtype(m_dtype).pinned_memory(storage == Storage::PinnedNumbers);
    const auto inputs = storage == Storage::Bytes ? floats.dtype(at::kByte) : floats;
    Batch batch;
    batch.input = info.images ? at::empty({count, info.channels, info.height, info.width}, inputs)
                              : at::empty({count, m_elements}, inputs);
    if (info.classNames.empty())
        batch.target = at::empty({count, static_cast<std::int64_t>(info.targetNames.size())}, floats);
    else
        batch.target = at::empty({count}, floats.dtype(at::kLong));
    if (info.weighted)
        batch.weight = at::empty({count}, floats);
    batch.ids.resize(static_cast<std::size_t>(count));
    return batch;
}

namespace {

void store(at::Tensor& tensor, std::int64_t index, double value) {
    if (tensor.scalar_type() == at::kFloat)
        tensor.mutable_data_ptr<float>()[index] = static_cast<float>(value);
    else
        tensor.mutable_data_ptr<double>()[index] = value;
}

}  // namespace

template <typename Number>
Result<void> PartReader::readBytes(std::int64_t sample, std::uint8_t* out) const {
    thread_local std::vector<Number> values;
    values.resize(static_cast<std::size_t>(m_elements));
    if (auto ok = m_part.dataset->input(sample, nullptr, std::span(values)); !ok)
        return ok;
    for (std::size_t i = 0; i < values.size(); ++i) {
        const Number byte = std::round(std::clamp(values[i], Number(0), Number(1)) * 255);
        if (!(byte / Number(255) == values[i]))
            return Error{ErrorCode::Unsupported, "An input is not a multiple of 1 / 255", "", {}};
        out[i] = static_cast<std::uint8_t>(byte);
    }
    return {};
}

Result<void> PartReader::readInput(std::int64_t sample, std::int64_t epoch, std::int64_t row, Batch& batch) const {
    if (batch.input.scalar_type() == at::kByte) {
        std::uint8_t* out = batch.input.mutable_data_ptr<std::uint8_t>() + row * m_elements;
        return m_dtype == at::kFloat ? readBytes<float>(sample, out) : readBytes<double>(sample, out);
    }
    dataset::Augmentation augmentation{m_seed, epoch, 0, m_flip, m_shift};
    const dataset::Augmentation* used = augments() ? &augmentation : nullptr;
    const std::size_t width = static_cast<std::size_t>(m_elements);
    const dataset::Dataset& data = *m_part.dataset;
    if (!m_part.standardization) {
        if (m_dtype == at::kFloat)
            return data.input(sample, used, std::span(batch.input.mutable_data_ptr<float>() + row * m_elements, width));
        return data.input(sample, used, std::span(batch.input.mutable_data_ptr<double>() + row * m_elements, width));
    }
    thread_local std::vector<double> values;
    values.resize(width);
    if (auto ok = data.input(sample, used, std::span(values)); !ok)
        return ok;
    const Standardization& scale = *m_part.standardization;
    for (std::size_t i = 0; i < width; ++i)
        store(batch.input, row * m_elements + static_cast<std::int64_t>(i), (values[i] - scale.mean[i]) / scale.deviation[i]);
    return {};
}

Result<void> PartReader::read(std::int64_t entry, std::int64_t epoch, std::int64_t row, Batch& batch) const {
    LATHE_ASSERT(entry >= 0 && entry < static_cast<std::int64_t>(m_part.ids.size()) && row < batch.count());
    const std::int64_t sample = m_part.ids[static_cast<std::size_t>(entry)];
    const dataset::Dataset& data = *m_part.dataset;
    batch.ids[static_cast<std::size_t>(row)] = sample;
    if (auto ok = readInput(sample, epoch, row, batch); !ok)
        return std::move(ok).error().in("while reading " + data.describe(sample));
    if (batch.weight.defined())
        store(batch.weight, row, data.weight(sample));
    if (batch.target.scalar_type() == at::kLong) {
        batch.target.mutable_data_ptr<std::int64_t>()[row] = data.label(sample);
        return {};
    }
    const std::span<const double> target = data.target(sample);
    for (std::size_t i = 0; i < target.size(); ++i)
        store(batch.target, row * batch.target.size(1) + static_cast<std::int64_t>(i), target[i]);
    return {};
}

}  // namespace lathe::engine
