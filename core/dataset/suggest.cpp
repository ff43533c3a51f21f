#include "dataset/suggest.h"

#include "base/file_system.h"
#include "dataset/column_survey.h"
#include "dataset/csv_reader.h"
#include "dataset/idx.h"
#include "dataset/image_file.h"
#include "dataset/wording.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <optional>
#include <utility>

namespace lathe::dataset {
namespace {

namespace stdfs = std::filesystem;

constexpr std::array<const char*, 2> kTrainNames{"train", "training"};
constexpr std::array<const char*, 7> kEvalNames{"val", "valid", "validation", "eval", "dev", "test", "t10k"};
constexpr std::array<std::int64_t, 7> kUsualSides{224, 192, 160, 128, 96, 64, 32};
constexpr std::int64_t kLargestSideAsStored = 256;
constexpr std::int64_t kSizesLookedAt = 200;

bool isFile(const stdfs::path& path) {
    std::error_code problem;
    return stdfs::is_regular_file(path, problem);
}
bool isFolder(const stdfs::path& path) {
    std::error_code problem;
    return stdfs::is_directory(path, problem);
}

/// A file's name with one word in it replaced; empty when the word is not there.
std::string renamed(std::string name, std::string_view from, std::string_view to) {
    const std::size_t at = name.find(from);
    return at == std::string::npos ? std::string() : name.replace(at, from.size(), to);
}

/// The file or folder beside `train` that is called like it but for evaluation ("test.csv" beside "train.csv").
stdfs::path evaluationBeside(const stdfs::path& train) {
    for (const char* trainName : kTrainNames)
        for (const char* evalName : kEvalNames) {
            const std::string name = renamed(train.filename().string(), trainName, evalName);
            std::error_code problem;
            if (!name.empty() && stdfs::exists(train.parent_path() / name, problem)) return train.parent_path() / name;
        }
    return {};
}

/// Median of the short sides, brought down to a usual one.
std::int64_t usualSide(const Dataset& dataset, const stdfs::path& root) {
    std::vector<std::int64_t> sides;
    for (const std::int64_t sample : examples(dataset, kSizesLookedAt))
        if (const auto header = readImageHeader(root / dataset.describe(sample)); header.ok())
            sides.push_back(std::min(header->width, header->height));
    if (sides.empty()) return kUsualSides.back();
    std::nth_element(sides.begin(), sides.begin() + static_cast<std::ptrdiff_t>(sides.size() / 2), sides.end());
    const std::int64_t median = sides[sides.size() / 2];
    const auto side = std::find_if(kUsualSides.begin(), kUsualSides.end(), [&](std::int64_t usual) { return usual <= median; });
    return side != kUsualSides.end() ? *side : kUsualSides.back();
}

Result<void> suggestImageFolder(const stdfs::path& chosen, const Progress& progress, Suggestion& suggestion) {
    stdfs::path train = chosen;
    for (const char* name : kTrainNames)
        if (isFolder(chosen / name)) {
            train = chosen / name;
            break;
        }
    suggestion.data.format = "image_folder";
    suggestion.data.train = train.string();
    if (const stdfs::path eval = train == chosen ? stdfs::path() : evaluationBeside(train); isFolder(eval)) {
        suggestion.data.eval = eval.string();
        suggestion.notes.push_back("Evaluated on the pictures in " + eval.filename().string() + ".");
    }
    LATHE_TRY_ASSIGN(const auto dataset, scan(suggestion.data, suggestion.task, Part::Train, progress));
    const Info& info = dataset->info();
    suggestion.task.numClasses = static_cast<std::int64_t>(info.classNames.size());
    if (info.height > 0 && std::max(info.height, info.width) <= kLargestSideAsStored) return {};
    suggestion.data.imageSize = usualSide(*dataset, train);
    suggestion.notes.push_back(std::string(info.height > 0 ? "The pictures are large" : "The pictures differ in size") +
                               ": all are brought to " + std::to_string(*suggestion.data.imageSize) + " pixels a side.");
    return {};
}

/// The partner of an IDX file of labels.
stdfs::path imagesBeside(const stdfs::path& labels) {
    const auto names = listFolder(labels.parent_path());
    if (!names.ok()) return {};
    for (const std::string& name : *names)
        if (const stdfs::path candidate = labels.parent_path() / name; isFile(candidate) && labelsBeside(candidate) == labels)
            return candidate;
    return {};
}

Result<void> suggestIdx(const stdfs::path& chosen, const Progress& progress, Suggestion& suggestion) {
    stdfs::path images = imagesBeside(chosen);
    if (images.empty()) images = chosen;
    suggestion.data.format = "idx";
    suggestion.data.train = images.string();
    suggestion.data.trainLabels = labelsBeside(images).string();
    if (const stdfs::path eval = evaluationBeside(images); isFile(eval) && !labelsBeside(eval).empty()) {
        suggestion.data.eval = eval.string();
        suggestion.data.evalLabels = labelsBeside(eval).string();
        suggestion.notes.push_back("Evaluated on " + eval.filename().string() + ".");
    }
    auto opened = open(suggestion.data, suggestion.task, Part::Train, nullptr, progress);
    if (!opened.ok() && opened.error().key == "data.train_labels" && !suggestion.data.trainLabels.empty()) {
        suggestion.task.name = "regression";
        opened = open(suggestion.data, suggestion.task, Part::Train, nullptr, progress);
    }
    if (!opened.ok()) return std::move(opened).error();
    if (suggestion.task.name == "classification")
        suggestion.task.numClasses = static_cast<std::int64_t>((*opened)->info().classNames.size());
    return {};
}

std::string namesOf(const std::vector<std::string>& names) {
    return (names.size() == 1 ? "Column " : "Columns ") + shortList(names, 5);
}

void chooseFeatures(const TableSurvey& table, const ColumnSurvey& target, Suggestion& suggestion) {
    std::vector<std::string> used, unusable, numbering;
    for (const ColumnSurvey& column : table.columns) {
        if (&column == &target || column.name.empty()) continue;
        if (!column.usable()) unusable.push_back(column.name);
        else if (column.numbersRows(table.rows)) numbering.push_back(column.name);
        else used.push_back(column.name);
    }
    if (!unusable.empty()) suggestion.notes.push_back(namesOf(unusable) + ": left out, for holding texts or gaps.");
    if (!numbering.empty()) suggestion.notes.push_back(namesOf(numbering) + ": left out, for only numbering the rows.");
    if (!unusable.empty() || !numbering.empty()) suggestion.data.features = used;
}

/// Whether a file holds every column that the suggestion uses.
bool hasColumns(const stdfs::path& file, const Suggestion& suggestion) {
    const auto reader = CsvReader::open(file, "data.eval");
    if (!reader.ok()) return false;
    const auto& header = reader->header();
    const auto has = [&](const std::string& name) { return std::find(header.begin(), header.end(), name) != header.end(); };
    return std::all_of(suggestion.data.features.begin(), suggestion.data.features.end(), has) &&
           std::all_of(suggestion.data.target.begin(), suggestion.data.target.end(), has);
}

/// Which column is learned, as the header says; null where none has a name.
const ColumnSurvey* chooseTarget(const TableSurvey& table) {
    const auto last = [&](const auto& serves) -> const ColumnSurvey* {
        const auto found = std::find_if(table.columns.rbegin(), table.columns.rend(), [&](const ColumnSurvey& c) { return !c.name.empty() && serves(c); });
        return found == table.columns.rend() ? nullptr : &*found;
    };
    const ColumnSurvey* named = last([](const ColumnSurvey&) { return true; });
    const auto isAnswer = [&](const ColumnSurvey& c) { return !c.weighsRows() && !c.numbersRows(table.rows); };
    if (named == nullptr || (isAnswer(*named) && named->looksLikeClasses(table.rows))) return named;
    if (const ColumnSurvey* texts = last([&](const ColumnSurvey& c) { return c.holdsFewTexts(table.rows); })) return texts;
    const ColumnSurvey* amount = last(isAnswer);
    return amount != nullptr ? amount : named;
}

/// "label is what is learned: …", with the columns that it could be as well.
std::string targetNote(const TableSurvey& table, const ColumnSurvey& target) {
    std::vector<std::string> others;
    bool isLast = true;
    for (const ColumnSurvey& column : table.columns) {
        if (&column == &target) isLast = true;
        else if (!column.name.empty()) isLast = false;
        if (&column != &target && column.holdsFewTexts(table.rows)) others.push_back(column.name);
    }
    std::string note = isLast ? "The last column, " + target.name + ", is what is learned" : "Column " + target.name + " is what is learned";
    note += target.looksLikeClasses(table.rows) ? ", as " + (target.different.size() < ColumnSurvey::kMostDifferent ? countOf(static_cast<std::int64_t>(target.different.size()), "class", "classes") : std::string("classes")) : ", as an amount";
    return others.empty() ? note + "." : note + "; another can be chosen (data.target), for example " + shortList(others, 5) + ".";
}

Result<void> suggestCsv(const stdfs::path& file, const Progress& progress, Suggestion& suggestion) {
    LATHE_TRY_ASSIGN(const TableSurvey table, surveyCsv(file, suggestion.data.separator, progress));
    if (table.rows == 0) return dataError(file.string() + " has column names but no rows", "data.train");
    const ColumnSurvey* chosen = chooseTarget(table);
    if (chosen == nullptr) return dataError(file.string() + " has no column with a name", "data.train");
    const ColumnSurvey& target = *chosen;
    suggestion.data.format = "csv";
    suggestion.data.train = file.string();
    suggestion.data.target = {target.name};
    suggestion.data.standardize = true;
    suggestion.notes.push_back(targetNote(table, target));
    chooseFeatures(table, target, suggestion);
    if (!target.looksLikeClasses(table.rows)) suggestion.task.name = "regression";
    else if (target.different.size() < ColumnSurvey::kMostDifferent)
        suggestion.task.numClasses = static_cast<std::int64_t>(target.different.size());
    if (const stdfs::path eval = evaluationBeside(file); isFile(eval) && hasColumns(eval, suggestion)) {
        suggestion.data.eval = eval.string();
        suggestion.notes.push_back("Evaluated on " + eval.filename().string() + ".");
    }
    return {};
}

Result<void> suggestText(const stdfs::path& file, const Progress& progress, Suggestion& suggestion) {
    suggestion.data.format = "text";
    suggestion.data.train = file.string();
    suggestion.data.evalFraction = 0.1;
    suggestion.task.name = "language";
    if (const stdfs::path eval = evaluationBeside(file); isFile(eval)) {
        suggestion.data.eval = eval.string();
        suggestion.notes.push_back("Evaluated on " + eval.filename().string() + ".");
    } else {
        suggestion.notes.push_back("The last tenth is held out for evaluation.");
    }
    LATHE_TRY(open(suggestion.data, suggestion.task, Part::Train, nullptr, progress));
    return {};
}

/// The one called train…, else the only one.
std::optional<stdfs::path> trainingAmong(const std::vector<stdfs::path>& files) {
    for (const stdfs::path& file : files)
        if (std::any_of(kTrainNames.begin(), kTrainNames.end(), [&](const char* train) { return file.filename().string().find(train) != std::string::npos; }))
            return file;
    return files.size() == 1 ? std::optional(files.front()) : std::nullopt;
}

/// In a folder of data files the one to train on. Texts beside tables are taken for notes on them.
std::optional<stdfs::path> dataFileIn(const stdfs::path& folder) {
    const auto names = listFolder(folder);
    if (!names.ok()) return std::nullopt;
    std::vector<stdfs::path> tables, texts;
    for (const std::string& name : *names) {
        const stdfs::path path = folder / name;
        if (!isFile(path)) continue;
        const auto format = guessFormat(path.string());
        if (!format.ok() || (*format == "idx" && labelsBeside(path).empty())) continue;
        (*format == "text" ? texts : tables).push_back(path);
    }
    return trainingAmong(tables.empty() ? texts : tables);
}

}  // namespace

static const char* presetFor(const Suggestion& suggestion) {
    if (suggestion.data.format == "image_folder") return "image-folder";
    if (suggestion.data.format == "text") return "shakespeare-char";
    return suggestion.task.name == "regression" ? "csv-regression" : "digits-mlp";
}

void Suggestion::putInto(config::RunConfig& config) const {
    config::DataSection& into = config.data;
    into.format = data.format;
    into.train = data.train;
    into.trainLabels = data.trainLabels;
    into.eval = data.eval;
    into.evalLabels = data.evalLabels;
    into.features = data.features;
    into.target = data.target;
    into.weight = data.weight;
    into.standardize = data.standardize;
    into.imageSize = data.imageSize;
    if (data.format != "image_folder") into.channels = data.channels;
    if (data.format == "text") into.evalFraction = data.evalFraction;
    config.task.name = task.name;
    config.task.numClasses = task.numClasses;
}

static Result<Suggestion> suggestData(const std::string& path, const Progress& progress) {
    std::error_code problem;
    stdfs::path chosen = stdfs::absolute(path, problem).lexically_normal();
    if (!chosen.has_filename()) chosen = chosen.parent_path();  // "flowers/"
    if (path.empty() || !stdfs::exists(chosen, problem))
        return Error{ErrorCode::NotFound, inQuotes(path) + " does not exist: choose a folder of class folders, a CSV, an IDX or a text file",
                     "data.train", {}};
    Suggestion suggestion;
    if (isFolder(chosen)) {
        auto pictures = suggestImageFolder(chosen, progress, suggestion);
        if (pictures.ok()) return suggestion;
        const auto file = dataFileIn(chosen);
        if (!file || pictures.error().code == ErrorCode::Stopped) return std::move(pictures).error();
        suggestion = {};
        chosen = *file;
    }
    LATHE_TRY_ASSIGN(const std::string format, guessFormat(chosen.string()));
    if (format == "csv") LATHE_TRY(suggestCsv(chosen, progress, suggestion));
    else if (format == "text") LATHE_TRY(suggestText(chosen, progress, suggestion));
    else LATHE_TRY(suggestIdx(chosen, progress, suggestion));
    return suggestion;
}

Result<Suggestion> suggest(const std::string& path, const Progress& progress) {
    LATHE_TRY_ASSIGN(Suggestion suggestion, suggestData(path, progress));
    suggestion.preset = presetFor(suggestion);
    return suggestion;
}

}  // namespace lathe::dataset
