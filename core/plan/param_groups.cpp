#include "plan/param_groups.h"

#include "base/number_text.h"
#include "config/nearest.h"
#include "config/param_rules.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

namespace lathe::plan {
namespace {

bool matches(const std::string& pattern, const ParamFacts& param) {
    return config::matchesPattern(pattern, param.name) ||
           std::any_of(param.aliases.begin(), param.aliases.end(), [&](const std::string& alias) { return config::matchesPattern(pattern, alias); });
}

/// Names, and the beginnings that stand for several, most like `pattern`; the first few names where none is.
std::string nearNames(const std::string& pattern, const std::vector<ParamFacts>& params) {
    constexpr std::size_t kShown = 4;
    std::set<std::string> all;
    for (const ParamFacts& param : params) {
        all.insert(param.name);
        for (std::size_t dot = param.name.find('.'); dot != std::string::npos; dot = param.name.find('.', dot + 1)) all.insert(param.name.substr(0, dot) + ".*");
    }
    std::vector<std::string> known(all.begin(), all.end());
    std::string text;
    for (std::size_t shown = 0; shown < kShown && !known.empty(); ++shown) {
        const std::string near = config::nearestWord(pattern, known);
        if (near.empty()) break;
        text += (text.empty() ? "" : ", ") + near;
        std::erase(known, near);
    }
    if (!text.empty()) return "near it: " + text;
    for (std::size_t i = 0; i < params.size() && i < kShown; ++i) text += (text.empty() ? "" : ", ") + params[i].name;
    return "there are " + text + (params.size() > kShown ? " …" : "");
}

/// What a pattern came to.
Result<void> checkUse(const std::string& key, const std::string& pattern, bool matched, bool taken, const std::vector<ParamFacts>& params) {
    if (!matched) return Error{ErrorCode::Config, "The pattern \"" + pattern + "\" matches no parameter of this model; " + nearNames(pattern, params), key, {}};
    if (!taken) return Error{ErrorCode::Config, "The pattern \"" + pattern + "\" has nothing left: earlier patterns or optimizer.freeze take all that it matches", key, {}};
    return {};
}

/// Which parameters are frozen; every pattern matches something.
Result<std::vector<bool>> frozenOf(const std::vector<std::string>& patterns, const std::vector<ParamFacts>& params) {
    std::vector<bool> frozen(params.size(), false);
    for (const std::string& pattern : patterns) {
        bool matched = false;
        for (std::size_t i = 0; i < params.size(); ++i) {
            if (!matches(pattern, params[i])) continue;
            matched = true;
            frozen[i] = true;
        }
        LATHE_TRY(checkUse("optimizer.freeze", pattern, matched, true, params));
    }
    if (!params.empty() && std::find(frozen.begin(), frozen.end(), false) == frozen.end())
        return Error{ErrorCode::Config, "optimizer.freeze leaves nothing to train", "optimizer.freeze", {}};
    return frozen;
}

/// Factor of each block: the last one with parameters has 1.
std::map<std::uint32_t, double> layerFactors(double layerDecay, const std::vector<ParamFacts>& params) {
    std::map<std::uint32_t, double> factors;
    for (const ParamFacts& param : params) factors[param.block] = 1;
    double factor = 1;
    for (auto block = factors.rbegin(); block != factors.rend(); ++block) {
        block->second = factor;
        factor *= layerDecay;
    }
    return factors;
}

}  // namespace

Result<ParamGroups> groupParams(const config::OptimizerSection& section, const std::vector<ParamFacts>& params) {
    std::vector<config::ParamRule> rules;
    for (const std::string& text : section.groups) {
        LATHE_TRY_ASSIGN(config::ParamRule rule, config::parseParamRule(text));
        rules.push_back(std::move(rule));
    }
    LATHE_TRY_ASSIGN(const std::vector<bool> frozen, frozenOf(section.freeze, params));
    const std::map<std::uint32_t, double> layers = layerFactors(section.layerDecay, params);
    std::vector<bool> matched(rules.size(), false), taken(rules.size(), false);
    ParamGroups result;
    const bool splits = section.decayOn == "weights" && section.weightDecay > 0;
    for (std::size_t i = 0; i < params.size(); ++i) {
        const ParamFacts& param = params[i];
        std::size_t rule = rules.size();
        for (std::size_t r = 0; r < rules.size(); ++r) {
            if (!matches(rules[r].pattern, param)) continue;
            matched[r] = true;
            if (rule == rules.size() && !frozen[i]) rule = r;
        }
        ParamGroup group{.name = "frozen parameters", .rateFactor = 0, .frozen = true};
        if (!frozen[i]) {
            const config::ParamRule chosen = rule < rules.size() ? rules[rule] : config::ParamRule();
            if (rule < rules.size()) taken[rule] = true;
            const bool isWeight = param.dimensions >= 2, isSplit = splits && !chosen.weightDecay;
            const double layer = layers.at(param.block);
            group = {.name = chosen.pattern, .rateFactor = chosen.rateFactor.value_or(1) * layer,
                     .weightDecay = chosen.weightDecay.value_or(isSplit && !isWeight ? 0 : section.weightDecay)};
            if (group.name.empty()) group.name = !isSplit ? "all parameters" : isWeight ? "all weights" : "biases and norms";
            else if (isSplit && !isWeight) group.name += " (biases and norms)";
            if (section.layerDecay != 1) group.name += ", block " + std::to_string(param.block);
        }
        auto place = std::find_if(result.groups.begin(), result.groups.end(), [&](const ParamGroup& known) { return known.name == group.name; });
        if (place == result.groups.end()) place = result.groups.insert(place, group);
        ++place->tensors;
        place->elements += param.elements;
        result.of.push_back(static_cast<std::size_t>(place - result.groups.begin()));
    }
    for (std::size_t r = 0; r < rules.size(); ++r) LATHE_TRY(checkUse("optimizer.groups", rules[r].pattern, matched[r], taken[r], params));
    return result;
}

std::string groupText(const ParamGroup& group) {
    std::string text = std::to_string(group.tensors) + (group.tensors == 1 ? " tensor, " : " tensors, ") + std::to_string(group.elements) +
                       (group.elements == 1 ? " parameter: " : " parameters: ");
    if (group.frozen) return text + "stays as it is";
    text += group.rateFactor == 1 ? "full rate" : "rate · " + shortText(group.rateFactor);
    return text + ", " + (group.weightDecay > 0 ? "weight decay " + shortText(group.weightDecay) : std::string("no weight decay"));
}

}  // namespace lathe::plan
