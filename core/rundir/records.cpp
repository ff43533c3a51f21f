// The JSON records of a run folder.
#include "rundir/run_folder.h"

#include "base/file_system.h"
#include "base/lasting.h"
#include "base/temporary_files.h"
#include "rundir/checkpoint_manifest.h"
#include "rundir/json_reader.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace lathe::rundir {

using nlohmann::json;

static constexpr std::uint64_t kMaxRecordBytes = 4u << 20;

/// All that the program at large knows of a state. Without a default: a new one is asked for by the compiler.
struct StateFacts {
    std::string_view word;          ///< empty: there is no such state
    bool isAlive = false, isTrouble = false;
    ExitCode exit = ExitCode::Completed;
};
static constexpr StateFacts factsOf(State state) {
    switch (state) {
        case State::Queued: return {"queued"};
        case State::Starting: return {"starting", true};
        case State::Running: return {"running", true};
        case State::Paused: return {"paused", true};
        case State::Stopping: return {"stopping", true};
        case State::Completed: return {"completed"};
        case State::Stopped: return {"stopped", false, false, ExitCode::Stopped};
        case State::Cancelled: return {"cancelled", false, false, ExitCode::Stopped};
        case State::Failed: return {"failed", false, true, ExitCode::Failed};
        case State::Killed: return {"killed", false, true, ExitCode::Interrupted};
        case State::OutOfMemory: return {"out of memory", false, true, ExitCode::OutOfMemory};
        case State::Diverged: return {"diverged", false, true, ExitCode::Diverged};
        case State::Interrupted: return {"interrupted", false, true, ExitCode::Interrupted};
        case State::Lost: return {"lost", false, true, ExitCode::Interrupted};
    }
    return {};
}

std::string_view name(State state) { return factsOf(state).word; }

std::optional<State> stateFrom(std::string_view word) {
    for (int i = 0; !factsOf(static_cast<State>(i)).word.empty(); ++i)
        if (factsOf(static_cast<State>(i)).word == word) return static_cast<State>(i);
    return std::nullopt;
}

bool isAlive(State state) { return factsOf(state).isAlive; }
bool isTrouble(State state) { return factsOf(state).isTrouble; }
ExitCode exitCodeOf(State state) { return factsOf(state).exit; }

static constexpr std::array<std::pair<RunKind, std::string_view>, 2> kKinds = {{{RunKind::Started, "started"}, {RunKind::Imported, "imported"}}};

std::string_view name(RunKind kind) {
    for (const auto& [known, word] : kKinds) {
        if (known == kind) return word;
    }
    return "started";
}

std::optional<RunKind> runKindFrom(std::string_view word) {
    for (const auto& [kind, known] : kKinds) {
        if (known == word) return kind;
    }
    return std::nullopt;
}

static Result<json> readRecord(const std::filesystem::path& file) {
    LATHE_TRY_ASSIGN(const std::string text, readFile(file, kMaxRecordBytes));
    LATHE_TRY_ASSIGN(json object, parseStrict(text, file.string()));
    LATHE_TRY(checkFormat(object, file.string(), kRunFormat));
    return object;
}

static State readState(JsonReader& reader, const char* key) {
    const auto state = stateFrom(reader.text(key));
    if (!state) reader.fail(key, "is not a known state");
    return state.value_or(State::Lost);
}

// ---- run.json

Result<RunManifest> readManifest(const RunFolder& run) {
    LATHE_TRY_ASSIGN(const json object, readRecord(run.runJson()));
    JsonReader reader(object, run.runJson().string());
    RunManifest out;
    out.id = reader.text("id");
    const auto kind = runKindFrom(reader.text("kind", std::string(name(RunKind::Started))));
    if (!kind) reader.fail("kind", "is not a known kind of run");
    out.kind = kind.value_or(RunKind::Started);
    out.source = reader.text("source", "");
    out.name = reader.text("name", "");
    out.preset = reader.text("preset", "");
    out.createdNs = reader.integer("created_ns", 0);
    out.host = reader.text("host", "");
    out.program = reader.text("program", "");
    if (const json* parent = reader.object("parent")) {
        JsonReader part(*parent, reader.file(), "parent.");
        out.parent = Parent{part.text("run"), part.text("checkpoint", ""), part.text("verb", "")};
        reader.absorb(part);
    }
    LATHE_TRY(reader.check());
    return out;
}

