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
    std::map<std::tuple<std::uint32_t, std::string, at::ScalarType>, std::size_t> known;
    std::vector<std::int64_t> lengths;
    std::vector<at::TensorOptions> options;
    for (const ParamRow& row : table.rows()) {
        if (!row.trainable) continue;
        const auto [place, isNew] = known.try_emplace({row.block, row.group, row.dtype}, lengths.size());
        if (isNew) {
            lengths.push_back(0);
            options.push_back(row.tensor.options().requires_grad(false));
        }
        m_views.push_back({row.name, row.tensor, {}, place->second, lengths[place->second]});
        lengths[place->second] += paddedElements(row.tensor);
    }
    for (std::size_t i = 0; i < lengths.size(); ++i)
        m_flats.push_back({at::zeros({lengths[i]}, options[i]), at::zeros({lengths[i]}, options[i])});
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
    for (Flat& flat : m_flats) flat.gradient.zero_();
}

void FlatStorage::scaleGradients(double factor) {
    for (Flat& flat : m_flats) flat.gradient.mul_(factor);
}

}  // namespace lathe::engine
