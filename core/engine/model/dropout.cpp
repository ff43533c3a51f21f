#include "engine/model/dropout.h"

#include "base/error.h"
#include "plan/random.h"

#include <ATen/Parallel.h>
#include <torch/csrc/autograd/custom_function.h>

#include <cmath>

namespace lathe::engine {

DropoutKey dropoutKey(const DropoutAddress& address) {
    const auto low = [](std::uint64_t value) { return static_cast<std::uint32_t>(value); };
    const auto high = [](std::uint64_t value) { return static_cast<std::uint32_t>(value >> 32); };
    const auto attempt = static_cast<std::uint64_t>(address.attempt), micro = static_cast<std::uint64_t>(address.microBatch);
    const std::uint32_t purpose = static_cast<std::uint32_t>(plan::Purpose::Noise);
    const auto first = plan::philox({low(attempt), high(attempt), low(micro), high(micro)},
                                    {low(address.seed), high(address.seed)});
    const auto second = plan::philox({first[0] ^ address.role, first[1] ^ address.block, first[2] ^ address.call, first[3] ^ purpose},
                                     {low(address.seed), high(address.seed)});
    return {{second[0], second[1]}, {second[2], second[3]}};
}

namespace {

std::uint32_t thresholdOf(double probability) {
    return static_cast<std::uint32_t>(std::min(std::llround(probability * 4294967296.0), 4294967295LL));
}

constexpr std::int64_t kGrain = 128 * 1024;  ///< elements; about 0.1 ms, below which a second thread does not pay

template <typename Number>
void applyKernel(const at::Tensor& in, at::Tensor& out, double probability, const DropoutKey& key, std::int64_t firstElement) {
    const Number* from = in.const_data_ptr<Number>();
    Number* to = out.mutable_data_ptr<Number>();
    const std::uint32_t threshold = thresholdOf(probability);
    const Number scale = static_cast<Number>(1.0 / (1.0 - probability));
    at::parallel_for(0, in.numel(), kGrain, [&](std::int64_t begin, std::int64_t end) {
        dropoutKernel(from + begin, to + begin, static_cast<std::uint64_t>(firstElement + begin), static_cast<std::uint64_t>(end - begin), key,
                      threshold, scale);
    });
}

at::Tensor masked(const at::Tensor& input, double probability, const DropoutKey& key, std::int64_t firstElement) {
    const bool single = input.scalar_type() == at::kFloat, twice = input.scalar_type() == at::kDouble;
    if (!input.is_cpu() || !(single || twice))
        return dropoutByOperators(input, probability, key, firstElement);
    const at::Tensor in = input.contiguous();
    at::Tensor out = at::empty_like(in);
    if (single)
        applyKernel<float>(in, out, probability, key, firstElement);
    else
        applyKernel<double>(in, out, probability, key, firstElement);
    return out;
}

struct DropoutFunction : torch::autograd::Function<DropoutFunction> {
    struct Arguments {
        double probability;
        DropoutKey key;
        std::int64_t firstElement;
    };

    static at::Tensor forward(torch::autograd::AutogradContext* context, const at::Tensor& input, const Arguments& arguments) {
        const auto& [probability, key, firstElement] = arguments;
        context->saved_data["probability"] = probability;
        context->saved_data["first"] = firstElement;
        context->saved_data["key"] =
            std::vector<std::int64_t>{key.key[0], key.key[1], key.place[0], key.place[1]};
        return masked(input, probability, key, firstElement);
    }

    static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context, torch::autograd::variable_list gradients) {
        const std::vector<std::int64_t> words = context->saved_data["key"].toIntVector();
        const auto word = [&](std::size_t i) { return static_cast<std::uint32_t>(words[i]); };
        const DropoutKey key{{word(0), word(1)}, {word(2), word(3)}};
        return {masked(gradients[0], context->saved_data["probability"].toDouble(), key, context->saved_data["first"].toInt()), at::Tensor()};
    }
};

}  // namespace

at::Tensor dropout(const at::Tensor& input, double probability, const DropoutKey& key, std::int64_t firstElement) {
    LATHE_ASSERT(probability >= 0 && probability < 1);
    if (probability == 0)
        return input;
    return DropoutFunction::apply(input, DropoutFunction::Arguments{probability, key, firstElement});
}

at::Tensor dropoutByOperators(const at::Tensor& input, double probability, const DropoutKey& key, std::int64_t firstElement) {
    const at::NoGradGuard noGrad;
    constexpr std::int64_t kMask = 0xFFFFFFFF;
    // Products of two 32-bit words wrap in int64, but their bits are right.
    const at::Tensor element = at::arange(firstElement, firstElement + input.numel(), at::TensorOptions(at::kLong).device(input.device()));
    const at::Tensor block = element.div(64, "floor") * 16 + element.remainder(16);
    at::Tensor c0 = block.bitwise_and(kMask), c1 = block.bitwise_right_shift(32);
    at::Tensor c2 = at::full_like(block, static_cast<std::int64_t>(key.place[0]));
    at::Tensor c3 = at::full_like(block, static_cast<std::int64_t>(key.place[1]));
    std::uint32_t k0 = key.key[0], k1 = key.key[1];
    for (int round = 0; round < 10; ++round) {
        const at::Tensor p0 = c0 * std::int64_t{0xD2511F53}, p1 = c2 * std::int64_t{0xCD9E8D57};
        const at::Tensor h0 = p0.bitwise_right_shift(32).bitwise_and(kMask), h1 = p1.bitwise_right_shift(32).bitwise_and(kMask);
        c0 = h1.bitwise_xor(c1).bitwise_xor(static_cast<std::int64_t>(k0));
        c1 = p1.bitwise_and(kMask);
        c2 = h0.bitwise_xor(c3).bitwise_xor(static_cast<std::int64_t>(k1));
        c3 = p0.bitwise_and(kMask);
        k0 += 0x9E3779B9;
        k1 += 0xBB67AE85;
    }
    const at::Tensor word = element.remainder(64).div(16, "floor");
    const at::Tensor words = at::where(word == 0, c0, at::where(word == 1, c1, at::where(word == 2, c2, c3)));
    const at::Tensor kept = words.ge(static_cast<std::int64_t>(thresholdOf(probability))).view(input.sizes());
    return input * kept.to(input.scalar_type()) * (1.0 / (1.0 - probability));
}

}  // namespace lathe::engine
