// Precision: number formats, the scale of the loss, and whether an update may be applied.
// Parameters, gradients and optimizer state are fp32 (or fp64): the master weights are the model's own. Mixed precision
// casts inside the forward pass alone, so that gradients are accumulated in fp32.
// Thread: one thread at a time.
#pragma once

#include "config/sections.h"
#include "engine/parallel/parallel.h"
#include "engine/train/hooks.h"
#include "engine/train/train_state.h"

#include <memory>
#include <optional>
#include <string>

namespace lathe::engine {

class Precision : public Stateful {
public:
    virtual std::string name() const = 0;             ///< "fp32"
    virtual at::ScalarType parameterType() const = 0;
    /// What operators compute in during a forward pass where that is not the type of their inputs.
    virtual std::optional<at::ScalarType> castType() const { return std::nullopt; }

    /// What the loss is multiplied by before the backward pass; a power of two.
    virtual double scale() const { return 1; }
    /// Empty: the update may be applied. Else why not, as a part of a sentence. The same on every rank, as its arguments are.
    std::string verdict(double loss, const GradientNorm& norm) const;
    /// After each attempt. Returns why training cannot go on, or nothing.
    virtual std::string settle(const UpdateResult&) { return {}; }
    std::string stateName() const override { return "precision"; }
};

/// "fp32" or "fp64": one type throughout, no scaling.
Result<std::unique_ptr<Precision>> makePrecision(const config::PrecisionSection& section);

}  // namespace lathe::engine