Result<void> writeManifest(FileSystem& fs, const RunFolder& run, const RunManifest& manifest) {
    json object = {{"format", kRunFormat}, {"id", manifest.id}, {"kind", name(manifest.kind)}, {"name", manifest.name},
                   {"preset", manifest.preset}, {"created_ns", manifest.createdNs}, {"host", manifest.host}, {"program", manifest.program}};
    if (!manifest.source.empty()) object["source"] = manifest.source;
    if (manifest.parent) {
        object["parent"] = {{"run", manifest.parent->run}, {"checkpoint", manifest.parent->checkpoint},
                            {"verb", manifest.parent->verb}};
    }
    return replaceFile(fs, run.runJson(), jsonText(object));
}

// ---- settings.json

Result<std::map<std::string, std::string>> readSettings(const RunFolder& run) {
    auto object = readRecord(run.settingsJson());
    if (!object && object.error().code == ErrorCode::NotFound) return std::map<std::string, std::string>();
    if (!object) return std::move(object).error();
    JsonReader reader(*object, run.settingsJson().string());
    auto settings = reader.textMap("settings");
    LATHE_TRY(reader.check());
    return settings;
}

Result<void> writeSettings(FileSystem& fs, const RunFolder& run, const std::map<std::string, std::string>& settings) {
    return replaceFile(fs, run.settingsJson(), jsonText({{"format", kRunFormat}, {"settings", settings}}));
}

// ---- sessions/<n>.json

std::string windowText(std::uint64_t hash) {
    char text[20];
    std::snprintf(text, sizeof text, "w%016llx", static_cast<unsigned long long>(hash));
    return text;
}

static std::vector<ExpectedUpdate> readExpected(JsonReader& reader) {
    std::vector<ExpectedUpdate> all;
    if (!reader.has("expected")) return all;
    const json* list = reader.array("expected");
    for (std::size_t i = 0; list && i < list->size(); ++i) {
        JsonReader part((*list)[i], reader.file(), "expected[" + std::to_string(i) + "].");
        all.push_back({part.integer("attempt"), part.text("samples"), part.text("loss"), part.text("grad_norm")});
        reader.absorb(part);
    }
    return all;
}

Result<SessionRecord> readSession(const RunFolder& run, int number) {
    const std::filesystem::path file = run.sessionJson(number);
    LATHE_TRY_ASSIGN(const json object, readRecord(file));
    JsonReader reader(object, file.string());
    SessionRecord out;
    out.number = reader.small("number");
    if (out.number != number) reader.fail("number", "must be " + std::to_string(number) + ", as the file is named");
    out.verb = reader.text("verb");
    out.parentSession = reader.small("parent_session", 0);
    out.parentAttempt = reader.integer("parent_attempt", 0);
    out.checkpoint = reader.text("checkpoint", "");
    if (!out.checkpoint.empty() && !parseCheckpointName(out.checkpoint)) reader.fail("checkpoint", "is not a checkpoint's name");
    out.weightsOnly = reader.flag("weights_only", false);
    out.newCurve = reader.flag("new_curve", false);
    out.expected = readExpected(reader);
    out.replay = reader.flag("replay", false);
    out.trialUpdates = reader.integer("trial_updates", 0);
    out.rollBacks = reader.small("roll_backs", 0);
    out.startedNs = reader.integer("started_ns", 0);
    if (reader.has("state")) out.state = readState(reader, "state");
    out.endedNs = reader.integer("ended_ns", 0);
    out.why = reader.text("why", "");
    if (reader.has("exit_code")) out.exitCode = reader.small("exit_code");
    if (reader.has("signal")) out.signal = reader.small("signal");
    if (reader.has("command_exit_code")) out.commandExitCode = reader.small("command_exit_code");
    if (reader.has("counters")) out.counters = readCounters(reader, "counters");
    out.lastCheckpoint = reader.text("last_checkpoint", "");
    out.undone = reader.flag("undone", false);
    if (const json* memory = reader.has("memory") ? reader.object("memory") : nullptr) {
        JsonReader part(*memory, file.string(), "memory.");
        out.memory = readMemory(part);
        reader.absorb(part);
    }
    if (const json* hang = reader.has("hang") ? reader.object("hang") : nullptr) {
        JsonReader part(*hang, file.string(), "hang.");
        out.hang = HangRecord{part.small("rank", 0), part.integer("attempt", 0), part.text("place", ""), part.text("stack", "")};
        reader.absorb(part);
    }
    out.environment = reader.textMap("environment");
    LATHE_TRY(reader.check());
    return out;
}

