#include "engine/model/text_operators.h"

#include "base/error.h"
#include "engine/model/text_kernel.h"

#include <ATen/Parallel.h>
#include <ATen/core/Reduction.h>
#include <torch/csrc/autograd/custom_function.h>

#include <numeric>

namespace lathe::engine {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

constexpr std::int64_t kGrain = 32 * 1024;       ///< elements, below which a second thread does not pay
constexpr std::int64_t kRowsInPart = 128;        ///< whose gradients of a weight are summed together; fixed, so that threads change no bit

bool hasKernel(const at::Tensor& tensor) { return tensor.is_cpu() && (tensor.scalar_type() == at::kFloat || tensor.scalar_type() == at::kDouble); }

/// Calls `body` with a value of the tensor's type, for its type.
template <typename Body>
void withType(const at::Tensor& tensor, const Body& body) {
    if (tensor.scalar_type() == at::kFloat) body(float{});
    else body(double{});
}

/// Rows shared out among threads.
template <typename Body>
void forRows(std::int64_t rows, std::int64_t width, const Body& body) {
    at::parallel_for(0, rows, std::max<std::int64_t>(1, kGrain / width), [&](std::int64_t begin, std::int64_t end) { body(Rows{begin, end}); });
}

struct RmsNorm : torch::autograd::Function<RmsNorm> {
    static at::Tensor forward(AutogradContext* context, const at::Tensor& input, const at::Tensor& weight, double epsilon) {
        const at::Tensor in = input.contiguous();
        const std::int64_t width = in.size(-1), rows = in.numel() / width;
        at::Tensor out = at::empty_like(in), scale = at::empty({rows}, in.options());
        withType(in, [&](auto zero) {
            using Number = decltype(zero);
            forRows(rows, width, [&](Rows part) {
                rmsNormForward(part, width, in.const_data_ptr<Number>(), weight.const_data_ptr<Number>(), static_cast<Number>(epsilon), out.mutable_data_ptr<Number>(),
                               scale.mutable_data_ptr<Number>());
            });
        });
        context->save_for_backward({in, weight, scale});
        return out;
    }
    static variable_list backward(AutogradContext* context, variable_list gradients) {
        const variable_list saved = context->get_saved_variables();
        const at::Tensor &in = saved[0], &weight = saved[1], &scale = saved[2], grad = gradients[0].contiguous();
        const std::int64_t width = in.size(-1), rows = in.numel() / width, parts = (rows + kRowsInPart - 1) / kRowsInPart;
        at::Tensor gradIn = at::empty_like(in), gradWeights = at::zeros({parts, width}, in.options());
        withType(in, [&](auto zero) {
            using Number = decltype(zero);
            at::parallel_for(0, parts, std::max<std::int64_t>(1, kGrain / width / kRowsInPart), [&](std::int64_t begin, std::int64_t end) {
                for (std::int64_t part = begin; part < end; ++part)
                    rmsNormBackward(Rows{part * kRowsInPart, std::min(rows, (part + 1) * kRowsInPart)}, width, grad.const_data_ptr<Number>(), in.const_data_ptr<Number>(),
                                    weight.const_data_ptr<Number>(), scale.const_data_ptr<Number>(), gradIn.mutable_data_ptr<Number>(),
                                    gradWeights.mutable_data_ptr<Number>() + part * width);
            });
        });
        return {gradIn, gradWeights.sum(0), at::Tensor()};
    }
};

struct RotatedHeads : torch::autograd::Function<RotatedHeads> {
    static variable_list forward(AutogradContext* context, const at::Tensor& allNTW3, const at::Tensor& cosine, const at::Tensor& sine, std::int64_t heads) {
        const at::Tensor in = allNTW3.contiguous();
        const std::int64_t texts = in.size(0), positions = in.size(1), each = in.size(2) / 3;
        const Heads shape{positions, heads, each / heads};
        at::Tensor out = at::empty({texts, positions, 3, heads, shape.width}, in.options());
        withType(in, [&](auto zero) {
            using Number = decltype(zero);
            forRows(texts * positions, 3 * each, [&](Rows part) {
                rotateForward(part, shape, cosine.const_data_ptr<Number>(), sine.const_data_ptr<Number>(), in.const_data_ptr<Number>(), out.mutable_data_ptr<Number>());
            });
        });
        context->saved_data["heads"] = heads;
        context->save_for_backward({cosine, sine});
        return {out.select(2, 0).transpose(1, 2), out.select(2, 1).transpose(1, 2), out.select(2, 2).transpose(1, 2)};
    }
    static variable_list backward(AutogradContext* context, variable_list gradients) {
        const variable_list saved = context->get_saved_variables();
        const at::Tensor &cosine = saved[0], &sine = saved[1];
        for (at::Tensor& gradient : gradients)
            if (gradient.stride(3) != 1) gradient = gradient.contiguous();
        const at::Tensor& like = gradients[0];
        const std::int64_t texts = like.size(0), positions = like.size(2);
        const Heads shape{positions, like.size(1), like.size(3)};
        at::Tensor out = at::empty({texts, positions, 3 * shape.heads * shape.width}, like.options());
        withType(like, [&](auto zero) {
            using Number = decltype(zero);
            HeadGradient<Number> from[3];
            for (std::size_t i = 0; i < 3; ++i) from[i] = {gradients[i].const_data_ptr<Number>(), gradients[i].stride(0), gradients[i].stride(2), gradients[i].stride(1)};
            forRows(texts * positions, out.size(2), [&](Rows part) {
                rotateBackward(part, shape, cosine.const_data_ptr<Number>(), sine.const_data_ptr<Number>(), from, out.mutable_data_ptr<Number>());
            });
        });
        return {out, at::Tensor(), at::Tensor(), at::Tensor()};
    }
};

struct Gated : torch::autograd::Function<Gated> {
    static at::Tensor forward(AutogradContext* context, const at::Tensor& input) {
        const at::Tensor in = input.contiguous();
        const std::int64_t half = in.size(-1) / 2, rows = in.numel() / (2 * half);
        std::vector<std::int64_t> sizes = in.sizes().vec();
        sizes.back() = half;
        at::Tensor out = at::empty(sizes, in.options());
        withType(in, [&](auto zero) {
            using Number = decltype(zero);
            forRows(rows, 2 * half, [&](Rows part) { gateForward(part, half, in.const_data_ptr<Number>(), out.mutable_data_ptr<Number>()); });
        });
        context->save_for_backward({in});
        return out;
    }
    static variable_list backward(AutogradContext* context, variable_list gradients) {
        const at::Tensor in = context->get_saved_variables()[0], grad = gradients[0].contiguous();
        const std::int64_t half = in.size(-1) / 2, rows = in.numel() / (2 * half);
        at::Tensor gradIn = at::empty_like(in);
        withType(in, [&](auto zero) {
            using Number = decltype(zero);
            forRows(rows, 2 * half, [&](Rows part) { gateBackward(part, half, grad.const_data_ptr<Number>(), in.const_data_ptr<Number>(), gradIn.mutable_data_ptr<Number>()); });
        });
        return {gradIn};
    }
};

struct CrossEntropySum : torch::autograd::Function<CrossEntropySum> {
    static at::Tensor forward(AutogradContext* context, const at::Tensor& logits, const at::Tensor& targets) {
        const at::Tensor in = logits.contiguous(), aims = targets.contiguous();
        const std::int64_t symbols = in.size(-1), rows = in.numel() / symbols;
        at::Tensor logSum = at::empty({rows}, in.options());
        std::vector<double> losses(static_cast<std::size_t>(rows));
        withType(in, [&](auto zero) {
            using Number = decltype(zero);
            forRows(rows, symbols, [&](Rows part) {
                crossEntropyForward(part, symbols, in.const_data_ptr<Number>(), aims.const_data_ptr<std::int64_t>(), losses.data(), logSum.mutable_data_ptr<Number>());
            });
        });
        context->save_for_backward({in, aims, logSum});
        return at::scalar_tensor(std::accumulate(losses.begin(), losses.end(), 0.0), in.options());
    }
    static variable_list backward(AutogradContext* context, variable_list gradients) {
        const variable_list saved = context->get_saved_variables();
        const at::Tensor &in = saved[0], &aims = saved[1], &logSum = saved[2];
        const std::int64_t symbols = in.size(-1), rows = in.numel() / symbols;
        at::Tensor gradIn = at::empty_like(in);
        withType(in, [&](auto zero) {
            using Number = decltype(zero);
            const auto factor = static_cast<Number>(gradients[0].item<double>());
            forRows(rows, symbols, [&](Rows part) {
                crossEntropyBackward(part, symbols, factor, in.const_data_ptr<Number>(), aims.const_data_ptr<std::int64_t>(), logSum.const_data_ptr<Number>(),
                                     gradIn.mutable_data_ptr<Number>());
            });
        });
        return {gradIn, at::Tensor()};
    }
};

/// [N, T, H, D] -> the same, turned by position; from LibTorch's operators.
at::Tensor rotated(const at::Tensor& headsNTHD, const RotaryTables& tables) {
    const std::int64_t bytes = headsNTHD.size(1), half = headsNTHD.size(3) / 2;
    const at::Tensor cosine = tables.cosine.narrow(0, 0, bytes).unsqueeze(1).to(headsNTHD.scalar_type());
    const at::Tensor sine = tables.sine.narrow(0, 0, bytes).unsqueeze(1).to(headsNTHD.scalar_type());
    const at::Tensor first = headsNTHD.narrow(3, 0, half), second = headsNTHD.narrow(3, half, half);
    return at::cat({first * cosine - second * sine, second * cosine + first * sine}, 3);
}

}  // namespace

