// Precision: number formats, the scale of the loss, and whether an update may be applied.
// Parameters, gradients and optimizer state are fp32 (or fp64): the master weights are the model's own. Mixed precision
// casts inside the forward pass alone, so that gradients are accumulated in fp32.
// Thread: one thread at a time.
#pragma once

#include "base/kinds.h"
#include "config/sections.h"
#include "engine/parallel/parallel.h"
#include "engine/train/hooks.h"
#include "engine/train/train_state.h"

#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace lathe::engine {

class Precision : public Stateful {
public:
    virtual std::string name() const = 0;             ///< "fp32" | "fp64" | "bf16" | "fp16"
    virtual at::ScalarType parameterType() const { return at::kFloat; }
    /// What operators compute in during a forward pass where that is not the type of their inputs.
    virtual std::optional<at::ScalarType> castType() const { return std::nullopt; }

    /// What the loss is multiplied by before the backward pass; a power of two.
    virtual double scale() const { return 1; }
    /// Empty: the update may be applied. Else why not, as a part of a sentence. The same on every rank, as its arguments are.
    std::string verdict(double loss, const GradientNorm& norm) const;
    /// After each attempt. Returns why training cannot go on, or nothing.
    virtual std::string settle(const UpdateResult&) { return {}; }
    /// A state that must be saved: registered only where there is one.
    virtual bool hasState() const { return false; }
    std::string stateName() const override { return "precision"; }

    /// Why "auto" chose this; empty where it was asked for.
    const std::string& why() const { return m_why; }

protected:
    std::string m_why;
    friend Result<std::unique_ptr<Precision>> makePrecision(const config::PrecisionSection&, at::Device);
};

using PrecisionMaker = std::function<Result<std::unique_ptr<Precision>>(const config::PrecisionSection& section, at::Device device)>;
/// All of them by name. A built-in one is a line in precision.cpp.
Kinds<PrecisionMaker>& precisionKinds();

/// "fp32", "fp64": one type throughout. "bf16", "fp16": weights in fp32, arithmetic of the forward pass in that type; fp16
/// with a loss scale that halves after an overflow and doubles after precision.scale_growth_updates updates without one.
/// "auto": by device.
Result<std::unique_ptr<Precision>> makePrecision(const config::PrecisionSection& section, at::Device device = at::kCPU);

/// While it lives, operators of this thread that can compute in `type` do so on `device`; copies of weights that they made
/// are dropped with it, so that an update is seen by the next forward pass. Nothing happens without a type.
class CastScope {
public:
    CastScope(at::DeviceType device, std::optional<at::ScalarType> type);
    ~CastScope();
    CastScope(const CastScope&) = delete;
    CastScope& operator=(const CastScope&) = delete;

private:
    at::DeviceType m_device;
    bool m_active;
    bool m_wasEnabled = false;
    at::ScalarType m_oldType = at::kFloat;
};

}  // namespace lathe::engine
