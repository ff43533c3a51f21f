// Two of the three strategies of the loop: Accumulation (which micro-batches make an update) and Precision (types and the
// verdict). The third is engine/parallel.
#pragma once

#include "config/sections.h"
#include "engine/parallel/parallel.h"
#include "plan/order.h"

#include <memory>
#include <string>

namespace lathe::engine {

class Accumulation {
public:
    virtual ~Accumulation() = default;
    virtual plan::Window windowAt(Epoch epoch, PlanEntry entry) const = 0;
};

/// Always so many micro-batches; the last window of an epoch takes what is left.
class FixedAccumulation final : public Accumulation {
public:
    explicit FixedAccumulation(const plan::OrderShape& shape) : m_shape(shape) {}
    plan::Window windowAt(Epoch epoch, PlanEntry entry) const override { return plan::windowAt(m_shape, epoch, entry); }

private:
    plan::OrderShape m_shape;
};

class Precision {
public:
    virtual ~Precision() = default;
    virtual std::string name() const = 0;
    virtual at::ScalarType dtype() const = 0;
    /// Empty: the update may be applied. Else why not, as a part of a sentence.
    virtual std::string verdict(double loss, const GradientNorm& norm) const = 0;
};

/// "fp32" or "fp64": one type throughout, no scaling.
Result<std::unique_ptr<Precision>> makePrecision(const config::PrecisionSection& section);

}  // namespace lathe::engine
