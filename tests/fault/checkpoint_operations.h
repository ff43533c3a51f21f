// Operations on checkpoints, the trash and the queue, beside those of operations.h.
#pragma once

#include "operations.h"

#include "launch/queue/queue.h"
#include "launch/run/standing.h"
#include "launch/verbs/prepare.h"
#include "launch/verbs/scratch.h"

namespace lathe::test {

constexpr const char* kForked = "s001-000000020";

inline void anEndedRun(const stdfs::path& workspace) { endedRun(workspace); }

/// The run that comes from no other one.
inline RunFolder original(const stdfs::path& workspace) {
    for (const RunFolder& run : rundir::listRuns(workspace))
        if (const auto manifest = rundir::readManifest(run); manifest.ok() && !manifest->parent) return run;
    return RunFolder("/nowhere");
}

/// The runs are whole, and what the newest session of each begins from is there.
inline std::string begunProblem(const stdfs::path& workspace, std::size_t least, std::size_t most) {
    if (std::string problem = runsProblem(workspace, least, most); !problem.empty()) return problem;
    for (const RunFolder& run : rundir::listRuns(workspace)) {
        const auto record = rundir::readSession(run, rundir::newestSession(run));
        if (!record.ok()) return record.error().text();
        if (record->checkpoint.empty()) continue;
        const auto verified = rundir::verifyCheckpoint(run.checkpoints() / record->checkpoint);
        if (!verified.ok()) return verified.error().text();
        if (!verified->ok()) return verified->badFiles.front().text();
    }
    return {};
}

inline Operation forking() {
    return {"forking", anEndedRun, [](const stdfs::path& workspace) { return told([&]() -> Result<void> {
                LATHE_TRY(launch::prepareFork(workspace, original(workspace), kForked, {}));
                return {};
            }()); },
            [](const stdfs::path& workspace, Ending ending, const std::string&) { return begunProblem(workspace, isDone(ending) ? 2 : 1, 3); }};
}

inline Operation startingFromWeights() {
    Operation operation = forking();
    operation.name = "starting from weights";
    operation.work = [](const stdfs::path& workspace) { return told([&]() -> Result<void> {
        LATHE_TRY(launch::prepareFromWeights(workspace, original(workspace), kForked, {}));
        return {};
    }()); };
    return operation;
}

inline Operation withoutHardLinks(Operation operation) {
    operation.name += " on a disk without hard links";
    operation.refused = [](const SystemCall& call) { return call.name == "link" || call.name == "linkat"; };
    return operation;
}

/// The scratch copy of a replay, which nobody trains in here: it is gone with the program, or with the next one that makes one.
inline Operation preparingAReplay() {
    return {"preparing a replay", anEndedRun, [](const stdfs::path& workspace) { return told([&]() -> Result<void> {
                LATHE_TRY_ASSIGN(const launch::Scratch scratch, launch::Scratch::beside(onlyRun(workspace)));
                LATHE_TRY_ASSIGN(const launch::Prepared prepared, launch::prepareReplay(scratch.workspace(), onlyRun(workspace), kForked));
                const std::string problem = begunProblem(scratch.workspace(), 1, 1);
                return problem.empty() ? Result<void>() : Error{ErrorCode::Corrupt, problem, {}, {}};
            }()); },
            [](const stdfs::path& workspace, Ending ending, const std::string& said) -> std::string {
                if (ending == Ending::Undisturbed && stdfs::exists(workspace / "scratch")) return "the scratch folder is still there";
                return hasCheckpoints(5, 5)(workspace, ending, said);
            }};
}

inline Operation keepingWhatReReadingFound() {
    return {"keeping what re-reading found", anEndedRun, [](const stdfs::path& workspace) { return told([&]() -> Result<void> {
                const stdfs::path folder = onlyRun(workspace).checkpoints() / kForked;
                LATHE_TRY_ASSIGN(const rundir::Verification found, rundir::verifyCheckpoint(folder));
                return rundir::writeVerified(disk(), folder, found, 7);
            }()); },
            [](const stdfs::path& workspace, Ending ending, const std::string& said) -> std::string {
                if (std::string problem = hasCheckpoints(5, 5)(workspace, ending, said); !problem.empty()) return problem;
                const auto verified = rundir::readVerified(onlyRun(workspace).checkpoints() / kForked);
                return isDone(ending) && (!verified || verified->wallNs != 7) ? "it is told as done and was not" : "";
            }};
}

inline void aCheckpointInTheTrash(const stdfs::path& workspace) {
    const RunFolder run = endedRun(workspace);
    stdfs::create_directories(workspace / "trash");
    stdfs::rename(run.checkpoints() / kForked, workspace / "trash" / (run.name() + "@" + kForked));
}

/// The trash holds a run and a checkpoint; there is another run.
inline void aFullTrash(const stdfs::path& workspace) {
    inTheTrash(workspace);
    aCheckpointInTheTrash(workspace);
}

/// What of the trash can still be brought back is whole.
inline std::string trashProblem(const stdfs::path& workspace, Ending ending) {
    const auto names = listFolder(workspace / "trash");
    for (std::size_t i = 0; names.ok() && i < names->size(); ++i) {
        const std::string& name = (*names)[i];
        if (isDone(ending)) return name + " is still there";
        if (name.starts_with('.')) continue;
        const stdfs::path place = workspace / "trash" / name;
        const bool isCheckpoint = name.find('@') != std::string::npos;
        const auto verified = isCheckpoint ? rundir::verifyCheckpoint(place) : rundir::Verification{};
        const std::string problem = !verified.ok() ? verified.error().text() : !verified->ok() ? verified->badFiles.front().text() : isCheckpoint ? "" : problemOf(RunFolder(place));
        if (!problem.empty()) return name + ": " + problem;
        if (!isCheckpoint && rowsOf(RunFolder(place)) != kRecordedRows) return name + ": points are missing";
    }
    return {};
}

inline Operation emptyingTheTrash() {
    return trainer("emptying the trash", {"trash", "--empty"}, aFullTrash, [](const stdfs::path& workspace, Ending ending, const std::string& said) -> std::string {
        const bool isLeftAlone = said.find("it is left alone") != std::string::npos;   // what could not be looked at
        if (std::string problem = trashProblem(workspace, isLeftAlone ? Ending::Failed : ending); !problem.empty()) return problem;
        return hasCheckpoints(4, 4)(workspace, ending, said);
    });
}

inline Operation restoringACheckpoint() {
    return trainer("restoring a checkpoint", {"restore", "small@20"}, aCheckpointInTheTrash, [](const stdfs::path& workspace, Ending ending, const std::string& said) -> std::string {
        if (std::string problem = hasCheckpoints(5, 4)(workspace, Ending::Failed, said); !problem.empty()) return problem;
        if (stdfs::exists(onlyRun(workspace).checkpoints() / kForked) != stdfs::is_empty(workspace / "trash")) return "it is in two places, or in none";
        return isDone(ending) && !stdfs::is_empty(workspace / "trash") ? "it is told as done and was not" : "";
    });
}

inline launch::Queue queueIn(const stdfs::path& workspace) { return launch::Queue(workspace / "state"); }

/// The queue can be read and holds so many runs, all of them whole.
inline std::string queueProblem(const stdfs::path& workspace, std::size_t least, std::size_t most) {
    const auto state = queueIn(workspace).read();
    if (!state.ok()) return state.error().text();
    if (state->entries.size() < least || state->entries.size() > most) return std::to_string(state->entries.size()) + " runs in the queue";
    for (const launch::QueueEntry& entry : state->entries) {
        const auto record = rundir::readSession(RunFolder(entry.folder), entry.session);
        if (!record.ok()) return "in the queue and not there: " + record.error().text();
    }
    return runsProblem(workspace, least, 3);
}

inline Result<void> queueARun(const stdfs::path& workspace) {
    config::RunConfig config = smallConfig();
    config.parallel.device = "cpu";
    LATHE_TRY_ASSIGN(launch::Prepared prepared, launch::prepareRun(workspace, config, {}));
    return launch::enqueue(queueIn(workspace), std::move(prepared));
}

inline void aQueuedRun(const stdfs::path& workspace) {
    if (!queueARun(workspace).ok()) std::abort();
}

inline Operation puttingInTheQueue() {
    return {"putting a run in the queue", aQueuedRun, [](const stdfs::path& workspace) { return told(queueARun(workspace)); },
            [](const stdfs::path& workspace, Ending ending, const std::string&) { return queueProblem(workspace, isDone(ending) ? 2 : 1, 3); }};
}

inline Operation takingOutOfTheQueue() {
    Operation operation = {"taking a run out of the queue", aQueuedRun, [](const stdfs::path& workspace) { return told(launch::dequeue(queueIn(workspace), onlyRun(workspace))); },
            [](const stdfs::path& workspace, Ending ending, const std::string&) -> std::string {
                if (std::string problem = queueProblem(workspace, 0, isDone(ending) ? 0 : 1); !problem.empty()) return problem;
                const rundir::State state = launch::standingOf(onlyRun(workspace)).state;
                return isDone(ending) && state != rundir::State::Cancelled ? "told as done and its run is " + std::string(rundir::name(state)) : "";
            }};
    operation.retries = false;   // one that was cut off may have taken it out
    return operation;
}

inline Operation holdingAQueuedRun() {
    return {"holding a run of the queue", aQueuedRun, [](const stdfs::path& workspace) {
                return told(queueIn(workspace).edit([](launch::QueueState& state) -> Result<void> {
                    for (launch::QueueEntry& entry : state.entries) entry.held = true;
                    return {};
                }));
            },
            [](const stdfs::path& workspace, Ending ending, const std::string&) -> std::string {
                if (std::string problem = queueProblem(workspace, 1, 1); !problem.empty()) return problem;
                return isDone(ending) && !queueIn(workspace).read()->entries.front().held ? "it is told as done and was not" : "";
            }};
}

inline const std::vector<Operation>& checkpointOperations() {
    static const std::vector<Operation> all = {
        tidy(forking()), tidy(withoutHardLinks(forking())), tidy(startingFromWeights()), tidy(withoutHardLinks(startingFromWeights())), tidy(preparingAReplay()),
        keepingWhatReReadingFound(), tidy(emptyingTheTrash()), puttingInTheQueue(), takingOutOfTheQueue(), holdingAQueuedRun(),
        restoringACheckpoint()};
    return all;
}

}  // namespace lathe::test
