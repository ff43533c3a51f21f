#include "engine/train/param_table.h"

#include <algorithm>
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

ParamTable::ParamTable(const Model& model) {
    std::map<const void*, std::size_t> known;
    std::map<std::tuple<std::string, std::string, at::ScalarType>, std::size_t> flatOf;
    std::vector<std::int64_t> lengths;
    std::vector<at::TensorOptions> options;
    for (auto& block : const_cast<Model&>(model).blocks()) {
        for (NamedTensor& named : block->parameters()) {
            const auto [place, isNew] = known.try_emplace(named.tensor.unsafeGetTensorImpl(), m_params.size());
            if (!isNew) {
                m_params[place->second].aliases.push_back(named.name);
                continue;
            }
            Param param{.name = named.name, .aliases = {}, .block = block->name(), .group = "all", .value = named.tensor,
                        .gradient = {}, .flat = 0, .offset = 0, .frozen = !named.tensor.requires_grad()};
            if (!param.frozen) {
                const auto [flat, isNewFlat] = flatOf.try_emplace({param.block, param.group, param.value.scalar_type()}, lengths.size());
                if (isNewFlat) {
                    lengths.push_back(0);
                    options.push_back(param.value.options().requires_grad(false));
                    m_flats.push_back({param.block, param.group, {}, {}});
                }
                param.flat = flat->second;
                param.offset = lengths[param.flat];
                lengths[param.flat] += paddedElements(param.value);
            }
            m_params.push_back(std::move(param));
        }
    }

    const at::NoGradGuard noGrad;
    for (std::size_t i = 0; i < m_flats.size(); ++i) {
        m_flats[i].value = at::zeros({lengths[i]}, options[i]);
        m_flats[i].gradient = at::zeros({lengths[i]}, options[i]);
    }
    for (Param& param : m_params) {
        if (param.frozen) continue;
        const Flat& flat = m_flats[param.flat];
        const at::Tensor view = flat.value.narrow(0, param.offset, param.value.numel()).view(param.value.sizes());
        view.copy_(param.value);
        param.value.set_data(view);
        param.gradient = flat.gradient.narrow(0, param.offset, param.value.numel()).view(param.value.sizes());
        param.value.mutable_grad() = param.gradient;
    }
}

std::int64_t ParamTable::trainableElements() const {
    std::int64_t count = 0;
    for (const Param& param : m_params) count += param.frozen ? 0 : param.value.numel();
    return count;
}

void ParamTable::clearGradients() {
    for (Flat& flat : m_flats) flat.gradient.zero_();
}

void ParamTable::scaleGradients(double factor) {
    for (Flat& flat : m_flats) flat.gradient.mul_(factor);
}

}  // namespace lathe::engine
