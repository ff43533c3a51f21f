// What the parameters of a model are, built once: everything that cares for names, groups or layout asks this table and
// never the model. Rows stand in the model's order; that order is the layout of flat buffers and of checkpoints.
// Thread: immutable after construction.
#pragma once

#include "engine/model/model.h"
#include "plan/param_groups.h"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace lathe::engine {

struct ParamRow {
    std::string name;                      ///< of the first place that holds the tensor
    std::vector<std::string> aliases;      ///< further names of the same tensor (tied weights)
    std::vector<std::int64_t> shape;
    at::ScalarType dtype = at::kFloat;
    std::size_t group = 0;                 ///< of groups()
    std::uint32_t block = 0;               ///< index of the Block
    bool trainable = true;
    at::Tensor tensor;                     ///< the very tensor of the model

    std::int64_t numel() const;
};

class ParamTable {
public:
    /// Everything that wants a gradient is trained, in one group of no rate or decay of its own.
    explicit ParamTable(Model& model);
    /// With the groups that the section asks for; what it freezes no longer wants a gradient. Config errors name its keys.
    static Result<std::unique_ptr<ParamTable>> make(Model& model, const config::OptimizerSection& section);

    /// Empty: one for everything.
    const std::vector<plan::ParamGroup>& groups() const { return m_groups; }
    const std::vector<ParamRow>& rows() const { return m_rows; }
    /// By name or alias; null when there is none.
    const ParamRow* find(std::string_view name) const;
    std::int64_t totalElements() const;  ///< tied weights once

private:
    std::vector<ParamRow> m_rows;
    std::vector<plan::ParamGroup> m_groups;
};

}  // namespace lathe::engine
