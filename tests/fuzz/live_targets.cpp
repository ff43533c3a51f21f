#include "parts.h"

#include "base/bytes.h"
#include "base/file_system.h"
#include "base/hash.h"
#include "launch/run/program_frames.h"
#include "live/control_socket.h"
#include "live/segment.h"
#include "live/segment_layout.h"
#include "live/socket_io.h"
#include "live/spill.h"

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

namespace lathe::fuzz {
namespace {

// ---- shared memory and frames

void decodeFrame(const live::Frame& frame) {
    static_cast<void>(live::decodePoints(frame.payload));
    static_cast<void>(live::decodeEvent(frame.payload));
    static_cast<void>(live::decodeSeries(frame.payload));
    static_cast<void>(live::decodeDigest(frame.payload));
    if (live::isRecord(frame.type)) static_cast<void>(live::decodeRecord(frame.type, frame.payload));
}

bool readMemory(Input input) {
    const int fd = ::memfd_create("fuzz", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (fd < 0 || ::write(fd, input.data(), input.size()) != static_cast<ssize_t>(input.size())) std::abort();
    ::fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW);
    const auto segment = live::Segment::open(fd, false);
    if (!segment.ok()) return false;
    for (int ring = 0; ring < (*segment)->writers(); ++ring) {
        auto reader = (*segment)->reader(ring);
        for (int i = 0; i < 4; ++i)
            for (const live::Frame& frame : reader.read().frames) decodeFrame(frame);
        static_cast<void>((*segment)->heartbeat(ring));
        static_cast<void>((*segment)->recordedSequence(ring));
    }
    static_cast<void>((*segment)->control());
    return true;
}
/// As it is, and with a header that says so and is whole: whoever makes one can do that.
bool readSegment(Input input) {
    const bool accepted = readMemory(input);
    live::layout::Header header;
    if (accepted || input.size() < live::layout::kPage) return accepted;
    std::memcpy(&header, input.data(), sizeof header);
    header.checksum = hash64(input.first(offsetof(live::layout::Header, checksum)));
    std::string whole = textOf(input);
    std::memcpy(whole.data(), &header, sizeof header);
    static_cast<void>(readMemory(bytesOf(whole)));
    return false;
}
Bytes pointsPayload() {
    Bytes payload;
    live::encode(live::PointsFrame{1, 5, 4, 1000, 2000, {{2, 0.5}, {3, -1.0}}}, payload);
    return payload;
}
std::vector<std::string> segmentSeeds() {
    auto segment = live::Segment::create({2, 4096, 0}, "fuzz-1");
    promise(segment.ok(), "shared memory can be made");
    for (int i = 0; i < 60; ++i) static_cast<void>((*segment)->write(i % 2, live::FrameType::Points, pointsPayload()));
    live::Control control;
    control.recordedSeq = {3, 4};
    (*segment)->setControl(control);
    (*segment)->beat(0, {});
    std::string all(static_cast<std::size_t>(::lseek((*segment)->fd(), 0, SEEK_END)), '\0');
    promise(::pread((*segment)->fd(), all.data(), all.size(), 0) == static_cast<ssize_t>(all.size()), "shared memory can be read");
    return {all};
}

bool readFrame(Input input) {
    if (input.size() < 2) return false;
    live::Frame frame;
    frame.type = static_cast<live::FrameType>(static_cast<std::uint16_t>(input[0]) % 12);
    frame.payload.assign(input.begin() + 1, input.end());
    decodeFrame(frame);
    const auto points = live::decodePoints(frame.payload);
    if (!points.ok()) return false;
    Bytes again;
    live::encode(*points, again);
    promise(again == frame.payload, "a row of points that was taken encodes to the same bytes");
    return true;
}
std::vector<std::string> frameSeeds() {
    Bytes event, series, record, digest;
    live::encode(live::EventFrame{1, 2, 3, 4, "saved", "text", "{}"}, event);
    live::encode(live::SeriesFrame{2, "train/lr", ""}, series);
    live::RecordFrame text;
    text.name = "n";
    text.content = "c";
    live::encode(text, record);
    live::encode(live::DigestFrame{1, 2, 3, 0.5, 0.25}, digest);
    std::vector<std::string> all;
    for (const auto& [type, payload] : {std::pair<char, Bytes>{2, pointsPayload()}, {3, event}, {1, series}, {6, record}, {10, digest}}) all.push_back(type + textOf(payload));
    return all;
}

/// What is damaged is left out; every frame that comes back is one that was written.
bool readSpill(Input input) {
    static const Bytes payload = pointsPayload();
    const auto spilled = live::readSpillFile(memory().put("s001-r0.spill", input), 1);
    if (!spilled.ok()) return false;
    for (const live::Frame& frame : spilled->frames) promise(frame.payload == payload && frame.type == live::FrameType::Points, "a spilled frame is one that was written");
    return !spilled->frames.empty();
}
std::vector<std::string> spillSeeds() {
    auto segment = live::Segment::create({1, 1u << 16, 0}, "fuzz-1");
    promise(segment.ok(), "shared memory can be made");
    const stdfs::path folder = memory().path() / "spill";
    stdfs::create_directories(folder);
    live::Spiller spiller(**segment, 0, folder, 1);
    for (int i = 0; i < 12; ++i) static_cast<void>((*segment)->write(0, live::FrameType::Points, pointsPayload()));
    promise(spiller.flushAll().ok(), "frames can be spilled");
    return {readFile(folder / live::spillName(1, 0), 1u << 20).value()};
}

// ---- sockets

/// A connection to a socket of a server in this thread.
class Peer {
public:
    Peer(const stdfs::path& path, int type) : m_fd(::socket(AF_UNIX, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)) {
        const auto address = live::addressOf(path);
        promise(m_fd >= 0 && address.ok() && ::connect(m_fd, address->get(), address->length()) == 0, "a socket that listens can be connected to");
    }
    ~Peer() { ::close(m_fd); }
    Peer(const Peer&) = delete;
    Peer& operator=(const Peer&) = delete;

