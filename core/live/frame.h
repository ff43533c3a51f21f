// Frames: what travels from a worker (or the supervisor) through the shared-memory ring to the recorder and the window.
// Byte layout in FORMAT.md. Payloads are encoded here and nowhere else; readers check every length.
#pragma once

#include "base/counters.h"
#include "base/result.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace lathe::live {

enum class FrameType : std::uint16_t {
    Series = 1,     ///< names a series id of this ring before its first point
    Points = 2,     ///< one row of values at one update attempt
    Event = 3,      ///< something that happened
    Table = 4,      ///< reserved: small table
    Histogram = 5,  ///< reserved
    Text = 6        ///< reserved: generated text
};

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
/// object, may be empty), are the contract between supervisor and worker: launch/supervisor.h.
struct EventFrame {
    std::int32_t session = 0;
    std::int64_t attempt = 0;
    std::int64_t step = 0;
    std::int64_t wallNs = 0;
    std::string kind;
    std::string text;  ///< a sentence for people
    std::string json;
};

/// Appends the payload to `out` (cleared first); reuse `out` so that no step allocates.
void encode(const SeriesFrame& frame, std::vector<std::byte>& out);
void encode(const PointsFrame& frame, std::vector<std::byte>& out);
void encode(const EventFrame& frame, std::vector<std::byte>& out);

Result<SeriesFrame> decodeSeries(std::span<const std::byte> payload);
Result<PointsFrame> decodePoints(std::span<const std::byte> payload);
Result<EventFrame> decodeEvent(std::span<const std::byte> payload);

}  // namespace lathe::live
