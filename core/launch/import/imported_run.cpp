#include "launch/import/imported_run.h"

#include "base/clock.h"
#include "base/file_system.h"
#include "base/hash.h"
#include "config/utf8.h"
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
static constexpr std::size_t kMostProblems = 100;
static FileSystem& disk() { return FileSystem::real(); }

static std::string counted(std::int64_t n, const std::string& what) { return std::to_string(n) + " " + what + (n == 1 ? "" : "s"); }

// ---- which run, and how far it is

Result<std::unique_ptr<ImportedRun>> ImportedRun::open(ImportSources& sources, const std::filesystem::path& folder, const std::string& name) {
    LATHE_TRY_ASSIGN(ImportSources::Taken taken, sources.take(folder, name));
    LATHE_TRY_ASSIGN(auto recorder, ImportRecorder::open(taken.run));
    auto run = std::unique_ptr<ImportedRun>(new ImportedRun(folder, std::move(taken.lock), std::move(recorder)));
    run->m_isNew = taken.isNew;
    LATHE_TRY(run->restore());
    return run;
}

/// Where the last reading stopped.
Result<void> ImportedRun::restore() {
    LATHE_TRY_ASSIGN(m_settings, rundir::readSettings(run()));
    if (!m_recorder->state()) return {};
    const json state = json::parse(*m_recorder->state(), nullptr, false);
    auto line = state.is_object() ? tensorboard::SessionLine::fromJson(state.value("line", "")) : std::nullopt;
    if (!line || (line->hasPoints && !m_recorder->goBackTo(line->session))) {
        return Error{ErrorCode::Corrupt, run().database().string() + " does not tell how far " + m_folder.string()
                     + " was read; delete the run and import the folder anew", {}, {}};
    }
    m_line = std::move(*line);
    const json plugins = state.value("plugins", json::object());
    for (const auto& [tag, plugin] : plugins.items())
        if (plugin.is_string()) m_plugins[tag] = plugin.get<std::string>();
    const json missing = state.value("missing", json::object());
    for (const auto& [about, sentence] : missing.items())
        if (sentence.is_string()) m_missing[about] = sentence.get<std::string>();
    for (std::size_t tag = 0; tag < m_line.tags.size(); ++tag) static_cast<void>(seriesName(tag));
    return {};
}

/// How far everything was read; names that the program gave its series go with it.
std::string ImportedRun::stateText() {
    if (m_namesKept != m_seriesNames.size()) {
        json originals = json::object();
        for (std::size_t tag = 0; tag < m_seriesNames.size(); ++tag)
            if (m_seriesNames[tag] != m_line.tags[tag].name) originals[m_seriesNames[tag]] = m_line.tags[tag].name;
        m_recorder->fact("original_names", originals.dump());
        m_namesKept = m_seriesNames.size();
    }
    return json{{"line", m_line.toJson()}, {"plugins", m_plugins}, {"missing", m_missing}}.dump(-1, ' ', false, json::error_handler_t::replace);
}

const std::string& ImportedRun::seriesName(std::size_t tag) {
    while (m_seriesNames.size() <= tag) {
        const tensorboard::SessionLine::Tag& next = m_line.tags[m_seriesNames.size()];
        const std::string& name = m_names.of(next.name);
        m_seriesNames.push_back(next.writer == 1 ? name : m_names.of(name + " (writer " + std::to_string(next.writer) + ")"));
    }
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
    while (true) {
        // Slices, so that what is in memory can be put away between two of them.
        const auto progress = reader.read(std::min<std::uint64_t>(budget, 4u << 20), [&](std::span<const std::byte> payload) {
            if (m_failure) return;
            m_recordAt = reader.offset();
            if (tensorboard::parseEvent(payload, m_event)) take(file, m_event);
            else ++m_left["without an event in it"];
        });
        if (m_failure) return Error(*m_failure);
        m_line.files[file].offset = reader.offset();  // also where reading failed: what came before it was taken
        if (!progress) return progress.error();
        if (reader.offset() > before) m_cutOff.clear();
        report(name, *progress);
        if (m_recorder->pendingBytes() > kFlushBytes) static_cast<void>(flush());
        if (m_failure) return Error(*m_failure);
        if (!progress->more) break;
        if (reader.offset() - before < budget) continue;
        m_sizes.erase(name);
        break;
    }
    tellLeft(name);
    noteHead(file, path);
    return reader.offset() - before;
}

