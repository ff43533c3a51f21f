// Golden tensors of tests/core/engine/golden (made by make_golden.py), and the formula both sides make inputs from.
#pragma once

#include "base/file_system.h"
#include "engine/model/model.h"
#include "rundir/safetensors_header.h"

#include <cstring>
#include <map>
#include <string>

namespace lathe::engine {

inline std::string goldenPath(const std::string& name) { return LATHE_SOURCE_DIR "/tests/core/engine/golden/" + name; }

/// All tensors of a golden file by name.
inline std::map<std::string, at::Tensor> readGolden(const std::string& name) {
    const auto bytes = readFile(goldenPath(name), 64u << 20);
    LATHE_ASSERT(bytes);
    const auto header = rundir::parseSafetensorsHeader(*bytes, bytes->size(), name);
    LATHE_ASSERT(header);
    std::map<std::string, at::Tensor> tensors;
    for (const auto& [key, range] : header->tensors) {
        at::Tensor tensor = at::empty(range.shape, range.dtype == "I64" ? at::kLong : at::kDouble);
        std::memcpy(tensor.mutable_data_ptr(), bytes->data() + range.begin, range.end - range.begin);
        tensors.emplace(key, tensor);
    }
    return tensors;
}

/// made() of make_golden.py: numbers in [-0.5, 0.5), exact in double.
inline at::Tensor made(const std::string& name, at::IntArrayRef shape) {
    std::uint32_t hash = 2166136261u;
    for (const char c : name)
        hash = (hash ^ static_cast<unsigned char>(c)) * 16777619u;
    at::Tensor values = at::empty(shape, at::kDouble);
    for (std::int64_t i = 0; i < values.numel(); ++i) {
        std::uint32_t x = static_cast<std::uint32_t>(i) * 2654435761u + hash;
        x = (x ^ (x >> 16)) * 0x85EBCA6Bu;
        x = (x ^ (x >> 13)) * 0xC2B2AE35u;
        x ^= x >> 16;
        values.mutable_data_ptr<double>()[i] = x / 4294967296.0 - 0.5;
    }
    return values;
}

/// set_weights() of make_golden.py.
inline void setGoldenWeights(Model& model) {
    const at::NoGradGuard noGrad;
    for (const NamedTensor& named : model.parameters()) {
        at::Tensor values = made(named.name, named.tensor.sizes());
        const bool norm = named.name.find("bn") != std::string::npos || named.name.find("downsample.1") != std::string::npos;
        if (named.tensor.dim() > 1)
            values *= 2.0 * std::pow(static_cast<double>(values.numel() / values.size(0)), -0.5) * std::sqrt(3.0);
        else if (norm)
            values = values * 0.5 + (named.name.ends_with("weight") ? 1.0 : 0.0);
        named.tensor.copy_(values);
    }
}

/// Greatest difference over the greatest magnitude of `expected` (taken as at least 1e-3).
inline double relativeDifference(const at::Tensor& actual, const at::Tensor& expected) {
    if (actual.sizes() != expected.sizes())
        return std::numeric_limits<double>::infinity();
    const at::Tensor a = actual.detach().to(at::kDouble), e = expected.to(at::kDouble);
    const double size = std::max(e.abs().max().item<double>(), 1e-3);
    return (a - e).abs().max().item<double>() / size;
}

}  // namespace lathe::engine
