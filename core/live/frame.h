// Frames: what travels from a worker (or the supervisor) through the shared-memory ring to the recorder and the window.
// Byte layout in FORMAT.md. Payloads are encoded here and nowhere else; readers check every length.
#pragma once

#include "base/counters.h"
#include "base/result.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace lathe::live {

enum class FrameType : std::uint16_t {
    Series = 1,     ///< names a series id of this ring before its first point
    Points = 2,     ///< one row of values at one update attempt
    Event = 3,      ///< something that happened
    Table = 4,      ///< records: kRecordKinds
    Histogram = 5,
    Text = 6,
    Image = 7,
    Summary = 8,    ///< a value of the whole run; the newest of a name counts
    OwnCheckpoint = 9, ///< a checkpoint file of a program that is not ours
    Digest = 10     ///< what one update computed, for the proof of a resume
};

/// What is kept under a name beside the curves.
struct RecordKind {
    FrameType type;
    std::string_view word;
    bool isJson;   ///< its content is one JSON value
};
constexpr std::array<RecordKind, 6> kRecordKinds = {{
    {FrameType::Table, "table", true}, {FrameType::Histogram, "histogram", false}, {FrameType::Text, "text", false},
    {FrameType::Image, "image", false}, {FrameType::Summary, "summary", true}, {FrameType::OwnCheckpoint, "checkpoint", true},
}};
/// Null where a frame of this type is no record.
constexpr const RecordKind* recordKind(FrameType type) {
    for (const RecordKind& kind : kRecordKinds) {
        if (kind.type == type) return &kind;
    }
    return nullptr;
}
constexpr bool isRecord(FrameType type) { return recordKind(type) != nullptr; }
/// Empty where a frame of this type is no record.
constexpr std::string_view recordWord(FrameType type) { return isRecord(type) ? recordKind(type)->word : std::string_view(); }

/// Declares `id` (unique within one ring and session).
struct SeriesFrame {
    std::uint16_t id = 0;
    std::string name;  ///< "train/loss"
    std::string unit;  ///< "" | "samples/s" | "%" | "bytes" …
};

/// Values of one update attempt. All of it or nothing arrives.
struct PointsFrame {
    struct Item {
        std::uint16_t series = 0;
        double value = 0;
    };
    std::int32_t session = 0;
    std::int64_t attempt = 0;          ///< update attempt; key of a point together with series and session
    std::int64_t step = 0;             ///< applied updates then
    std::int64_t activeNs = 0;         ///< time inside this session's process, pauses left out
    std::int64_t wallNs = 0;
    std::vector<Item> items;
};

/// Kinds are short stable words: "checkpoint", "ended" … All of them, with the facts that `json` holds for each (an
/// object, may be empty), are the contract between supervisor and worker: launch/session/supervisor.h.
struct EventFrame {
    std::int32_t session = 0;
    std::int64_t attempt = 0;
    std::int64_t step = 0;
    std::int64_t wallNs = 0;
    std::string kind;
    std::string text;  ///< a sentence for people
    std::string json;
};

/// Something with a name that is no point of a curve. What `content` holds for each type: FORMAT.md.
struct RecordFrame {
    FrameType type = FrameType::Text;
    std::int32_t session = 0;
    std::int64_t attempt = 0;
    std::int64_t step = 0;
    std::int64_t wallNs = 0;
    std::string name;
    std::string form;     ///< media type, "image/png"; "" where the frame's type says it all
    std::string content;  ///< the bytes, or empty where they lie in blobs/
    std::string blob;     ///< name of the file in blobs/, or empty
};
constexpr std::size_t kMostInlineBytes = 64u << 10;  ///< of a record's content; what is larger goes to blobs/

/// One of the first updates after a checkpoint: whoever goes on from that checkpoint must compute the same.
struct DigestFrame {
    std::int32_t session = 0;
    std::int64_t attempt = 0;
    std::uint64_t samples = 0;  ///< hash of the sample ids of its window in order
    double loss = 0, gradNorm = 0;
};

/// Appends the payload to `out` (cleared first); reuse `out` so that no step allocates.
void encode(const SeriesFrame& frame, std::vector<std::byte>& out);
void encode(const PointsFrame& frame, std::vector<std::byte>& out);
void encode(const EventFrame& frame, std::vector<std::byte>& out);
void encode(const RecordFrame& frame, std::vector<std::byte>& out);
void encode(const DigestFrame& frame, std::vector<std::byte>& out);

Result<SeriesFrame> decodeSeries(std::span<const std::byte> payload);
Result<PointsFrame> decodePoints(std::span<const std::byte> payload);
Result<EventFrame> decodeEvent(std::span<const std::byte> payload);
/// `type` is the frame's own. Requires: isRecord(type).
Result<RecordFrame> decodeRecord(FrameType type, std::span<const std::byte> payload);
Result<DigestFrame> decodeDigest(std::span<const std::byte> payload);

}  // namespace lathe::live
