// What lathe-trainer can do: one function a verb, one file each. The command line fills an Options and calls one of them.
#pragma once

#include "base/exit_code.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace lathe::trainer {

struct DrillWords {
    int kills = 20;
    double seconds = 0, every = 1; ///< seconds 0: no limit
    std::optional<std::uint64_t> seed;
    std::string folder;            ///< empty: the workspace
};

struct Options {
    bool json = false;             ///< answer with one JSON document on standard output
    bool csv = false;
    bool detach = false;
    bool queue = false;            ///< start it when its device is free
    bool allBranches = false;
    bool discard = false;
    bool enable = false;           ///< overnight: ask the system to let runs go on after log-out
    bool release = false;          ///< pause: save and let the memory go
    bool empty = false;            ///< trash: remove what is in it for good
    bool newCurve = false;
    bool dryRun = false;           ///< tell what would happen, write nothing
    bool replay = false;           ///< verify: make the updates after the checkpoint once more and compare
    bool follow = false;
    double idleSeconds = 1800;     ///< --follow: silent for so long means ended
    std::optional<std::string> tensorboard;  ///< export as event files into this folder; empty: the run's export folder
    std::string weights;           ///< export: "trained", "ema", or empty for what the run evaluates
    std::optional<std::int64_t> step;  ///< records: only those of this step
    std::string out;               ///< records: the folder to write files into
    std::optional<std::string> since;  ///< runs, events: only what ended or happened after this moment
    std::vector<std::string> kinds;    ///< events: only those of these kinds
    std::string workspace;         ///< empty: $LATHE_WORKSPACE or ~/lathe
    std::string target;            ///< CONFIG, RUN, RUN@STEP or CHECKPOINT
    std::vector<std::string> more; ///< names of series or records; further runs; what of the trash to remove
    std::vector<std::string> settings;
    std::int64_t remedy = 0;       ///< again, continue: what is told to help a run that memory ran out in; 0: none
    std::string command;           ///< run, again: a person's own command
    std::vector<std::string> words;///< the same, or what is added to it, given word by word behind --
    std::int64_t pid = 0;          ///< record: the process, 0: whoever started this one
    DrillWords drill;
    std::string name, workdir;     ///< run, again: settings of their own; name also of what is imported
};

ExitCode run(const Options& options);
ExitCode again(const Options& options);
ExitCode continueRun(const Options& options);
ExitCode rollBack(const Options& options);
ExitCode fork(const Options& options);
ExitCode startFromWeights(const Options& options);
ExitCode check(const Options& options);
ExitCode explain(const Options& options);
ExitCode attach(const Options& options);
ExitCode stop(const Options& options);
ExitCode pause(const Options& options);
ExitCode unpause(const Options& options);
ExitCode save(const Options& options);
ExitCode runs(const Options& options);
ExitCode queue(const Options& options);
ExitCode show(const Options& options);
ExitCode series(const Options& options);
ExitCode events(const Options& options);
ExitCode record(const Options& options);
ExitCode records(const Options& options);
ExitCode compare(const Options& options);
ExitCode verify(const Options& options);
ExitCode replay(const Options& options);
ExitCode eval(const Options& options);
ExitCode exportRun(const Options& options);
ExitCode exportEventFiles(const Options& options);
ExitCode importLogs(const Options& options);
ExitCode checkpoints(const Options& options);
ExitCode pin(const Options& options);
ExitCode unpin(const Options& options);
ExitCode deleteRun(const Options& options);
ExitCode trash(const Options& options);
ExitCode restore(const Options& options);
ExitCode rebuildHistory(const Options& options);
ExitCode overnight(const Options& options);
ExitCode plugins(const Options& options);
const char* pluginHelp();   ///< how one is made
ExitCode selftest(const Options& options);
ExitCode drill(const Options& options);
ExitCode configReference(const Options& options);

}  // namespace lathe::trainer
