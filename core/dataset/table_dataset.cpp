#include "dataset/table_dataset.h"

#include "base/hash.h"
#include "base/number_text.h"

#include <algorithm>
#include <utility>

namespace lathe::dataset {

std::int64_t Answers::label(std::int64_t sample) const {
    return labels.empty() ? -1 : labels.at(static_cast<std::size_t>(sample));
}

std::span<const double> Answers::target(std::int64_t sample) const {
    if (targetColumns == 0) return {};
    return std::span(targets).subspan(static_cast<std::size_t>(sample) * targetColumns, targetColumns);
}

double Answers::weight(std::int64_t sample) const {
    return weights.empty() ? 1.0 : weights.at(static_cast<std::size_t>(sample));
}

void Answers::hashInto(Hasher& hasher) const {
    hasher.update(std::as_bytes(std::span(labels)));
    hasher.update(std::as_bytes(std::span(targets)));
    hasher.update(std::as_bytes(std::span(weights)));
}

TableDataset::TableDataset(Info info, std::vector<double> cells, Answers answers, std::vector<std::int64_t> lines)
    : m_cells(std::move(cells)), m_answers(std::move(answers)), m_lines(std::move(lines)) {
    m_info = std::move(info);
    LATHE_ASSERT(m_cells.size() == static_cast<std::size_t>(m_info.samples) * m_info.featureNames.size());
}

std::span<const double> TableDataset::row(std::int64_t sample) const {
    LATHE_ASSERT(sample >= 0 && sample < m_info.samples);
    const std::size_t width = m_info.featureNames.size();
    return std::span(m_cells).subspan(static_cast<std::size_t>(sample) * width, width);
}

Result<void> TableDataset::input(std::int64_t sample, const Augmentation*, std::span<float> out) const {
    const auto cells = row(sample);
    LATHE_ASSERT(out.size() == cells.size());
    std::transform(cells.begin(), cells.end(), out.begin(), [](double value) { return static_cast<float>(value); });
    return {};
}

Result<void> TableDataset::input(std::int64_t sample, const Augmentation*, std::span<double> out) const {
    const auto cells = row(sample);
    LATHE_ASSERT(out.size() == cells.size());
    std::copy(cells.begin(), cells.end(), out.begin());
    return {};
}

std::string TableDataset::describe(std::int64_t sample) const {
    if (m_lines.empty()) return "record " + std::to_string(sample);
    return "line " + std::to_string(m_lines.at(static_cast<std::size_t>(sample)));
}

Result<Thumbnail> TableDataset::thumbnail(std::int64_t sample, int) const {
    constexpr std::size_t kShown = 8;
    Thumbnail thumbnail = captioned(sample);
    const auto cells = row(sample);
    for (std::size_t i = 0; i < std::min(kShown, cells.size()); ++i)
        thumbnail.text += (i > 0 ? ", " : "") + m_info.featureNames[i] + " " + shortText(cells[i]);
    if (cells.size() > kShown) thumbnail.text += " …";
    return thumbnail;
}

void TableDataset::hashInto(Hasher& hasher) const {
    hasher.update(std::as_bytes(std::span(m_cells)));
    m_answers.hashInto(hasher);
}

}  // namespace lathe::dataset