Result<void> writeSession(FileSystem& fs, const RunFolder& run, const SessionRecord& record) {
    json object = {{"format", kRunFormat}, {"number", record.number}, {"verb", record.verb},
                   {"parent_session", record.parentSession}, {"parent_attempt", record.parentAttempt},
                   {"checkpoint", record.checkpoint}, {"weights_only", record.weightsOnly}, {"started_ns", record.startedNs}};
    if (record.newCurve) object["new_curve"] = true;
    if (record.replay) object["replay"] = true;
    if (record.trialUpdates > 0) object["trial_updates"] = record.trialUpdates;
    for (const ExpectedUpdate& update : record.expected)
        object["expected"].push_back({{"attempt", update.attempt}, {"samples", update.samples}, {"loss", update.loss}, {"grad_norm", update.gradNorm}});
    if (record.rollBacks > 0) object["roll_backs"] = record.rollBacks;
    if (record.state) {
        object["state"] = name(*record.state);
        object["ended_ns"] = record.endedNs;
        object["why"] = record.why;
        object["last_checkpoint"] = record.lastCheckpoint;
    }
    if (record.undone) object["undone"] = true;
    if (record.exitCode) object["exit_code"] = *record.exitCode;
    if (record.signal) object["signal"] = *record.signal;
    if (record.commandExitCode) object["command_exit_code"] = *record.commandExitCode;
    if (record.counters) object["counters"] = countersJson(*record.counters);
    if (record.hang) object["hang"] = {{"rank", record.hang->rank}, {"attempt", record.hang->attempt}, {"place", record.hang->place}, {"stack", record.hang->stack}};
    if (record.memory) object["memory"] = memoryJson(*record.memory);
    if (!record.environment.empty()) object["environment"] = record.environment;
    return replaceFile(fs, run.sessionJson(record.number), jsonText(object));
}

Result<int> readNewestSession(const RunFolder& run) {
    const auto names = listFolder(run.sessions());
    int newest = 0;
    if (!names && names.error().code == ErrorCode::NotFound) return 0;
    if (!names) return names.error();
    for (const std::string& file : *names) {
        if (!file.ends_with(".json") || file.size() > 12) continue;
        const std::string digits = file.substr(0, file.size() - 5);
        if (digits.empty() || digits.find_first_not_of("0123456789") != std::string::npos) continue;
        newest = std::max(newest, std::stoi(digits));
    }
    return newest;
}

int newestSession(const RunFolder& run) {
    const auto newest = readNewestSession(run);
    return newest ? *newest : 0;
}

// ---- live.json

static json identityJson(const ProcessIdentity& who) {
    return {{"host", who.host}, {"boot_id", who.bootId}, {"pid", who.pid}, {"start_time", who.startTime}, {"token", who.token}};
}

static ProcessIdentity readIdentity(const json& object, JsonReader& parent, const std::string& prefix) {
    JsonReader reader(object, parent.file(), prefix);
    ProcessIdentity out;
    out.host = reader.text("host");
    out.bootId = reader.text("boot_id");
    out.pid = reader.integer("pid");
    out.startTime = reader.count("start_time");
    out.token = reader.text("token", "");
    if (out.pid <= 1) reader.fail("pid", "must be above 1");
    parent.absorb(reader);
    return out;
}