at::Tensor rmsNorm(const at::Tensor& input, const at::Tensor& weight, double epsilon) {
    if (hasKernel(input) && input.scalar_type() == weight.scalar_type()) return RmsNorm::apply(input, weight, epsilon);
    return at::rms_norm(input, weight.sizes(), weight, epsilon);
}

RotaryTables rotaryTables(std::int64_t positions, std::int64_t headWidth, double base, const at::TensorOptions& options) {
    const auto exact = at::TensorOptions(at::kDouble).device(options.device());
    const at::Tensor frequencies = at::pow(base, at::arange(0, headWidth, 2, exact) * (-1.0 / static_cast<double>(headWidth)));
    const at::Tensor angles = at::outer(at::arange(positions, exact), frequencies);
    return {angles.cos().to(options.dtype()), angles.sin().to(options.dtype())};
}

std::tuple<at::Tensor, at::Tensor, at::Tensor> rotatedHeads(const at::Tensor& allNTW3, std::int64_t heads, const RotaryTables& tables) {
    if (hasKernel(allNTW3) && allNTW3.scalar_type() == tables.cosine.scalar_type()) {
        const variable_list turned = RotatedHeads::apply(allNTW3, tables.cosine, tables.sine, heads);
        return {turned[0], turned[1], turned[2]};
    }
    const at::Tensor allNT3HD = allNTW3.view({allNTW3.size(0), allNTW3.size(1), 3, heads, -1});
    return {rotated(allNT3HD.select(2, 0), tables).transpose(1, 2), rotated(allNT3HD.select(2, 1), tables).transpose(1, 2),
            allNT3HD.select(2, 2).transpose(1, 2)};
}

at::Tensor gated(const at::Tensor& input) {
    if (hasKernel(input)) return Gated::apply(input);
    const std::int64_t half = input.size(-1) / 2;
    return at::silu(input.narrow(-1, 0, half)) * input.narrow(-1, half, half);
}

at::Tensor crossEntropySum(const at::Tensor& logits, const at::Tensor& targets) {
    if (hasKernel(logits)) return CrossEntropySum::apply(logits, targets);
    return at::cross_entropy_loss(logits.flatten(0, -2), targets.flatten(), {}, at::Reduction::Sum, -100);
}

}  // namespace lathe::engine
