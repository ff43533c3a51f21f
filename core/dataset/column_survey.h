// What the columns of a CSV file hold.
#pragma once

#include "dataset/dataset.h"

#include <cstdint>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

namespace lathe::dataset {

struct ColumnSurvey {
    static constexpr std::size_t kMostDifferent = 1001;

    std::string name;
    std::int64_t numbers = 0, texts = 0, gaps = 0;
    bool whole = true;                ///< every number is an integer
    std::set<std::string> different;  ///< values, the first kMostDifferent

    bool usable() const { return texts == 0 && gaps == 0 && !name.empty(); }  ///< as a feature
    /// Texts, or few whole numbers that repeat.
    bool looksLikeClasses(std::int64_t rows) const;
    /// Few texts that repeat, in every row one.
    bool holdsFewTexts(std::int64_t rows) const;
    /// Named like the weight of a row.
    bool weighsRows() const;
    /// Named like a row number, and no value stands twice.
    bool numbersRows(std::int64_t rows) const;
};

struct TableSurvey {
    std::int64_t rows = 0;
    std::vector<ColumnSurvey> columns;
};
/// Streams the whole file.
Result<TableSurvey> surveyCsv(const std::filesystem::path& path, const std::string& separator, const Progress& progress);

}  // namespace lathe::dataset
