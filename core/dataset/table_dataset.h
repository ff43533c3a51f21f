// Samples that are rows of numbers, held in memory: CSV, and IDX arrays of features.
#pragma once

#include "dataset/dataset.h"

#include <string>
#include <vector>

namespace lathe::dataset {

/// What a sample has beside its input. Empty vectors: none.
struct Answers {
    std::vector<std::int64_t> labels;
    std::vector<double> targets;  ///< `targetColumns` a sample
    std::size_t targetColumns = 0;
    std::vector<double> weights;

    std::int64_t label(std::int64_t sample) const;
    std::span<const double> target(std::int64_t sample) const;
    double weight(std::int64_t sample) const;
    void hashInto(Hasher& hasher) const;
};

class TableDataset final : public Dataset {
public:
    /// `cells`: rows of info.featureNames.size() each. `lines`: where a row stands in its file; empty: records from 0.
    TableDataset(Info info, std::vector<double> cells, Answers answers, std::vector<std::int64_t> lines);

    Result<void> input(std::int64_t sample, const Augmentation* augmentation, std::span<float> out) const override;
    Result<void> input(std::int64_t sample, const Augmentation* augmentation, std::span<double> out) const override;
    std::int64_t label(std::int64_t sample) const override { return m_answers.label(sample); }
    std::span<const double> target(std::int64_t sample) const override { return m_answers.target(sample); }
    double weight(std::int64_t sample) const override { return m_answers.weight(sample); }
    std::string describe(std::int64_t sample) const override;
    Result<Thumbnail> thumbnail(std::int64_t sample, int side) const override;
    void hashInto(Hasher& hasher) const override;

private:
    std::span<const double> row(std::int64_t sample) const;

    std::vector<double> m_cells;
    Answers m_answers;
    std::vector<std::int64_t> m_lines;
};

}  // namespace lathe::dataset
