#include "base/number_text.h"
#include "config/schema.h"
#include "dataset/column_survey.h"
#include "dataset/csv_reader.h"
#include "dataset/source.h"
#include "dataset/table_dataset.h"
#include "dataset/wording.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>
#include <utility>

namespace lathe::dataset {
namespace {

constexpr std::int64_t kReportRows = 16'384;

struct Columns {
    std::vector<std::size_t> features, targets;
    std::ptrdiff_t weight = -1;
};

Result<std::size_t> findColumn(const Source& source, const std::vector<std::string>& header, const std::string& name,
                               const std::string& key) {
    const auto found = std::find(header.begin(), header.end(), name);
    if (found == header.end() || name.empty())
        return dataError(source.path.string() + " has no column " + inQuotes(name) + "." + nameHint(name, header), key);
    return static_cast<std::size_t>(found - header.begin());
}

Result<void> chooseFeatures(const Source& source, const std::vector<std::string>& header, Columns& columns) {
    const auto isAnswer = [&](std::size_t column) {
        return static_cast<std::ptrdiff_t>(column) == columns.weight ||
               std::find(columns.targets.begin(), columns.targets.end(), column) != columns.targets.end();
    };
    const auto& wanted = source.like != nullptr ? source.like->info().featureNames : source.data.features;
    for (const std::string& name : wanted) {
        LATHE_TRY_ASSIGN(const std::size_t column, findColumn(source, header, name, "data.features"));
        if (isAnswer(column))
            return dataError("Column " + inQuotes(name) + " cannot be a feature and the target or weight at once: leave it out of "
                                                        "data.features", "data.features");
        if (std::find(columns.features.begin(), columns.features.end(), column) != columns.features.end())
            return dataError("Column " + inQuotes(name) + " stands twice in data.features", "data.features");
        columns.features.push_back(column);
    }
    if (wanted.empty())  // a column without a name, as an index column often is, is no feature
        for (std::size_t column = 0; column < header.size(); ++column)
            if (!header[column].empty() && !isAnswer(column)) columns.features.push_back(column);
    if (columns.features.empty())
        return dataError(source.path.string() + " has no column left for the features", "data.features");
    return {};
}

Result<Columns> chooseColumns(const Source& source, const std::vector<std::string>& header) {
    Columns columns;
    if (source.data.target.empty())
        return dataError("Say in data.target which column of " + source.path.string() + " is to be learned. There are: " +
                             shortList(header), "data.target");
    if (source.classification() && source.data.target.size() != 1)
        return dataError("A classification has one target column, data.target names " +
                             std::to_string(source.data.target.size()), "data.target");
    for (const std::string& name : source.data.target) {
        LATHE_TRY_ASSIGN(const std::size_t column, findColumn(source, header, name, "data.target"));
        if (std::find(columns.targets.begin(), columns.targets.end(), column) != columns.targets.end())
            return dataError("Column " + inQuotes(name) + " stands twice in data.target", "data.target");
        columns.targets.push_back(column);
    }
    if (!source.data.weight.empty()) {
        LATHE_TRY_ASSIGN(const std::size_t column, findColumn(source, header, source.data.weight, "data.weight"));
        if (std::find(columns.targets.begin(), columns.targets.end(), column) != columns.targets.end())
            return dataError("Column " + inQuotes(source.data.weight) + " cannot be the target and the weight at once", "data.weight");
        columns.weight = static_cast<std::ptrdiff_t>(column);
    }
    LATHE_TRY(chooseFeatures(source, header, columns));
    return columns;
}

/// Collects the records of one file.
class Rows {
public:
    Rows(const Source& source, const CsvReader& reader, Columns columns)
        : m_source(source), m_reader(reader), m_columns(std::move(columns)) {}

    Result<void> add() {
        for (const std::size_t column : m_columns.features) {
            LATHE_TRY_ASSIGN(const double value, number(column, "data.features", "features must be numbers: fill it in, turn it into "
                                                        "numbers, or learn from other columns (data.features)"));
            cells.push_back(value);
        }
        LATHE_TRY(m_source.classification() ? addClass() : addTargets());
        if (m_columns.weight >= 0) {
            LATHE_TRY_ASSIGN(const double weight, number(static_cast<std::size_t>(m_columns.weight), "data.weight",
                                                         "weights must be numbers"));
            if (weight < 0) return cellError(static_cast<std::size_t>(m_columns.weight), "data.weight", "weights must not be negative");
            answers.weights.push_back(weight);
        }
        lines.push_back(m_reader.line());
        return {};
    }

    std::vector<double> cells;
    std::vector<std::int64_t> lines;
    Answers answers;                       ///< labels point into classTexts until the names are sorted
    std::vector<std::string> classTexts;

private:
    Error cellError(std::size_t column, std::string_view key, const std::string& rule) const {
        const std::string_view cell = trimmed(m_reader.cells()[column]);
        return dataError("Column " + inQuotes(m_reader.header()[column]) + " of " + m_source.path.string() +
                             (cell.empty() ? " has an empty cell" : " has " + inQuotes(cell)) + " in line " +
                             std::to_string(m_reader.line()) + ": " + rule, key);
    }

    Result<double> number(std::size_t column, std::string_view key, const std::string& rule) const {
        const auto value = cellNumber(m_reader.cells()[column]);
        if (value) return *value;
        std::string text(trimmed(m_reader.cells()[column]));
        if (readDouble(text)) return cellError(column, key, "every number must be finite");
        const std::size_t comma = text.find(',');
        if (comma != std::string::npos) text[comma] = '.';
        if (comma != std::string::npos && readDouble(text))
            return cellError(column, key, "numbers are read with a decimal point: save the file with points in its numbers");
        return cellError(column, key, rule);
    }