/// The records that this pass over a file had to leave out.
void ImportedRun::tellLeft(const std::string& name) {
    for (const auto& [why, n] : m_left) {
        // Where its records are counts, too: a file that is followed may get more of them.
        const std::string about = name + " " + why + " " + std::to_string(m_line.files[m_line.fileNamed(name)].offset);
        problem(about, (m_folder / name).string() + ": " + counted(static_cast<std::int64_t>(n), "record") + " " + why + " left out");
    }
    m_left.clear();
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
    if (progress.damaged) {
        m_cutOff = file + " is damaged at byte " + std::to_string(m_line.files[m_line.fileNamed(name)].offset) + ": what follows cannot be read";
        problem(name + " length", m_cutOff);
    }
    if (progress.shrunk) problem(name + " shrunk", file + " has become shorter than what was read of it");
    if (progress.badRecords > 0) m_left["with a wrong checksum"] += progress.badRecords;
    if (progress.longRecords > 0) m_count.leftOut["records over 64 MiB"] += static_cast<std::int64_t>(progress.longRecords);
    if (progress.unfinished > 0 && !progress.damaged && !progress.more) m_unfinished[name] = file + " ends inside a record";
    else m_unfinished.erase(name);
}

/// Once each in a reading; in the run's log too.
void ImportedRun::tell(const std::string& about, const std::string& sentence) {
    if (m_count.problems.size() >= kMostProblems || !m_told.insert(about).second) return;
    m_count.problems.push_back(sentence);
    if (m_missing.contains(about)) return;  // an earlier reading has told it there
    if (m_isAwake) m_recorder->event(0, Clock::system().wallNs(), "warning", sentence);
    else m_untold.push_back(sentence);
}

void ImportedRun::problem(const std::string& about, const std::string& sentence) {
    tell(about, sentence);
    if (m_missing.size() < kMostProblems) m_missing.emplace(about, sentence);
}

std::string ImportedRun::missing() const {
    const std::size_t n = m_missing.size() + m_unfinished.size();
    if (n == 0) return {};
    const std::string& first = m_missing.empty() ? m_unfinished.begin()->second : m_missing.begin()->second;
    return "Not all of it could be read: " + first + (n > 1 ? ", and more (see its warnings)" : "");
}

// ---- one event

