#include "tensorboard/event.h"

#include "base/number_text.h"

#include <protozero/buffer_vector.hpp>
#include <protozero/pbf_reader.hpp>
#include <protozero/pbf_writer.hpp>

#include <bit>
#include <cmath>
#include <cstring>
#include <tuple>

namespace lathe::tensorboard {
namespace {

using protozero::pbf_reader;
using protozero::tag_and_type;
using Wire = protozero::pbf_wire_type;
using Kind = Value::Kind;

// tensor.proto, types.proto
enum DataType : std::int32_t { Float = 1, Double = 2, Int32 = 3, Uint8 = 4, Int16 = 5, Int8 = 6, String = 7, Int64 = 9, Bool = 10,
                               Bfloat16 = 14, Uint16 = 17, Half = 19, Uint32 = 22, Uint64 = 23 };
constexpr std::size_t kLongestText = 64u << 10;

std::string_view viewOf(pbf_reader& message) {
    const protozero::data_view view = message.get_view();
    return {view.data(), view.size()};
}

float halfToFloat(std::uint16_t half) {
    const int exponent = half >> 10 & 31, fraction = half & 1023;
    float value = 0;
    if (exponent == 31) value = fraction != 0 ? std::nanf("") : INFINITY;
    else if (exponent == 0) value = std::ldexp(static_cast<float>(fraction), -24);
    else value = std::ldexp(static_cast<float>(fraction + 1024), exponent - 25);
    return half & 0x8000 ? -value : value;
}

struct Tensor {
    std::int32_t type = 0;
    std::int64_t rank = 0;
    bool unknownRank = false;
    std::string_view content;
    std::optional<double> number;   ///< first of the typed values
    std::string text;
    std::size_t strings = 0;
};

void readShape(pbf_reader shape, Tensor& tensor) {
    while (shape.next()) {
        if (shape.tag() == 2) ++tensor.rank;
        if (shape.tag_and_type() == tag_and_type(3, Wire::varint)) tensor.unknownRank = shape.get_bool();
        else shape.skip();
    }
}

/// The first number of a packed field, which may also stand alone, as `type`.
template <typename Packed, typename Single>
void firstNumber(pbf_reader& message, Tensor& tensor, Wire type, Packed packed, Single single) {
    std::optional<double> found;
    if (message.wire_type() == Wire::length_delimited) {
        const auto range = packed();
        if (range.begin() != range.end()) found = static_cast<double>(*range.begin());
    } else if (message.wire_type() == type) {
        found = static_cast<double>(single());
    } else {
        message.skip();
    }
    if (!tensor.number) tensor.number = found;
}

void addString(pbf_reader& message, Tensor& tensor) {
    const std::string_view text = viewOf(message);
    if (tensor.strings++ > 0 && tensor.text.size() < kLongestText) tensor.text += '\n';
    tensor.text += text.substr(0, kLongestText - std::min(kLongestText, tensor.text.size()));
}

Tensor readTensor(pbf_reader message) {
    Tensor tensor;
    while (message.next()) {
        switch (message.tag_and_type()) {
            case tag_and_type(1, Wire::varint): tensor.type = message.get_enum(); continue;
            case tag_and_type(2, Wire::length_delimited): readShape(message.get_message(), tensor); continue;
            case tag_and_type(4, Wire::length_delimited): tensor.content = viewOf(message); continue;
            case tag_and_type(8, Wire::length_delimited): addString(message, tensor); continue;
            default: break;
        }
        switch (message.tag()) {
            case 5: firstNumber(message, tensor, Wire::fixed32, [&] { return message.get_packed_float(); }, [&] { return message.get_float(); }); break;
            case 6: firstNumber(message, tensor, Wire::fixed64, [&] { return message.get_packed_double(); }, [&] { return message.get_double(); }); break;
            case 7: firstNumber(message, tensor, Wire::varint, [&] { return message.get_packed_int32(); }, [&] { return message.get_int32(); }); break;
            case 10: firstNumber(message, tensor, Wire::varint, [&] { return message.get_packed_int64(); }, [&] { return message.get_int64(); }); break;
            case 11: firstNumber(message, tensor, Wire::varint, [&] { return message.get_packed_bool(); }, [&] { return message.get_bool(); }); break;
            case 13: firstNumber(message, tensor, Wire::varint, [&] { return message.get_packed_int32(); }, [&] { return message.get_int32(); }); break;
            case 16: firstNumber(message, tensor, Wire::varint, [&] { return message.get_packed_uint32(); }, [&] { return message.get_uint32(); }); break;
            case 17: firstNumber(message, tensor, Wire::varint, [&] { return message.get_packed_uint64(); }, [&] { return message.get_uint64(); }); break;
            default: message.skip();
        }
    }
    return tensor;
}

template <typename T>
std::optional<double> fromContent(std::string_view content) {
    T value{};
    if (content.size() != sizeof value) return std::nullopt;
    std::memcpy(&value, content.data(), sizeof value);
    return static_cast<double>(value);
}

std::optional<double> contentNumber(const Tensor& tensor) {
    switch (tensor.type) {
        case Float: return fromContent<float>(tensor.content);
        case Double: return fromContent<double>(tensor.content);
        case Int32: return fromContent<std::int32_t>(tensor.content);
        case Uint8: case Bool: return fromContent<std::uint8_t>(tensor.content);
        case Int16: return fromContent<std::int16_t>(tensor.content);
        case Int8: return fromContent<std::int8_t>(tensor.content);
        case Int64: return fromContent<std::int64_t>(tensor.content);
        case Uint16: case Half: case Bfloat16: return fromContent<std::uint16_t>(tensor.content);
        case Uint32: return fromContent<std::uint32_t>(tensor.content);
        case Uint64: return fromContent<std::uint64_t>(tensor.content);
        default: return std::nullopt;
    }
}

/// Of a tensor of rank 0; one without any value holds the default, 0.
std::optional<double> numberOf(const Tensor& tensor) {
    if (tensor.rank != 0 || tensor.unknownRank || tensor.type == String) return std::nullopt;
    const auto number = tensor.content.empty() ? tensor.number.value_or(0.0) : contentNumber(tensor);
    if (!number || (tensor.type != Half && tensor.type != Bfloat16)) return number;
    const auto bits = static_cast<std::uint16_t>(static_cast<std::int64_t>(*number));
    if (tensor.type == Half) return halfToFloat(bits);
    return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
}

std::string textOfSetting(pbf_reader value) {
    std::string text;
    while (value.next()) {
        switch (value.tag_and_type()) {
            case tag_and_type(2, Wire::fixed64): text = exactText(value.get_double()); break;
            case tag_and_type(3, Wire::length_delimited): text = std::string(viewOf(value)).substr(0, kLongestText); break;
            case tag_and_type(4, Wire::varint): text = value.get_bool() ? "true" : "false"; break;
            default: value.skip();
        }
    }
    return text;
}

/// HParamsPluginData: only a session's start has values.
void readSettings(std::string_view content, Event& event) {
    pbf_reader data(content.data(), content.size());
    while (data.next(3, Wire::length_delimited)) {
        pbf_reader start = data.get_message();
        while (start.next(1, Wire::length_delimited)) {
            pbf_reader entry = start.get_message();
            std::pair<std::string, std::string> setting;
            while (entry.next()) {
                if (entry.tag_and_type() == tag_and_type(1, Wire::length_delimited)) setting.first = std::string(viewOf(entry));
                else if (entry.tag_and_type() == tag_and_type(2, Wire::length_delimited)) setting.second = textOfSetting(entry.get_message());
                else entry.skip();
            }
            event.settings.push_back(std::move(setting));
        }
    }
}

/// SummaryMetadata: plug-in name and its content.
std::pair<std::string_view, std::string_view> readMetadata(pbf_reader metadata) {
    std::pair<std::string_view, std::string_view> found;
    while (metadata.next(1, Wire::length_delimited)) {
        pbf_reader plugin = metadata.get_message();
        while (plugin.next()) {
            if (plugin.tag_and_type() == tag_and_type(1, Wire::length_delimited)) found.first = viewOf(plugin);
            else if (plugin.tag_and_type() == tag_and_type(2, Wire::length_delimited)) found.second = viewOf(plugin);
            else plugin.skip();
        }
    }
    return found;
}

Kind kindOf(const Value& value, const Tensor& tensor) {
    if (value.plugin == "histograms") return Kind::Histogram;
    if (value.plugin == "images") return Kind::Image;
    if (value.plugin == "audio") return Kind::Audio;
    if (tensor.type == String) return value.plugin == "text" ? Kind::Text : value.plugin.empty() ? Kind::Strings : Kind::Tensor;
    if (!value.plugin.empty() && value.plugin != "scalars") return Kind::Tensor;
    return numberOf(tensor) ? Kind::Scalar : Kind::Tensor;
}

void readValue(pbf_reader message, Event& event) {
    Value value;
    std::string_view content;
    std::optional<Tensor> tensor;
    bool isThere = false;
    while (message.next()) {
        switch (message.tag_and_type()) {
            case tag_and_type(1, Wire::length_delimited): value.tag = viewOf(message); break;
            case tag_and_type(2, Wire::fixed32): value.number = message.get_float(); value.kind = Kind::Scalar; isThere = true; break;
            case tag_and_type(3, Wire::length_delimited): value.kind = Kind::Histogram; isThere = true; message.skip(); break;
            case tag_and_type(5, Wire::length_delimited): value.kind = Kind::Histogram; isThere = true; value.content = viewOf(message); break;
            case tag_and_type(4, Wire::length_delimited): value.kind = Kind::Image; isThere = true; value.content = viewOf(message); break;
            case tag_and_type(6, Wire::length_delimited): value.kind = Kind::Audio; isThere = true; message.skip(); break;
            case tag_and_type(8, Wire::length_delimited):
                value.content = viewOf(message);
                value.isTensor = true;
                tensor = readTensor(pbf_reader(value.content.data(), value.content.size()));
                break;
            case tag_and_type(9, Wire::length_delimited): std::tie(value.plugin, content) = readMetadata(message.get_message()); break;
            default: message.skip();
        }
    }
    if (value.plugin == "hparams") {
        value.kind = Kind::Settings;
        readSettings(content, event);
    } else if (tensor) {
        value.kind = kindOf(value, *tensor);
        value.number = numberOf(*tensor).value_or(0);
        value.text = std::move(tensor->text);
    } else if (!isThere) {
        return;
    }
    event.values.push_back(std::move(value));
}

void readLog(pbf_reader log, Event& event) {
    while (log.next()) {
        if (log.tag_and_type() != tag_and_type(1, Wire::varint)) {
            log.skip();
            continue;
        }
        event.isStart = log.get_enum() == 1;
    }
}

void read(pbf_reader message, Event& event) {
    while (message.next()) {
        switch (message.tag_and_type()) {
            case tag_and_type(1, Wire::fixed64): event.wallSeconds = message.get_double(); break;
            case tag_and_type(2, Wire::varint): event.step = message.get_int64(); break;
            case tag_and_type(4, Wire::length_delimited):
            case tag_and_type(9, Wire::length_delimited): event.hasGraph = true; message.skip(); break;
            case tag_and_type(5, Wire::length_delimited): {
                pbf_reader summary = message.get_message();
                while (summary.next(1, Wire::length_delimited)) readValue(summary.get_message(), event);
                break;
            }
            case tag_and_type(7, Wire::length_delimited): readLog(message.get_message(), event); break;
            default: message.skip();
        }
    }
}

using Writer = protozero::basic_pbf_writer<std::vector<char>>;

/// `fill` adds what follows wall time and step.
template <typename Fill>
void encode(Bytes& payload, double wallSeconds, std::int64_t step, Fill fill) {
    thread_local std::vector<char> buffer;
    buffer.clear();
    Writer writer(buffer);
    writer.add_double(1, wallSeconds);
    if (step != 0) writer.add_int64(2, step);
    fill(writer);
    payload.clear();
    putBytes(payload, std::as_bytes(std::span(buffer)));
}

}  // namespace

void Event::clear() {
    wallSeconds = 0;
    step = 0;
    isStart = hasGraph = false;
    values.clear();
    settings.clear();
}

bool parseEvent(std::span<const std::byte> payload, Event& event) {
    event.clear();
    try {
        read(pbf_reader(reinterpret_cast<const char*>(payload.data()), payload.size()), event);
    } catch (const protozero::exception&) {
        event.clear();
        return false;
    }
    return true;
}

void encodeFileVersion(Bytes& payload, double wallSeconds, std::int64_t step) {
    encode(payload, wallSeconds, step, [](Writer& writer) { writer.add_string(3, "brain.Event:2"); });
}

void encodeStart(Bytes& payload, double wallSeconds, std::int64_t step) {
    encode(payload, wallSeconds, step, [](Writer& writer) {
        Writer log(writer, 7);
        log.add_enum(1, 1);
    });
}

void encodeScalar(Bytes& payload, double wallSeconds, std::int64_t step, std::string_view tag, float value) {
    encode(payload, wallSeconds, step, [&](Writer& writer) {
        Writer summary(writer, 5);
        Writer entry(summary, 1);
        entry.add_string(1, tag.data(), tag.size());
        entry.add_float(2, value);
    });
}

std::int64_t wallNsOf(double wallSeconds) {
    if (!(std::fabs(wallSeconds) < 9.2e9)) return 0;
    const double whole = std::floor(wallSeconds);
    return static_cast<std::int64_t>(whole) * 1'000'000'000 + std::llround((wallSeconds - whole) * 1e9);
}

double wallSecondsOf(std::int64_t wallNs) {
    const std::int64_t second = 1'000'000'000, part = ((wallNs % second) + second) % second;
    return static_cast<double>((wallNs - part) / second) + static_cast<double>(part) / 1e9;
}

}  // namespace lathe::tensorboard
