#include "config/series_names.h"

#include "base/hash.h"
#include "config/utf8.h"

#include <algorithm>
#include <array>
#include <span>
#include <utility>
#include <vector>

namespace lathe::config {
namespace {

using Words = std::pair<std::string_view, std::string_view>;

// Lower case, words parted by "_". Of the whole name:
constexpr std::array<Words, 34> kWhole = {{
    {"loss", "train/loss"}, {"train_loss", "train/loss"}, {"training_loss", "train/loss"}, {"loss_train", "train/loss"},
    {"loss_training", "train/loss"}, {"train_loss_step", "train/loss"}, {"loss_step", "train/loss"},
    {"lr", "train/lr"}, {"learning_rate", "train/lr"}, {"train_lr", "train/lr"}, {"train_learning_rate", "train/lr"},
    {"learning_rate_train", "train/lr"}, {"lr_train", "train/lr"}, {"lr_adam", "train/lr"}, {"lr_adamw", "train/lr"},
    {"lr_sgd", "train/lr"}, {"lr_pg1", "train/lr"}, {"lr_adam_pg1", "train/lr"}, {"lr_adamw_pg1", "train/lr"}, {"lr_sgd_pg1", "train/lr"},
    {"grad_norm", "train/grad_norm"}, {"gradnorm", "train/grad_norm"}, {"gradient_norm", "train/grad_norm"},
    {"train_grad_norm", "train/grad_norm"}, {"train_gradient_norm", "train/grad_norm"}, {"total_grad_norm", "train/grad_norm"},
    {"grad_norm_train", "train/grad_norm"}, {"grad_2_0_norm_total", "train/grad_norm"}, {"grad_2_norm_total", "train/grad_norm"},
    {"samples_per_second", "train/samples_per_second"}, {"train_samples_per_second", "train/samples_per_second"},
    {"samples_per_sec", "train/samples_per_second"}, {"tokens_per_second", "train/tokens_per_second"},
    {"train_tokens_per_second", "train/tokens_per_second"},
}};
// Which part of the data, before or behind the metric ("val_loss", "Loss/val"):
constexpr std::array<Words, 9> kSplits = {{
    {"eval", "eval"}, {"evaluation", "eval"}, {"val", "eval"}, {"valid", "eval"}, {"validation", "eval"}, {"dev", "eval"},
    {"train", "train"}, {"training", "train"}, {"trn", "train"},
}};
constexpr std::array<Words, 16> kMetrics = {{
    {"loss", "loss"}, {"acc", "accuracy"}, {"accuracy", "accuracy"}, {"top1", "accuracy"}, {"acc1", "accuracy"}, {"acc_top1", "accuracy"},
    {"mse", "mse"}, {"mean_squared_error", "mse"}, {"mae", "mae"}, {"mean_absolute_error", "mae"}, {"r2", "r2"}, {"r2_score", "r2"},
    {"f1", "f1"}, {"perplexity", "perplexity"}, {"ppl", "perplexity"}, {"auc", "auc"},
}};

template <std::size_t N>
std::string_view lookUp(const std::array<Words, N>& table, std::string_view word) {
    const auto found = std::find_if(table.begin(), table.end(), [&](const Words& entry) { return entry.first == word; });
    return found == table.end() ? std::string_view() : found->second;
}

std::string asWords(std::string_view name) {
    std::string words;
    for (const char c : name) {
        if (c >= 'A' && c <= 'Z') words += static_cast<char>(c - 'A' + 'a');
        else if (c != '/' && c != '_' && c != '-' && c != ' ' && c != '.') words += c;
        else if (!words.empty() && words.back() != '_') words += '_';
    }
    return words;
}

std::string joined(std::string_view split, std::string_view metric) { return std::string(split) + "/" + std::string(metric); }

}  // namespace

std::string standardSeriesName(std::string_view name) {
    const std::string words = asWords(name);
    if (const auto whole = lookUp(kWhole, words); !whole.empty()) return std::string(whole);
    const std::size_t first = words.find('_'), last = words.rfind('_');
    if (first == std::string::npos) return std::string(name);
    const std::string_view text = words;
    if (const auto split = lookUp(kSplits, text.substr(0, first)); !split.empty()) {
        if (const auto metric = lookUp(kMetrics, text.substr(first + 1)); !metric.empty()) return joined(split, metric);
        // Metrics that only this program knows join the others of their kind under their own name.
        if (split == "eval" && name.size() > first + 1 && words.size() == name.size()) return joined(split, name.substr(first + 1));
        return std::string(name);
    }
    if (const auto split = lookUp(kSplits, text.substr(last + 1)); !split.empty()) {
        if (const auto metric = lookUp(kMetrics, text.substr(0, last)); !metric.empty()) return joined(split, metric);
    }
    return std::string(name);
}

std::string cleanSeriesName(std::string_view name) {
    std::string clean = repairedUtf8(std::string(name.substr(0, 4 * kMostSeriesNameBytes)));
    std::replace_if(clean.begin(), clean.end(), [](char c) { return static_cast<unsigned char>(c) < ' ' || c == 0x7f; }, ' ');
    if (name.size() > kMostSeriesNameBytes) {
        const std::string digest = "~" + hashHex(std::as_bytes(std::span(name))).substr(0, 16);
        clean.resize(kMostSeriesNameBytes - digest.size());
        clean.resize(std::min(clean.size(), firstBadUtf8(clean)));  // a character that was cut through
        clean += digest;
    }
    return clean.find_first_not_of(' ') == std::string::npos ? "unnamed" : clean;
}

/// What is remembered of a name: a giant is not kept.
static std::string keyOf(std::string_view name) { return name.size() <= kMostSeriesNameBytes ? std::string(name) : cleanSeriesName(name); }

const std::string* SeriesNames::find(std::string_view name) const {
    const auto known = m_given.find(keyOf(name));
    return known == m_given.end() ? nullptr : &known->second;
}

const std::string& SeriesNames::of(std::string_view name) {
    if (const std::string* known = find(name)) return *known;
    const std::string clean = cleanSeriesName(name);
    std::string given = standardSeriesName(clean);
    if (m_taken.contains(given)) given = clean;
    for (int number = 2; m_taken.contains(given); ++number) given = clean + " (" + std::to_string(number) + ")";
    m_taken.insert(given);
    return m_given.emplace(keyOf(name), std::move(given)).first->second;
}

}  // namespace lathe::config
