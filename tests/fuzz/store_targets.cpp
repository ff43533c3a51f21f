#include "parts.h"

#include "base/bytes.h"
#include "base/file_system.h"
#include "live/frame.h"
#include "store/codec.h"
#include "store/record_content.h"
#include "store/run_store.h"

#include <algorithm>
#include <bit>
#include <set>

namespace lathe::fuzz {
namespace {

// ---- run.sqlite's blobs: two bytes of the number of rows, one which kind

bool readBlob(Input input) {
    if (input.size() < 3) return false;
    static store::Codec codec;
    const std::size_t rows = (static_cast<std::size_t>(input[0]) | static_cast<std::size_t>(input[1]) << 8) % (store::kChunkRows + 1);
    const Input rest = input.subspan(3);
    switch (static_cast<unsigned>(input[2]) % 4) {
        case 0: {
            const auto axis = codec.decodeAxis(rest, rows);
            promise(!axis || (axis->step.size() == rows && axis->wallNs.size() == rows), "an axis has as many places as rows");
            return axis.has_value();
        }
        case 1: {
            const auto values = codec.decodeValues(rest, rows);
            promise(!values || values->present.size() == rows, "a chunk says of each row whether it has a value");
            return values.has_value();
        }
        case 2: return codec.decodeLevel(rest, rows).has_value();
        default: return codec.decodeAxisLevel(rest, rows).has_value();
    }
}
std::vector<std::string> blobSeeds() {
    store::Codec codec;
    store::Axis axis;
    store::Values values;
    store::Level level;
    store::AxisLevel axisLevel;
    constexpr std::uint64_t kRows = 200;
    for (std::uint64_t i = 0; i < kRows; ++i) {
        axis.attempt.push_back(i);
        axis.step.push_back(i);
        axis.activeNs.push_back(i * 1000 + i % 7);
        axis.wallNs.push_back(i * 1001);
        values.present.push_back(i % 3 != 0);
        if (i % 3 != 0) values.bits.push_back(i * 0x9e3779b97f4a7c15u);
    }
    for (std::uint64_t i = 0; i < store::bucketsOf(kRows); ++i) {
        level.minimum.push_back(i);
        level.maximum.push_back(i + 5);
        level.count.push_back(64);
        level.nonFinite.push_back(0);
        axisLevel.firstStep.push_back(i * 64);
        axisLevel.lastStep.push_back(i * 64 + 63);
    }
    const std::string rows{static_cast<char>(kRows), 0};
    return {rows + '\0' + textOf(codec.encode(axis)), rows + '\1' + textOf(codec.encode(values)), rows + '\2' + textOf(codec.encode(level)), rows + '\3' + textOf(codec.encode(axisLevel))};
}

// ---- what records say: the first byte which

bool readContent(Input input) {
    if (input.empty()) return false;
    const std::string content = textOf(input.subspan(1));
    switch (static_cast<unsigned>(input[0]) % 4) {
        case 0: {
            const auto histogram = store::parseHistogram(content);
            promise(!histogram || histogram->edges.size() == histogram->counts.size() + 1, "a histogram has one edge more than counts");
            return histogram.ok();
        }
        case 1: {
            const auto table = store::parseTable(content);
            for (std::size_t i = 0; table && i < table->rows.size(); ++i) promise(table->rows[i].size() >= table->columns.size(), "a row has a cell for each column");
            return table.ok();
        }
        case 2: return store::parseSummaryValue(content).ok();
        default: return store::parseOwnCheckpoint(content).ok();
    }
}
std::vector<std::string> contentSeeds() {
    Bytes histogram;
    put(histogram, std::uint32_t{2});
    for (const double number : {0.0, 1.0, 2.0, 5.0, 6.0}) put(histogram, number);
    return {'\0' + textOf(histogram), std::string("\1") + R"({"columns": ["a", "b"], "rows": [[1, "x"], [null, {"y": 1e308}]]})", "\2[1, 2.5]",
            std::string("\3") + R"({"path": "/a/b", "bytes": 5, "metrics": {"eval/loss": "0.5"}})"};
}

// ---- run.sqlite

using Bits = std::set<std::uint64_t>;

/// All that can be asked of a run; the bits of every value that came.
Bits askAll(const store::RunReader& reader) {
    Bits bits;
    const auto open = reader.keepOpen();
    static_cast<void>(reader.sessions());
    const auto all = reader.series();
    for (std::size_t i = 0; i < 20 && all.ok() && i < all->size(); ++i) {
        const std::string& name = (*all)[i].name;
        for (const auto line : {store::RunReader::Line::All, store::RunReader::Line::Surviving}) {
            const auto points = reader.points(name, line);
            if (points.ok()) for (const store::Point& point : *points) bits.insert(std::bit_cast<std::uint64_t>(point.value));
            static_cast<void>(reader.overview(name, line, 10));
        }
    }
    static_cast<void>(reader.events());
    const auto names = reader.recordNames();
    for (std::size_t i = 0; i < 20 && names.ok() && i < names->size(); ++i) {
        static_cast<void>(reader.records((*names)[i].type, (*names)[i].name));
        static_cast<void>(reader.newestRecords((*names)[i].type));
    }
    static_cast<void>(reader.checkpoints());
    static_cast<void>(reader.digests(1, 0, 10));
    static_cast<void>(reader.ringNames(1));
    static_cast<void>(reader.fact("fact"));
    static_cast<void>(reader.recordedSequence(0, 1));
    return bits;
}

stdfs::path emptyPlace() {
    const stdfs::path file = memory().path() / "run.sqlite";
    for (const char* ending : {"", "-wal", "-shm", "-journal"}) {
        std::error_code ignored;
        stdfs::remove(file.string() + ending, ignored);
    }
    return file;
}

store::SessionRow sessionRow() {
    store::SessionRow row;
    row.number = 1;
    row.verb = "start";
    return row;
}

/// Frames one after the other (type, two bytes of length, payload) as a session records them, however they came about.
bool readRecording(Input input) {
    const stdfs::path file = emptyPlace();
    Bits written;
    {
        auto writer = store::RunWriter::open(file, true);
        promise(writer.ok() && (*writer)->beginSession(sessionRow()).ok(), "a run can be recorded");
        ByteReader in(input);
        for (std::uint64_t sequence = 1; in.left() > 0 && sequence < 200; ++sequence) {
            const auto type = static_cast<live::FrameType>(in.get<std::uint8_t>());
            const Input payload = in.take(std::min<std::size_t>(in.get<std::uint16_t>(), in.left()));
            (*writer)->take(0, 1, sequence, type, payload);
            if (sequence % 16 == 0) promise((*writer)->flush().ok(), "whatever comes can be recorded");
            const auto points = type == live::FrameType::Points ? live::decodePoints(payload) : Error{ErrorCode::Corrupt, {}, {}, {}};
            if (points.ok()) for (const auto& item : points->items) written.insert(std::bit_cast<std::uint64_t>(item.value));
        }
        promise((*writer)->endSession(sessionRow()).ok(), "whatever came can be recorded");
    }
    const auto reader = store::RunReader::open(file);
    promise(reader.ok() && (*reader)->verify().ok(), "what was recorded verifies");
    const Bits read = askAll(**reader);
    promise(std::includes(written.begin(), written.end(), read.begin(), read.end()), "every value that is read was recorded");
    return !read.empty();
}
std::vector<std::string> recordingSeeds() {
    std::string all;
    const auto add = [&](live::FrameType type, const Bytes& payload) {
        all += static_cast<char>(type);
        all += static_cast<char>(payload.size() & 255);
        all += static_cast<char>(payload.size() >> 8);
        all += textOf(payload);
    };
    Bytes payload;
    live::encode(live::SeriesFrame{2, "train/loss", ""}, payload);
    add(live::FrameType::Series, payload);
    for (std::int64_t i = 0; i < 20; ++i) {
        live::encode(live::PointsFrame{1, i, i, i * 1000, i * 1001, {{2, 0.5 / static_cast<double>(i)}, {3, -1.0}}}, payload);
        add(live::FrameType::Points, payload);
    }
    live::encode(live::EventFrame{1, 2, 3, 4, "saved", "text", "{}"}, payload);
    add(live::FrameType::Event, payload);
    live::RecordFrame text;
    text.session = 1;
    text.name = "n";
    text.content = "c";
    live::encode(text, payload);
    add(live::FrameType::Text, payload);
    live::encode(live::DigestFrame{1, 2, 3, 0.5, 0.25}, payload);
    add(live::FrameType::Digest, payload);
    return {all};
}

/// A run whose file was damaged: what verifies holds the values that were written and no others, and a supervisor that goes
/// on in it does not fall over it.
bool readDatabase(Input input) {
    static const Bits written = [] {
        Bits bits;
        for (int i = 0; i < 150; ++i) bits.insert(std::bit_cast<std::uint64_t>(0.1 * i));
        return bits;
    }();
    emptyPlace();
    const stdfs::path file = memory().put("run.sqlite", input);
    bool accepted = false;
    {
        const auto reader = store::RunReader::open(file);
        if (reader.ok()) {
            const Bits read = askAll(**reader);
            accepted = (*reader)->verify().ok();
            promise(!accepted || std::includes(written.begin(), written.end(), read.begin(), read.end()), "a file that verifies holds the values that were written");
        }
    }
    auto writer = store::RunWriter::open(file, true);
    if (!writer.ok()) return accepted;
    store::SessionRow row = sessionRow();
    row.number = 2;
    Bytes payload;
    live::encode(live::PointsFrame{2, 500, 500, 1, 1, {{2, 0.5}}}, payload);
    if ((*writer)->beginSession(row).ok()) (*writer)->take(0, 2, 1, live::FrameType::Points, payload);
    if ((*writer)->flush().ok()) static_cast<void>((*writer)->endSession(row));
    return accepted;
}
/// One that ended, and one whose supervisor was killed: its newest rows lie in tails.
std::vector<std::string> databaseSeeds() {
    std::vector<std::string> all;
    for (const bool ends : {true, false}) {
        const stdfs::path file = emptyPlace();
        auto writer = store::RunWriter::open(file, true);
        promise(writer.ok() && (*writer)->beginSession(sessionRow()).ok(), "a run can be recorded");
        Bytes payload;
        for (std::int64_t i = 0; i < 150; ++i) {
            live::encode(live::PointsFrame{1, i, i, i * 1000, i * 1001, {{2, 0.1 * static_cast<double>(i)}}}, payload);
            (*writer)->take(0, 1, static_cast<std::uint64_t>(i) + 1, live::FrameType::Points, payload);
            if (i % 50 == 49) promise((*writer)->flush().ok(), "a run can be recorded");
        }
        if (ends) promise((*writer)->endSession(sessionRow()).ok(), "a session can end");
        all.push_back(readFile(file, 1u << 20).value());
    }
    return all;
}

}  // namespace

std::vector<Target> storeTargets() {
    return {{"blob", readBlob, blobSeeds}, {"content", readContent, contentSeeds}, {"recording", readRecording, recordingSeeds, false, 20}, {"database", readDatabase, databaseSeeds, false, 20}};
}

}  // namespace lathe::fuzz
