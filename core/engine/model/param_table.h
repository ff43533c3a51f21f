// What the parameters of a model are, built once: everything that cares for names, groups or layout asks this table and
// never the model. Rows stand in the model's order; that order is the layout of flat buffers and of checkpoints.
// Thread: immutable after construction.
#pragma once

#include "engine/model/model.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace lathe::engine {

/// Axes of the mesh of ranks: data, context, tensor, pipeline.
enum class MeshAxis { Data, Context, Tensor, Pipeline };
enum class Placement { Replicated, Sharded };

struct ParamRow {
    std::string name;                      ///< of the first place that holds the tensor
    std::vector<std::string> aliases;      ///< further names of the same tensor (tied weights)
    std::vector<std::int64_t> shape;       ///< global
    at::ScalarType dtype = at::kFloat;
    std::string group = "all";             ///< optimizer group; plain AdamW: one for everything
    std::uint32_t block = 0;               ///< index of the Block
    bool trainable = true;
    Placement placement[4] = {};           ///< by MeshAxis; one rank: all replicated
    at::Tensor tensor;                     ///< the local part, the very tensor of the model

    std::int64_t numel() const;
    Placement along(MeshAxis axis) const { return placement[static_cast<int>(axis)]; }
};

class ParamTable {
public:
    explicit ParamTable(Model& model);

    const std::vector<ParamRow>& rows() const { return m_rows; }
    /// By name or alias; null when there is none.
    const ParamRow* find(std::string_view name) const;
    std::int64_t totalElements() const;  ///< tied weights once

private:
    std::vector<ParamRow> m_rows;
};

}  // namespace lathe::engine
