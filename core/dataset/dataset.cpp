#include "dataset/dataset.h"

#include "base/hash.h"
#include "base/number_text.h"
#include "dataset/idx.h"
#include "dataset/source.h"
#include "dataset/wording.h"

#include <algorithm>
#include <cctype>
#include <new>
#include <optional>
#include <utility>

namespace lathe::dataset {
namespace {

Result<std::string> formatOf(const Source& source) {
    std::error_code problem;
    const bool exists = std::filesystem::exists(source.path, problem);
    if (!exists)
        return Error{ErrorCode::NotFound,
                     source.path.string() + (problem ? " cannot be looked at: " + problem.message() : " does not exist") +
                         ": choose a folder of class folders, a CSV, IDX or text file",
                     source.key,
                     {}};
    if (source.data.format != "auto") return source.data.format;
    auto guessed = guessFormat(source.path.string());
    if (guessed.ok()) return guessed;
    Error error = std::move(guessed).error();
    error.key = source.key;
    return error;
}

/// To a file that cannot be read as what data.format says: what it looks like, and what to set.
Error withKind(const Source& source, Error error) {
    if (source.data.format == "auto" || error.key != source.key) return error;
    const auto looks = guessFormat(source.path.string());
    const bool isByNameOnly = looks.ok() && *looks == "text" && source.data.format == "csv";
    if (!looks.ok() || *looks == source.data.format || isByNameOnly) return error;
    const std::string kind = *looks == "csv" ? "a CSV file" : *looks == "idx" ? "an IDX file" : *looks == "text" ? "a plain text" : "a folder of pictures";
    error.sentence += ". It looks like " + kind + ", and data.format is " + source.data.format + ": --set data.format=" + *looks;
    return error;
}

Result<std::unique_ptr<Dataset>> openFormat(const Source& source) {
    LATHE_TRY_ASSIGN(const std::string format, formatOf(source));
    auto opened = format == "csv" ? openCsv(source) : format == "idx" ? openIdx(source) : format == "text" ? openText(source) : openImageFolder(source);
    if (!opened.ok()) return withKind(source, std::move(opened).error());
    return opened;
}

Result<std::unique_ptr<Dataset>> openSource(const Source& source) {
    try {
        auto opened = openFormat(source);
        if (opened.ok() || !opened.error().key.empty()) return opened;
        Error error = std::move(opened).error();
        error.key = source.key;
        return error;
    } catch (const std::bad_alloc&) {
        return Error{ErrorCode::OutOfMemory, "Memory is too small for " + source.path.string() + ": use a smaller part of the data",
                     source.key, {}};
    }
}

Result<Source> sourceOf(const config::DataSection& data, const config::TaskSection& task, Part part, const Progress& progress) {
    Source source{.data = data, .task = task, .progress = progress, .path = data.train, .labels = data.trainLabels};
    if (part == Part::Eval) {
        source.path = data.eval;
        source.labels = data.evalLabels;
        source.key = "data.eval";
        source.labelsKey = "data.eval_labels";
    }
    if (source.path.empty())
        return Error{ErrorCode::Usage, "No data are chosen: set " + source.key + " to a folder of class folders, a CSV, an IDX or a text file",
                     source.key, {}};
    return source;
}

Result<std::unique_ptr<Dataset>> openPart(const config::DataSection& data, const config::TaskSection& task, Part part,
                                          const Dataset* like, const Progress& progress, bool onDemand, bool anySize) {
    LATHE_TRY_ASSIGN(Source source, sourceOf(data, task, part, progress));
    source.like = like;
    source.onDemand = onDemand;
    source.anySize = anySize;
    return openSource(source);
}

Result<void> glanceAt(const config::DataSection& data, const config::TaskSection& task, Part part) {
    const Progress none;
    LATHE_TRY_ASSIGN(const Source source, sourceOf(data, task, part, none));
    LATHE_TRY_ASSIGN(const std::string format, formatOf(source));
    const auto seen = format == "text" ? glanceAtText(source) : format == "csv" ? glanceAtCsv(source) : Result<void>();
    if (!seen.ok()) return withKind(source, seen.error());
    return {};
}

std::string answerText(const Dataset& dataset, std::int64_t sample) {
    const Info& info = dataset.info();
    if (const std::int64_t label = dataset.label(sample); label >= 0) return info.classNames.at(static_cast<std::size_t>(label));
    std::string text;
    for (const double value : dataset.target(sample)) text += (text.empty() ? "" : ", ") + shortText(value);
    return text;
}

void addText(Hasher& hasher, const std::string& text) {
    hasher.update(std::as_bytes(std::span(text.c_str(), text.size() + 1)));
}

}  // namespace

std::int64_t Info::inputElements() const {
    if (format == "text") return context;
    return images ? channels * height * width : static_cast<std::int64_t>(featureNames.size());
}

static std::string textSentence(const Info& info) {
    std::string text = countOf(info.bytes, "byte", "bytes") + " · " + countOf(info.documents, "document", "documents") + " · " +
                       countOf(info.samples, "row", "rows") + " of " + std::to_string(info.context);
    if (info.heldOutBytes > 0) text += " · the last " + countOf(info.heldOutBytes, "byte", "bytes") + " are held out";
    return text;
}

std::string Info::sentence() const {
    if (format == "text") return textSentence(*this);
    std::string text = images ? countOf(samples, "image", "images") : countOf(samples, "row", "rows");
    if (!images) text += " · " + countOf(static_cast<std::int64_t>(featureNames.size()), "feature", "features");
    if (!classNames.empty()) text += " · " + countOf(static_cast<std::int64_t>(classNames.size()), "class", "classes");
    else text += " · " + countOf(static_cast<std::int64_t>(targetNames.size()), "target", "targets");
    if (unreadableCount > 0) text += " · " + countOf(unreadableCount, "unreadable", "unreadable");
    return text;
}

/// Numbers that count on, as a table's columns are often numbered, are names; others in their place are taken for data.
static std::string numberAsName(const std::vector<std::string>& names) {
    std::optional<std::int64_t> before;
    std::string first;
    bool counts = true;
    std::size_t numbers = 0;
    for (const std::string& name : names) {
        if (!readDouble(name)) continue;
        const auto whole = readInteger(name);
        counts = counts && whole && (numbers == 0 || *whole - 1 == before);
        before = whole;
        if (numbers++ == 0) first = name;
    }
    return numbers == 0 || (counts && numbers > 1) ? std::string() : first;
}

/// A table without a line of names: its first row is taken for them.
static std::string firstLineDoubt(const Info& info) {
    const std::string remedy = ": put a line of column names above it, else its first row is not learned";
    std::vector<std::string> names = info.featureNames;
    names.insert(names.end(), info.targetNames.begin(), info.targetNames.end());
    if (const std::string number = numberAsName(names); !number.empty())
        return "The first line looks like data, since a column is called " + inQuotes(number) + remedy;
    if (info.targetNames.size() == 1 && std::find(info.classNames.begin(), info.classNames.end(), info.targetNames[0]) != info.classNames.end())
        return "The first line looks like data, since the target " + inQuotes(info.targetNames[0]) + " is called like one of its classes" + remedy;
    return {};
}

std::vector<Doubt> Info::doubts() const {
    constexpr std::size_t kFewClasses = 20;
    if (holdsZeroBytes) return {{"data.train", "The file holds zero bytes, as no plain text does: it is learned as it is"}};
    std::vector<Doubt> found;
    if (format != "csv") return found;
    if (std::string first = firstLineDoubt(*this); !first.empty()) found.push_back({"data.train", std::move(first)});
    if (classNames.empty() || targetNames.empty()) return found;
    const bool numbers = std::all_of(classNames.begin(), classNames.end(), [](const std::string& name) { return readDouble(name).has_value(); });
    const bool whole = std::all_of(classNames.begin(), classNames.end(), [](const std::string& name) { return readInteger(name).has_value(); });
    if (numbers && !(whole && classNames.size() <= kFewClasses))
        found.push_back({"task.name", "Column " + inQuotes(targetNames[0]) + " holds " + countOf(static_cast<std::int64_t>(classNames.size()), "different number", "different numbers") +
                                      ", and each is learned as a class of its own: for an amount set task.name to regression"});
    return found;
}

Thumbnail Dataset::captioned(std::int64_t sample) const {
    Thumbnail thumbnail;
    thumbnail.where = describe(sample);
    thumbnail.answer = answerText(*this, sample);
    return thumbnail;
}

Result<std::unique_ptr<Dataset>> open(const config::DataSection& data, const config::TaskSection& task, Part part,
                                      const Dataset* like, const Progress& progress) {
    return openPart(data, task, part, like, progress, false, false);
}

Result<std::unique_ptr<Dataset>> survey(const config::DataSection& data, const config::TaskSection& task, Part part,
                                        const Dataset* like, const Progress& progress) {
    return openPart(data, task, part, like, progress, true, false);
}

Result<std::unique_ptr<Dataset>> scan(const config::DataSection& data, const config::TaskSection& task, Part part,
                                      const Progress& progress) {
    return openPart(data, task, part, nullptr, progress, true, true);
}

Result<void> glance(const config::DataSection& data, const config::TaskSection& task) {
    LATHE_TRY(glanceAt(data, task, Part::Train));
    return data.eval.empty() ? Result<void>() : glanceAt(data, task, Part::Eval);
}

std::vector<std::int64_t> examples(const Dataset& dataset, std::int64_t count) {
    const Info& info = dataset.info();
    count = std::clamp<std::int64_t>(count, 0, info.samples);
    std::vector<std::int64_t> chosen;
    if (info.classNames.empty()) {
        for (std::int64_t i = 0; i < count; ++i) chosen.push_back(i * info.samples / count);
        return chosen;
    }
    std::vector<std::vector<std::int64_t>> ofClass(info.classNames.size());
    for (std::int64_t sample = 0; sample < info.samples; ++sample) {
        auto& list = ofClass[static_cast<std::size_t>(dataset.label(sample))];
        if (static_cast<std::int64_t>(list.size()) < count) list.push_back(sample);
    }
    for (std::size_t round = 0; static_cast<std::int64_t>(chosen.size()) < count; ++round)
        for (const auto& list : ofClass)
            if (round < list.size() && static_cast<std::int64_t>(chosen.size()) < count) chosen.push_back(list[round]);
    return chosen;
}

std::string fingerprint(const Dataset& dataset) {
    const Info& info = dataset.info();
    Hasher hasher;
    addText(hasher, info.format);
    const std::int64_t sizes[] = {info.samples, static_cast<std::int64_t>(info.featureNames.size()),
                                  static_cast<std::int64_t>(info.targetNames.size()),
                                  static_cast<std::int64_t>(info.classNames.size())};
    hasher.update(std::as_bytes(std::span(sizes)));
    for (const auto* names : {&info.featureNames, &info.targetNames, &info.classNames})
        for (const std::string& name : *names) addText(hasher, name);
    dataset.hashInto(hasher);
    return hasher.hex();
}

Result<std::string> guessFormat(const std::string& path) {
    std::error_code problem;
    if (std::filesystem::is_directory(path, problem)) return std::string("image_folder");
    if (looksLikeIdx(path)) return std::string("idx");
    std::string name = std::filesystem::path(path).filename().string();
    std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    if (name.ends_with(".csv") || name.ends_with(".csv.gz") || name.ends_with(".tsv") || name.ends_with(".tsv.gz")) return std::string("csv");
    for (const char* ending : {".txt", ".txt.gz", ".text"})
        if (name.ends_with(ending)) return std::string("text");
    return dataError(path + " is neither a folder of class folders, nor an IDX file, nor does its name end in .csv, .tsv or .txt: set data.format "
                            "if it is one of them", "data.format");
}

}  // namespace lathe::dataset
