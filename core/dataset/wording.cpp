#include "dataset/wording.h"

#include <algorithm>
#include <cctype>
#include <numeric>
#include <utility>
#include <vector>

namespace lathe::dataset {
namespace {

char lower(char c) { return static_cast<char>(std::tolower(static_cast<unsigned char>(c))); }

/// Letters to insert, remove or replace, and neighbours to swap.
std::size_t distance(std::string_view a, std::string_view b) {
    std::vector<std::size_t> before(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
    std::iota(last.begin(), last.end(), std::size_t{0});
    for (std::size_t i = 1; i <= a.size(); ++i) {
        row[0] = i;
        for (std::size_t j = 1; j <= b.size(); ++j) {
            const bool same = lower(a[i - 1]) == lower(b[j - 1]);
            row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (same ? 0 : 1)});
            if (i > 1 && j > 1 && lower(a[i - 1]) == lower(b[j - 2]) && lower(a[i - 2]) == lower(b[j - 1]))
                row[j] = std::min(row[j], before[j - 2] + 1);
        }
        std::swap(before, last);
        std::swap(last, row);
    }
    return last[b.size()];
}

std::string nearest(std::string_view name, std::span<const std::string> known) {
    constexpr std::size_t kLongest = 100;  // a longer name is no typing mistake
    std::string best;
    std::size_t bestDistance = std::max<std::size_t>(2, name.size() / 3) + 1;
    if (name.size() > kLongest) return best;
    for (const std::string& candidate : known) {
        if (candidate.size() > kLongest) continue;
        const std::size_t d = distance(name, candidate);
        if (d < bestDistance && d < std::max(name.size(), candidate.size())) {
            best = candidate;
            bestDistance = d;
        }
    }
    return best;
}

}  // namespace

std::string nameHint(std::string_view name, std::span<const std::string> known) {
    if (const std::string near = nearest(name, known); !near.empty()) return " Did you mean " + inQuotes(near) + "?";
    return " There are: " + shortList(known) + ".";
}

std::string shortList(std::span<const std::string> names, std::size_t shown) {
    std::string text;
    for (std::size_t i = 0; i < std::min(shown, names.size()); ++i) text += (i > 0 ? ", " : "") + names[i];
    if (names.size() > shown) text += " and " + std::to_string(names.size() - shown) + " more";
    return text;
}

std::string countOf(std::int64_t count, std::string_view one, std::string_view many) {
    std::string digits = std::to_string(count);
    for (auto at = static_cast<std::ptrdiff_t>(digits.size()) - 3; at > (count < 0 ? 1 : 0); at -= 3)
        digits.insert(static_cast<std::size_t>(at), ",");
    return digits + " " + std::string(count == 1 ? one : many);
}

std::string inQuotes(std::string_view text) {
    constexpr std::size_t kLongest = 40;
    std::string shown;
    for (const char c : text.substr(0, kLongest)) shown += static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? '?' : c;
    if (text.size() > kLongest) {
        // never half of a character
        while (!shown.empty() && (static_cast<unsigned char>(text[shown.size()]) & 0xC0) == 0x80) shown.pop_back();
        shown += "…";
    }
    return "'" + shown + "'";
}

Error dataError(std::string sentence, std::string_view key) {
    return Error{ErrorCode::Data, std::move(sentence), std::string(key), {}};
}

}  // namespace lathe::dataset
