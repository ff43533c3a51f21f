#include "targets.h"

#include "base/file_system.h"
#include "base/hash.h"
#include "config/command_text.h"
#include "config/config.h"
#include "dataset/csv_reader.h"
#include "dataset/idx.h"
#include "live/segment.h"
#include "live/spill.h"
#include "rundir/checkpoint_manifest.h"
#include "rundir/run_folder.h"
#include "rundir/safetensors_header.h"
#include "store/codec.h"
#include "tensorboard/event.h"
#include "tensorboard/record_file.h"

#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <memory>
#include <sys/mman.h>
#include <unistd.h>

namespace lathe::fuzz {
namespace {

namespace stdfs = std::filesystem;

std::string textOf(Input input) { return {reinterpret_cast<const char*>(input.data()), input.size()}; }
std::string textOf(const Bytes& bytes) { return textOf(Input(bytes)); }

void promise(bool kept, const char* what) {
    if (kept) return;
    std::fprintf(stderr, "a promise was broken: %s\n", what);
    std::abort();
}

/// A folder in memory for readers that want files; gone with the program.
class MemoryFolder {
public:
    MemoryFolder() {
        std::string name = "/dev/shm/lathe-fuzz-XXXXXX";
        if (::mkdtemp(name.data()) == nullptr) {
            name = "/tmp/lathe-fuzz-XXXXXX";
            if (::mkdtemp(name.data()) == nullptr) std::abort();
        }
        m_folder = name;
    }
    ~MemoryFolder() {
        std::error_code ignored;
        stdfs::remove_all(m_folder, ignored);
    }
    MemoryFolder(const MemoryFolder&) = delete;
    MemoryFolder& operator=(const MemoryFolder&) = delete;

