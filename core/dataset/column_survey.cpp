#include "dataset/column_survey.h"

#include "base/number_text.h"
#include "dataset/csv_reader.h"
#include "dataset/source.h"

#include <algorithm>
#include <array>
#include <cctype>

namespace lathe::dataset {
namespace {

constexpr std::size_t kFewClasses = 20;
constexpr std::int64_t kReportRows = 16'384;

void look(ColumnSurvey& column, std::string_view cell) {
    if (cell.empty()) {
        ++column.gaps;
        return;
    }
    if (cellNumber(cell)) ++column.numbers;
    else ++column.texts;
    column.whole = column.whole && readInteger(cell).has_value();
    if (column.different.size() < ColumnSurvey::kMostDifferent) column.different.emplace(cell);
}

}  // namespace

static bool isFew(const std::set<std::string>& different, std::int64_t rows) {
    return different.size() <= kFewClasses && (different.size() <= 2 || static_cast<std::int64_t>(different.size()) * 2 <= rows);
}

/// Whether a column is called like one of these, in capitals or not.
template <std::size_t N>
static bool isOneOf(const std::array<std::string_view, N>& names, std::string name) {
    std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return std::find(names.begin(), names.end(), name) != names.end();
}

bool ColumnSurvey::looksLikeClasses(std::int64_t rows) const { return texts > 0 || (whole && isFew(different, rows)); }

bool ColumnSurvey::holdsFewTexts(std::int64_t rows) const { return texts > 0 && gaps == 0 && !name.empty() && different.size() > 1 && isFew(different, rows); }

bool ColumnSurvey::weighsRows() const {
    constexpr std::array<std::string_view, 4> kNames{"weight", "weights", "sample_weight", "sample_weights"};
    return isOneOf(kNames, name);
}

bool ColumnSurvey::numbersRows(std::int64_t rows) const {
    constexpr std::array<std::string_view, 6> kNames{"id", "index", "row", "row_id", "rownumber", "#"};
    return isOneOf(kNames, name) && whole &&
           static_cast<std::int64_t>(different.size()) >= std::min(rows, static_cast<std::int64_t>(kMostDifferent));
}

Result<TableSurvey> surveyCsv(const std::filesystem::path& path, const std::string& separator, const Progress& progress) {
    LATHE_TRY_ASSIGN(CsvReader reader, CsvReader::open(path, "data.train", separator));
    TableSurvey table;
    for (const std::string& name : reader.header()) table.columns.push_back({.name = name});
    while (true) {
        LATHE_TRY_ASSIGN(const bool any, reader.next());
        if (!any) return table;
        for (std::size_t c = 0; c < table.columns.size(); ++c) look(table.columns[c], trimmed(reader.cells()[c]));
        if (++table.rows % kReportRows == 0 && progress && !progress(table.rows, 0))
            return Error{ErrorCode::Stopped, "Reading " + path.string() + " was stopped on request", {}, {}};
    }
}

}  // namespace lathe::dataset
