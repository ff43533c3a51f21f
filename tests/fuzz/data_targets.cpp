#include "parts.h"

#include "base/bytes.h"
#include "dataset/csv_reader.h"
#include "dataset/idx.h"
#include "dataset/image_file.h"
#include "tensorboard/event.h"
#include "tensorboard/record_file.h"
#include "tensorboard/session_line.h"
#include "tensorboard/summary_content.h"

namespace lathe::fuzz {
namespace {

// ---- data

bool readIdx(Input input) {
    const auto array = dataset::readIdx(memory().put("data.idx", input), "data.train");
    if (!array.ok()) return false;
    if (array->count() > 0) static_cast<void>(array->value(array->count() - 1));
    return true;
}
std::vector<std::string> idxSeeds() {
    std::string pictures{"\0\0\x08\x03\0\0\0\x02\0\0\0\x02\0\0\0\x03", 16}, labels{"\0\0\x0d\x01\0\0\0\x01\x3f\x80\0\0", 12};
    return {pictures + std::string(12, 'p'), labels};
}

bool readCsv(Input input) {
    auto reader = dataset::CsvReader::open(memory().put("data.csv", input), "data.train");
    if (!reader.ok()) return false;
    while (true) {
        const auto more = reader->next();
        if (!more.ok()) return false;
        if (!*more) return true;
        promise(reader->cells().size() == reader->header().size(), "every record has as many cells as the header");
        for (const std::string& cell : reader->cells()) static_cast<void>(dataset::cellNumber(cell));
    }
}
std::vector<std::string> csvSeeds() { return {"a,b,c\n1,2,3\n\"x,\"\"y\",,4e5\r\n", "\xef\xbb\xbfx;y\n1,5;2\n", "a\tb\n1\t2\n"}; }

bool readPicture(Input input) {
    const stdfs::path file = memory().put("picture", input);
    const auto header = dataset::readImageHeader(file);
    if (!header.ok() || std::int64_t{header->width} * header->height > (1 << 20)) return false;  // large ones are honest work
    const auto picture = dataset::decodeImage(file);
    if (!picture.ok()) return false;
    promise(picture->width == header->width && picture->height == header->height, "a picture has the size that its header says");
    promise(picture->pixels.size() == std::size_t{1} * static_cast<std::size_t>(picture->width * picture->height * picture->channels), "a picture has all its pixels");
    promise(dataset::toSquare(dataset::withChannels(*picture, 3), 8, false).pixels.size() == 8 * 8 * 3, "a picture can be made a square");
    return true;
}
std::vector<std::string> pictureSeeds() { return {}; }  // we write none: all of them lie in corpus/picture

// ---- TensorBoard files

/// As the import does, from two files in turn.
void placeValue(tensorboard::SessionLine& line, const tensorboard::Value& value, std::int64_t step, std::int64_t wallNs) {
    if (value.kind == tensorboard::Value::Kind::Histogram) static_cast<void>(tensorboard::histogramOf(value));
    if (value.kind == tensorboard::Value::Kind::Image)
        for (const std::string_view picture : tensorboard::picturesOf(value)) static_cast<void>(tensorboard::mediaTypeOf(picture));
    const std::size_t file = line.fileNamed(line.tags.size() % 2 == 0 ? "a" : "b");
    const auto turn = line.turnOf(file, value.tag, step, wallNs);
    if (turn.kind == tensorboard::SessionLine::Turn::Kind::NewStart) line.begin(file, turn.keeps, wallNs, false);
    if (turn.kind == tensorboard::SessionLine::Turn::Kind::SecondWriter) line.setApart(file);
    const auto placed = line.place(file, value.tag, step, wallNs);
    promise(placed.tag < line.tags.size() && placed.session <= line.session, "a value has its place on the line");
}

bool readEvents(Input input) {
    auto reader = tensorboard::RecordReader::open(memory().put("events.out.tfevents.1", input), 0);
    if (!reader.ok()) return false;
    tensorboard::Event event;
    tensorboard::SessionLine line;
    bool any = false;
    const auto take = [&](Input payload) {
        if (!tensorboard::parseEvent(payload, event)) return false;
        const std::int64_t wallNs = tensorboard::wallNsOf(event.wallSeconds);
        if (event.isStart) {
            if (const auto keeps = line.keptByMark(event.step)) line.begin(line.fileNamed("a"), *keeps, wallNs, true);
        }
        for (const tensorboard::Value& value : event.values) placeValue(line, value, event.step, wallNs);
        return true;
    };
    const auto progress = reader->read(1u << 20, [&](Input payload) { any = take(payload) || any; });
    static_cast<void>(take(input));  // also what no checksum guards
    return progress.ok() && any;
}
std::vector<std::string> eventSeeds() {
    Bytes all, payload;
    tensorboard::encodeFileVersion(payload, 1.5);
    tensorboard::frameRecord(all, payload);
    for (int i = 0; i < 3; ++i) {
        payload.clear();
        tensorboard::encodeScalar(payload, 2.5 + i, i, "loss", 0.5f);
        tensorboard::frameRecord(all, payload);
    }
    return {textOf(all), textOf(payload)};
}

/// Where an import stood when it ended.
bool readLine(Input input) {
    auto line = tensorboard::SessionLine::fromJson(textOf(input));
    if (!line) return false;
    const std::string text = line->toJson();
    const auto again = tensorboard::SessionLine::fromJson(text);
    promise(again && again->toJson() == text, "the state of an import that was written reads back equal");
    tensorboard::Value value;
    for (const std::string_view tag : {"loss", "other"}) {
        value.tag = tag;
        placeValue(*line, value, 5, 1000);
    }
    return true;
}
std::vector<std::string> lineSeeds() {
    tensorboard::SessionLine line;
    tensorboard::Value value;
    for (const std::string_view tag : {"loss", "rate", "loss"}) {
        value.tag = tag;
        placeValue(line, value, 3, 500);
    }
    return {line.toJson()};
}

}  // namespace

std::vector<Target> dataTargets() {
    return {{"idx", readIdx, idxSeeds}, {"csv", readCsv, csvSeeds}, {"picture", readPicture, pictureSeeds}, {"events", readEvents, eventSeeds}, {"line", readLine, lineSeeds}};
}

}  // namespace lathe::fuzz