    stdfs::path put(const stdfs::path& name, Input input) const {
        const stdfs::path file = m_folder / name;
        const int fd = ::open(file.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
        if (fd < 0 || ::write(fd, input.data(), input.size()) != static_cast<ssize_t>(input.size())) std::abort();
        ::close(fd);
        return file;
    }
    const stdfs::path& path() const { return m_folder; }

private:
    stdfs::path m_folder;
};

const MemoryFolder& memory() {
    static const MemoryFolder folder;
    return folder;
}

// ---- configurations

bool readConfig(Input input) {
    const config::Loaded loaded = config::parse(textOf(input), "/nowhere");
    static_cast<void>(config::check(loaded));
    if (config::hasErrors(loaded.problems)) return false;
    const std::string yaml = config::toYaml(loaded.config);
    promise(config::toYaml(config::parse(yaml, "/nowhere").config) == yaml, "a configuration that was written reads back equal");
    return true;
}
std::vector<std::string> configSeeds() {
    std::vector<std::string> all = {"model_name: resnet50\nnum_classes: 10\nbatch_size: 32\nlearning_rate: 3e-4\nuse_ddp: true\n", "optimizer: {learning_rate: .inf}\n",
                                    "data: &a [1, 2]\nx: *a\n", "run:\n  epochs: 1\nrun:\n  epochs: 2\n"};
    for (const config::Preset& preset : config::presets()) {
        const auto text = readFile(preset.file, 1u << 20);
        if (text.ok()) all.push_back(*text);
    }
    return all;
}

bool readCommand(Input input) {
    const auto words = config::splitCommand(textOf(input));
    if (!words.ok()) return false;
    const auto again = config::splitCommand(config::joinCommand(words->words));
    promise(again.ok() && again->words == words->words, "a command that was joined splits into the same words");
    return true;
}
std::vector<std::string> commandSeeds() { return {"python train.py --lr 3e-4", "A=1 B='x y' ./go \"a\\\"b\" c\\ d --x=1"}; }

// ---- checkpoints

bool readSafetensors(Input input) {
    const auto header = rundir::parseSafetensorsHeader(textOf(input), input.size(), "fuzz");
    if (!header.ok()) return false;
    for (const auto& [name, range] : header->tensors)
        promise(range.begin <= range.end && range.end <= input.size() && rundir::tensorBytes(range.dtype, range.shape) == range.end - range.begin, "tensors lie inside their file");
    return true;
}
std::string safetensorsFile() {
    std::vector<std::pair<std::string, rundir::TensorRange>> tensors = {{"a", {"F32", {2, 3}, 0, 0}}, {"b", {"I64", {2}, 0, 0}}, {"c", {"BOOL", {0}, 0, 0}}};
    std::string file = rundir::makeSafetensorsHeader(tensors, {{"format", "pt"}});
    file.resize(tensors.back().second.end, 'x');
    return file;
}
std::vector<std::string> safetensorsSeeds() { return {safetensorsFile()}; }

rundir::CheckpointManifest manifestFor(const std::string& tensors) {
    rundir::CheckpointManifest manifest;
    manifest.runId = "abcdefghijkl";
    manifest.session = 1;
    manifest.counters.globalStep = GlobalStep(10);
    manifest.counters.updateAttempts = UpdateAttempt(10);
    manifest.lastFrame[0] = 7;
    manifest.metrics["eval/loss"] = "0.5";
    manifest.layout = "single";
    manifest.files = {{"model-00000.safetensors", tensors.size(), hashHex(std::as_bytes(std::span(tensors)))}};
    for (const auto& [name, dtype, shape] : {std::tuple<const char*, const char*, std::vector<std::int64_t>>{"a", "F32", {2, 3}}, {"b", "I64", {2}}, {"c", "BOOL", {0}}})
        manifest.tensors.push_back({name, "parameter", dtype, shape, {{"model-00000.safetensors", name, std::vector<std::int64_t>(shape.size(), 0), shape}}});
    return manifest;
}
bool readManifest(Input input) {
    const auto manifest = rundir::parseManifest(textOf(input));
    if (!manifest.ok()) return false;
    const std::string text = rundir::manifestJson(*manifest);
    const auto again = rundir::parseManifest(text);
    promise(again.ok() && rundir::manifestJson(*again) == text, "a manifest that was written reads back equal");
    return true;
}
std::vector<std::string> manifestSeeds() { return {rundir::manifestJson(manifestFor(safetensorsFile()))}; }

/// A checkpoint whose tensor file is the input: nothing but the very file that was saved is taken.
bool readCheckpoint(Input input) {
    static const stdfs::path folder = [] {
        const stdfs::path made = memory().path() / "s001-000000010";
        stdfs::create_directory(made);
        const std::string manifest = rundir::manifestJson(manifestFor(safetensorsFile()));
        memory().put("s001-000000010/manifest.json", std::as_bytes(std::span(manifest)));
        return made;
    }();
    memory().put("s001-000000010/model-00000.safetensors", input);
    const auto verified = rundir::verifyCheckpoint(folder);
    return verified.ok() && verified->ok();
}

// ---- records of a run: the first byte says which

constexpr std::array kRecords = {"run.json", "sessions/1.json", "live.json", "user.json", "summary.json", "settings.json"};

bool readRecord(Input input) {
    static const rundir::RunFolder run = [] {
        stdfs::create_directories(memory().path() / "run" / "sessions");
        return rundir::RunFolder(memory().path() / "run");
    }();
    if (input.empty()) return false;
    const std::size_t which = static_cast<std::size_t>(input[0]) % kRecords.size();
    const stdfs::path file = memory().put(stdfs::path("run") / kRecords[which], input.subspan(1));
    const auto accepted = [&] {
        switch (which) {
            case 0: return rundir::readManifest(run).ok();
            case 1: return rundir::readSession(run, 1).ok();
            case 2: return rundir::readLive(run).ok();
            case 3: return rundir::readUser(run).ok();
            case 4: return rundir::readSummary(run).ok() && rundir::readSummaryOrMake(run).ok();
            default: return rundir::readSettings(run).ok();
        }
    }();
    ::unlink(file.c_str());
    return accepted;
}
std::vector<std::string> recordSeeds() {
    const rundir::RunFolder run(memory().path() / "written");
    stdfs::create_directories(run.sessions());
    FileSystem& fs = FileSystem::real();
    rundir::RunManifest manifest;
    manifest.id = "abcdefghijkl";
    manifest.name = "x";
    manifest.parent = rundir::Parent{"bbbbbbbbbbbb", "s001-000000010", "fork"};
    rundir::SessionRecord session;
    session.verb = "start";
    session.expected = {{1, rundir::windowText(5), "0.5", "1"}};
    session.state = rundir::State::Killed;
    session.signal = 9;
    session.counters.emplace();
    rundir::Summary summary;
    summary.id = manifest.id;
    summary.last["train/loss"] = 0.5;
    summary.best = rundir::BestValue{"accuracy", 0.9, 3, true};
    summary.sparkline = {{1, 0.5}};
    const bool written = rundir::writeManifest(fs, run, manifest).ok() && rundir::writeSession(fs, run, session).ok() && rundir::writeSummary(fs, run, summary).ok()
                         && rundir::writeLive(fs, run, {{"h", "b", 5, 6, "t"}, {{"h", "b", 7, 8, "t"}}, 1, 2}).ok()
                         && rundir::editUser(fs, run, [](rundir::UserRecord& user) { user.tags = {"a"}; }).ok() && rundir::writeSettings(fs, run, {{"lr", "1"}}).ok();
    promise(written, "the records can be written");
    std::vector<std::string> all;
    for (std::size_t i = 0; i < kRecords.size(); ++i) all.push_back(std::string(1, static_cast<char>(i)) + readFile(run.root() / kRecords[i], 1u << 20).value());
    return all;
}

// ---- shared memory and frames

void decodeFrame(const live::Frame& frame) {
    static_cast<void>(live::decodePoints(frame.payload));
    static_cast<void>(live::decodeEvent(frame.payload));
    static_cast<void>(live::decodeSeries(frame.payload));
    static_cast<void>(live::decodeDigest(frame.payload));
    if (live::isRecord(frame.type)) static_cast<void>(live::decodeRecord(frame.type, frame.payload));
}

bool readSegment(Input input) {
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

/// What is behind a damaged record is left out; every frame that comes back is one that was written.
bool readSpill(Input input) {
    static const Bytes payload = pointsPayload();
    const auto frames = live::readSpill(memory().put("s001-r0.spill", input), 1);
    if (!frames.ok()) return false;
    for (const live::Frame& frame : *frames) promise(frame.payload == payload && frame.type == live::FrameType::Points, "a spilled frame is one that was written");
    return !frames->empty();
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

// ---- TensorBoard files

bool readEvents(Input input) {
    auto reader = tensorboard::RecordReader::open(memory().put("events.out.tfevents.1", input), 0);
    if (!reader.ok()) return false;
    tensorboard::Event event;
    bool any = false;
    const auto progress = reader->read(1u << 20, [&](Input payload) { any = tensorboard::parseEvent(payload, event) || any; });
    static_cast<void>(tensorboard::parseEvent(input, event));  // also what no checksum guards
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

}  // namespace

const std::vector<Target>& targets() {
    static const std::vector<Target> all = {
        {"config", readConfig, configSeeds, false}, {"command", readCommand, commandSeeds, false}, {"safetensors", readSafetensors, safetensorsSeeds, false},
        {"manifest", readManifest, manifestSeeds, true}, {"checkpoint", readCheckpoint, safetensorsSeeds, true}, {"record", readRecord, recordSeeds, false},
        {"segment", readSegment, segmentSeeds, false}, {"frame", readFrame, frameSeeds, false}, {"spill", readSpill, spillSeeds, false},
        {"blob", readBlob, blobSeeds, false}, {"idx", readIdx, idxSeeds, false}, {"csv", readCsv, csvSeeds, false}, {"events", readEvents, eventSeeds, false}};
    return all;
}

const Target* targetNamed(const std::string& name) {
    for (const Target& target : targets())
        if (target.name == name) return &target;
    return nullptr;
}

}  // namespace lathe::fuzz
