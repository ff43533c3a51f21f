#include "launch/verbs/prepare.h"

#include "base/clock.h"
#include "base/file_system.h"
#include "base/lasting.h"
#include "base/log.h"
#include "base/number_text.h"
#include "config/command_text.h"
#include "launch/command/command_facts.h"
#include "launch/process/identity.h"
#include "launch/run/checkpoint_choice.h"
#include "launch/run/disk_outlook.h"
#include "launch/run/run_settings.h"
#include "launch/run/settle.h"
#include "launch/run/undo.h"
#include "launch/verbs/going_on.h"
#include "launch/workers/worker_answer.h"
#include "rundir/checkpoint_manifest.h"
#include "rundir/checkpoint_publishing.h"
#include "store/run_store.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <set>
#include <unistd.h>
#include <utility>

namespace lathe::launch {

using rundir::CheckpointManifest;
using rundir::RunFolder;
using rundir::RunLock;
using rundir::SessionRecord;

static FileSystem& disk() { return FileSystem::real(); }
static std::int64_t wall() { return Clock::system().wallNs(); }

// ---- room

/// A session that could not even write down how it ended is not begun.
static Result<void> refuseFullDisk(std::filesystem::path folder) {
    std::error_code ignored;
    while (folder.has_relative_path() && !std::filesystem::exists(folder, ignored)) folder = folder.parent_path();
    const auto room = disk().freeBytes(folder);
    if (!room || *room >= kLeastForSession) return {};
    return Error{ErrorCode::NoSpace, "Only " + diskText(*room) + " are free on the disk of " + shownPath(folder.native()) + ", a session needs at least "
                 + diskText(kLeastForSession) + ". Free some space and start again", {}, {}};
}

// ---- writing a session's plan

static Result<void> writePlan(const RunFolder& run, const SessionRecord& record, const config::RunConfig& config) {
    LATHE_TRY(refuseFullDisk(run.root()));
    LATHE_TRY(replaceFile(disk(), run.sessionYaml(record.number), config::toYaml(config)));
    return rundir::writeSession(disk(), run, record);
}

static std::string nameFor(const config::RunConfig& config, const std::string& preset) {
    if (!config.run.name.empty()) return config.run.name;
    config::RunConfig base;
    for (const config::Preset& known : config::presets()) {
        if (known.name != preset) continue;
        if (const auto loaded = config::load(preset)) base = loaded->config;
        return config::suggestName(preset, base, config);
    }
    if (config::isCommand(config)) return config::suggestName({}, base, config);
    return preset.empty() ? config.model.name : preset;
}

/// "striche-3" -> "striche", also where it is no number that was added here.
static std::string withoutNumber(const std::string& name) {
    const std::size_t last = name.find_last_not_of("0123456789");
    return last != std::string::npos && last > 0 && last + 1 < name.size() && name[last] == '-' ? name.substr(0, last) : name;
}

/// A run that comes from another gets a name that no other has: the same with a number. One that cannot be read has none.
static Result<std::string> distinctName(const std::filesystem::path& workspace, const std::string& name) {
    std::set<std::string> taken;
    LATHE_TRY_ASSIGN(const auto folders, rundir::readRunFolderNames(workspace));
    for (const std::string& folder : folders) {
        const RunFolder run = rundir::runNamed(workspace, folder);
        const auto user = rundir::readUser(run);
        const auto manifest = rundir::readManifest(run);
        if (user && user->name) taken.insert(*user->name);
        else if (manifest) taken.insert(manifest->name);
    }
    if (!taken.contains(name)) return name;
    const std::string base = taken.contains(withoutNumber(name)) ? withoutNumber(name) : name;
    int number = 2;
    while (taken.contains(base + "-" + std::to_string(number))) ++number;
    return base + "-" + std::to_string(number);
}

static bool namesRun(const std::vector<std::string>& settings) {
    return std::any_of(settings.begin(), settings.end(), [](const std::string& setting) { return setting.starts_with("run.name="); });
}

struct NewRun {
    config::RunConfig config;
    std::string preset;
    std::optional<rundir::Parent> parent;
    SessionRecord session;
    std::filesystem::path checkpoint;   ///< folder of another run to take in, or empty
    bool named = true;                  ///< its name was chosen, or is made from the settings of a first run
};

static Result<Prepared> makeRun(const std::filesystem::path& workspace, NewRun what) {
    LATHE_TRY(refuseFullDisk(workspace));
    if (config::isCommand(what.config)) {
        std::error_code ignored;
        if (what.config.command.folder.empty()) what.config.command.folder = std::filesystem::current_path(ignored).string();
        LATHE_TRY(checkCommand(what.config.command));
    }
    what.config.run.name = nameFor(what.config, what.preset);
    if (!what.named) {
        LATHE_TRY_ASSIGN(what.config.run.name, distinctName(workspace, what.config.run.name));
    }
    rundir::RunManifest manifest;
    manifest.id = rundir::newRunId();
    manifest.name = what.config.run.name;
    manifest.preset = what.preset;
    manifest.createdNs = wall();
    manifest.host = hostName();
    manifest.parent = what.parent;
    manifest.program = std::string("Lathe ") + LATHE_VERSION;
    what.session.number = 1;
    what.session.startedNs = manifest.createdNs;

    rundir::Summary summary;
    summary.id = manifest.id;
    summary.name = manifest.name;
    summary.preset = manifest.preset;
    tellKind(what.config, summary);
    summary.createdNs = summary.startedNs = summary.updatedNs = manifest.createdNs;
    summary.sessions = 1;
    if (what.parent) summary.parentRun = what.parent->run;

    std::optional<RunLock> lock;
    const auto fill = [&](const RunFolder& run) -> Result<void> {
        LATHE_TRY_ASSIGN(lock, RunLock::acquire(run.lock()));
        if (!what.checkpoint.empty()) LATHE_TRY(rundir::takeOverCheckpoint(disk(), what.checkpoint, run.checkpoints() / what.session.checkpoint));
        LATHE_TRY(rundir::writeSummary(disk(), run, summary));
        return writePlan(run, what.session, what.config);
    };
    LATHE_TRY_ASSIGN(RunFolder run, rundir::createRun(disk(), workspace, manifest, config::toYaml(what.config), fill));
    return Prepared{std::move(run), 1, std::move(*lock), {}};
}

Result<Prepared> prepareRun(const std::filesystem::path& workspace, const config::RunConfig& config, const std::string& preset, std::int64_t trialUpdates) {
    NewRun what{config, preset, {}, {}, {}};
    what.session.verb = "start";
    what.session.trialUpdates = trialUpdates;
    return makeRun(workspace, std::move(what));
}

Result<Prepared> prepareRecording(const std::filesystem::path& workspace, const config::RunConfig& config) {
    NewRun what{config, {}, {}, {}, {}};
    what.session.verb = kRecordVerb;
    return makeRun(workspace, std::move(what));
}

/// What another run was told, as the start of a new one: a name that was only made from the settings is made anew.
static Result<config::RunConfig> takenFrom(const RunFolder& from, int session, const std::string& preset) {
    LATHE_TRY_ASSIGN(config::RunConfig config, configOf(from, session));
    LATHE_TRY_ASSIGN(config::RunConfig first, configOf(from, 1));  // what the name was made from
    first.run.name.clear();
    const std::string made = nameFor(first, preset);
    if (made == config.run.name || made == withoutNumber(config.run.name)) config.run.name.clear();
    return config;
}

static Result<void> refuseWithoutConfiguration(const RunFolder& run, const rundir::RunManifest& manifest) {
    if (manifest.kind != rundir::RunKind::Imported) return {};
    return Error{ErrorCode::Usage, run.name() + " is imported: the program that made it is not known here, so it cannot be run again", {}, {}};
}

Result<Prepared> prepareAgain(const std::filesystem::path& workspace, const RunFolder& from, const std::vector<std::string>& settings) {
    LATHE_TRY_ASSIGN(const rundir::RunManifest parent, rundir::readManifest(from));
    LATHE_TRY(refuseWithoutConfiguration(from, parent));
    LATHE_TRY_ASSIGN(const config::RunConfig before, takenFrom(from, standingSession(from), parent.preset));
    LATHE_TRY_ASSIGN(const config::RunConfig config, withSettings(before, settings));
    if (!config::isCommand(config)) LATHE_TRY(refuseBadStart(config));
    NewRun what{config, parent.preset, rundir::Parent{parent.id, {}, "again"}, {}, {}, namesRun(settings)};
    what.session.verb = "start";
    return makeRun(workspace, std::move(what));
}

// ---- going on

enum class Held { Nothing, Run };   ///< whether the caller holds the run's lock

/// Reads every byte before anything is built on it.
static Result<CheckpointManifest> verified(const RunFolder& run, const std::string& checkpoint, Held isHeld) {
    const auto folder = run.checkpoints() / checkpoint;
    const auto named = rundir::parseCheckpointName(checkpoint);
    if (!named)
        return Error{ErrorCode::Usage, "\"" + checkpoint + "\" is not a checkpoint's name", {}, {}};
    LATHE_TRY_ASSIGN(CheckpointManifest manifest, rundir::readCheckpoint(folder));
    LATHE_TRY_ASSIGN(const rundir::RunManifest owner, rundir::readManifest(run));
    if (named->session != 0 && manifest.runId != owner.id) {
        return Error{ErrorCode::Corrupt, "Checkpoint " + checkpoint + " was made by run " + manifest.runId + ", not by " + run.name()
                     + "; put it back into the run it belongs to and fork from there", {}, {}};
    }
    LATHE_TRY_ASSIGN(const rundir::Verification checked, rundir::verifyCheckpoint(folder));
    if (!checked.ok() && isHeld == Held::Run) {   // remembered, so that nobody offers it any more
        const auto noted = rundir::writeVerified(disk(), folder, checked, wall());
        if (!noted) log::warning(noted.error().text());
    }
    if (!checked.ok()) {
        return Error{ErrorCode::Corrupt, "Checkpoint " + checkpoint + " is damaged: " + checked.badFiles.front().text()
                     + ". Roll back to another one (lathe-trainer show " + run.name() + " lists them)", {}, {}};
    }
    return manifest;
}

/// The session whose configuration a checkpoint was made with, in this run's numbers.
static int sessionOf(const std::string& checkpoint) {
    const auto named = rundir::parseCheckpointName(checkpoint);
    return named ? std::max(named->session, 1) : 1;
}

/// For another process: a held folder's own paths mean nothing there.
static SessionStart startFrom(const RunFolder& run, const std::string& checkpoint, bool weightsOnly, bool newCurve) {
    return {RunFolder(run.place()).checkpoints() / checkpoint, weightsOnly, newCurve};
}

/// Who wants a session: what a person asks for is refused where the worker would refuse it; a supervisor finds out.
enum class Asker { Person, Supervisor };

/// From where the newest session of a run without a usable checkpoint started: nothing, or the weights of another run.
static Result<int> planStartOver(const RunFolder& run, int newest, const std::vector<std::string>& settings, Asker asker) {
    LATHE_TRY_ASSIGN(const SessionRecord before, rundir::readSession(run, newest));
    LATHE_TRY_ASSIGN(const config::RunConfig old, configOf(run, newest));
    LATHE_TRY_ASSIGN(const config::RunConfig config, withSettings(old, settings));
    LATHE_TRY_ASSIGN(const int last, rundir::readNewestSession(run));
    SessionRecord record;
    record.number = last + 1;
    record.verb = "start-over";
    record.startedNs = wall();
    record.weightsOnly = before.weightsOnly;
    if (before.weightsOnly) record.checkpoint = before.checkpoint;
    if (asker == Asker::Supervisor) record.trialUpdates = before.trialUpdates;
    else LATHE_TRY(refuseBadStart(config, before.weightsOnly ? startFrom(run, before.checkpoint, true, false) : SessionStart()));
    LATHE_TRY(writePlan(run, record, config));
    return record.number;
}

static Result<Prepared> startOver(const RunFolder& run, RunLock lock, int newest, const std::vector<std::string>& settings) {
    LATHE_TRY_ASSIGN(const int session, planStartOver(run, newest, settings, Asker::Person));
    return Prepared{run, session, std::move(lock), {}};
}

/// What was kept of the updates that the session which wrote a checkpoint made after it. Only those: another session that
/// went on from there may have had other settings.
static std::vector<rundir::ExpectedUpdate> expectedAfter(const RunFolder& run, const std::string& checkpoint, const CheckpointManifest& manifest) {
    constexpr std::size_t kMost = 64;
    std::vector<rundir::ExpectedUpdate> all;
    const auto reader = store::RunReader::open(run.database());
    const auto kept = reader ? (*reader)->digests(rundir::parseCheckpointName(checkpoint)->session, manifest.counters.updateAttempts.value(), kMost)
                             : Result<std::vector<live::DigestFrame>>(reader.error());
    if (!kept) log::warning("Without its record the updates after " + checkpoint + " are not known: " + kept.error().text());
    for (std::size_t i = 0; kept && i < kept->size(); ++i) {
        const live::DigestFrame& digest = (*kept)[i];
        all.push_back({digest.attempt, rundir::windowText(digest.samples), exactText(digest.loss), exactText(digest.gradNorm)});
    }
    return all;
}

static Result<int> rollBacksOf(const RunFolder& run, int session) {
    const auto record = rundir::readSession(run, session);
    if (record) return record->rollBacks;
    return isLasting(record.error()) ? Result<int>(0) : Result<int>(record.error());
}

bool makesNewCurve(const RunFolder& run, const std::string& checkpoint, bool asked) {
    const int newest = standingSession(run);
    const auto named = rundir::parseCheckpointName(checkpoint);
    if (asked || !named || newest <= named->session) return asked;
    const auto record = rundir::readSession(run, newest);
    return record && record->newCurve;
}

/// Writes the plan of a new session of the same run that loads a checkpoint.
static Result<int> planSession(const RunFolder& run, const std::string& verb, const std::string& checkpoint, int configSession, const Changes& changes,
                               int rollBacks, Asker asker) {
    LATHE_TRY_ASSIGN(const config::RunConfig before, configOf(run, configSession));
    LATHE_TRY_ASSIGN(const config::RunConfig config, withSettings(before, changes.settings));
    SessionRecord record;
    LATHE_TRY_ASSIGN(const int newest, rundir::readNewestSession(run));
    record.number = newest + 1;
    record.verb = verb;
    record.startedNs = wall();
    LATHE_TRY_ASSIGN(const CheckpointManifest manifest, verified(run, checkpoint, Held::Run));
    LATHE_TRY(refuseFixedChanges(before, config, false));
    if (changes.trialUpdates == 0) LATHE_TRY(refuseReached(config, manifest, storedCurve(run.checkpoints() / checkpoint).length));
    if (asker == Asker::Person) LATHE_TRY(refuseBadStart(config, startFrom(run, checkpoint, false, changes.newCurve)));
    record.checkpoint = checkpoint;
    record.newCurve = changes.newCurve;
    record.trialUpdates = changes.trialUpdates;
    record.rollBacks = rollBacks;
    record.parentSession = rundir::parseCheckpointName(checkpoint)->session;
    record.parentAttempt = manifest.counters.updateAttempts.value();
    record.expected = expectedAfter(run, checkpoint, manifest);
    LATHE_TRY(writePlan(run, record, config));
    return record.number;
}

static Result<Prepared> nextSession(const RunFolder& run, RunLock lock, const std::string& verb, const std::string& checkpoint,
                                    int configSession, const Changes& changes, int rollBacks) {
    LATHE_TRY_ASSIGN(const int session, planSession(run, verb, checkpoint, configSession, changes, rollBacks, Asker::Person));
    return Prepared{run, session, std::move(lock), {}};
}

/// Plans with the newest checkpoint not after `notAfter` that can be read, and is whole. Requires: the session's worker is gone.
static Result<PlannedSession> planFromNewest(const RunFolder& run, std::int64_t notAfter, const char* none, const std::function<Result<int>(const std::string&)>& plan) {
    rundir::clearUnfinished(disk(), run.checkpoints());
    Error problem{ErrorCode::NotFound, none, {}, {}};
    std::string unread;
    LATHE_TRY_ASSIGN(const auto line, lineUpTo(run, notAfter));
    for (const std::string& checkpoint : line) {
        auto planned = plan(checkpoint);
        if (planned) {
            auto notice = passedOverNotice(run, checkpoint, notAfter, unread);
            return PlannedSession{*planned, notice ? std::move(*notice) : std::string()};
        }
        problem = planned.error();
        if (problem.code != ErrorCode::Corrupt && problem.code != ErrorCode::Io) return problem;
        if (problem.code == ErrorCode::Io) unread += (unread.empty() ? "" : "; ") + checkpoint + " could not be read: " + problem.sentence;
    }
    return problem;
}

Result<PlannedSession> planGoingBack(const RunFolder& run, std::int64_t notAfter) {
    LATHE_TRY_ASSIGN(const int newest, rundir::readNewestSession(run));
    LATHE_TRY_ASSIGN(const config::RunConfig config, configOf(run, newest));
    const double rate = config.optimizer.learningRate * config.guard.rateFactor;
    LATHE_TRY_ASSIGN(const int rollBacks, rollBacksOf(run, newest));
    return planFromNewest(run, notAfter, "There is no checkpoint to go back to", [&](const std::string& checkpoint) {
        const Changes changes{{"optimizer.learning_rate=" + exactText(rate)}, makesNewCurve(run, checkpoint, false)};
        return planSession(run, "roll-back", checkpoint, newest, changes, rollBacks + 1, Asker::Supervisor);
    });
}

Result<PlannedSession> planRestart(const RunFolder& run, bool fromTheStart) {
    LATHE_TRY_ASSIGN(const int newest, rundir::readNewestSession(run));
    constexpr std::int64_t kAny = std::numeric_limits<std::int64_t>::max();
    rundir::clearUnfinished(disk(), run.checkpoints());
    LATHE_TRY_ASSIGN(const auto line, lineUpTo(run, kAny));
    LATHE_TRY_ASSIGN(const std::string damaged, passedOver(run, {}));
    LATHE_TRY_ASSIGN(const int rollBacks, rollBacksOf(run, newest));
    if (fromTheStart && line.empty() && damaged.empty()) {   // one that is damaged is a person's to look at
        LATHE_TRY_ASSIGN(const int session, planStartOver(run, newest, {}, Asker::Supervisor));
        return PlannedSession{session, {}};
    }
    return planFromNewest(run, kAny, "There is no checkpoint yet to go on from", [&](const std::string& checkpoint) {
        return planSession(run, "restart", checkpoint, newest, {{}, makesNewCurve(run, checkpoint, false)}, rollBacks, Asker::Supervisor);
    });
}

Result<Prepared> prepareContinue(const RunFolder& run, const Changes& changes) {
    LATHE_TRY(refuseWithoutCheckpoints(run));
    LATHE_TRY_ASSIGN(RunLock lock, takeRun(run));
    LATHE_TRY_ASSIGN(const int newest, rundir::readNewestSession(run));
    if (newest == 0) return Error{ErrorCode::NotFound, run.name() + " has no session to continue", {}, {}};
    LATHE_TRY_ASSIGN(const std::string checkpoint, readNewestOnLine(run));
    LATHE_TRY_ASSIGN(std::string notice, passedOverNotice(run, checkpoint));
    const Changes all{changes.settings, makesNewCurve(run, checkpoint, changes.newCurve), changes.trialUpdates};
    const int standing = standingSession(run);
    LATHE_TRY_ASSIGN(const int rollBacks, rollBacksOf(run, standing));
    auto prepared = checkpoint.empty() ? startOver(run, std::move(lock), standing, changes.settings)
                                       : nextSession(run, std::move(lock), "continue", checkpoint, standing, all, rollBacks);
    if (prepared) prepared->notice = std::move(notice);
    return prepared;
}

Result<Prepared> prepareRollBack(const RunFolder& run, const std::string& checkpoint, const Changes& changes) {
    LATHE_TRY(refuseWithoutCheckpoints(run));
    LATHE_TRY_ASSIGN(RunLock lock, takeRun(run));
    return nextSession(run, std::move(lock), "roll-back", checkpoint, sessionOf(checkpoint), changes, 0);
}

/// Its rule does not remove it from now on. The new run does not depend on that: it has the files under names of its own.
static void rememberFork(const RunFolder& from, const std::string& checkpoint) {
    const auto edited = rundir::editUser(disk(), from, [&](rundir::UserRecord& user) {
        if (std::find(user.forked.begin(), user.forked.end(), checkpoint) == user.forked.end()) user.forked.push_back(checkpoint);
    });
    if (!edited) log::warning(edited.error().text());
}

static Result<Prepared> branchOff(const std::filesystem::path& workspace, const RunFolder& from, const std::string& checkpoint,
                                  const Changes& changes, bool weightsOnly, bool replay = false) {
    LATHE_TRY(refuseWithoutCheckpoints(from));
    LATHE_TRY_ASSIGN(const CheckpointManifest manifest, verified(from, checkpoint, Held::Nothing));
    LATHE_TRY_ASSIGN(const rundir::RunManifest parent, rundir::readManifest(from));
    LATHE_TRY_ASSIGN(const config::RunConfig before, takenFrom(from, sessionOf(checkpoint), parent.preset));
    LATHE_TRY_ASSIGN(const config::RunConfig config, withSettings(before, changes.settings));
    const std::string verb = weightsOnly ? "start-from-weights" : "fork";
    NewRun what{config, parent.preset, rundir::Parent{parent.id, checkpoint, verb}, {}, from.checkpoints() / checkpoint, namesRun(changes.settings)};
    if (!weightsOnly) {
        LATHE_TRY(refuseFixedChanges(before, config, true));
        if (!replay) LATHE_TRY(refuseReached(config, manifest, storedCurve(from.checkpoints() / checkpoint).length));
        what.session.newCurve = changes.newCurve;
        what.session.parentAttempt = manifest.counters.updateAttempts.value();
        what.session.expected = expectedAfter(from, checkpoint, manifest);
    }
    if (!replay) LATHE_TRY(refuseBadStart(config, startFrom(from, checkpoint, weightsOnly, changes.newCurve)));
    what.session.verb = verb;
    what.session.weightsOnly = weightsOnly;
    what.session.replay = replay;
    what.session.checkpoint = rundir::checkpointName(0, manifest.counters.globalStep);
    LATHE_TRY_ASSIGN(Prepared made, makeRun(workspace, std::move(what)));
    if (!replay) rememberFork(from, checkpoint);
    return made;
}

Result<Prepared> prepareFork(const std::filesystem::path& workspace, const RunFolder& from, const std::string& checkpoint,
                             const Changes& changes) {
    return branchOff(workspace, from, checkpoint, changes, false);
}

Result<Prepared> prepareReplay(const std::filesystem::path& workspace, const RunFolder& from, const std::string& checkpoint) {
    return branchOff(workspace, from, checkpoint, {{"telemetry.tensorboard=", "evaluation.restore_best=false"}, false}, false, true);
}

Result<Prepared> prepareFromWeights(const std::filesystem::path& workspace, const RunFolder& from, const std::string& checkpoint,
                                    const std::vector<std::string>& settings) {
    return branchOff(workspace, from, checkpoint, {settings, false}, true);
}

}  // namespace lathe::launch
