// What gradients and weights look like inside: norms by group, and histograms by parameter.
// Thread: one thread at a time.
#pragma once

#include "engine/parallel/flat_storage.h"

#include <string>
#include <vector>

namespace lathe::engine {

/// Counts of values between `edges` (one more of them than counts). Values that are not finite are left out.
struct Histogram {
    std::string name;                ///< "gradients/fc.weight", "weights/fc.weight"
    std::vector<double> edges, counts;
};

/// What an update looked like from inside, of gradients before clipping and weights before the step.
struct Distributions {
    std::vector<double> groupNorms;  ///< by group of the table; empty: not due
    std::vector<Histogram> histograms;
};

/// Norm of the gradients of each group up to the last one that is trained; 0 where nothing is.
std::vector<double> normsByGroup(const FlatStorage& storage);
/// Of all gradients, then of all weights, in 64 bins from the smallest to the largest value.
std::vector<Histogram> histogramsOf(const FlatStorage& storage);
/// One tensor of any floating type on any device.
Histogram histogramOf(std::string name, const at::Tensor& tensor);

}  // namespace lathe::engine
