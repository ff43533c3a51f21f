// Which parameters share a learning rate and a weight decay, and which stay as they are. Asked by the engine, which trains
// by it, and by whoever shows it.
// Thread: pure functions.
#pragma once

#include "base/result.h"
#include "config/sections.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace lathe::plan {

/// What is known of a parameter before anything is trained.
struct ParamFacts {
    std::string name;
    std::vector<std::string> aliases;   ///< further names (tied weights); a pattern may mean any of them
    std::size_t dimensions = 0;
    std::int64_t elements = 0;
    std::uint32_t block = 0;            ///< of the model, in order; the depth that layer_decay counts
};

struct ParamGroup {
    std::string name;                   ///< "all weights", "biases and norms", "head.*", "frozen parameters"; patterns hold no blank
    double rateFactor = 1;              ///< on the learning rate
    double weightDecay = 0;
    bool frozen = false;
    std::int64_t tensors = 0, elements = 0;
};

struct ParamGroups {
    std::vector<ParamGroup> groups;     ///< in the order of their first parameter
    std::vector<std::size_t> of;        ///< for each parameter, which group
};

/// A parameter belongs to optimizer.freeze where a pattern of it matches, else to the first of optimizer.groups that does,
/// else to nobody's. optimizer.decay_on "weights" leaves out tensors of fewer than two dimensions (biases, norms) unless a
/// group names a decay. layer_decay multiplies the rate of a block once for each block with parameters after it.
/// Config errors: a pattern that matches nothing (with near names), one that has nothing left, nothing to train.
Result<ParamGroups> groupParams(const config::OptimizerSection& section, const std::vector<ParamFacts>& params);

/// "4 tensors, 1234 parameters: rate · 0.1, weight decay 0.01", or that they stay as they are.
std::string groupText(const ParamGroup& group);

}  // namespace lathe::plan
