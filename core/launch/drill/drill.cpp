#include "launch/drill/drill.h"

#include "base/file_system.h"
#include "base/number_text.h"
#include "base/program_paths.h"
#include "launch/drill/drill_cast.h"
#include "launch/drill/drill_oracle.h"
#include "launch/run/checkpoint_choice.h"
#include "launch/run/session_end.h"
#include "launch/verbs/scratch.h"
#include "rundir/checkpoint_manifest.h"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <random>
#include <utility>

namespace lathe::launch {
namespace {

namespace stdfs = std::filesystem;
using Time = std::chrono::steady_clock;

constexpr double kRestSeconds = 120;      // a worker without a supervisor may take 60 s to save and leave
constexpr double kAloneSeconds = 1800;    // of the undisturbed run
constexpr std::int64_t kMoreUpdates = 30; // made at the end, in one piece

/// Everything that could spoil exactness, on the CPU and without an end of its own.
std::vector<std::string> settings(std::int64_t updates) {
    std::vector<std::string> words;
    for (const std::string& setting : {std::string("run.epochs=none"), "run.max_updates=" + std::to_string(updates), std::string("run.keep_awake=false"),
                                       std::string("run.name=drill"), std::string("parallel.device=cpu"), std::string("parallel.threads=1"),
                                       std::string("model.dropout=0.1"), std::string("data.augment_shift=1"), std::string("schedule.name=constant"),
                                       std::string("schedule.warmup_updates=0"), std::string("schedule.total_updates=1000000000"), std::string("evaluation.every=never"), std::string("checkpoint.every=50 updates")})
        words.insert(words.end(), {"--set", setting});
    return words;
}

std::vector<std::string> with(std::vector<std::string> words, const std::vector<std::string>& more) {
    words.insert(words.end(), more.begin(), more.end());
    return words;
}

double since(Time::time_point begin) { return std::chrono::duration<double>(Time::now() - begin).count(); }

class Drill {
public:
    Drill(const DrillOptions& options, const Scratch& scratch) : m_options(options), m_workspace(scratch.workspace()), m_cast(m_workspace), m_random(options.seed) {
        m_report.seed = options.seed;
        m_memoryBefore = namedMemory();
    }

