// drill: kills the processes of a run of its own and tells what was promised and what was seen.
#include "actions.h"

#include "base/file_system.h"
#include "base/number_text.h"
#include "launch/drill/drill.h"
#include "launch/session/supervisor.h"
#include "output.h"

#include <nlohmann/json.hpp>

#include <random>

namespace lathe::trainer {

using nlohmann::json;

static json reportJson(const launch::DrillReport& report) {
    return {{"ok", report.ok()}, {"stopped", report.isStopped}, {"seed", report.seed}, {"kills", report.strikes}, {"killed", report.killed}, {"sessions", report.sessions},
            {"updates", report.updates}, {"points", report.points}, {"checkpoints_verified", report.verified}, {"wall_seconds", report.wallSeconds},
            {"useful_ratio", report.usefulRatio}, {"broken", report.broken}, {"left", report.left}};
}

static void tellReport(const launch::DrillReport& report) {
    std::string killed;
    for (const auto& [name, count] : report.killed) killed += (killed.empty() ? "" : ", ") + name + " " + std::to_string(count) + " times";
    print("Killed at " + std::to_string(report.strikes) + " random moments: " + (killed.empty() ? "nothing" : killed));
    if (report.isStopped) return print("Stopped on request; what the run would have come to was not looked at");
    if (!report.broken.empty()) {
        print("NOT as promised:");
        for (const std::string& sentence : report.broken) print("  " + sentence);
    } else {
        print("Recorded points: " + std::to_string(report.points) + " over " + std::to_string(report.sessions) + " sessions, none lost; the record's checksums hold");
        print("Checkpoints: read " + std::to_string(report.verified) + " times byte by byte, none damaged");
        print("Resume: " + std::to_string(report.updates) + " updates equal an undisturbed run bit for bit, weights and optimizer too");
        print("Useful time: " + shortText(100 * report.usefulRatio, 3) + " % of " + durationText(report.wallSeconds)
              + (report.wallSeconds < 60 ? "; in so short a drill most of it goes into starting" : ""));
    }
    if (report.left.empty()) print("Left over: no process, shared memory, lock or temporary file");
    else print("LEFT OVER:");
    for (const std::string& name : report.left) print("  " + name);
}

ExitCode drill(const Options& options) {
    launch::DrillOptions what;
    what.folder = options.drill.folder.empty() ? workspaceOf(options) : std::filesystem::absolute(options.drill.folder).lexically_normal();
    if (std::error_code unknown; !std::filesystem::is_directory(what.folder, unknown) && !options.drill.folder.empty())
        return fail(options, Error{ErrorCode::NotFound, "There is no folder " + what.folder.string() + " whose disk could be drilled", {}, {}});
    if (const auto made = makeFolders(FileSystem::real(), what.folder); !made) return fail(options, made.error());
    what.kills = options.drill.kills;
    what.seconds = options.drill.seconds;
    what.every = options.drill.every;
    what.seed = options.drill.seed.value_or(std::random_device{}());
    if (!options.json) what.tell = [](const std::string& line) { tell(line); };
    tell("A small run in " + (what.folder / "scratch").string() + " is killed and resumed; your runs are not touched. Seed " + std::to_string(what.seed));
    launch::holdStopSignals();
    const auto report = launch::drill(what);
    if (!report) return fail(options, report.error());
    if (options.json) printJson(reportJson(*report));
    else tellReport(*report);
    return report->isStopped ? ExitCode::Stopped : report->ok() ? ExitCode::Completed : ExitCode::Failed;
}

}  // namespace lathe::trainer
