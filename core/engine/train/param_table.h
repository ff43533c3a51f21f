// ParamTable: every parameter of a model with its place in flat storage. Built once, immutable afterwards.
// Parameters and gradients are views of one buffer for each (block, group, dtype), so that clearing, clipping and the
// fused optimizer touch a few long tensors and no step allocates.
// Thread: one thread at a time.
#pragma once

#include "engine/model/model.h"

#include <cstdint>
#include <string>
#include <vector>

namespace lathe::engine {

struct Param {
    std::string name;
    std::vector<std::string> aliases;  ///< other names of the same tensor (tied weights); counted once
    std::string block, group;
    at::Tensor value;                  ///< the model's own tensor
    at::Tensor gradient;               ///< same shape, view of the flat gradient; undefined when frozen
    std::size_t flat = 0;              ///< index into flats(); meaningless when frozen
    std::int64_t offset = 0;           ///< first element within that flat buffer
    bool frozen = false;               ///< no update can change it
};

/// Equal-length buffers of parameters and gradients. Elements between parameters are zero and stay zero.
struct Flat {
    std::string block, group;
    at::Tensor value, gradient;        ///< one-dimensional
};

class ParamTable {
public:
    /// Moves the model's trainable parameters into flat storage and gives them gradients there.
    explicit ParamTable(const Model& model);

    const std::vector<Param>& params() const { return m_params; }  ///< in the model's order, frozen ones too
    const std::vector<Flat>& flats() const { return m_flats; }
    std::int64_t trainableElements() const;
    void clearGradients();
    /// Multiplies every gradient.
    void scaleGradients(double factor);

private:
    std::vector<Param> m_params;
    std::vector<Flat> m_flats;
};

}  // namespace lathe::engine
