// Rules about parameters by name: optimizer.groups and optimizer.freeze.
#pragma once

#include "base/result.h"

#include <optional>
#include <string>
#include <string_view>

namespace lathe::config {

/// One entry of optimizer.groups: "head.* lr_factor=10 weight_decay=0".
struct ParamRule {
    std::string pattern;
    std::optional<double> rateFactor;    ///< on the learning rate, 0 to 1000
    std::optional<double> weightDecay;   ///< instead of optimizer.weight_decay, also of biases and norms; 0 to 100
};

/// The error is one sentence with an example.
Result<ParamRule> parseParamRule(std::string_view text);

/// Whether a parameter's name fits: * stands for any text, dots included, ? for one character.
bool matchesPattern(std::string_view pattern, std::string_view name);

}  // namespace lathe::config
