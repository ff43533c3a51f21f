// What values of event files hold beside numbers and text: histograms and pictures. Field numbers: summary.proto and
// tensor.proto of TensorFlow; the tensor forms are those of its histogram and image plug-ins.
// Thread: pure functions.
#pragma once

#include "tensorboard/event.h"

#include <optional>
#include <string_view>
#include <vector>

namespace lathe::tensorboard {

/// Counts between edges, one edge more than counts; edges are finite and never fall, counts finite and not negative.
struct Histogram {
    std::vector<double> edges, counts;
};
/// Of a value of Kind::Histogram; nothing where it contradicts itself, or is of the form that was given up in 2015.
/// Empty buckets at the ends are left out, as TensorBoard does: the outer edges are the smallest and the largest value.
std::optional<Histogram> histogramOf(const Value& value);

/// The encoded pictures of a value of Kind::Image, as they stand in the file; none where it holds none.
std::vector<std::string_view> picturesOf(const Value& value);
/// "image/png" or "image/jpeg" by how a picture begins, else empty.
std::string_view mediaTypeOf(std::string_view picture);

}  // namespace lathe::tensorboard
