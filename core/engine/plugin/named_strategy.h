// Strategies and learning-rate curves of plug-ins as the loop has them: what goes wrong in one says whose it is.
#pragma once

#include "engine/parallel/data_parallel.h"
#include "engine/train/precision.h"
#include "plan/accumulation.h"
#include "plan/schedule.h"

#include <functional>
#include <memory>
#include <string>

namespace lathe::engine {

using AccumulationMaker = std::function<Result<std::shared_ptr<plan::Accumulation>>(const config::AccumulationSection&)>;

/// Makes what `make` makes, under the name NAME/thing: what it throws names it, and so does a first window of a run
/// that is not closed in a whole epoch.
AccumulationMaker named(const std::string& name, AccumulationMaker make);
ParallelMaker named(const std::string& name, ParallelMaker make);
PrecisionMaker named(const std::string& name, PrecisionMaker make);
/// A factor that is no number is an error too.
plan::CurveFactor named(const std::string& name, plan::CurveFactor factor);

}  // namespace lathe::engine