Result<std::optional<LiveRecord>> readLive(const RunFolder& run) {
    auto object = readRecord(run.liveJson());
    if (!object && object.error().code == ErrorCode::NotFound) return std::optional<LiveRecord>();
    if (!object) return std::move(object).error();
    JsonReader reader(*object, run.liveJson().string());
    LiveRecord out;
    out.session = reader.small("session");
    out.startedNs = reader.integer("started_ns", 0);
    if (const json* supervisor = reader.object("supervisor")) out.supervisor = readIdentity(*supervisor, reader, "supervisor.");
    else reader.fail("supervisor", "is missing, must be an object");
    const json* workers = reader.array("workers");
    for (std::size_t i = 0; workers != nullptr && i < workers->size(); ++i)
        out.workers.push_back(readIdentity((*workers)[i], reader, "workers[" + std::to_string(i) + "]."));
    LATHE_TRY(reader.check());
    return std::optional<LiveRecord>(std::move(out));
}

Result<void> writeLive(FileSystem& fs, const RunFolder& run, const LiveRecord& live) {
    json workers = json::array();
    for (const ProcessIdentity& worker : live.workers) workers.push_back(identityJson(worker));
    return replaceFile(fs, run.liveJson(), jsonText({{"format", kRunFormat}, {"supervisor", identityJson(live.supervisor)},
                                                     {"workers", workers}, {"session", live.session}, {"started_ns", live.startedNs}}));
}

Result<void> removeLive(FileSystem& fs, const RunFolder& run) {
    auto removed = fs.remove(run.liveJson());
    if (!removed && removed.error().code == ErrorCode::NotFound) return {};
    return removed;
}

// ---- user.json

static Result<UserRecord> readUserFrom(const json& object, const std::string& file) {
    JsonReader reader(object, file);
    UserRecord out;
    if (reader.has("name")) out.name = reader.text("name");
    if (reader.has("note")) out.note = reader.text("note");
    out.tags = reader.texts("tags");
    out.star = reader.flag("star", false);
    out.archived = reader.flag("archived", false);
    out.pinned = reader.texts("pinned");
    out.forked = reader.texts("forked");
    LATHE_TRY(reader.check());
    return out;
}

Result<UserRecord> readUser(const RunFolder& run) {
    auto object = readRecord(run.userJson());
    if (!object && object.error().code == ErrorCode::NotFound) return UserRecord{};
    if (!object) return std::move(object).error();
    return readUserFrom(*object, run.userJson().string());
}

Result<void> editUser(FileSystem& fs, const RunFolder& run, const std::function<void(UserRecord&)>& change) {
    LATHE_TRY_ASSIGN(const RunLock lock, RunLock::acquireWithin(run.userLock(), 5000));
    removeTemporaries(fs, run.root(), [](std::string_view file) { return file == "user.json"; });
    auto object = readRecord(run.userJson());
    if (!object && object.error().code != ErrorCode::NotFound) return std::move(object).error();
    // What a newer program added stays in the file.
    json merged = object ? *object : json{{"format", kRunFormat}};
    LATHE_TRY_ASSIGN(UserRecord user, readUserFrom(merged, run.userJson().string()));
    change(user);
    merged["name"] = user.name ? json(*user.name) : json();
    merged["note"] = user.note ? json(*user.note) : json();
    merged["tags"] = user.tags;
    merged["star"] = user.star;
    merged["archived"] = user.archived;
    merged["pinned"] = user.pinned;
    merged["forked"] = user.forked;
    return replaceFile(fs, run.userJson(), jsonText(merged));
}

// ---- summary.json

