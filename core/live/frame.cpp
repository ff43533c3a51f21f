#include "live/frame.h"

#include "live/wire.h"

namespace lathe::live {
namespace {

constexpr std::size_t kItemBytes = sizeof(std::uint16_t) + sizeof(double);

Error badFrame(const char* what) {
    return {ErrorCode::Corrupt, std::string("A ") + what + " frame has a wrong length", {}, {}};
}

}  // namespace

void encode(const SeriesFrame& frame, std::vector<std::byte>& out) {
    WireWriter wire(out);
    wire.put(frame.id);
    wire.putText(frame.name);
    wire.putText(frame.unit);
}

void encode(const PointsFrame& frame, std::vector<std::byte>& out) {
    WireWriter wire(out);
    wire.put(frame.session);
    wire.put(frame.attempt);
    wire.put(frame.step);
    wire.put(frame.activeNs);
    wire.put(frame.wallNs);
    wire.put(static_cast<std::uint16_t>(frame.items.size()));
    for (const PointsFrame::Item& item : frame.items) {
        wire.put(item.series);
        wire.put(item.value);
    }
}

void encode(const EventFrame& frame, std::vector<std::byte>& out) {
    WireWriter wire(out);
    wire.put(frame.session);
    wire.put(frame.attempt);
    wire.put(frame.step);
    wire.put(frame.wallNs);
    wire.putText(frame.kind);
    wire.putText(frame.text);
    wire.putText(frame.json);
}

Result<SeriesFrame> decodeSeries(std::span<const std::byte> payload) {
    WireReader wire(payload);
    SeriesFrame frame;
    frame.id = wire.get<std::uint16_t>();
    frame.name = wire.getText();
    frame.unit = wire.getText();
    if (!wire.ok() || wire.left() != 0) return badFrame("series");
    return frame;
}

Result<PointsFrame> decodePoints(std::span<const std::byte> payload) {
    WireReader wire(payload);
    PointsFrame frame;
    frame.session = wire.get<std::int32_t>();
    frame.attempt = wire.get<std::int64_t>();
    frame.step = wire.get<std::int64_t>();
    frame.activeNs = wire.get<std::int64_t>();
    frame.wallNs = wire.get<std::int64_t>();
    const std::size_t count = wire.get<std::uint16_t>();
    if (!wire.ok() || wire.left() != count * kItemBytes) return badFrame("points");
    frame.items.resize(count);
    for (PointsFrame::Item& item : frame.items) {
        item.series = wire.get<std::uint16_t>();
        item.value = wire.get<double>();
    }
    return frame;
}

Result<EventFrame> decodeEvent(std::span<const std::byte> payload) {
    WireReader wire(payload);
    EventFrame frame;
    frame.session = wire.get<std::int32_t>();
    frame.attempt = wire.get<std::int64_t>();
    frame.step = wire.get<std::int64_t>();
    frame.wallNs = wire.get<std::int64_t>();
    frame.kind = wire.getText();
    frame.text = wire.getText();
    frame.json = wire.getText();
    if (!wire.ok() || wire.left() != 0) return badFrame("event");
    return frame;
}

}  // namespace lathe::live
