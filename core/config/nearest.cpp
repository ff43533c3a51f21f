#include "config/nearest.h"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace lathe::config {
namespace {

/// Optimal string alignment distance.
std::size_t changesBetween(std::string_view a, std::string_view b) {
    std::vector<std::vector<std::size_t>> cost(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
    for (std::size_t i = 0; i <= a.size(); ++i) cost[i][0] = i;
    for (std::size_t j = 0; j <= b.size(); ++j) cost[0][j] = j;
    for (std::size_t i = 1; i <= a.size(); ++i) {
        for (std::size_t j = 1; j <= b.size(); ++j) {
            const std::size_t replaced = cost[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
            cost[i][j] = std::min({cost[i - 1][j] + 1, cost[i][j - 1] + 1, replaced});
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                cost[i][j] = std::min(cost[i][j], cost[i - 2][j - 2] + 1);
        }
    }
    return cost[a.size()][b.size()];
}

}  // namespace

std::string nearestWord(std::string_view word, std::span<const std::string> known) {
    constexpr std::size_t kLongest = 64;
    if (word.empty() || word.size() > kLongest) return {};
    std::size_t best = std::max<std::size_t>(2, word.size() / 3) + 1;
    std::string found;
    for (const std::string& candidate : known) {
        const std::size_t changes = changesBetween(word, candidate);
        if (changes >= best) continue;
        best = changes;
        found = candidate;
    }
    if (!found.empty() || word.size() < 3) return found;
    // A word that was not written to its end, if it can only be one.
    for (const std::string& candidate : known) {
        if (!candidate.starts_with(word)) continue;
        if (!found.empty() && found != candidate) return {};
        found = candidate;
    }
    return found;
}

}  // namespace lathe::config
