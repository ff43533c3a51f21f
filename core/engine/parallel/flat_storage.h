// Flat storage: trainable parameters and their gradients as views of one buffer for each (block, group, dtype), so that
// clearing, clipping and the fused optimizer touch a few long tensors and no step allocates. Gradients of one type lie in
// one arena, which is what ranks reduce. After the reduction, everything sees parameters only as the ShardViews of this.
// Thread: one thread at a time.
#pragma once

#include "engine/model/param_table.h"

#include <cstdint>
#include <string>
#include <vector>

namespace lathe::engine {

/// The part of a parameter that this rank updates. One rank: all of it.
struct ShardView {
    std::string parameter;
    at::Tensor value, gradient;   ///< shaped, views of flat storage
    std::size_t flat = 0;         ///< which buffer
    std::int64_t offset = 0;      ///< first element within it
};

/// Equal-length buffers of parameters and gradients. Elements between parameters are zero and stay zero.
struct Flat {
    at::Tensor value, gradient;   ///< one-dimensional
    std::size_t group = 0;        ///< of the table
    std::size_t arena = 0;        ///< which arena the gradient is a part of
    std::int64_t arenaOffset = 0; ///< its first element there
};

class FlatStorage {
public:
    /// Moves the table's trainable tensors into flat buffers (they stay the model's own) and gives them gradients there.
    explicit FlatStorage(const ParamTable& table);

    const std::vector<ShardView>& views() const { return m_views; }  ///< in the table's order
    const std::vector<Flat>& flats() const { return m_flats; }
    /// All gradients, one tensor a type: flats stand in them one after the other.
    const std::vector<at::Tensor>& gradientArenas() const { return m_arenas; }
    void clearGradients();
    /// Multiplies every gradient.
    void scaleGradients(double factor);
    /// Brings every gradient into [-largest, largest].
    void clampGradients(double largest);

private:
    std::vector<ShardView> m_views;
    std::vector<Flat> m_flats;
    std::vector<at::Tensor> m_arenas;
};

}  // namespace lathe::engine