    Result<DrillReport> play() {
        const auto begin = Time::now();
        while (m_report.strikes < m_options.kills && !m_watch.hasStopped() && m_report.broken.empty()) {
            if (m_options.seconds > 0 && since(begin) > m_options.seconds) break;
            LATHE_TRY(round());
        }
        m_report.wallSeconds = since(begin);
        if (!m_watch.hasStopped() && m_report.broken.empty() && m_run) LATHE_TRY(finish());
        m_report.isStopped = m_watch.hasStopped();
        if (!m_run && !m_report.isStopped)
            return Error{ErrorCode::Usage, "Each kill came before the run was there, so nothing was tested; kill less often (--every)", {}, {}};
        if (!m_cast.endAll()) m_report.left.push_back("processes that SIGKILL did not end");
        return std::move(m_report);
    }

private:
    /// Starts or resumes the run where it is not up, and kills something at a random moment.
    Result<void> round() {
        if (!isStarted()) {
            findRun();
            m_isDisturbed = false;
            LATHE_TRY(m_cast.startCommand(m_run ? std::vector<std::string>{"continue", m_run->name(), "--detach"} : with({"run", "digits-mlp", "--detach"}, settings(1'000'000'000))));
        }
        // Where kills come too often for this machine the run is let come up once, so that there is something to kill.
        if (!m_run && m_report.strikes >= m_options.kills / 2) m_watch.until(kRestSeconds, [this] { return findRun(), m_run || m_cast.commandEnd(); });
        const double delay = std::uniform_real_distribution<double>(0, 2 * m_options.every)(m_random);
        if (!m_watch.sleep(std::chrono::duration<double>(delay))) return {};
        findRun();
        if (m_run && isStarted()) m_cast.startWatchers(m_run->name());
        if (const auto end = m_cast.commandEnd(); !m_isDisturbed && end && end->code && *end->code != 0)
            return Error{ErrorCode::Internal, "The run could not be " + std::string(m_run ? "resumed" : "started") + ": " + logTail(m_cast.log(), 2), {}, {}};
        strike();
        return {};
    }

    void findRun() {
        if (m_run) return;
        const auto runs = rundir::listRuns(m_workspace);
        if (!runs.empty()) m_run = runs.front();
    }
    /// Who is dying has no name any more, and its locks still.
    bool isFree() const { return !m_run || (!rundir::RunLock::isHeld(m_run->lock()) && !rundir::RunLock::isHeld(m_run->workersLock())); }
    /// Looked at twice: a walk through /proc is not one moment, and misses who forks and leaves meanwhile.
    bool isStarted() const {
        const auto isUp = [this] {
            const auto parts = m_cast.onStage();
            return parts.contains("supervisor") || parts.contains("command");
        };
        return isUp() || isUp();
    }

    void strike() {
        auto parts = m_cast.onStage();
        std::vector<std::string> names;
        for (const auto& [name, processes] : parts)
            if (name != DrillCast::kNobody) names.push_back(name);
        if (names.empty()) return;
        std::shuffle(names.begin(), names.end(), m_random);
        names.resize(std::uniform_int_distribution<std::size_t>(1, names.size())(m_random));
        const std::size_t pointsBefore = m_run ? recordedPoints(*m_run) : 0;
        const int session = m_run ? rundir::newestSession(*m_run) : 0;
        ++m_report.strikes;
        std::string what;
        for (const std::string& name : names) {
            signalAll(parts[name], SIGKILL);
            m_report.killed[name] += static_cast<int>(parts[name].size());
            what += (what.empty() ? "" : ", ") + name;
        }
        const auto hit = [&](const char* name) { return std::find(names.begin(), names.end(), name) != names.end(); };
        // On its way up it may have been forked since /proc was walked: it would bring the run up again, as nobody's restart.
        if (hit("supervisor")) signalAll(m_cast.onStage()["supervisor"], SIGKILL);
        const auto killedAt = Time::now();
        m_isDisturbed = m_isDisturbed || hit("worker") || hit("supervisor") || hit("command");
        if (hit("worker") || hit("supervisor")) {
            if (session > 0) m_killed[session] = {m_killed[session].worker || hit("worker"), m_killed[session].supervisor || hit("supervisor")};
            comeToRest(what, session);
        } else if (parts.contains("supervisor") && parts.contains("worker")) {
            const auto now = m_cast.onStage();
            if (!now.contains("supervisor") || !now.contains("worker")) m_report.broken.push_back("The death of " + what + " ended the run");
        } else {
            comeToRest(what, -1);  // on its way up: it comes up, or was not far enough
        }
        const double rest = since(killedAt);
        findRun();
        if (!m_run || m_watch.hasStopped()) return;
        const Findings found = afterKill(*m_run, pointsBefore, m_report.verified);
        m_report.broken.insert(m_report.broken.end(), found.begin(), found.end());
        m_options.tell("Kill " + std::to_string(m_report.strikes) + ": " + what + "; at rest after " + shortText(rest, 2) + " s, " + std::to_string(recordedPoints(*m_run)) + " points");
    }

    /// Whoever lives finishes what there is to finish and leaves; only those who watch may stay. A supervisor that is in a
    /// session after this one, because it took the run up again by itself, stays as well.
    void comeToRest(const std::string& what, int session) {
        const bool rested = m_watch.until(kRestSeconds, [&] {
            const auto parts = m_cast.onStage();
            const bool isGone = !parts.contains("worker") && !isStarted() && isFree();
            return isGone || (m_run && parts.contains("supervisor") && parts.contains("worker") && rundir::newestSession(*m_run) > session);
        });
        if (!rested && !m_watch.hasStopped()) m_report.broken.push_back("After the death of " + what + " the rest did not come to an end within " + durationText(kRestSeconds));
    }

    /// One more resume that is left alone, and the same run without any kill.
    Result<void> finish() {
        m_cast.endAll();
        m_watch.until(kRestSeconds, [&] { return isFree(); });
        const std::string newest = newestOnLine(*m_run);
        const auto from = rundir::parseCheckpointName(newest);
        const std::int64_t updates = (from ? from->step.value() : 0) + kMoreUpdates;
        LATHE_TRY(alone({"continue", m_run->name(), "--json", "--set", "run.max_updates=" + std::to_string(updates)}));
        if (m_watch.hasStopped()) return {};
        look(updates);
        m_options.tell("The same " + std::to_string(updates) + " updates without a kill");
        LATHE_TRY(alone(with({"run", "digits-mlp", "--json"}, settings(updates))));
        if (m_watch.hasStopped()) return {};
        for (const rundir::RunFolder& run : rundir::listRuns(m_workspace))
            if (run.name() != m_run->name()) compare(run, updates);
        return {};
    }

    Result<void> alone(std::vector<std::string> words) {
        LATHE_TRY(m_cast.startCommand(std::move(words)));
        const bool ended = m_watch.until(kAloneSeconds, [&] { return m_cast.commandEnd().has_value(); });
        if (m_watch.hasStopped()) return {};
        if (ended && m_cast.commandEnd()->code == 0) return {};
        return Error{ErrorCode::Internal, "A run that was left alone did not complete: " + logTail(m_cast.log(), 2), {}, {}};
    }

    void look(std::int64_t updates) {
        m_cast.endWatchers();
        m_watch.until(5, [&] { return m_cast.onStage().empty(); });
        m_report.sessions = rundir::newestSession(*m_run);
        m_report.updates = updates;
        m_report.points = recordedPoints(*m_run);
        const Findings wrong = endsToldWrong(*m_run, m_killed), bad = afterKill(*m_run, 0, m_report.verified);
        m_report.broken.insert(m_report.broken.end(), wrong.begin(), wrong.end());
        m_report.broken.insert(m_report.broken.end(), bad.begin(), bad.end());
        m_report.left = leftFiles(m_workspace);
        for (const auto& [part, processes] : m_cast.onStage())
            for (const TreeProcess& process : processes) m_report.left.push_back("process " + std::to_string(process.pid) + " (" + process.name + ")");
        for (const std::string& name : namedMemory())
            if (std::find(m_memoryBefore.begin(), m_memoryBefore.end(), name) == m_memoryBefore.end()) m_report.left.push_back("/dev/shm/" + name);
    }

    void compare(const rundir::RunFolder& straight, std::int64_t updates) {
        const Findings found = differences(*m_run, straight, updates);
        m_report.broken.insert(m_report.broken.end(), found.begin(), found.end());
        const auto summary = rundir::readSummary(straight);
        if (!summary || m_report.wallSeconds <= 0) return;
        const double each = summary->activeSeconds / static_cast<double>(updates);
        m_report.usefulRatio = each * static_cast<double>(updates - kMoreUpdates) / m_report.wallSeconds;
    }

    const DrillOptions& m_options;
    stdfs::path m_workspace;
    DrillCast m_cast;
    StopWatch m_watch;
    std::mt19937_64 m_random;
    std::optional<rundir::RunFolder> m_run;
    std::map<int, Expected> m_killed;
    bool m_isDisturbed = false;            ///< something was killed since the command was started
    std::vector<std::string> m_memoryBefore;
    DrillReport m_report;
};

Result<void> checkPlace(const stdfs::path& folder) {
    constexpr std::uint64_t kRoom = 200'000'000;
    std::error_code ignored;
    if (!stdfs::exists(siblingProgram("lathe-worker"), ignored))
        return Error{ErrorCode::NotFound, "There is no " + siblingProgram("lathe-worker").string() + ", so nothing can be trained in a drill; build Lathe with LibTorch", {}, {}};
    LATHE_TRY_ASSIGN(const std::uint64_t room, FileSystem::real().freeBytes(folder));
    if (room >= kRoom) return {};
    return Error{ErrorCode::NoSpace, "Only " + diskText(room) + " are free in " + folder.string() + "; a drill needs " + diskText(kRoom) + ". Free some, or name another --folder", {}, {}};
}

}  // namespace

/// What a drill that was killed left running trains on for ever: it has no end of its own, and nobody else ends it.
static void endOrphans(const DrillOptions& options) {
    const stdfs::path all = options.folder / "scratch";
    const auto names = listFolder(all);
    for (std::size_t i = 0; names && i < names->size(); ++i) {
        const auto held = rundir::RunLock::look(all / (*names)[i] / "lock");
        if (!held || *held) continue;   // of one that is at work
        DrillCast cast(all / (*names)[i]);
        if (!cast.onStage().empty()) options.tell("Ends what an earlier drill left, which was killed: " + (all / (*names)[i]).string());
    }
}

Result<DrillReport> drill(const DrillOptions& options) {
    LATHE_TRY(checkPlace(options.folder));
    endOrphans(options);
    LATHE_TRY_ASSIGN(const Scratch scratch, Scratch::make(options.folder));
    std::error_code ignored;
    if (!stdfs::equivalent(scratch.workspace().parent_path().parent_path(), options.folder, ignored))
        return Error{ErrorCode::Permission, "Nothing can be written and locked in " + options.folder.string() + ", so its disk cannot be drilled; name another --folder", {}, {}};
    return Drill(options, scratch).play();
}

}  // namespace lathe::launch
