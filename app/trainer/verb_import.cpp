// TensorBoard logs as runs: read once, or followed while they grow.
#include "actions.h"

#include "base/clock.h"
#include "base/file_system.h"
#include "base/number_text.h"
#include "launch/import/import.h"
#include "launch/process/apart.h"
#include "launch/session/supervisor.h"
#include "output.h"

#include <nlohmann/json.hpp>

#include <cstdio>
#include <optional>
#include <set>
#include <unistd.h>
#include <utility>

namespace lathe::trainer {

using nlohmann::json;

static json folderJson(const launch::ImportedFolder& folder) {
    const auto manifest = rundir::readManifest(folder.run);
    return {{"run", manifest ? manifest->id : std::string()}, {"name", displayName(folder.run)}, {"folder", folder.run.place().string()},
            {"source", folder.source.string()}, {"new", folder.isNew}, {"state", rundir::name(folder.state)}, {"points", folder.count.points},
            {"texts", folder.count.texts}, {"histograms", folder.count.histograms}, {"images", folder.count.images}, {"series", folder.count.series}, {"sessions", folder.count.sessions}, {"left_out", folder.count.leftOut},
            {"problems", folder.count.problems}};
}

static void tellFolder(const launch::ImportedFolder& folder) {
    const auto manifest = rundir::readManifest(folder.run);
    std::string line = (manifest ? manifest->id : std::string("?")) + "  " + displayName(folder.run) + ": ";
    if (folder.state == rundir::State::Failed) return print(line + "failed; imported again, it goes on from what was kept");
    if (folder.count.points == 0 && !folder.isNew) line += "nothing new";
    else line += std::to_string(folder.count.points) + (folder.isNew ? "" : " new") + (folder.count.points == 1 ? " point" : " points");
    line += ", " + std::to_string(folder.count.series) + " series";
    for (const auto& [what, n] : {std::pair("text", folder.count.texts), std::pair("histogram", folder.count.histograms), std::pair("image", folder.count.images)})
        if (n > 0) line += ", " + std::to_string(n) + " " + what + (n == 1 ? "" : "s");
    if (folder.count.sessions > 1) line += ", " + std::to_string(folder.count.sessions) + " sessions";
    print(line);
    for (const auto& [what, n] : folder.count.leftOut) tell("  not kept: " + what + " (" + std::to_string(n) + ")");
    for (const std::string& sentence : folder.count.problems) tell("  " + sentence);
}

static ExitCode answer(const Options& options, const launch::ImportReport& report) {
    json runs = json::array();
    for (const auto& folder : report.runs) {
        if (options.json) runs.push_back(folderJson(folder));
        else tellFolder(folder);
    }
    if (options.json) printJson({{"runs", runs}, {"problems", report.problems}, {"stopped", report.stopped}, {"failed", report.failed}});
    else for (const std::string& sentence : report.problems) tell(sentence);
    if (report.failed) return ExitCode::Failed;
    if (report.stopped) return ExitCode::Stopped;
    return report.runs.empty() && !report.problems.empty() ? ExitCode::Failed : ExitCode::Completed;
}

/// What is being followed, for whoever started it in the background.
static ExitCode answerFollowing(const Options& options, const std::filesystem::path& root) {
    std::error_code ignored;
    const std::string top = std::filesystem::canonical(root, ignored).string();
    json runs = json::array();
    for (const auto& run : rundir::listRuns(workspaceOf(options))) {
        const auto manifest = rundir::readManifest(run);
        if (!manifest || manifest->kind != rundir::RunKind::Imported) continue;
        if (manifest->source != top && !manifest->source.starts_with(top + "/")) continue;
        const bool isUp = rundir::RunLock::isHeld(run.lock());
        runs.push_back({{"run", manifest->id}, {"name", displayName(run)}, {"folder", run.place().string()}, {"source", manifest->source}, {"following", isUp}});
        if (!options.json) print(manifest->id + " " + run.place().string() + (isUp ? "" : " (imported; its files are silent)"));
    }
    if (options.json) printJson({{"runs", runs}});
    else if (runs.empty()) print("Waiting for event files in " + top);
    return ExitCode::Completed;
}

/// Of what is followed here: each run once by its name, then a line that goes on with it (on a terminal), or one now and then.
class FollowLine {
public:
    FollowLine() : m_terminal(::isatty(STDERR_FILENO) == 1) {}
    ~FollowLine() { end(); }
    FollowLine(const FollowLine&) = delete;
    FollowLine& operator=(const FollowLine&) = delete;

    void show(const std::vector<launch::ImportedFolder>& followed) {
        std::int64_t points = 0;
        for (const auto& folder : followed) {
            points += folder.count.points;
            if (!m_known.insert(folder.source).second) continue;
            end();
            tell("Following " + displayName(folder.run) + " (" + folder.source.string() + ")");
        }
        const std::string text = std::to_string(followed.size()) + (followed.size() == 1 ? " run is" : " runs are") + " followed · " + std::to_string(points) + " points read";
        const std::int64_t now = Clock::system().monotonicNs();
        if (!m_terminal && m_shownNs != 0 && now - m_shownNs < kPlainEveryNs) return;
        m_shownNs = now;
        if (!m_terminal) return tell(text);
        std::fprintf(stderr, "\r\033[J%s", text.c_str());
        std::fflush(stderr);
        m_open = true;
    }

private:
    void end() {
        if (std::exchange(m_open, false)) std::fputc('\n', stderr);
    }
    static constexpr std::int64_t kPlainEveryNs = 5'000'000'000;
    const bool m_terminal;
    bool m_open = false;
    std::int64_t m_shownNs = 0;
    std::set<std::filesystem::path> m_known;
};

ExitCode importLogs(const Options& options) {
    launch::ImportOptions what;
    what.workspace = std::filesystem::absolute(workspaceOf(options));
    what.folder = std::filesystem::absolute(options.target);
    what.name = options.name;
    what.follow = options.follow;
    what.idleSeconds = options.idleSeconds;
    if (!(what.idleSeconds > 0)) return fail(options, Error{ErrorCode::Usage, "--idle must be above 0 seconds", {}, {}});
    if (options.detach && !options.follow) return fail(options, Error{ErrorCode::Usage, "--detach goes with --follow", {}, {}});
    if (options.detach) {
        auto started = launch::runApart([&](int ready) {
            what.readyFd = ready;
            return launch::importFolder(what).ok() ? ExitCode::Completed : ExitCode::Failed;
        });
        if (!started) return fail(options, started.error());
        if (!started->isUp) {  // it has ended already: once more here, to say why
            what.follow = false;
            const auto report = launch::importFolder(what);
            return report ? answer(options, *report) : fail(options, report.error());
        }
        return answerFollowing(options, what.folder);
    }
    std::optional<FollowLine> line;
    if (options.follow && !options.json) {
        tell("Looking for event files in " + what.folder.string() + " and below; Ctrl-C ends it");
        line.emplace();
        what.following = [&](const std::vector<launch::ImportedFolder>& followed) { line->show(followed); };
    }
    const auto report = launch::importFolder(what);
    line.reset();
    return report ? answer(options, *report) : fail(options, report.error());
}

}  // namespace lathe::trainer
