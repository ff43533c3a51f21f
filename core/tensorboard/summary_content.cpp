#include "tensorboard/summary_content.h"

#include <protozero/pbf_reader.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>

namespace lathe::tensorboard {
namespace {

using protozero::pbf_reader;
using protozero::tag_and_type;
using Wire = protozero::pbf_wire_type;

enum DataType : std::int32_t { Float = 1, Double = 2 };

pbf_reader readerOf(std::string_view message) { return pbf_reader(message.data(), message.size()); }

std::string_view viewOf(pbf_reader& message) {
    const protozero::data_view view = message.get_view();
    return {view.data(), view.size()};
}

/// A repeated field of doubles, packed or one by one.
void addDoubles(pbf_reader& message, std::vector<double>& out) {
    if (message.wire_type() == Wire::length_delimited) {
        for (const double number : message.get_packed_double()) out.push_back(number);
    } else if (message.wire_type() == Wire::fixed64) {
        out.push_back(message.get_double());
    } else {
        message.skip();
    }
}

void addFloats(pbf_reader& message, std::vector<double>& out) {
    if (message.wire_type() == Wire::length_delimited) {
        for (const float number : message.get_packed_float()) out.push_back(number);
    } else if (message.wire_type() == Wire::fixed32) {
        out.push_back(message.get_float());
    } else {
        message.skip();
    }
}

/// One bin without a value in it.
Histogram emptyBetween(double left, double right) {
    if (!std::isfinite(left) || !std::isfinite(right) || left > right) left = right = 0;
    return {{left, right}, {0}};
}

/// HistogramProto: limits are the right edges of its buckets; the first begins, and the last ends, where nothing says.
std::optional<Histogram> fromBuckets(std::string_view content) {
    double smallest = 0, largest = 0;
    std::vector<double> limits, counts;
    pbf_reader message = readerOf(content);
    while (message.next()) {
        if (message.tag_and_type() == tag_and_type(1, Wire::fixed64)) smallest = message.get_double();
        else if (message.tag_and_type() == tag_and_type(2, Wire::fixed64)) largest = message.get_double();
        else if (message.tag() == 6) addDoubles(message, limits);
        else if (message.tag() == 7) addDoubles(message, counts);
        else message.skip();
    }
    if (limits.size() != counts.size()) return std::nullopt;
    const auto holds = [](double count) { return count > 0; };
    const auto first = std::find_if(counts.begin(), counts.end(), holds) - counts.begin();
    const auto behind = counts.rend() - std::find_if(counts.rbegin(), counts.rend(), holds);
    if (first >= behind) return emptyBetween(smallest, largest);
    Histogram histogram;
    histogram.edges.push_back(smallest);
    histogram.edges.insert(histogram.edges.end(), limits.begin() + first, limits.begin() + behind - 1);
    histogram.edges.push_back(largest);
    histogram.counts.assign(counts.begin() + first, counts.begin() + behind);
    return histogram;
}

/// A tensor of rows: left, right, count.
std::optional<Histogram> fromTensor(std::string_view content) {
    std::int32_t type = 0;
    std::string_view raw;
    std::vector<double> numbers;
    pbf_reader message = readerOf(content);
    while (message.next()) {
        if (message.tag_and_type() == tag_and_type(1, Wire::varint)) type = message.get_enum();
        else if (message.tag_and_type() == tag_and_type(4, Wire::length_delimited)) raw = viewOf(message);
        else if (message.tag() == 5) addFloats(message, numbers);
        else if (message.tag() == 6) addDoubles(message, numbers);
        else message.skip();
    }
    const std::size_t width = type == Double ? sizeof(double) : type == Float ? sizeof(float) : 0;
    if (width == 0 || raw.size() % width != 0) return std::nullopt;
    for (std::size_t at = 0; at < raw.size(); at += width) {
        float single = 0;
        double whole = 0;
        if (type == Double) std::memcpy(&whole, raw.data() + at, width);
        else std::memcpy(&single, raw.data() + at, width), whole = single;
        numbers.push_back(whole);
    }
    if (numbers.size() % 3 != 0) return std::nullopt;
    if (numbers.empty()) return emptyBetween(0, 0);
    Histogram histogram;
    histogram.edges.push_back(numbers[0]);
    for (std::size_t at = 0; at < numbers.size(); at += 3) {
        if (numbers[at] > histogram.edges.back()) {  // a gap to the row before
            histogram.edges.push_back(numbers[at]);
            histogram.counts.push_back(0);
        }
        histogram.edges.push_back(numbers[at + 1]);
        histogram.counts.push_back(numbers[at + 2]);
    }
    return histogram;
}

bool isSound(const Histogram& histogram) {
    return std::all_of(histogram.edges.begin(), histogram.edges.end(), [](double edge) { return std::isfinite(edge); })
           && std::is_sorted(histogram.edges.begin(), histogram.edges.end())
           && std::all_of(histogram.counts.begin(), histogram.counts.end(), [](double count) { return std::isfinite(count) && count >= 0; });
}

}  // namespace

std::optional<Histogram> histogramOf(const Value& value) {
    try {
        auto histogram = value.content.empty() ? std::nullopt : value.isTensor ? fromTensor(value.content) : fromBuckets(value.content);
        return histogram && isSound(*histogram) ? histogram : std::nullopt;
    } catch (const protozero::exception&) {
        return std::nullopt;
    }
}

std::vector<std::string_view> picturesOf(const Value& value) {
    std::vector<std::string_view> out;
    try {
        // Of a tensor: width and height as text, then the pictures. Else a message with one picture.
        pbf_reader message = readerOf(value.content);
        std::size_t strings = 0;
        while (message.next(value.isTensor ? 8 : 4, Wire::length_delimited)) {
            const std::string_view picture = viewOf(message);
            if (!value.isTensor || strings++ >= 2) out.push_back(picture);
        }
    } catch (const protozero::exception&) {
        out.clear();
    }
    return out;
}

std::string_view mediaTypeOf(std::string_view picture) {
    if (picture.starts_with("\x89PNG\r\n\x1a\n")) return "image/png";
    return picture.starts_with("\xff\xd8\xff") ? "image/jpeg" : std::string_view();
}

}  // namespace lathe::tensorboard