static Result<Summary> summaryFrom(const json& object, const std::string& file) {
    LATHE_TRY(checkFormat(object, file, kRunFormat));
    JsonReader reader(object, file);
    Summary out;
    out.id = reader.text("id");
    out.name = reader.text("name", "");
    out.preset = reader.text("preset", "");
    out.task = reader.text("task", "");
    out.model = reader.text("model", "");
    out.state = readState(reader, "state");
    out.why = reader.text("why", "");
    out.createdNs = reader.integer("created_ns", 0);
    out.startedNs = reader.integer("started_ns", 0);
    out.updatedNs = reader.integer("updated_ns", 0);
    out.endedNs = reader.integer("ended_ns", 0);
    out.activeSeconds = reader.number("active_seconds", 0);
    out.activeBefore = reader.number("active_before", 0);
    out.sessions = reader.small("sessions", 0);
    out.counters = readCounters(reader, "counters");
    if (reader.has("planned_updates")) out.plannedUpdates = reader.integer("planned_updates");
    out.last = reader.numberMap("last");
    if (const json* best = reader.object("best")) {
        JsonReader part(*best, file, "best.");
        out.best = BestValue{part.text("metric"), part.number("value", 0), part.integer("step", 0), part.flag("higher_is_better", false)};
        reader.absorb(part);
    }
    const json* line = reader.array("sparkline");
    for (std::size_t i = 0; line != nullptr && i < line->size(); ++i) {
        const json& pair = (*line)[i];
        if (!pair.is_array() || pair.size() != 2 || !pair[0].is_number_integer() || !pair[1].is_number())
            reader.fail("sparkline[" + std::to_string(i) + "]", "must be [step, value]");
        else out.sparkline.emplace_back(pair[0].get<std::int64_t>(), pair[1].get<double>());
    }
    out.parentRun = reader.text("parent_run", "");
    LATHE_TRY(reader.check());
    return out;
}

static Result<Summary> parseSummaryText(const std::string& text, const std::string& file) {
    LATHE_TRY_ASSIGN(const json object, parseStrict(text, file));
    return summaryFrom(object, file);
}

Result<Summary> parseSummary(const std::string& text) {
    return parseSummaryText(text, "summary.json");
}

Result<Summary> readSummary(const RunFolder& run) {
    LATHE_TRY_ASSIGN(const std::string text, readFile(run.summaryJson(), kMaxRecordBytes));
    return parseSummaryText(text, run.summaryJson().string());
}

Result<Summary> readSummaryOrMake(const RunFolder& run) {
    auto summary = readSummary(run);
    if (summary || !isLasting(summary.error())) return summary;
    LATHE_TRY_ASSIGN(const RunManifest manifest, readManifest(run));
    Summary made;
    made.id = manifest.id;
    made.name = manifest.name;
    made.preset = manifest.preset;
    made.createdNs = manifest.createdNs;
    if (manifest.parent) made.parentRun = manifest.parent->run;
    return made;
}

std::string summaryText(const Summary& summary) {
    json object = {{"format", kRunFormat}, {"id", summary.id}, {"name", summary.name}, {"preset", summary.preset},
                   {"task", summary.task}, {"model", summary.model}, {"state", name(summary.state)}, {"why", summary.why},
                   {"created_ns", summary.createdNs}, {"started_ns", summary.startedNs}, {"updated_ns", summary.updatedNs},
                   {"ended_ns", summary.endedNs}, {"active_seconds", numberJson(summary.activeSeconds)},
                   {"active_before", numberJson(summary.activeBefore)},
                   {"sessions", summary.sessions}, {"counters", countersJson(summary.counters)}, {"parent_run", summary.parentRun}};
    if (summary.plannedUpdates) object["planned_updates"] = *summary.plannedUpdates;
    object["last"] = json::object();
    for (const auto& [series, value] : summary.last) object["last"][series] = numberJson(value);
    if (summary.best) {
        object["best"] = {{"metric", summary.best->metric}, {"value", numberJson(summary.best->value)},
                          {"step", summary.best->step}, {"higher_is_better", summary.best->higherIsBetter}};
    }
    object["sparkline"] = json::array();
    for (const auto& [step, value] : summary.sparkline) {
        if (std::isfinite(value)) object["sparkline"].push_back({step, value});
    }
    return jsonText(object);
}

Result<void> writeSummary(FileSystem& fs, const RunFolder& run, const Summary& summary) { return replaceFile(fs, run.summaryJson(), summaryText(summary)); }

}  // namespace lathe::rundir