    Result<void> addClass() {
        const std::size_t column = m_columns.targets.front();
        const std::string text(trimmed(m_reader.cells()[column]));
        if (text.empty()) return cellError(column, "data.target", "every line needs its class");
        const auto [place, isNew] = m_places.try_emplace(text, static_cast<std::int64_t>(classTexts.size()));
        if (isNew) classTexts.push_back(text);
        answers.labels.push_back(place->second);
        return {};
    }

    Result<void> addTargets() {
        for (const std::size_t column : m_columns.targets) {
            LATHE_TRY_ASSIGN(const double value, number(column, "data.target", "the target of a regression must be numbers "
                                                        "(task.name classification takes texts)"));
            answers.targets.push_back(value);
        }
        return {};
    }

    const Source& m_source;
    const CsvReader& m_reader;
    Columns m_columns;
    std::unordered_map<std::string, std::int64_t> m_places;
};

/// To a cell that is no number: the setting that leaves such columns out, ready to be copied.
Error withOtherColumns(const Source& source, const Columns& columns, Error error) {
    constexpr std::size_t kMostNamed = 60;
    if (error.key != "data.features" || source.like != nullptr) return error;
    const auto table = surveyCsv(source.path, source.data.separator, source.progress);
    if (!table.ok()) return error;
    std::vector<std::string> usable;
    for (const std::size_t column : columns.features)
        if (table->columns[column].usable()) usable.push_back(table->columns[column].name);
    if (usable.empty()) return error;
    if (usable.size() > kMostNamed) {
        error.sentence += ". " + countOf(static_cast<std::int64_t>(usable.size()), "column holds", "columns hold") + " numbers only";
        return error;
    }
    std::string list;
    for (const char c : config::valueText(usable)) list += c == '\'' ? std::string("'\\''") : std::string(1, c);
    error.sentence += ". Columns of numbers only: --set 'data.features=" + list + "'";
    return error;
}

Result<void> nameClasses(const Source& source, Rows& rows, Info& info) {
    constexpr std::size_t kManyClasses = 1000;
    if (rows.classTexts.size() > kManyClasses && rows.classTexts.size() * 2 > rows.lines.size())
        return dataError("Column " + inQuotes(source.data.target[0]) + " of " + source.path.string() + " has " +
                             countOf(static_cast<std::int64_t>(rows.classTexts.size()), "value", "different values") + " in " +
                             countOf(info.samples, "row", "rows") + ", which is no classification: set task.name to regression "
                                                                    "or choose another data.target", "data.target");
    LATHE_TRY_ASSIGN(Classes classes, classesOf(source, std::move(rows.classTexts), std::move(rows.answers.labels),
                                                [&](std::int64_t sample) {
                                                    return "line " + std::to_string(rows.lines[static_cast<std::size_t>(sample)]);
                                                }));
    LATHE_TRY(checkClassCount(source, classes.names));
    info.classCounts = countClasses(classes.labels, classes.names.size());
    info.classNames = std::move(classes.names);
    rows.answers.labels = std::move(classes.labels);
    return {};
}

}  // namespace

Result<void> glanceAtCsv(const Source& source) {
    LATHE_TRY_ASSIGN(const CsvReader reader, CsvReader::open(source.path, source.key, source.data.separator));
    LATHE_TRY(chooseColumns(source, reader.header()));
    return {};
}

Result<std::unique_ptr<Dataset>> openCsv(const Source& source) {
    LATHE_TRY_ASSIGN(CsvReader reader, CsvReader::open(source.path, source.key, source.data.separator));
    LATHE_TRY_ASSIGN(const Columns columns, chooseColumns(source, reader.header()));
    Rows rows(source, reader, columns);
    while (true) {
        LATHE_TRY_ASSIGN(const bool any, reader.next());
        if (!any) break;
        if (auto added = rows.add(); !added.ok()) return withOtherColumns(source, columns, std::move(added).error());
        if (rows.lines.size() % kReportRows != 0) continue;
        LATHE_TRY(source.report(static_cast<std::int64_t>(rows.lines.size()), 0));
        LATHE_TRY(checkMemory(source.path, 8.0 * static_cast<double>(rows.cells.size()), source.key));
    }
    Info info;
    info.format = "csv";
    info.samples = static_cast<std::int64_t>(rows.lines.size());
    if (info.samples == 0)
        return dataError(source.path.string() + " has column names but no rows", source.key);
    for (const std::size_t column : columns.features) info.featureNames.push_back(reader.header()[column]);
    info.targetNames = source.data.target;
    info.weighted = columns.weight >= 0;
    if (info.weighted && std::all_of(rows.answers.weights.begin(), rows.answers.weights.end(), [](double w) { return w == 0; }))
        return dataError("All weights in column " + inQuotes(source.data.weight) + " are 0: nothing would be learned", "data.weight");
    if (source.classification()) LATHE_TRY(nameClasses(source, rows, info));
    else rows.answers.targetColumns = columns.targets.size();
    LATHE_TRY(source.report(info.samples, info.samples));
    return std::unique_ptr<Dataset>(std::make_unique<TableDataset>(std::move(info), std::move(rows.cells),
                                                                   std::move(rows.answers), std::move(rows.lines)));
}

}  // namespace lathe::dataset
