// One event of a TensorBoard event file: the protobuf message Event with its Summary, as far as curves, texts and
// hyperparameters need it. Field numbers: event.proto, summary.proto, tensor.proto of TensorFlow and the hparams plug-in's
// plugin_data.proto.
// Thread: plain values; one thread at a time.
#pragma once

#include "base/bytes.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace lathe::tensorboard {

/// One value of a summary. Views point into the payload that was parsed.
struct Value {
    enum class Kind {
        Scalar,        ///< simple_value, or a tensor of rank 0 with a number
        Text,          ///< string tensor of the text plug-in
        Strings,       ///< string tensor that names no plug-in: what it is, an earlier value of its tag has told
        Histogram, Image, Audio,
        Tensor,        ///< any other tensor; what it is, an earlier value of its tag may have told
        Settings       ///< hyperparameters: in Event::settings
    };
    std::string_view tag;
    std::string_view plugin;   ///< as written, often only at the first value of a tag
    Kind kind = Kind::Scalar;
    double number = 0;         ///< Scalar: exact, NaN and infinities included
    std::string text;          ///< Text, Strings; several strings are joined by line ends
    std::string_view content;  ///< Histogram, Image, Strings, Tensor: the message that holds it (summary_content.h)
    bool isTensor = false;     ///< `content` is a TensorProto
};

struct Event {
    double wallSeconds = 0;    ///< since 1970 UTC
    std::int64_t step = 0;
    bool isStart = false;      ///< session_log START: what has this step or a later one is to be forgotten
    bool hasGraph = false;
    std::vector<Value> values;
    std::vector<std::pair<std::string, std::string>> settings;  ///< of an hparams session start, as text

    void clear();
};

/// False where the payload is no such message; `event` (cleared first, reuse it) then holds nothing.
bool parseEvent(std::span<const std::byte> payload, Event& event);

// Payloads, as writers of scalars make them. A step of 0 is left out, as protobuf leaves out defaults.
void encodeFileVersion(Bytes& payload, double wallSeconds, std::int64_t step = 0);  ///< "brain.Event:2", first in a file
void encodeStart(Bytes& payload, double wallSeconds, std::int64_t step);            ///< session_log START
void encodeScalar(Bytes& payload, double wallSeconds, std::int64_t step, std::string_view tag, float value);

/// Nanoseconds since 1970, exact; 0 for what is no time (not finite, outside of 64 bits).
std::int64_t wallNsOf(double wallSeconds);
/// The nearest double: of a time that came from wallNsOf the same one.
double wallSecondsOf(std::int64_t wallNs);

}  // namespace lathe::tensorboard
