#include "command_line.h"

#include "config/config.h"
#include "config/nearest.h"
#include "launch/session/supervisor.h"
#include "output.h"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

namespace lathe::trainer {
namespace {

using Action = ExitCode (*)(const Options&);

enum Needs : unsigned {
    Nothing = 0,
    Target = 1,         // exactly one
    More = 2,           // any number behind it
    Settings = 4,       // --set
    Detach = 8,         // --detach: verbs that start a session
    Curve = 16,         // --new-curve: verbs that go on with a state
    Sheet = 32,         // --dry-run: verbs that go on from a checkpoint
    Command = 64,       // --command, --name, --workdir, and words behind --
};

struct Verb {
    const char* name;
    const char* target;   ///< what the positional argument is called
    const char* help;
    unsigned needs;
    Action action;
};

constexpr std::array kVerbs = {
    Verb{"run", "CONFIG", "Train: a configuration file or the name of a preset; or run your own command", Settings | Detach | Command, run},
    Verb{"again", "RUN", "A new run with the same configuration or command", Target | Settings | Detach | Command, again},
    Verb{"continue,resume", "RUN", "Go on from the newest checkpoint of a run", Target | Settings | Detach | Curve | Sheet, continueRun},
    Verb{"roll-back", "RUN@STEP", "Go back to a checkpoint and go on from there on a new branch of the same run", Target | Settings | Detach | Curve | Sheet, rollBack},
    Verb{"fork", "RUN@STEP", "A new run that goes on from a checkpoint with its entire state", Target | Settings | Detach | Curve | Sheet, fork},
    Verb{"start-from-weights", "RUN@STEP", "A new run that starts at step 0 with the weights of a checkpoint", Target | Settings | Detach | Sheet, startFromWeights},
    Verb{"check", "CONFIG", "Tell every problem of a configuration and its data, and what a run will take", Target | Settings, check},
    Verb{"explain", "CONFIG", "Tell what one update does, in order, of a configuration or a RUN: what is divided by what, which counter moves when", Target | Settings, explain},
    Verb{"attach", "RUN", "Watch a run in the terminal; leaving (Ctrl-C) does not touch it", Target, attach},
    Verb{"stop", "RUN", "Finish the update, save and stop", Target, stop},
    Verb{"pause", "RUN", "Pause after this update; memory stays taken, or with --release is let go", Target, pause},
    Verb{"unpause", "RUN", "Let a paused run go on", Target, unpause},
    Verb{"save", "RUN", "Save a checkpoint now", Target, save},
    Verb{"queue", "ACTION", "List what waits, or: hold RUN, release RUN, move RUN first|last|N, remove RUN, after-failure hold|go-on", Nothing, queue},
    Verb{"runs", "", "List all runs", Nothing, runs},
    Verb{"show", "RUN", "Everything about a run", Target, show},
    Verb{"series", "RUN", "Print every recorded point of some series, or of all, along the line that goes on (--all-branches: all lines)", Target | More, series},
    Verb{"events", "RUN", "Everything that happened in a run, in order: plan, evaluations, checkpoints, warnings, cuts of the rate, what the guard did …", Target, events},
    Verb{"record", "", "Record a script that runs already, in the background; its client calls this (see resources/python, resources/c)", Detach, record},
    Verb{"records", "RUN", "List what was recorded beside the curves (tables, texts, pictures …), or print those of some names; --out writes them as files", Target | More, records},
    Verb{"compare", "RUN", "Settings and results in which runs differ", Target | More, compare},
    Verb{"verify", "CHECKPOINT", "Read every byte of a checkpoint (RUN@STEP, RUN for its newest, or its folder)", Target, verify},
    Verb{"eval", "RUN@STEP", "Evaluate a checkpoint on the evaluation data of its run", Target, eval},
    Verb{"export", "RUN", "Write weights, class names, preprocessing and a Python loader to the run's export folder: of the best checkpoint, or of RUN@STEP", Target, exportRun},
    Verb{"import", "FOLDER", "Take over TensorBoard event files: each folder with some becomes a run; again adds what is new", Target, importLogs},
    Verb{"checkpoints", "RUN", "List checkpoints with what the rule keeps and would remove, and why; --set checkpoint.keep_last=1 asks about another rule", Target | Settings, checkpoints},
    Verb{"pin", "RUN@STEP", "Never remove this checkpoint", Target, pin},
    Verb{"unpin", "RUN@STEP", "Let the rule decide about this checkpoint again", Target, unpin},
    Verb{"delete", "RUN", "Move a run to the trash, or with RUN@STEP one of its checkpoints", Target, deleteRun},
    Verb{"trash", "", "List deleted runs and checkpoints", Nothing, trash},
    Verb{"restore", "RUN", "Take a run out of the trash, or with RUN@STEP one of its checkpoints", Target, restore},
    Verb{"rebuild-history", "", "Make the index of all runs anew from their folders", Nothing, rebuildHistory},
    Verb{"overnight", "", "Tell what becomes of runs while nobody is there: log-out, sleep, memory, notification", Nothing, overnight},
    Verb{"plugins", "", "List the plug-ins that a configuration can use; --help tells how one is built", Nothing, plugins},
    Verb{"selftest", "", "Try what this machine must be able to do", Nothing, selftest},
    Verb{"drill", "", "Kill a small run of its own at random moments, resume it each time, and tell what was promised and what was seen", Nothing, drill},
    Verb{"config-reference", "KEY", "Every setting with help, range and default; or those of a section, or one of them", Nothing, configReference},
};

constexpr const char* kFooter =
    "RUN is an id, the beginning of one, a name, a folder, or latest: the one made last; for attach, stop, pause, unpause and\n"
    "save the newest that is up. RUN@STEP may also be RUN@best, RUN@latest or RUN@FOLDER;\n"
    "RUN alone is its newest checkpoint, and best or a step alone are those of the newest run.\n"
    "Exit codes: 0 completed, 2 bad usage or configuration, 3 failed, 4 stopped on request, 5 killed or interrupted,\n"
    "6 diverged, 7 memory exhausted, 8 in use by another process.";

void addCommandOptions(CLI::App& command, Options& options, bool isAgain) {
    command.add_option("--command", options.command, isAgain ? "The command to run instead" : "Your own program and its arguments, quoted as for a shell but run without one");
    command.add_option("--name", options.name, "Name of the run");
    command.add_option("--workdir", options.workdir, "Folder that the command runs in (else the current one)");
    command.footer(isAgain ? "-- WORDS… are added to the command's arguments; --set argument.lr=1e-3 changes one." : "Instead of --command, the command's words may stand behind --: run -- python train.py --lr 3e-4");
}

void addDrillOptions(CLI::App& command, DrillWords& drill) {
    command.add_option("--kills", drill.kills, "How often")->check(CLI::Range(1, 1'000'000))->capture_default_str();
    command.add_option("--seconds", drill.seconds, "Kill no more after so many seconds; 0: no limit")->check(CLI::Range(0.0, 1e7))->capture_default_str();
    command.add_option("--every", drill.every, "Mean seconds between kills")->check(CLI::Range(0.01, 1e5))->capture_default_str();
    command.add_option("--seed", drill.seed, "Of what is killed and when; else a random one, which is told");
    command.add_option("--folder", drill.folder, "Whose disk is drilled (else the workspace's); only a scratch folder in it is used");
}

void addVerb(CLI::App& app, const Verb& verb, Options& options, Action& chosen, bool& startsSession) {
    std::string name = verb.name;
    const std::size_t comma = name.find(',');
    CLI::App* command = app.add_subcommand(name.substr(0, comma), verb.help);
    if (comma != std::string::npos) command->alias(name.substr(comma + 1));
    if ((verb.needs & Target) != 0) command->add_option(verb.target, options.target)->required();
    else if (*verb.target != '\0') command->add_option(verb.target, options.target);
    const bool isSeries = verb.action == series;
    if (verb.action == queue) command->add_option("WORDS", options.more);
    if ((verb.needs & More) != 0) {
        const bool isNames = isSeries || verb.action == records;
        command->add_option(isNames ? "NAME" : "RUNS", options.more);
    }
    if ((verb.needs & Settings) != 0) {
        command->add_option("--set", options.settings, "section.key=value, overrides the configuration; may be repeated")
            ->allow_extra_args(false);
    }
    if ((verb.needs & Command) != 0) addCommandOptions(*command, options, verb.action == again);
    if (verb.action == record) {
        command->add_option("--pid", options.pid, "The script's process (else the one that started this)");
        command->add_option("--name", options.name, "Name of the run");
    } else if ((verb.needs & Detach) != 0) {
        command->add_flag("--detach", options.detach, "Return once the run is up; it goes on in the background");
        command->add_flag("--queue", options.queue, "Start it when no other run uses its device, behind those that wait already");
    }
    if (verb.action == again || verb.action == continueRun)
        command->add_option("--remedy", options.remedy, "Of a run that memory ran out in: make the change with this number (show lists them)")->check(CLI::PositiveNumber);
    if ((verb.needs & Curve) != 0) command->add_flag("--new-curve", options.newCurve, "Make the learning-rate curve anew for the length the run has now; else it stays as it was");
    if ((verb.needs & Sheet) != 0) command->add_flag("--dry-run", options.dryRun, "Tell what would be used, changed and refused; start nothing");
    if (isSeries) {
        command->add_flag("--csv", options.csv, "Comma-separated values (what is printed without a flag, too)");
        command->add_flag("--all-branches", options.allBranches, "Also what was abandoned, by rolling back or by a restart after a crash");
    }
    if (verb.action == records) {
        command->add_option("--step", options.step, "Only those of this step");
        command->add_option("--out", options.out, "Write each as a file into this new folder: .txt, .csv, .png or .jpg, .json");
    }
    if (verb.action == events) {
        command->add_option("--since", options.since, "Only what has happened since then: 8h, 90min, 2d, 03:12, 2026-11-29 or \"2026-11-29 22:00\"");
        command->add_option("--kind", options.kinds, "Only events of this kind (warning, evaluation, checkpoint, guard …); may be repeated")->allow_extra_args(false);
    }
    if (verb.action == runs) command->add_option("--since", options.since, "Only what has ended since then: 8h, 90min, 2d, 03:12, 2026-11-29 or \"2026-11-29 22:00\"");
    if (verb.action == importLogs) {
        command->add_flag("--follow", options.follow, "Go on as the files grow: the run is up until stopped or its files are silent");
        command->add_option("--idle", options.idleSeconds, "Seconds without anything new after which a followed run has ended")->capture_default_str();
        command->add_option("--name", options.name, "Name of the run (before the sub-folder's, where there are several)");
        command->add_flag("--detach", options.detach, "With --follow: return once the runs are up");
    }
    if (verb.action == exportRun) {
        command->add_option_function<std::vector<std::string>>("--tensorboard", [&](const std::vector<std::string>& folder) {
            options.tensorboard = folder.empty() ? std::string() : folder.front();
        }, "Write TensorBoard event files instead, into this folder (else the run's export folder)")->expected(0, 1)->type_name("[DIR]");
        command->add_option("--weights", options.weights, "Those that were trained, or their running mean (optimizer.ema); else what the run evaluates")->check(CLI::IsMember({"trained", "ema"}));
        command->add_flag("--all-branches", options.allBranches, "With --tensorboard: abandoned branches too, in sub-folders");
    }
    if (verb.action == check)
        command->add_flag("--dry-run", options.dryRun, "Then make a few real updates, an evaluation, a save and a resume in a scratch folder, and tell what came of it");
    if (verb.action == verify)
        command->add_flag("--replay", options.replay, "Make the updates after the checkpoint (RUN: the newest) once more in a scratch copy, and say whether they come out exactly as before");
    if (verb.action == plugins) command->footer(pluginHelp());
    if (verb.action == drill) addDrillOptions(*command, options.drill);
    if (verb.action == stop) {
        CLI::Option* discard = command->add_flag("--discard", options.discard, "Stop without saving; tells what is lost before it does");
        command->add_flag("--dry-run", options.dryRun, "With --discard: only tell what would be lost")->needs(discard);
    }
    if (verb.action == overnight) command->add_flag("--enable", options.enable, "Let runs in the background go on after log-out (loginctl enable-linger)");
    if (verb.action == pause) command->add_flag("--release", options.release, "Save and let the memory go; continue goes on exactly");
    if (verb.action == trash) {
        CLI::Option* empty = command->add_flag("--empty", options.empty, "Remove all that is in it for good, or only these NAMES: RUNFOLDER, RUNFOLDER@CHECKPOINT");
        command->add_option("NAMES", options.more)->needs(empty);
    }
    command->callback([&, action = verb.action, needs = verb.needs] {
        chosen = action;
        startsSession = (needs & Detach) != 0 || options.replay;
    });
}

/// What stands behind "--" is another program's: it is not read here. The number of words before it.
int takeWords(int argc, char** argv, Options& options) {
    const auto end = std::find_if(argv, argv + argc, [](const char* word) { return std::string_view(word) == "--"; });
    if (end != argv + argc) options.words.assign(end + 1, argv + argc);
    return static_cast<int>(end - argv);
}

/// A word that is no verb in the place of one, as a sentence.
std::string unknownVerb(const CLI::App& app) {
    std::vector<std::string> verbs;
    for (const CLI::App* one : app.get_subcommands({})) verbs.push_back(one->get_name());
    const std::vector<std::string> words = app.remaining();
    const auto word = std::find_if(words.begin(), words.end(), [](const std::string& each) { return !each.starts_with('-'); });
    if (word == words.end() || !app.get_subcommands().empty()) return {};
    const std::string near = config::nearestWord(*word, verbs);
    return "There is no verb \"" + word->substr(0, 80) + "\"" + (near.empty() ? "; lathe-trainer --help lists them" : "; did you mean " + near + "?");
}

/// A setting given as an option of its own, as a sentence.
std::string settingAsOption(const CLI::App& app) {
    const std::vector<CLI::App*> verbs = app.get_subcommands();
    if (verbs.empty() || verbs.front()->get_option_no_throw("--set") == nullptr) return {};
    const std::vector<std::string> words = app.remaining(true);
    for (std::size_t i = 0; i < words.size(); ++i) {
        if (!words[i].starts_with("--")) continue;
        const std::size_t equals = words[i].find('=');
        const std::string name = words[i].substr(2, equals == std::string::npos ? equals : equals - 2);
        const std::string key = config::settingCalled(name);
        if (!key.empty()) return words[i] + " is no option here; settings are given as --set " + key + "=VALUE";
    }
    return {};
}

}  // namespace

ExitCode runCommandLine(int argc, char** argv) {
    CLI::App app("Trains neural networks and keeps record of it.", "lathe-trainer");
    app.footer(kFooter);
    app.set_version_flag("--version", std::string("lathe-trainer ") + LATHE_VERSION);
    app.require_subcommand(1);
    Options options;
    Action chosen = nullptr;
    bool startsSession = false;
    app.fallthrough();
    app.add_option("--workspace", options.workspace, "Folder that holds all runs (else $LATHE_WORKSPACE, else ~/lathe)");
    app.add_flag("--json", options.json, "Answer in JSON; nan and inf, which it lacks, as text");
    for (const Verb& verb : kVerbs) addVerb(app, verb, options, chosen, startsSession);
    const int own = takeWords(argc, argv, options);
    try {
        app.parse(own, argv);
    } catch (const CLI::ParseError& problem) {
        std::string told = problem.get_exit_code() == 0 ? std::string() : unknownVerb(app);
        if (told.empty() && problem.get_exit_code() == static_cast<int>(CLI::ExitCodes::ExtrasError)) told = settingAsOption(app);
        if (!told.empty()) {
            tell(told);
            return ExitCode::Usage;
        }
        return app.exit(problem) == 0 ? ExitCode::Completed : ExitCode::Usage;
    }
    if (own < argc && chosen != run && chosen != again) {
        tell("Only run and again take words behind --");
        return ExitCode::Usage;
    }
    if (startsSession) launch::holdStopSignals();
    return chosen(options);
}

}  // namespace lathe::trainer
