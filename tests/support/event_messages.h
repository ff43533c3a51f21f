// Messages of event files made in tests field by field, as other writers make them.
#pragma once

#include <protozero/buffer_string.hpp>
#include <protozero/pbf_writer.hpp>

#include <functional>
#include <string>

namespace lathe::test {

/// An event with one value whose fields `fill` writes.
inline std::string eventWith(const std::function<void(protozero::pbf_writer&)>& fill) {
    std::string value, summary, event;
    protozero::pbf_writer valueWriter(value);
    fill(valueWriter);
    protozero::pbf_writer(summary).add_message(1, value);
    protozero::pbf_writer writer(event);
    writer.add_double(1, 5.0);
    writer.add_int64(2, 7);
    writer.add_message(5, summary);
    return event;
}

inline std::string tensorOf(int type, const std::function<void(protozero::pbf_writer&)>& fill, int rank = 0) {
    std::string tensor, shape;
    protozero::pbf_writer shapeWriter(shape);
    for (int i = 0; i < rank; ++i) {
        std::string dimension;
        protozero::pbf_writer(dimension).add_int64(1, 1);
        shapeWriter.add_message(2, dimension);
    }
    protozero::pbf_writer writer(tensor);
    writer.add_enum(1, type);
    writer.add_message(2, shape);
    fill(writer);
    return tensor;
}

inline std::string metadataOf(const std::string& plugin, const std::string& content = {}) {
    std::string data, metadata;
    protozero::pbf_writer writer(data);
    writer.add_string(1, plugin);
    if (!content.empty()) writer.add_bytes(2, content);
    protozero::pbf_writer(metadata).add_message(1, data);
    return metadata;
}

}  // namespace lathe::test
