#include "launch/queue/queue.h"

#include "base/clock.h"
#include "base/file_system.h"
#include "base/lasting.h"
#include "base/log.h"
#include "base/temporary_files.h"
#include "launch/command/command_facts.h"
#include "launch/queue/device_lock.h"
#include "launch/run/run_settings.h"
#include "launch/run/run_summary.h"
#include "launch/verbs/prepare.h"
#include "rundir/json_reader.h"
#include "store/history.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <utility>

namespace lathe::launch {

using nlohmann::json;
using rundir::RunFolder;
using rundir::RunLock;
using rundir::State;

static constexpr int kFormat = 1, kPatienceMs = 10'000;
static constexpr std::uint64_t kMostBytes = 64u << 20;
static FileSystem& disk() { return FileSystem::real(); }

Queue Queue::ofThisUser() { return Queue(stateFolder()); }

static json toJson(const QueueState& state) {
    json entries = json::array();
    for (const QueueEntry& entry : state.entries)
        entries.push_back({{"folder", entry.folder.string()}, {"run", entry.run}, {"session", entry.session}, {"queued_ns", entry.queuedNs},
                           {"held", entry.held}, {"why", entry.why}, {"environment", entry.environment}});
    return {{"format", kFormat}, {"after_failure", state.holdAfterFailure ? "hold" : "go on"}, {"entries", entries}};
}

static Result<QueueState> fromJson(const json& object, const std::string& file) {
    LATHE_TRY(rundir::checkFormat(object, file, kFormat));
    rundir::JsonReader reader(object, file);
    QueueState state;
    state.holdAfterFailure = reader.text("after_failure", "go on") == "hold";
    const json* entries = reader.array("entries");
    for (std::size_t i = 0; entries != nullptr && i < entries->size(); ++i) {
        rundir::JsonReader part(entries->at(i), file, "entries[" + std::to_string(i) + "].");
        QueueEntry entry;
        entry.folder = part.text("folder");
        entry.run = part.text("run");
        entry.session = part.small("session");
        entry.queuedNs = part.integer("queued_ns", 0);
        entry.held = part.flag("held", false);
        entry.why = part.text("why", "");
        entry.environment = part.textMap("environment");
        if (!entry.folder.is_absolute()) part.fail("folder", "is not an absolute path");
        reader.absorb(part);
        state.entries.push_back(std::move(entry));
    }
    LATHE_TRY(reader.check());
    return state;
}

Result<QueueState> Queue::read() const {
    auto text = readFile(file(), kMostBytes);
    if (!text && text.error().code == ErrorCode::NotFound) return QueueState{};
    if (!text) return std::move(text).error();
    auto object = rundir::parseStrict(*text, file().string());
    auto state = object ? fromJson(*object, file().string()) : Result<QueueState>(object.error());
    if (!state && state.error().code == ErrorCode::Corrupt)
        return Error{ErrorCode::Corrupt, state.error().sentence + ". Move the file away; the runs themselves are untouched and can be queued again (lathe-trainer again RUN --queue)", {}, {}};
    return state;
}

Result<void> Queue::look(const std::function<void(const QueueState&)>& at) const {
    LATHE_TRY_ASSIGN(const RunLock one, RunLock::acquireWithin(m_folder / "queue.lock", kPatienceMs));
    LATHE_TRY_ASSIGN(const QueueState state, read());
    at(state);
    return {};
}

Result<void> Queue::edit(const std::function<Result<void>(QueueState&)>& change) const {
    LATHE_TRY(makeFolders(disk(), m_folder));
    LATHE_TRY_ASSIGN(const RunLock one, RunLock::acquireWithin(m_folder / "queue.lock", kPatienceMs));
    removeTemporaries(disk(), m_folder, [](std::string_view name) { return name == "queue.json"; });
    LATHE_TRY_ASSIGN(QueueState state, read());
    LATHE_TRY(change(state));
    return replaceFile(disk(), file(), rundir::jsonText(toJson(state)));
}

Result<bool> Queue::holds(const std::string& runId) const {
    const auto state = read();
    if (!state && !isLasting(state.error())) return Error(state.error());
    return state && std::any_of(state->entries.begin(), state->entries.end(), [&](const QueueEntry& entry) { return entry.run == runId; });
}

Result<device::Candidates> devicesFor(const config::RunConfig& config, const device::Gpus& gpus) {
    return device::candidates(config.parallel.device, static_cast<int>(config.parallel.ranks), gpus);
}

static void tellIndex(const RunFolder& run) {
    const auto runs = run.place().parent_path();
    if (runs.filename() != "runs") return;
    if (const auto history = store::History::open(runs.parent_path())) static_cast<void>(history->update(run.name()));
}

static Result<void> setState(const RunFolder& run, State state, const std::string& why) {
    LATHE_TRY_ASSIGN(rundir::Summary summary, summaryOf(run));
    summary.state = state;
    summary.why = why;
    summary.updatedNs = Clock::system().wallNs();
    if (state == State::Cancelled) summary.endedNs = summary.updatedNs;
    LATHE_TRY(rundir::writeSummary(disk(), run, summary));
    tellIndex(run);
    return {};
}

/// The session that was prepared will never run.
static Result<void> giveUp(const RunFolder& run, int session, const std::string& why) {
    LATHE_TRY_ASSIGN(rundir::SessionRecord record, rundir::readSession(run, session));
    record.state = State::Cancelled;
    record.why = why;
    record.endedNs = Clock::system().wallNs();
    LATHE_TRY(rundir::writeSession(disk(), run, record));
    return setState(run, State::Cancelled, why);
}

/// A run that was made for the queue is gone, another one is as it was before.
static void takeBack(const Prepared& prepared, const std::string& runId, const rundir::Summary& before) {
    const RunFolder run(prepared.run.place());   // which a held one no longer tells once it is gone
    const auto back = [&]() -> Result<void> {
        if (prepared.session == 1) return rundir::unmakeRun(disk(), run, runId);
        LATHE_TRY(disk().remove(run.sessionJson(prepared.session)));
        LATHE_TRY(disk().remove(run.sessionYaml(prepared.session)));
        return rundir::writeSummary(disk(), run, before);
    };
    if (const auto taken = back(); !taken) log::warning(taken.error().text());
    tellIndex(run);
}

/// Where the folder could not be synced the entry was written all the same: it is taken out again. True where it stays, or
/// where that cannot be told. (Out of a queue that is damaged nobody starts anything.)
static bool staysThere(const Queue& queue, const std::string& runId) {
    const auto isOurs = [&](const QueueEntry& entry) { return entry.run == runId; };
    auto state = queue.read();
    if (state && std::any_of(state->entries.begin(), state->entries.end(), isOurs)) {
        static_cast<void>(queue.edit([&](QueueState& now) -> Result<void> {
            std::erase_if(now.entries, isOurs);
            return {};
        }));
        state = queue.read();
    }
    return state ? std::any_of(state->entries.begin(), state->entries.end(), isOurs) : !isLasting(state.error());
}

Result<void> enqueue(const Queue& queue, Prepared prepared) {
    LATHE_TRY_ASSIGN(const rundir::RunManifest manifest, rundir::readManifest(prepared.run));
    LATHE_TRY_ASSIGN(const rundir::Summary before, summaryOf(prepared.run));
    const auto add = [&]() -> Result<void> {
        LATHE_TRY_ASSIGN(const config::RunConfig config, configOf(prepared.run, prepared.session));
        if (const auto devices = devicesFor(config); !devices) return Error{devices.error()};
        LATHE_TRY(setState(prepared.run, State::Queued, {}));
        return queue.edit([&](QueueState& state) -> Result<void> {
            state.entries.push_back({prepared.run.place(), manifest.id, prepared.session, Clock::system().wallNs(), false, {}, keptEnvironment()});
            return {};
        });
    };
    auto added = add();
    if (added) return added;
    if (staysThere(queue, manifest.id)) {
        Error error = std::move(added).error();
        error.sentence += "; it may stand in the queue all the same (lathe-trainer queue)";
        return error;
    }
    takeBack(prepared, manifest.id, before);
    return added;
}

Result<void> dequeue(const Queue& queue, const RunFolder& run) {
    LATHE_TRY_ASSIGN(const rundir::RunManifest manifest, rundir::readManifest(run));
    auto lock = RunLock::acquire(run.lock());  // whoever has it is starting the run
    if (!lock) return Error{ErrorCode::Busy, run.name() + " is being started; stop it instead: lathe-trainer stop " + run.name(), {}, {}};
    int session = 0;
    LATHE_TRY(queue.edit([&](QueueState& state) -> Result<void> {
        const auto found = std::find_if(state.entries.begin(), state.entries.end(), [&](const QueueEntry& entry) { return entry.run == manifest.id; });
        if (found == state.entries.end()) return Error{ErrorCode::NotFound, run.name() + " is not in the queue", {}, {}};
        session = found->session;
        state.entries.erase(found);
        return {};
    }));
    return giveUp(run, session, "It was taken out of the queue before it started");
}

}  // namespace lathe::launch
