// What changes a run folder or the index of a workspace, each as an operation to be disturbed, with what must hold afterwards.
#pragma once

#include "fault_run.h"
#include "fault_sweep.h"

#include "launch/process/identity.h"
#include "launch/run/session_row.h"
#include "launch/run/settle.h"
#include "launch/run/standing.h"
#include "launch/run/write_end.h"
#include "launch/session/retention.h"
#include "launch/verbs/prepare.h"
#include "ring_script.h"

#include <algorithm>
#include <cstdlib>
#include <sstream>
#include <sqlite3.h>
#include <unistd.h>

namespace lathe::test {

namespace stdfs = std::filesystem;
using rundir::RunFolder;
using Judge = std::function<std::string(const stdfs::path&, Ending, const std::string&)>;

inline FileSystem& disk() { return FileSystem::real(); }

inline std::string countProblem(std::size_t have, std::size_t wanted) { return have == wanted ? std::string() : std::to_string(have) + " runs instead of " + std::to_string(wanted); }

/// All runs of a workspace are whole, and so many of them are there.
inline std::string runsProblem(const stdfs::path& workspace, std::size_t least, std::size_t most) {
    const auto runs = rundir::listRuns(workspace);
    if (runs.size() < least || runs.size() > most) return countProblem(runs.size(), runs.size() < least ? least : most);
    for (const RunFolder& run : runs)
        if (std::string problem = problemOf(run); !problem.empty()) return run.name() + ": " + problem;
    return {};
}

inline Operation makingARun() {
    return {"making a run", [](const stdfs::path& workspace) { endedRun(workspace); },
            [](const stdfs::path& workspace) { return told([&]() -> Result<void> {
                LATHE_TRY(launch::prepareRun(workspace, smallConfig(), {}));
                return {};
            }()); },
            [](const stdfs::path& workspace, Ending ending, const std::string&) {
                return runsProblem(workspace, isDone(ending) ? 2 : 1, 3);
            }};
}

/// `where`: the folder that it goes to.
inline Judge isInOnePlace(const char* from, const char* to) {
    return [from, to](const stdfs::path& workspace, Ending ending, const std::string&) -> std::string {
        const auto before = listFolder(workspace / from), after = listFolder(workspace / to);
        const std::size_t stayed = before.ok() ? before->size() : 0, went = after.ok() ? after->size() : 0;
        if (stayed + went != 1) return std::to_string(stayed + went) + " folders of one run";
        if (isDone(ending) && went != 1) return "it is told as done and was not";
        const RunFolder run(went == 1 ? workspace / to / after->front() : workspace / from / before->front());
        if (rowsOf(run) != kRecordedRows) return "points are missing";
        return problemOf(run);
    };
}

inline Operation trainer(const char* name, std::vector<std::string> words, std::function<void(const stdfs::path&)> prepare,
                  Judge judge) {
    return {name, std::move(prepare), [words](const stdfs::path& workspace) {
                std::vector<std::string> all = {LATHE_BIN_DIR "/lathe-trainer"};
                all.insert(all.end(), words.begin(), words.end());
                all.insert(all.end(), {"--workspace", workspace.string()});
                return executes(all, {"ASAN_OPTIONS=detect_leaks=0"})();
            }, std::move(judge), false};
}

inline void inTheTrash(const stdfs::path& workspace) {
    const RunFolder run = endedRun(workspace);
    stdfs::create_directories(workspace / "trash");
    stdfs::rename(run.root(), workspace / "trash" / run.name());
}

/// One run with all its points, whose checkpoints are these or those.
inline Judge hasCheckpoints(std::size_t before, std::size_t after) {
    return [=](const stdfs::path& workspace, Ending ending, const std::string&) -> std::string {
        const RunFolder run = onlyRun(workspace);
        if (std::string problem = problemOf(run); !problem.empty()) return problem;
        if (rowsOf(run) < kRecordedRows) return "points are missing";
        std::size_t usable = 0;
        for (const auto& info : rundir::listCheckpoints(run.checkpoints())) usable += info.problem.empty() ? 1 : 0;
        if (usable < after || usable > before) return std::to_string(usable) + " checkpoints";
        if (isDone(ending) && usable != after) return "it is told as done and was not";
        return {};
    };
}

inline Operation pruning() {
    return {"pruning", [](const stdfs::path& workspace) { endedRun(workspace); },
            [](const stdfs::path& workspace) { return told([&]() -> Result<void> {
                const RunFolder run = onlyRun(workspace);
                LATHE_TRY_ASSIGN(const auto lock, launch::takeRun(run));
                LATHE_TRY_ASSIGN(const auto writer, store::RunWriter::open(run.database()));
                config::RunConfig config = smallConfig();
                config.checkpoint.keepLast = 2;
                config.checkpoint.keepBest = 0;
                return launch::applyRetention(disk(), run, config, *writer, {}).done;
            }()); },
            hasCheckpoints(5, 2)};
}

inline Operation rollingBack() {
    return {"rolling back", [](const stdfs::path& workspace) { endedRun(workspace); },
            [](const stdfs::path& workspace) { return told([&]() -> Result<void> {
                LATHE_TRY(launch::prepareRollBack(onlyRun(workspace), "s001-000000020", {{"optimizer.learning_rate=1e-4"}, false}));
                return {};
            }()); },
            [](const stdfs::path& workspace, Ending ending, const std::string& said) -> std::string {
                if (std::string problem = hasCheckpoints(5, 5)(workspace, ending, said); !problem.empty()) return problem;
                const RunFolder run = onlyRun(workspace);
                const int newest = rundir::newestSession(run);
                if (newest < (isDone(ending) ? 2 : 1)) return "the new session is not there";
                return {};
            }};
}

/// A supervisor was killed in the middle: live.json, a write-ahead log, spill, temporary files, an unfinished checkpoint.
inline void interrupted(const stdfs::path& workspace) {
    const RunFolder run = endedRun(workspace, false);
    spillRows(run, kRecordedRows + 1, kRecordedRows + kSpilledRows);
    rundir::LiveRecord live;
    live.session = 1;
    live.supervisor = {launch::hostName(), "a boot long ago", 4'000'000, 1, "x"};
    if (!rundir::writeLive(disk(), run, live).ok() || !makeFolders(disk(), run.checkpoints() / ".s001-000000060").ok()) std::abort();
    const std::string tail = ".tmp-" + std::to_string(::getpid()) + "-0";   // also where the pid of who left it went to somebody else
    for (const stdfs::path& file : {run.summaryJson(), run.checkpoints() / "s001-000000050/verified.json"})
        if (!replaceFile(disk(), file.string() + tail, "{").ok()) std::abort();
}

/// Wherever it was cut off: what the session's record counts is what is recorded of it.
inline std::string countsProblem(const RunFolder& run) {
    if (const auto settled = launch::takeRun(run); !settled.ok()) return settled.error().text();
    const auto record = rundir::readSession(run, 1);
    const auto summary = rundir::readSummary(run);
    if (!record.ok() || !summary.ok() || !record->state || !record->counters) return "the session has no end";
    const auto rows = (*store::RunReader::open(run.database()))->sessions();
    const std::int64_t wanted = rowsOf(run), counted = record->counters->updateAttempts.value();
    if (counted != wanted || summary->counters != *record->counters || rows->back().lastStep != wanted)
        return "the record counts " + std::to_string(counted) + " updates, the summary " + std::to_string(summary->counters.updateAttempts.value()) + ", the row " + std::to_string(rows->back().lastStep) + " of " + std::to_string(wanted) + " recorded ones";
    return {};
}

inline Operation settling() {
    return {"settling what a lost supervisor left", interrupted,
            [](const stdfs::path& workspace) { return told([&]() -> Result<void> {
                LATHE_TRY(launch::takeRun(onlyRun(workspace)));
                return {};
            }()); },
            [](const stdfs::path& workspace, Ending ending, const std::string& said) -> std::string {
                if (std::string problem = hasCheckpoints(5, 5)(workspace, ending, said); !problem.empty()) return problem;
                const RunFolder run = onlyRun(workspace);
                if (isDone(ending) && launch::standingOf(run).state != rundir::State::Interrupted) return "the session has no end";
                if (std::string problem = countsProblem(run); !problem.empty()) return problem;
                return rowsOf(run) == kRecordedRows + kSpilledRows ? std::string() : "of the spilled points some are missing";
            }};
}

/// What the recorder acknowledged is there, whatever happened after; it says so line by line.
inline Operation recording() {
    return {"recording", [](const stdfs::path& folder) { stdfs::create_directories(folder); },
            [](const stdfs::path& folder) { return told([&]() -> Result<void> {
                LATHE_TRY_ASSIGN(const auto writer, store::RunWriter::open(folder / "run.sqlite"));
                store::SessionRow row;
                row.number = 1;
                row.verb = "start";
                LATHE_TRY(writer->beginSession(row));
                const auto recorded = static_cast<std::int64_t>(writer->recordedSequence(0, 1));
                tests::RingScript ring(*writer, 0, 1, 0);
                for (int i = 1; i <= 9000; ++i) {
                    ring.points(i, {{"train/loss", 1.0 / i}, {"train/lr", 1e-3}});  // what is recorded already is left out
                    if (i % 1500 != 0 || static_cast<std::int64_t>(ring.sequence()) < recorded) continue;
                    LATHE_TRY(writer->flush());
                    std::printf("%d\n", i);
                    std::fflush(stdout);
                }
                row.end = "completed";
                return writer->endSession(row);
            }()); },
            [](const stdfs::path& folder, Ending ending, const std::string& said) -> std::string {
                const RunFolder run(folder);
                int acknowledged = 0;
                std::istringstream lines(said);
                for (std::string line; std::getline(lines, line);) acknowledged = std::max(acknowledged, std::atoi(line.c_str()));
                if (acknowledged == 0 && !isDone(ending)) return {};
                const auto reader = store::RunReader::open(run.database());
                if (!reader.ok()) return reader.error().text();
                if (const auto verified = (*reader)->verify(); !verified.ok()) return verified.error().text();
                if (rowsOf(run) < acknowledged) return std::to_string(rowsOf(run)) + " rows of " + std::to_string(acknowledged) + " acknowledged ones";
                if (isDone(ending) && rowsOf(run) != 9000) return "told as done with " + std::to_string(rowsOf(run)) + " rows";
                return {};
            }};
}

/// A file of version 1, which had no records.
inline Operation migrating() {
    return {"migrating run.sqlite", [](const stdfs::path& workspace) {
                const RunFolder run = endedRun(workspace);
                sqlite3* db = nullptr;
                if (sqlite3_open(run.database().c_str(), &db) != SQLITE_OK
                    || sqlite3_exec(db, "DROP TABLE records; PRAGMA user_version=1", nullptr, nullptr, nullptr) != SQLITE_OK)
                    std::abort();
                sqlite3_close(db);
            },
            [](const stdfs::path& workspace) { return told([&]() -> Result<void> {
                LATHE_TRY(store::RunWriter::open(onlyRun(workspace).database()));
                return {};
            }()); },
            hasCheckpoints(5, 5)};
}

inline Operation pinning() {
    return {"pinning", [](const stdfs::path& workspace) { endedRun(workspace); },
            [](const stdfs::path& workspace) {
                return told(rundir::editUser(disk(), onlyRun(workspace), [](rundir::UserRecord& user) { user.pinned = {"s001-000000020"}; }));
            },
            [](const stdfs::path& workspace, Ending ending, const std::string&) -> std::string {
                const RunFolder run = onlyRun(workspace);
                if (std::string problem = problemOf(run); !problem.empty()) return problem;
                if (isDone(ending) && rundir::readUser(run)->pinned.size() != 1) return "it is told as done and was not";
                return {};
            }};
}

/// As the supervisor does it.
inline Result<void> endFirstSession(const RunFolder& run) {
    LATHE_TRY_ASSIGN(rundir::SessionRecord record, rundir::readSession(run, 1));
    LATHE_TRY_ASSIGN(rundir::Summary summary, rundir::readSummary(run));
    record.state = summary.state = rundir::State::Completed;
    LATHE_TRY_ASSIGN(const auto writer, store::RunWriter::open(run.database()));
    return launch::writeEnd(disk(), run, record, summary, {writer.get(), launch::rowOf(record), false});
}

inline Operation ending() {
    return {"writing how a session ended", interrupted, [](const stdfs::path& workspace) { return told(endFirstSession(onlyRun(workspace))); },
            [](const stdfs::path& workspace, Ending how, const std::string& said) -> std::string {
                if (std::string problem = hasCheckpoints(5, 5)(workspace, how, said); !problem.empty()) return problem;
                const auto standing = launch::standingOf(onlyRun(workspace));
                if (standing.why.find("before its worker started") != std::string::npos) return "it is told as never begun";
                return isDone(how) && standing.state != rundir::State::Completed ? "it is told as done and was not" : "";
            }};
}

/// The next session is planned before; whoever comes next finds an end of each that was begun or planned.
inline Operation endingWithARestartPlanned() {
    return {"ending with a restart planned", interrupted,
            [](const stdfs::path& workspace) { return told([&]() -> Result<void> {
                const RunFolder run = onlyRun(workspace);
                LATHE_TRY(launch::planRestart(run, false));
                return endFirstSession(run);
            }()); },
            [](const stdfs::path& workspace, Ending how, const std::string& said) -> std::string {
                if (std::string problem = hasCheckpoints(5, 5)(workspace, how, said); !problem.empty()) return problem;
                const RunFolder run = onlyRun(workspace);
                if (const auto settled = launch::takeRun(run); !settled.ok()) return settled.error().text();
                for (int session = 1; session <= rundir::newestSession(run); ++session)
                    if (const auto record = rundir::readSession(run, session); !record->state) return "session " + std::to_string(session) + " has no end";
                if (isDone(how) && rundir::readSession(run, 1)->state != rundir::State::Completed) return "it is told as done and was not";
                return {};
            }};
}

/// The index never stands in the way: whatever happens to its file, the rows are those of the folders.
inline Operation indexing() {
    const auto rowsProblem = [](const stdfs::path& workspace) -> std::string {
        const auto history = store::History::open(workspace);
        static_cast<void>(history->refresh());
        const auto rows = history->rows();
        return !rows.ok() ? rows.error().text() : countProblem(rows->size(), 3);
    };
    return {"bringing the index up to date", [](const stdfs::path& workspace) {
                endedRun(workspace);
                static_cast<void>(store::History::open(workspace)->refresh());
                endedRun(workspace);
                endedRun(workspace);
            },
            [rowsProblem](const stdfs::path& workspace) {
                static_cast<void>(rowsProblem(workspace));  // reading the folders may fail; the file must bear it
                return 0;
            },
            [rowsProblem](const stdfs::path& workspace, Ending, const std::string&) { return rowsProblem(workspace); }};
}

inline Operation makingTheFirstRun() {
    Operation operation = makingARun();
    operation.name = "making the first run of a workspace";
    operation.prepare = [](const stdfs::path&) {};
    operation.judge = [](const stdfs::path& workspace, Ending ending, const std::string&) { return runsProblem(workspace, isDone(ending) ? 1 : 0, 2); };
    return operation;
}

/// With no temporary file left once it is done.
inline Operation tidy(Operation operation) {
    operation.left = leftIn;
    return operation;
}

inline const std::vector<Operation>& operations() {
    static const std::vector<Operation> all = {
        tidy(makingARun()), tidy(makingTheFirstRun()), pruning(), tidy(rollingBack()), tidy(settling()), tidy(recording()), tidy(migrating()), pinning(), ending(), endingWithARestartPlanned(), indexing(),
        trainer("deleting a run", {"delete", "latest"}, [](const stdfs::path& workspace) { endedRun(workspace); }, isInOnePlace("runs", "trash")),
        trainer("restoring a run", {"restore", "small"}, inTheTrash, isInOnePlace("trash", "runs")),
        trainer("deleting a checkpoint", {"delete", "latest@20"}, [](const stdfs::path& workspace) { endedRun(workspace); }, hasCheckpoints(5, 4)),
        trainer("rebuilding the index", {"rebuild-history"}, [](const stdfs::path& workspace) { endedRun(workspace); }, hasCheckpoints(5, 5))};
    return all;
}

}  // namespace lathe::test
