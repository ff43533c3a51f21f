#include "launch/imported_run.h"

#include "base/clock.h"
#include "base/file_system.h"
#include "base/hash.h"
#include "config/utf8.h"
#include "launch/identity.h"
#include "launch/verbs.h"
#include "tensorboard/event_folder.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <fcntl.h>
#include <unistd.h>
#include <utility>

namespace lathe::launch {

using nlohmann::json;
using tensorboard::Event;
using tensorboard::Value;

static constexpr std::uint64_t kHeadBytes = 4096;
static constexpr std::size_t kFlushBytes = 24u << 20;
static constexpr std::size_t kMostTags = 65'536, kLongestText = live::kMostInlineBytes, kMostProblems = 100;
static FileSystem& disk() { return FileSystem::real(); }

static std::string counted(std::int64_t n, const std::string& what) { return std::to_string(n) + " " + what + (n == 1 ? "" : "s"); }

// ---- which run

/// Runs made from a folder before, newest first.
static std::optional<rundir::RunFolder> runOf(const std::filesystem::path& workspace, const std::filesystem::path& folder) {
    for (const rundir::RunFolder& run : rundir::listRuns(workspace)) {
        const auto manifest = rundir::readManifest(run);
        if (manifest && manifest->kind == rundir::RunKind::Imported && manifest->source == folder.string()) return run;
    }
    return std::nullopt;
}

static Result<std::pair<rundir::RunFolder, rundir::RunLock>> makeRun(const std::filesystem::path& workspace, const std::filesystem::path& folder,
                                                                     const std::string& name) {
    rundir::RunManifest manifest;
    manifest.kind = rundir::RunKind::Imported;
    manifest.source = folder.string();
    manifest.id = rundir::newRunId();
    manifest.name = name;
    manifest.createdNs = Clock::system().wallNs();
    manifest.host = hostName();
    manifest.program = std::string("Lathe ") + LATHE_VERSION;
    rundir::Summary summary;
    summary.id = manifest.id;
    summary.name = name;
    summary.task = rundir::kImportedTask;
    summary.createdNs = summary.startedNs = summary.updatedNs = manifest.createdNs;
    std::optional<rundir::RunLock> lock;
    LATHE_TRY_ASSIGN(rundir::RunFolder run, rundir::createRun(disk(), workspace, manifest, {}, [&](const rundir::RunFolder& unfinished) -> Result<void> {
        LATHE_TRY_ASSIGN(lock, rundir::RunLock::acquire(unfinished.lock()));
        return rundir::writeSummary(disk(), unfinished, summary);
    }));
    return std::pair(std::move(run), std::move(*lock));
}

Result<std::unique_ptr<ImportedRun>> ImportedRun::open(const std::filesystem::path& workspace, const std::filesystem::path& folder, const std::string& name) {
    LATHE_TRY(makeFolders(disk(), workspace));
    // Two imports at the same time must not make two runs of one folder.
    LATHE_TRY_ASSIGN(const rundir::RunLock one, rundir::RunLock::acquireWithin(workspace / "import.lock", 10'000));
    const auto known = runOf(workspace, folder);
    if (!known) {
        LATHE_TRY_ASSIGN(auto made, makeRun(workspace, folder, name));
        LATHE_TRY_ASSIGN(auto recorder, ImportRecorder::open(made.first));
        auto run = std::unique_ptr<ImportedRun>(new ImportedRun(folder, std::move(made.second), std::move(recorder)));
        run->m_isNew = true;
        return run;
    }
    LATHE_TRY_ASSIGN(rundir::RunLock lock, takeRun(*known));
    LATHE_TRY_ASSIGN(auto recorder, ImportRecorder::open(*known));
    auto run = std::unique_ptr<ImportedRun>(new ImportedRun(folder, std::move(lock), std::move(recorder)));
    LATHE_TRY(run->restore());
    return run;
}

/// Where the last reading stopped.
Result<void> ImportedRun::restore() {
    LATHE_TRY_ASSIGN(m_settings, rundir::readSettings(run()));
    if (!m_recorder->state()) return {};
    const json state = json::parse(*m_recorder->state(), nullptr, false);
    auto line = state.is_object() ? tensorboard::SessionLine::fromJson(state.value("line", "")) : std::nullopt;
    if (!line || (line->hasPoints && line->session != m_recorder->session())) {
        return Error{ErrorCode::Corrupt, run().database().string() + " does not tell how far " + m_folder.string()
                     + " was read; delete the run and import the folder anew", {}, {}};
    }
    m_line = std::move(*line);
    for (const json& tag : state.value("text_tags", json::array()))
        if (tag.is_string()) m_textTags.insert(tag.get<std::string>());
    for (std::size_t tag = 0; tag < m_line.tags.size(); ++tag) static_cast<void>(seriesName(tag));
    return {};
}

std::string ImportedRun::stateText() const {
    return json{{"line", m_line.toJson()}, {"text_tags", m_textTags}}.dump(-1, ' ', false, json::error_handler_t::replace);
}

const std::string& ImportedRun::seriesName(std::size_t tag) {
    while (m_seriesNames.size() <= tag) m_seriesNames.push_back(m_names.of(m_line.tags[m_seriesNames.size()].name));
    return m_seriesNames[tag];
}

// ---- reading

Result<bool> ImportedRun::read(std::uint64_t budget) {
    LATHE_TRY_ASSIGN(const std::vector<std::string> names, tensorboard::eventFilesIn(m_folder));
    std::uint64_t left = budget;
    bool more = false;
    for (const std::string& name : names) {
        if (config::firstBadUtf8(name) != std::string_view::npos) {
            problem(name, "A file in " + m_folder.string() + " has a name that is not UTF-8, and is left out");
            continue;
        }
        auto got = readFile(name, left);
        if (m_failure) return Error(*m_failure);
        if (!got) {
            problem(name, got.error().text());
            continue;
        }
        m_bytesRead += *got;
        left -= std::min(left, *got);
        more = left == 0;
        if (more) break;
    }
    return more;
}

/// What is new in one file; the bytes it took.
Result<std::uint64_t> ImportedRun::readFile(const std::string& name, std::uint64_t budget) {
    const std::filesystem::path path = m_folder / name;
    std::error_code missing;
    const std::uint64_t now = std::filesystem::file_size(path, missing);
    if (const auto seen = m_sizes.find(name); !missing && seen != m_sizes.end() && seen->second == now) return std::uint64_t{0};
    std::size_t file = m_line.fileNamed(name);
    checkHead(file, path);
    const std::uint64_t before = m_line.files[file].offset;
    LATHE_TRY_ASSIGN(auto reader, tensorboard::RecordReader::open(path, before));
    const std::uint64_t size = reader.size();
    m_sizes[name] = size;
    if (size == before) return std::uint64_t{0};
    std::uint64_t broken = 0;
    while (true) {
        // Slices, so that what is in memory can be put away between two of them.
        LATHE_TRY_ASSIGN(const auto progress, reader.read(std::min<std::uint64_t>(budget, 4u << 20), [&](std::span<const std::byte> payload) {
            if (m_failure) return;
            if (!tensorboard::parseEvent(payload, m_event)) ++broken;
            else take(file, m_event);
        }));
        m_line.files[file].offset = reader.offset();
        if (m_failure) return Error(*m_failure);
        report(name, progress);
        if (m_recorder->pendingBytes() > kFlushBytes) LATHE_TRY(flush());
        if (!progress.more) break;
        if (reader.offset() - before < budget) continue;
        m_sizes.erase(name);
        break;
    }
    if (broken > 0) problem(name + " events", counted(static_cast<std::int64_t>(broken), "record") + " of " + path.string() + " hold no event, and are left out");
    noteHead(file, path);
    return reader.offset() - before;
}

static std::uint64_t hashOfHead(const std::filesystem::path& path, std::uint64_t bytes) {
    const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) return 0;
    Bytes head(static_cast<std::size_t>(bytes));
    const ssize_t got = ::pread(fd, head.data(), head.size(), 0);
    ::close(fd);
    return got == static_cast<ssize_t>(bytes) ? hash64(head) : 0;
}

void ImportedRun::noteHead(std::size_t file, const std::filesystem::path& path) {
    tensorboard::SessionLine::File& known = m_line.files[file];
    const std::uint64_t bytes = std::min(known.offset, kHeadBytes);
    if (bytes == known.headBytes) return;
    known.headBytes = bytes;
    known.headHash = hashOfHead(path, bytes);
}

/// Another file under a known name is read from its beginning, as a file of its own; what the first one had stays.
void ImportedRun::checkHead(std::size_t& file, const std::filesystem::path& path) {
    tensorboard::SessionLine::File& known = m_line.files[file];
    if (known.headBytes == 0 || hashOfHead(path, known.headBytes) == known.headHash) return;
    if (::access(path.c_str(), R_OK) != 0) return;  // told when it is opened
    const std::string name = known.name;
    known.name += " (replaced " + std::to_string(m_line.files.size()) + ")";
    file = m_line.fileNamed(name);
    problem(name + " replaced", path.string() + " is another file than the one that was read before under this name; it is read as a new one");
}

void ImportedRun::report(const std::string& name, const tensorboard::RecordReader::Progress& progress) {
    const std::string file = (m_folder / name).string();
    if (progress.damaged)
        problem(name + " length", file + " is damaged at byte " + std::to_string(m_line.files[m_line.fileNamed(name)].offset) + ": what follows cannot be read");
    if (progress.shrunk) problem(name + " shrunk", file + " has become shorter than what was read of it");
    if (progress.badRecords > 0)
        problem(name + " data", file + ": " + counted(static_cast<std::int64_t>(progress.badRecords), "record") + " with a wrong checksum left out");
    m_count.leftOut["records over 64 MiB"] += static_cast<std::int64_t>(progress.longRecords);
    if (progress.unfinished > 0 && !progress.damaged && !progress.more) m_told[name + " unfinished"] = file + " ends inside a record";
    else m_told.erase(name + " unfinished");
}

/// Once each, in the run's log too.
void ImportedRun::problem(const std::string& about, const std::string& sentence) {
    if (m_count.problems.size() >= kMostProblems || !m_told.emplace(about, sentence).second) return;
    m_count.problems.push_back(sentence);
    if (m_isAwake) m_recorder->event(0, Clock::system().wallNs(), "warning", sentence);
}

// ---- one event

void ImportedRun::take(std::size_t file, Event& event) {
    if (event.isStart) {
        if (const auto keeps = m_line.start(file, event.step)) begin(keeps, event);
    }
    if (event.hasGraph) ++m_count.leftOut["graphs"];
    for (const Value& value : event.values) {
        if (m_failure) return;
        if (value.kind == Value::Kind::Scalar) takeScalar(file, event, value.tag, value.number);
        else takeOther(event, value);
    }
    for (auto& [name, value] : event.settings) {
        std::string& setting = m_settings[config::cleanSeriesName(name)];
        if (std::string text = config::repairedUtf8(value); text != setting) {
            setting = std::move(text);
            m_settingsChanged = true;
        }
    }
}

/// The run is taken up, or made, with the first thing that is new.
void ImportedRun::wake(const Event& event) {
    if (m_isAwake || m_failure) return;
    const std::int64_t written = tensorboard::wallNsOf(event.wallSeconds);
    const auto done = m_recorder->session() > 0 ? m_recorder->takeUp()
                                                : m_recorder->begin(0, event.step, written != 0 ? written : Clock::system().wallNs(), {});
    if (!done) m_failure = done.error();
    m_isAwake = done.ok();
}

void ImportedRun::begin(std::optional<std::int64_t> keeps, const Event& event) {
    wake(event);
    if (m_failure) return;
    const auto begun = m_recorder->begin(*keeps, event.step, tensorboard::wallNsOf(event.wallSeconds),
                                         "The program was started again at step " + std::to_string(event.step));
    if (!begun) m_failure = begun.error();
}

void ImportedRun::takeScalar(std::size_t file, const Event& event, std::string_view tag, double number) {
    std::string mended;
    if (config::firstBadUtf8(tag) != std::string_view::npos) tag = mended = config::repairedUtf8(std::string(tag));
    wake(event);
    if (const auto keeps = m_line.startBefore(file, tag, event.step)) begin(keeps, event);
    if (m_failure) return;
    const auto placed = m_line.place(file, tag, event.step);
    if (placed.tag >= kMostTags) {
        ++m_count.leftOut["values of names beyond the first 65,536"];
        return;
    }
    m_recorder->point(placed.session, static_cast<std::uint16_t>(placed.tag), seriesName(placed.tag), placed.attempt, event.step,
                      tensorboard::wallNsOf(event.wallSeconds), number);
    ++m_count.points;
}

void ImportedRun::takeText(const Event& event, const Value& value) {
    wake(event);
    if (m_failure) return;
    m_recorder->text(event.step, tensorboard::wallNsOf(event.wallSeconds), config::cleanSeriesName(value.tag),
                     config::repairedUtf8(value.text.substr(0, kLongestText)));
    ++m_count.texts;
}

void ImportedRun::takeOther(const Event& event, const Value& value) {
    using Kind = Value::Kind;
    switch (value.kind) {
        case Kind::Text:
            m_textTags.emplace(config::cleanSeriesName(value.tag));
            return takeText(event, value);
        case Kind::Strings:
            if (m_textTags.contains(config::cleanSeriesName(value.tag))) return takeText(event, value);
            ++m_count.leftOut["tensors"];
            return;
        case Kind::Histogram: ++m_count.leftOut["histograms"]; return;
        case Kind::Image: ++m_count.leftOut["images"]; return;
        case Kind::Audio: ++m_count.leftOut["sounds"]; return;
        case Kind::Tensor: ++m_count.leftOut["tensors"]; return;
        case Kind::Settings:
        case Kind::Scalar: return;
    }
}

// ---- putting away

Result<void> ImportedRun::flush() {
    if (m_settingsChanged) {
        LATHE_TRY(rundir::writeSettings(disk(), run(), m_settings));
        m_settingsChanged = false;
    }
    if (!m_isAwake) return {};
    if (m_namesKept != m_seriesNames.size()) {
        json originals = json::object();
        for (std::size_t tag = 0; tag < m_seriesNames.size(); ++tag)
            if (m_seriesNames[tag] != m_line.tags[tag].name) originals[m_seriesNames[tag]] = m_line.tags[tag].name;
        m_recorder->fact("original_names", originals.dump());
        m_namesKept = m_seriesNames.size();
    }
    return m_recorder->flush(stateText());
}

Result<void> ImportedRun::goLive() {
    if (!m_isAwake || m_recorder->isLive()) return {};
    LATHE_TRY(flush());
    return m_recorder->goLive();
}

void ImportedRun::writeDown() {
    m_count.sessions = m_recorder->session();
    m_count.series = m_line.tags.size();
    std::erase_if(m_count.leftOut, [](const auto& entry) { return entry.second == 0; });
    for (const auto& [about, sentence] : m_told)
        if (about.ends_with(" unfinished")) m_count.problems.push_back(sentence);
    if (m_line.repeated > 0) m_count.problems.push_back(counted(static_cast<std::int64_t>(m_line.repeated), "point") + " repeat a step of their series or go back without a mark of a new start; all are kept");
}

static std::string summaryText(const ImportCount& count, const std::filesystem::path& folder) {
    std::string text = "Read " + folder.string() + ": " + counted(count.points, "point") + ", " + std::to_string(count.series) + " series";
    for (const auto& [what, n] : count.leftOut) text += "; not kept: " + what + " (" + std::to_string(n) + ")";
    return text;
}

Result<void> ImportedRun::end(rundir::State state, const std::string& why) {
    writeDown();
    if (!m_isAwake && !m_isNew && !m_settingsChanged) return {};
    LATHE_TRY(flush());
    if (!m_isAwake) wake(m_event);  // a folder without a single value is a run too
    if (m_failure) return Error(*m_failure);
    json facts = {{"points", m_count.points}, {"texts", m_count.texts}, {"left_out", m_count.leftOut}, {"problems", m_count.problems}};
    m_recorder->event(0, Clock::system().wallNs(), "import", summaryText(m_count, m_folder), facts.dump(-1, ' ', false, json::error_handler_t::replace));
    m_isAwake = false;
    return m_recorder->end(state, why, stateText());
}

}  // namespace lathe::launch