    /// How much of it went; nothing where the other side has closed.
    std::size_t send(Input bytes) const { return static_cast<std::size_t>(std::max<ssize_t>(::send(m_fd, bytes.data(), bytes.size(), MSG_NOSIGNAL), 0)); }
    int fd() const { return m_fd; }

private:
    int m_fd;
};

/// One request to a supervisor; the same bytes are then what a supervisor answers.
bool readControl(Input input) {
    if (input.size() > live::kMaxMessageBytes) return false;
    const stdfs::path path = memory().path() / "control.sock";
    bool accepted = false;
    {
        auto server = live::ControlServer::listen(path, ::memfd_create("fuzz", MFD_CLOEXEC), [&](const live::Request& request) {
            accepted = true;
            return live::Reply{request.id, true, request.client, {}};
        });
        promise(server.ok(), "a control socket can be made");
        const Peer peer(path, SOCK_SEQPACKET);
        peer.send(input);
        for (int i = 0; i < 3; ++i) (*server)->poll();
        std::string answer;
        promise(input.empty() || live::receiveMessage(peer.fd(), answer, nullptr) == live::Received::Message, "every request is answered");
    }
    const auto listener = live::listenAt(path, SOCK_SEQPACKET);
    promise(listener.ok(), "a control socket can be made");
    const auto client = live::ControlClient::connect(path);
    const int served = ::accept4(*listener, nullptr, nullptr, SOCK_CLOEXEC);
    promise(client.ok() && served >= 0, "a client connects");
    ::send(served, input.data(), input.size(), MSG_NOSIGNAL);
    static_cast<void>((*client)->ask(live::Verb::Status, 0));
    ::close(served);
    ::close(*listener);
    return accepted;
}
std::vector<std::string> controlSeeds() {
    return {R"({"version": 1, "client": "a", "id": 1, "verb": "save-now", "argument": "x"})", R"({"version": 1, "client": "b", "id": 2, "verb": "attach"})",
            R"({"version": 1, "id": 1, "ok": true, "text": "It is done", "json": "{}"})"};
}

Bytes message(std::uint16_t type, std::uint64_t number, const Bytes& body) {
    Bytes out;
    put(out, static_cast<std::uint32_t>(body.size()));
    put(out, type);
    put(out, std::uint16_t{0});
    put(out, number);
    putBytes(out, body);
    return out;
}
Bytes hello() {
    Bytes body;
    putBytes(body, bytesOf("LATHEPRG"));
    put(body, live::kProducerVersion);
    for (const char* text : {"token", "id", "fuzz 1"}) putText(body, text);
    return message(16, 0, body);
}

/// What a person's program sends, behind a hello unless the first byte is odd.
bool readProducer(Input input) {
    static const rundir::RunFolder run = [] {
        stdfs::create_directories(memory().path() / "program");
        return rundir::RunFolder(memory().path() / "program");
    }();
    static const auto segment = live::Segment::create({1, 1u << 20, 0}, "fuzz-1");
    if (input.empty() || input.size() > (64u << 10)) return false;
    auto frames = launch::ProgramFrames::listen(run, {}, **segment, 0, 1, "token");
    promise(segment.ok() && frames.ok(), "a producer socket can be made");
    auto reader = (*segment)->reader(0, (*segment)->lastSequence(0) + 1);
    Bytes bytes = (static_cast<unsigned>(input[0]) & 1) != 0 ? Bytes() : hello();
    putBytes(bytes, input.subspan(1));
    std::size_t series = 0, rows = 0;
    {
        const Peer peer(run.producerSocket(), SOCK_STREAM);
        for (std::size_t sent = 0; sent < bytes.size();) {
            const std::size_t more = peer.send(Input(bytes).subspan(sent));
            (*frames)->poll();
            if (more == 0) break;
            sent += more;
        }
        for (int i = 0; i < 4; ++i) (*frames)->poll();
        (*frames)->acknowledge((*segment)->lastSequence(0));
    }
    (*frames)->poll();
    (*frames)->tellTheRest();
    while (true) {
        const auto batch = reader.read();
        if (batch.frames.empty()) break;
        for (const live::Frame& frame : batch.frames) {
            decodeFrame(frame);
            series += frame.type == live::FrameType::Series && live::decodeSeries(frame.payload).ok() ? 1 : 0;
            if (frame.type != live::FrameType::Points) continue;
            const auto points = live::decodePoints(frame.payload);
            promise(points.ok(), "a row that came in can be read");
            for (const auto& item : points->items) promise(batch.lapped > 0 || item.series < series, "a value has a series that was declared before");
            ++rows;
        }
    }
    stdfs::remove_all(run.blobs());
    return rows > 0;
}
std::vector<std::string> producerSeeds() {
    Bytes series, points, event, text, image, table, saved, heeds, goodbye;
    put(series, std::uint16_t{0});
    for (const char* word : {"loss", ""}) putText(series, word);
    for (const std::int64_t number : {7, 2000}) put(points, number);
    put(points, std::uint16_t{1});
    put(points, std::uint16_t{0});
    put(points, 0.5);
    for (Bytes* body : {&event, &text, &image, &table})
        for (const std::int64_t number : {7, 2000}) put(*body, number);
    for (const char* word : {"note", "A sentence", "{\"a\": 1}"}) putText(event, word);
    for (const char* word : {"notes", "", "what was seen"}) putText(text, word);
    for (const char* word : {"picture", "image/png", "\x89PNG\r\n\x1a\n"}) putText(image, word);
    for (const char* word : {"table", "", R"({"columns": ["a"], "rows": [[1], ["x"], [null]]})"}) putText(table, word);
    put(saved, std::int64_t{1});
    put(heeds, std::uint8_t{3});
    put(goodbye, std::uint8_t{1});
    putText(goodbye, "why");
    Bytes all;
    std::uint64_t number = 0;
    for (const auto& [type, body] : {std::pair<std::uint16_t, Bytes&>{1, series}, {2, points}, {3, event}, {6, text}, {7, image}, {4, table}, {20, heeds}, {17, saved}, {18, saved}, {2, points}, {19, goodbye}})
        putBytes(all, message(type, ++number, body));
    return {std::string(1, '\0') + textOf(all), std::string(1, '\1') + textOf(hello()) + textOf(all)};
}

}  // namespace

std::vector<Target> liveTargets() {
    return {{"segment", readSegment, segmentSeeds}, {"frame", readFrame, frameSeeds}, {"spill", readSpill, spillSeeds}, {"control", readControl, controlSeeds},
            {"producer", readProducer, producerSeeds}};
}

}  // namespace lathe::fuzz
