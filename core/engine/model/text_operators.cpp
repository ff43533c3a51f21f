#include "engine/model/text_operators.h"

namespace lathe::engine {
namespace {

/// [N, T, H, D] -> the same, turned by position.
at::Tensor rotated(const at::Tensor& headsNTHD, const RotaryTables& tables) {
    const std::int64_t bytes = headsNTHD.size(1), half = headsNTHD.size(3) / 2;
    const at::Tensor cosine = tables.cosine.narrow(0, 0, bytes).unsqueeze(1).to(headsNTHD.scalar_type());
    const at::Tensor sine = tables.sine.narrow(0, 0, bytes).unsqueeze(1).to(headsNTHD.scalar_type());
    const at::Tensor first = headsNTHD.narrow(3, 0, half), second = headsNTHD.narrow(3, half, half);
    return at::cat({first * cosine - second * sine, second * cosine + first * sine}, 3);
}

}  // namespace

at::Tensor rmsNorm(const at::Tensor& input, const at::Tensor& weight, double epsilon) {
    return at::rms_norm(input, weight.sizes(), weight, epsilon);
}

RotaryTables rotaryTables(std::int64_t positions, std::int64_t headWidth, double base, const at::TensorOptions& options) {
    const auto exact = at::TensorOptions(at::kDouble).device(options.device());
    const at::Tensor frequencies = at::pow(base, at::arange(0, headWidth, 2, exact) * (-1.0 / static_cast<double>(headWidth)));
    const at::Tensor angles = at::outer(at::arange(positions, exact), frequencies);
    return {angles.cos().to(options.dtype()), angles.sin().to(options.dtype())};
}

std::tuple<at::Tensor, at::Tensor, at::Tensor> rotatedHeads(const at::Tensor& allNTW3, std::int64_t heads, const RotaryTables& tables) {
    const at::Tensor allNT3HD = allNTW3.view({allNTW3.size(0), allNTW3.size(1), 3, heads, -1});
    return {rotated(allNT3HD.select(2, 0), tables).transpose(1, 2), rotated(allNT3HD.select(2, 1), tables).transpose(1, 2),
            allNT3HD.select(2, 2).transpose(1, 2)};
}

at::Tensor gated(const at::Tensor& input) {
    const std::int64_t half = input.size(-1) / 2;
    return at::silu(input.narrow(-1, 0, half)) * input.narrow(-1, half, half);
}

}  // namespace lathe::engine
