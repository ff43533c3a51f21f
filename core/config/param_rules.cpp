#include "config/param_rules.h"

#include "base/number_text.h"
#include "config/nearest.h"

#include <cmath>
#include <sstream>
#include <vector>

namespace lathe::config {
namespace {

constexpr const char* kKey = "optimizer.groups";
constexpr double kLargestFactor = 1000, kLargestDecay = 100;

Error wrong(const std::string& what) {
    return Error{ErrorCode::Config, what + "; write a pattern and what is different for it, for example \"head.* lr_factor=10 weight_decay=0\"", kKey, {}};
}

}  // namespace

Result<ParamRule> parseParamRule(std::string_view text) {
    std::istringstream words{std::string(text)};
    ParamRule rule;
    if (!(words >> rule.pattern)) return wrong("A group of parameters is empty");
    if (rule.pattern.find('=') != std::string::npos) return wrong("The group \"" + std::string(text.substr(0, 60)) + "\" names no parameters");
    for (std::string word; words >> word;) {
        const std::size_t equals = word.find('=');
        const std::string name = word.substr(0, equals), value = equals == std::string::npos ? std::string() : word.substr(equals + 1);
        const bool isFactor = name == "lr_factor";
        if (!isFactor && name != "weight_decay") {
            const std::string near = nearestWord(name, std::vector<std::string>{"lr_factor", "weight_decay"});
            return wrong("The group of " + rule.pattern + " says \"" + word.substr(0, 40) + "\", which is not known" + (near.empty() ? "" : ": did you mean " + near + "?"));
        }
        const auto number = readDouble(value);
        const double largest = isFactor ? kLargestFactor : kLargestDecay;
        if (!number || !std::isfinite(*number) || *number < 0 || *number > largest)
            return wrong("The " + name + " of " + rule.pattern + " must be a number from 0 to " + shortText(largest) + ", not \"" + value.substr(0, 40) + "\"");
        std::optional<double>& place = isFactor ? rule.rateFactor : rule.weightDecay;
        if (place) return wrong("The group of " + rule.pattern + " gives " + name + " twice");
        place = number;
    }
    if (!rule.rateFactor && !rule.weightDecay) return wrong("The group of " + rule.pattern + " changes nothing");
    return rule;
}

bool matchesPattern(std::string_view pattern, std::string_view name) {
    std::size_t p = 0, n = 0, star = std::string_view::npos, from = 0;
    while (n < name.size()) {
        if (p < pattern.size() && pattern[p] == '*') {
            star = p++;
            from = n;
        } else if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == name[n])) {
            ++p;
            ++n;
        } else if (star != std::string_view::npos) {
            p = star + 1;
            n = ++from;
        } else {
            return false;
        }
    }
    while (p < pattern.size() && pattern[p] == '*') ++p;
    return p == pattern.size();
}

}  // namespace lathe::config
