#include "dataset/source.h"

#include "base/number_text.h"
#include "dataset/wording.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <unistd.h>
#include <utility>

namespace lathe::dataset {
namespace {

/// Numerically when all are integers, else by bytes.
void sortNames(std::vector<std::string>& names) {
    std::vector<std::pair<std::int64_t, std::string>> numbered;
    for (const std::string& name : names) {
        const auto number = readInteger(name);
        if (!number) break;
        numbered.emplace_back(*number, name);
    }
    if (numbered.size() != names.size()) {
        std::sort(names.begin(), names.end());
        return;
    }
    std::sort(numbered.begin(), numbered.end());
    std::transform(numbered.begin(), numbered.end(), names.begin(), [](auto& pair) { return std::move(pair.second); });
}

}  // namespace

Result<void> Source::report(std::int64_t done, std::int64_t total) const {
    if (!progress || progress(done, total)) return {};
    return Error{ErrorCode::Stopped, "Reading " + path.string() + " was stopped on request", {}, {}};
}

Result<Classes> classesOf(const Source& source, std::vector<std::string> texts, std::vector<std::int64_t> indices,
                          const std::function<std::string(std::int64_t)>& where) {
    Classes classes;
    classes.names = source.like != nullptr ? source.like->info().classNames : texts;
    if (source.like == nullptr) sortNames(classes.names);
    std::map<std::string_view, std::int64_t> place;
    for (std::size_t i = 0; i < classes.names.size(); ++i) place.emplace(classes.names[i], static_cast<std::int64_t>(i));
    std::vector<std::int64_t> translated(texts.size(), -1);
    for (std::size_t i = 0; i < texts.size(); ++i)
        if (const auto found = place.find(texts[i]); found != place.end()) translated[i] = found->second;
    for (std::size_t sample = 0; sample < indices.size(); ++sample) {
        const auto text = static_cast<std::size_t>(indices[sample]);
        if (translated[text] < 0)
            return dataError(source.path.string() + " has the class " + inQuotes(texts[text]) + " (" +
                                 where(static_cast<std::int64_t>(sample)) + "), which the training data do not have." +
                                 nameHint(texts[text], classes.names),
                             source.key);
        indices[sample] = translated[text];
    }
    classes.labels = std::move(indices);
    return classes;
}

Result<void> checkClassCount(const Source& source, const std::vector<std::string>& names) {
    if (source.like != nullptr) return {};
    if (names.size() < 2)
        return dataError(source.path.string() + " has " + (names.empty() ? "no class" : "only one class (" + names[0] + ")") +
                             ": classification needs at least two",
                         source.key);
    const auto found = static_cast<std::int64_t>(names.size());
    if (source.task.numClasses && found > *source.task.numClasses)
        return dataError(source.path.string() + " has " + countOf(found, "class", "classes") +
                             ", but task.num_classes is " + std::to_string(*source.task.numClasses) + ": set it to " +
                             std::to_string(found) + " or leave it out",
                         "task.num_classes");
    return {};
}

std::vector<std::int64_t> countClasses(const std::vector<std::int64_t>& labels, std::size_t classes) {
    std::vector<std::int64_t> counts(classes, 0);
    for (const std::int64_t label : labels) ++counts[static_cast<std::size_t>(label)];
    return counts;
}

Result<void> checkMemory(const std::filesystem::path& path, double bytes, const std::string& key) {
    const double memory = static_cast<double>(::sysconf(_SC_PHYS_PAGES)) * static_cast<double>(::sysconf(_SC_PAGE_SIZE));
    if (bytes <= memory) return {};
    const std::string needed = bytes < 1e18 ? memoryText(static_cast<std::uint64_t>(bytes)) : "more than any machine has";
    return Error{ErrorCode::OutOfMemory,
                 path.string() + " would need " + needed + " of memory, this machine has " +
                     memoryText(static_cast<std::uint64_t>(memory)) + ": use a smaller part of the data",
                 key,
                 {}};
}

}  // namespace lathe::dataset
