#include "live/frame.h"

#include "base/bytes.h"

namespace lathe::live {
namespace {

constexpr std::size_t kItemBytes = sizeof(std::uint16_t) + sizeof(double);

Error badFrame(const char* what) {
    return {ErrorCode::Corrupt, std::string("A ") + what + " frame has a wrong length", {}, {}};
}

}  // namespace

void encode(const SeriesFrame& frame, std::vector<std::byte>& out) {
    out.clear();
    put(out, frame.id);
    putText(out, frame.name);
    putText(out, frame.unit);
}

void encode(const PointsFrame& frame, std::vector<std::byte>& out) {
    out.clear();
    put(out, frame.session);
    put(out, frame.attempt);
    put(out, frame.step);
    put(out, frame.activeNs);
    put(out, frame.wallNs);
    put(out, static_cast<std::uint16_t>(frame.items.size()));
    for (const PointsFrame::Item& item : frame.items) {
        put(out, item.series);
        put(out, item.value);
    }
}

void encode(const EventFrame& frame, std::vector<std::byte>& out) {
    out.clear();
    put(out, frame.session);
    put(out, frame.attempt);
    put(out, frame.step);
    put(out, frame.wallNs);
    putText(out, frame.kind);
    putText(out, frame.text);
    putText(out, frame.json);
}

void encode(const RecordFrame& frame, std::vector<std::byte>& out) {
    out.clear();
    put(out, frame.session);
    put(out, frame.attempt);
    put(out, frame.step);
    put(out, frame.wallNs);
    putText(out, frame.name);
    putText(out, frame.form);
    putText(out, frame.content);
    putText(out, frame.blob);
}

void encode(const DigestFrame& frame, std::vector<std::byte>& out) {
    out.clear();
    put(out, frame.session);
    put(out, frame.attempt);
    put(out, frame.samples);
    put(out, frame.loss);
    put(out, frame.gradNorm);
}

Result<SeriesFrame> decodeSeries(std::span<const std::byte> payload) {
    ByteReader in(payload);
    SeriesFrame frame;
    frame.id = in.get<std::uint16_t>();
    frame.name = in.getText();
    frame.unit = in.getText();
    if (!in.finished()) return badFrame("series");
    return frame;
}

Result<PointsFrame> decodePoints(std::span<const std::byte> payload) {
    ByteReader in(payload);
    PointsFrame frame;
    frame.session = in.get<std::int32_t>();
    frame.attempt = in.get<std::int64_t>();
    frame.step = in.get<std::int64_t>();
    frame.activeNs = in.get<std::int64_t>();
    frame.wallNs = in.get<std::int64_t>();
    const std::size_t count = in.get<std::uint16_t>();
    if (!in.ok() || in.left() != count * kItemBytes) return badFrame("points");
    frame.items.resize(count);
    for (PointsFrame::Item& item : frame.items) {
        item.series = in.get<std::uint16_t>();
        item.value = in.get<double>();
    }
    return frame;
}

Result<EventFrame> decodeEvent(std::span<const std::byte> payload) {
    ByteReader in(payload);
    EventFrame frame;
    frame.session = in.get<std::int32_t>();
    frame.attempt = in.get<std::int64_t>();
    frame.step = in.get<std::int64_t>();
    frame.wallNs = in.get<std::int64_t>();
    frame.kind = in.getText();
    frame.text = in.getText();
    frame.json = in.getText();
    if (!in.finished()) return badFrame("event");
    return frame;
}

Result<RecordFrame> decodeRecord(FrameType type, std::span<const std::byte> payload) {
    LATHE_ASSERT(isRecord(type));
    ByteReader in(payload);
    RecordFrame frame;
    frame.type = type;
    frame.session = in.get<std::int32_t>();
    frame.attempt = in.get<std::int64_t>();
    frame.step = in.get<std::int64_t>();
    frame.wallNs = in.get<std::int64_t>();
    frame.name = in.getText();
    frame.form = in.getText();
    frame.content = in.getText();
    frame.blob = in.getText();
    if (!in.finished()) return badFrame("record");
    return frame;
}

Result<DigestFrame> decodeDigest(std::span<const std::byte> payload) {
    ByteReader in(payload);
    DigestFrame frame;
    frame.session = in.get<std::int32_t>();
    frame.attempt = in.get<std::int64_t>();
    frame.samples = in.get<std::uint64_t>();
    frame.loss = in.get<double>();
    frame.gradNorm = in.get<double>();
    if (!in.finished()) return badFrame("digest");
    return frame;
}

}  // namespace lathe::live
