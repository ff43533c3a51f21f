#include "engine/parallel/flat_storage.h"

#include <tuple>

namespace lathe::engine {
namespace {

/// Parameters start at multiples of so many bytes within their buffer, as fresh tensors do.
constexpr std::int64_t kAlignment = 64;

std::int64_t paddedElements(const at::Tensor& tensor) {
    const std::int64_t step = kAlignment / tensor.element_size();
    return (tensor.numel() + step - 1) / step * step;
}

}  // namespace

FlatStorage::FlatStorage(const ParamTable& table) {
    const at::NoGradGuard noGrad;
    std::map<std::tuple<std::uint32_t, std::size_t, at::ScalarType>, std::size_t> known;
    std::vector<std::int64_t> lengths;
    std::vector<std::size_t> groups;
    std::vector<at::TensorOptions> options;
    for (const ParamRow& row : table.rows()) {
        if (!row.trainable) continue;
        const auto [place, isNew] = known.try_emplace({row.block, row.group, row.dtype}, lengths.size());
        if (isNew) {
            lengths.push_back(0);
            groups.push_back(row.group);
            options.push_back(row.tensor.options().requires_grad(false));
        }
        m_views.push_back({row.name, row.tensor, {}, place->second, lengths[place->second]});
        lengths[place->second] += paddedElements(row.tensor);
    }
    std::map<at::ScalarType, std::size_t> arenaOf;
    std::vector<std::int64_t> arenaLengths;
    for (std::size_t i = 0; i < lengths.size(); ++i) {
        const auto [arena, isNew] = arenaOf.try_emplace(c10::typeMetaToScalarType(options[i].dtype()), arenaLengths.size());
        if (isNew) arenaLengths.push_back(0);
        m_flats.push_back({at::zeros({lengths[i]}, options[i]), {}, groups[i], arena->second, arenaLengths[arena->second]});
        arenaLengths[arena->second] += lengths[i];
    }
    for (const auto& [type, arena] : arenaOf) {
        if (m_arenas.size() <= arena) m_arenas.resize(arena + 1);
        m_arenas[arena] = at::zeros({arenaLengths[arena]}, options.front().dtype(type));
    }
    for (Flat& flat : m_flats) flat.gradient = m_arenas[flat.arena].narrow(0, flat.arenaOffset, flat.value.numel());
    for (ShardView& view : m_views) {
        const Flat& flat = m_flats[view.flat];
        const at::Tensor place = flat.value.narrow(0, view.offset, view.value.numel()).view(view.value.sizes());
        place.copy_(view.value);
        view.value.set_data(place);
        view.gradient = flat.gradient.narrow(0, view.offset, view.value.numel()).view(view.value.sizes());
        view.value.mutable_grad() = view.gradient;
    }
}

void FlatStorage::clearGradients() {
    for (at::Tensor& arena : m_arenas) arena.zero_();
}

void FlatStorage::scaleGradients(double factor) {
    for (at::Tensor& arena : m_arenas) arena.mul_(factor);
}

void FlatStorage::clampGradients(double largest) {
    for (at::Tensor& arena : m_arenas) arena.clamp_(-largest, largest);
}

}  // namespace lathe::engine