void ImportedRun::take(std::size_t file, Event& event) {
    if (event.isStart) {
        if (const auto keeps = m_line.keptByMark(event.step)) book(begin(file, *keeps, true, event));
    }
    if (event.hasGraph) ++m_count.leftOut["graphs"];
    // Whether a new session begins is settled before anything of the event is kept: sessions part whole events.
    for (Value& value : event.values) {
        if (value.kind != Value::Kind::Scalar || m_failure) continue;
        if (config::firstBadUtf8(value.tag) != std::string_view::npos) value.tag = value.text = config::repairedUtf8(std::string(value.tag));
        settle(file, event, value.tag);
    }
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

void ImportedRun::book(Result<void> done) {
    if (!done && !m_failure) m_failure = std::move(done).error();
}

static std::int64_t startOf(const Event& event) {
    const std::int64_t written = tensorboard::wallNsOf(event.wallSeconds);
    return written != 0 ? written : Clock::system().wallNs();
}

/// The run is taken up, or made, with the first thing that is new.
void ImportedRun::wake(const Event& event) {
    if (m_isAwake || m_failure) return;
    book(m_recorder->session() > 0 ? m_recorder->takeUp() : m_recorder->begin(0, event.step, startOf(event), {}, {}));
    m_isAwake = !m_failure;
    if (!m_isAwake) return;
    for (const std::string& sentence : m_untold) m_recorder->event(0, Clock::system().wallNs(), "warning", sentence);
    m_untold.clear();
}

/// A new session. What was read before this event is kept with the one before, to the byte.
Result<void> ImportedRun::begin(std::size_t file, std::int64_t keeps, bool byMark, const Event& event) {
    wake(event);
    if (m_failure) return Error(*m_failure);
    m_line.files[file].offset = m_recordAt;
    LATHE_TRY(keepSettings());
    LATHE_TRY(m_recorder->begin(keeps, event.step, startOf(event), "The program was started again at step " + std::to_string(event.step), stateText()));
    m_line.begin(file, keeps, tensorboard::wallNsOf(event.wallSeconds), byMark);
    return {};
}

/// Two files write the same names at the same time: this one goes on under names of its own.
Result<void> ImportedRun::setApart(std::size_t file, const tensorboard::SessionLine::Turn& turn, std::string_view tag, std::int64_t step) {
    if (turn.cutNothing) LATHE_TRY(m_recorder->keepBefore(m_line.largestAttempt));
    m_line.setApart(file);
    const std::string writer = "(writer " + std::to_string(m_line.files[file].writer) + ")";
    tell(m_line.files[file].name + " apart", m_line.files[file].name + " and " + m_line.files[turn.other].name + " write the same names at the same time (\""
         + config::cleanSeriesName(tag) + "\" at step " + std::to_string(step) + "): what the first of them writes from there on is shown under these names with \"" + writer + "\" behind");
    return {};
}

bool ImportedRun::hasRoom(std::size_t file, std::string_view tag) const { return m_line.tags.size() < kMostTags || m_line.knows(file, tag); }

void ImportedRun::settle(std::size_t file, const Event& event, std::string_view tag) {
    using Kind = tensorboard::SessionLine::Turn::Kind;
    const auto turn = m_line.turnOf(file, tag, event.step, tensorboard::wallNsOf(event.wallSeconds));
    if (turn.kind == Kind::GoesOn) return;
    wake(event);
    if (m_failure) return;
    book(turn.kind == Kind::NewStart ? begin(file, turn.keeps, false, event) : setApart(file, turn, tag, event.step));
}

void ImportedRun::takeScalar(std::size_t file, const Event& event, std::string_view tag, double number) {
    if (!hasRoom(file, tag)) {
        if (m_count.leftOut["values of further names"]++ == 0) problem("names", "Only the first 65,536 names have series; values of further ones are left out");
        return;
    }
    wake(event);
    if (m_failure) return;
    const std::int64_t wallNs = tensorboard::wallNsOf(event.wallSeconds);
    const auto placed = m_line.place(file, tag, event.step, wallNs);
    m_recorder->point(placed.session, static_cast<std::uint16_t>(placed.tag), seriesName(placed.tag), placed.attempt, event.step, wallNs, number);
    ++m_count.points;
}

// ---- putting away

Result<void> ImportedRun::keepSettings() {
    if (!m_settingsChanged) return {};
    LATHE_TRY(rundir::writeSettings(disk(), run(), m_settings));
    m_settingsChanged = false;
    return {};
}

Result<void> ImportedRun::flush() {
    if (m_failure) return Error(*m_failure);
    if (!m_isAwake) return {};
    auto done = keepSettings();
    if (done) done = m_recorder->flush(stateText());
    if (!done && done.error().code != ErrorCode::Busy) m_failure = done.error();
    return done;
}

Result<void> ImportedRun::goLive() {
    if (!m_isAwake || m_recorder->isLive()) return {};
    LATHE_TRY(flush());
    return m_recorder->goLive();
}

void ImportedRun::writeDown() {
    m_count.sessions = m_recorder->session();
    m_count.series = m_line.tags.size();
    for (const auto& [file, sentence] : m_unfinished) tell(file + " unfinished", sentence);
    if (m_line.repeated > 0) m_count.problems.push_back(counted(static_cast<std::int64_t>(m_line.repeated), "point") + " repeat a step of their series or go back without a mark of a new start; all are kept");
}

static std::string summaryText(const ImportCount& count, const std::filesystem::path& folder) {
    std::string text = "Read " + folder.string() + ": " + counted(count.points, "point") + ", " + std::to_string(count.series) + " series";
    for (const auto& [what, n] : {std::pair("text", count.texts), std::pair("histogram", count.histograms), std::pair("image", count.images)})
        if (n > 0) text += ", " + counted(n, what);
    for (const auto& [what, n] : count.leftOut) text += "; not kept: " + what + " (" + std::to_string(n) + ")";
    return text;
}

Result<void> ImportedRun::end(rundir::State state, const std::string& why) {
    LATHE_ASSERT(!m_failure);
    writeDown();
    if (!m_isAwake && !m_isNew && !m_settingsChanged) return {};
    wake(m_event);  // a folder without a single value is a run too
    if (!m_failure) book(keepSettings());
    if (m_failure) return Error(*m_failure);
    json facts = {{"points", m_count.points}, {"texts", m_count.texts}, {"histograms", m_count.histograms}, {"images", m_count.images}, {"left_out", m_count.leftOut}, {"problems", m_count.problems}};
    m_recorder->event(0, Clock::system().wallNs(), "import", summaryText(m_count, m_folder), facts.dump(-1, ' ', false, json::error_handler_t::replace));
    m_isAwake = false;
    book(m_recorder->end(state, why, stateText()));
    return m_failure ? Result<void>(Error(*m_failure)) : Result<void>();
}

bool ImportedRun::giveUp(const std::string& why) {
    LATHE_ASSERT(m_failure);
    m_isAwake = false;
    const bool remains = !m_isNew || m_recorder->state();
    if (remains) m_recorder->fail(why);
    else m_recorder->removeRun();
    return remains;
}

}  // namespace lathe::launch
