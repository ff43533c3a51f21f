// The run folder: the only code that knows its file names. Contents in FORMAT.md.
// Everything in a run folder is written by the holder of its lock (the live supervisor, or a short lathe-trainer verb),
// except user.json (merged under user.lock by whoever edits), the export (under export.lock, also of a live run),
// checkpoints (ranks) and spill files (ranks).
// Thread: values and functions without shared state.
#pragma once

#include "base/counters.h"
#include "base/exit_code.h"
#include "base/result.h"
#include "rundir/memory_record.h"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace lathe {
class FileSystem;
}

namespace lathe::rundir {

/// Format version of everything in a run folder. A larger one is refused by name; smaller ones are read.
constexpr int kRunFormat = 1;

/// File names inside a run folder.
class RunFolder {
public:
    explicit RunFolder(std::filesystem::path root) : m_root(std::move(root)) {}
    /// The same folder held open (by this object and its copies): its files are found there also when it is moved or
    /// renamed meanwhile. As it is where it cannot be opened.
    RunFolder held() const;

    /// Where its files are reached; for a held one through its descriptor, which says nothing to other processes.
    const std::filesystem::path& root() const { return m_root; }
    /// Where it lies now, for people and for other processes.
    std::filesystem::path place() const;
    std::string name() const { return place().filename().string(); }
    std::filesystem::path runJson() const { return m_root / "run.json"; }
    std::filesystem::path configYaml() const { return m_root / "config.yaml"; }
    std::filesystem::path settingsJson() const { return m_root / "settings.json"; }
    std::filesystem::path sessions() const { return m_root / "sessions"; }
    std::filesystem::path sessionYaml(int n) const { return sessions() / (std::to_string(n) + ".yaml"); }
    std::filesystem::path sessionJson(int n) const { return sessions() / (std::to_string(n) + ".json"); }
    std::filesystem::path userJson() const { return m_root / "user.json"; }
    std::filesystem::path userLock() const { return m_root / "user.lock"; }
    std::filesystem::path summaryJson() const { return m_root / "summary.json"; }
    std::filesystem::path liveJson() const { return m_root / "live.json"; }
    std::filesystem::path lock() const { return m_root / "lock"; }
    std::filesystem::path workersLock() const { return m_root / "workers.lock"; }
    std::filesystem::path socket() const { return m_root / "control.sock"; }
    std::filesystem::path producerSocket() const { return m_root / "producer.sock"; }
    /// Where the ranks of a session find each other; there only while they run.
    std::filesystem::path rendezvous(int session) const { return m_root / ("ranks-" + std::to_string(session)); }
    std::filesystem::path reserve() const { return m_root / "reserve"; }                ///< room for the last points
    std::filesystem::path recordReserve() const { return m_root / "reserve.record"; }   ///< room for the exit record
    std::filesystem::path database() const { return m_root / "run.sqlite"; }
    std::filesystem::path checkpoints() const { return m_root / "checkpoints"; }
    std::filesystem::path blobs() const { return m_root / "blobs"; }
    std::filesystem::path spill() const { return m_root / "spill"; }
    std::filesystem::path logs() const { return m_root / "logs"; }
    std::filesystem::path supervisorLog() const { return logs() / "supervisor.log"; }
    std::filesystem::path rankLog(int rank) const { return logs() / ("rank-" + std::to_string(rank) + ".log"); }
    std::filesystem::path exportFolder() const { return m_root / "export"; }
    std::filesystem::path exportLock() const { return m_root / "export.lock"; }   ///< held by whoever writes the export
    std::filesystem::path unfinishedExport() const { return m_root / ".export-unfinished"; }
    std::filesystem::path exportedEvents() const { return exportFolder() / kEventFolder; }
    std::filesystem::path liveEvents() const { return m_root / kEventFolder; }    ///< TensorBoard files, written as it goes

private:
    static constexpr const char* kEventFolder = "tensorboard";

    std::filesystem::path m_root;
    std::shared_ptr<const int> m_folder;   ///< descriptor of a held one
};

/// How a session stands or ended. Words on screen and in JSON are name(state).
enum class State {
    Queued, Starting, Running, Paused, Stopping,
    Completed, Stopped, Cancelled, Failed, Killed, OutOfMemory, Diverged, Interrupted, Lost
};
std::string_view name(State state);  ///< "out of memory" for OutOfMemory
std::optional<State> stateFrom(std::string_view word);
bool isAlive(State state);
/// An ending that nobody wished for.
bool isTrouble(State state);
/// The exit code that stands for a state (Completed for one that is not an ending).
ExitCode exitCodeOf(State state);

/// Who a process is; a pid alone proves nothing.
struct ProcessIdentity {
    std::string host;
    std::string bootId;
    std::int64_t pid = 0;
    std::uint64_t startTime = 0;  ///< field 22 of /proc/<pid>/stat
    std::string token;            ///< random, one a session
};

struct Parent {
    std::string run;         ///< id
    std::string checkpoint;  ///< folder name in that run, or empty (again)
    std::string verb;        ///< again | fork | start-from-weights
};

/// Where a run comes from. Started ones have a configuration (config.yaml); the others have settings.json, and no
/// checkpoints of ours.
enum class RunKind {
    Started,    ///< by this program, from a configuration
    Imported    ///< recorded from files that another program wrote
};
inline constexpr std::string_view kImportedTask = "imported";  ///< Summary::task of such a run
std::string_view name(RunKind kind);
std::optional<RunKind> runKindFrom(std::string_view word);

/// run.json: written once when the run is made.
struct RunManifest {
    int format = kRunFormat;
    RunKind kind = RunKind::Started;
    std::string source;      ///< Imported: the folder it was read from, as an absolute path; says where it came from and nothing more
    std::string id;          ///< 12 lower-case letters and digits
    std::string name;
    std::string preset;      ///< or empty
    std::int64_t createdNs = 0;
    std::string host;
    std::optional<Parent> parent;
    std::string program;     ///< version and build of the program that made it
};

/// What an update after a checkpoint must give for a session that goes on
/// from there: see engine/train/probe.h.
struct ExpectedUpdate {
    std::int64_t attempt = 0;
    std::string samples, loss, gradNorm;
    bool operator==(const ExpectedUpdate&) const = default;
};
/// Hash of the sample ids of a window, in order, as records have it: "w0123456789abcdef".
std::string windowText(std::uint64_t hash);

/// Where a session hung that was ended for it.
struct HangRecord {
    int rank = 0;
    std::int64_t attempt = 0;          ///< update attempts that were made before
    std::string place;                 ///< "forward and backward"
    std::string stack;                 ///< digest of the rank's stack: equal for equal places in the code; empty: not known

    bool operator==(const HangRecord&) const = default;
};

struct SessionRecord {   ///< sessions/<n>.json: the plan of a session when it begins, its exit record once it ended (`state` set)
    int format = kRunFormat;
    int number = 1;
    std::string verb;                  ///< start | continue | restart (after a crash) | roll-back | fork | start-from-weights | start-over (nothing to go on from; restart in older files)
    int parentSession = 0;             ///< 0: none
    std::int64_t parentAttempt = 0;
    std::string checkpoint;            ///< folder name below checkpoints/ to load; empty: fresh
    bool weightsOnly = false;          ///< start-from-weights
    bool newCurve = false;             ///< the learning-rate curve is made anew for this session's length
    std::vector<ExpectedUpdate> expected;  ///< of the first updates, as far as they were kept; what the report of a resume compares with
    bool replay = false;               ///< only these updates are made, to be compared; nothing is saved
    std::int64_t trialUpdates = 0;     ///< > 0: a trial of the run, which evaluates, saves and ends when it has made so many updates
    int rollBacks = 0;                 ///< how often the run has gone back by itself until here; verbs of people begin anew, but for continue
    std::int64_t startedNs = 0;
    // Exit record:
    std::optional<State> state;        ///< set once ended
    std::int64_t endedNs = 0;
    std::string why;                   ///< a sentence
    std::optional<int> exitCode, signal;
    std::optional<int> commandExitCode;///< that of a person's own command; exitCode is Lathe's for the state
    std::optional<Counters> counters;  ///< at the last attempt that was recorded
    std::string lastCheckpoint;        ///< newest complete one then
    bool undone = false;               ///< a roll-back that failed before its first update: the run stayed where it was
    std::optional<MemoryRecord> memory;///< of a session that memory ran out in
    std::optional<HangRecord> hang;    ///< of one that was ended because a rank did not get on
    std::map<std::string, std::string> environment;  ///< what must be equal for bit-equal numbers (LibTorch, CPU, threads …)
};

struct LiveRecord {
    ProcessIdentity supervisor;
    std::vector<ProcessIdentity> workers;
    int session = 0;
    std::int64_t startedNs = 0;
};

struct UserRecord {
    std::optional<std::string> name, note;
    std::vector<std::string> tags;
    bool star = false, archived = false;
    std::vector<std::string> pinned;   ///< checkpoint folder names
    std::vector<std::string> forked;   ///< those that other runs were made from
};

struct BestValue {
    std::string metric;
    double value = 0;
    std::int64_t step = 0;
    bool higherIsBetter = false;
};

/// Summary::task of a run that is a person's own command; its model is the script's name.
constexpr const char* kCommandTask = "command";

/// summary.json: small and replaced whole; feeds the history index and every list of runs.
struct Summary {
    int format = kRunFormat;
    std::string id, name, preset, task, model;
    State state = State::Starting;
    std::string why;
    std::int64_t createdNs = 0, startedNs = 0, updatedNs = 0, endedNs = 0;
    double activeSeconds = 0;          ///< over all sessions
    double activeBefore = 0;           ///< the part of it that sessions before the newest one had
    int sessions = 0;
    Counters counters;
    std::optional<std::int64_t> plannedUpdates;
    std::map<std::string, double> last;           ///< newest value of each series
    std::optional<BestValue> best;
    std::vector<std::pair<std::int64_t, double>> sparkline;  ///< up to 64 (step, train/loss)
    std::string parentRun;
};

Result<RunManifest> readManifest(const RunFolder& run);
Result<void> writeManifest(FileSystem& fs, const RunFolder& run, const RunManifest& manifest);
/// Settings of a run that has no configuration of ours: name and text, to be shown and compared. Empty where there is no file.
Result<std::map<std::string, std::string>> readSettings(const RunFolder& run);
Result<void> writeSettings(FileSystem& fs, const RunFolder& run, const std::map<std::string, std::string>& settings);
Result<SessionRecord> readSession(const RunFolder& run, int number);
Result<void> writeSession(FileSystem& fs, const RunFolder& run, const SessionRecord& record);
/// Number of the newest session, 0 when there is none. For whoever decides or writes by it.
Result<int> readNewestSession(const RunFolder& run);
/// The same for those who only show it: 0 also where the sessions cannot be listed.
int newestSession(const RunFolder& run);
Result<std::optional<LiveRecord>> readLive(const RunFolder& run);  ///< nothing when the file is not there
Result<void> writeLive(FileSystem& fs, const RunFolder& run, const LiveRecord& live);
Result<void> removeLive(FileSystem& fs, const RunFolder& run);
Result<UserRecord> readUser(const RunFolder& run);                 ///< defaults when the file is not there
/// Reads, changes and replaces user.json under user.lock.
Result<void> editUser(FileSystem& fs, const RunFolder& run, const std::function<void(UserRecord&)>& change);
Result<Summary> readSummary(const RunFolder& run);
/// The same, or what run.json alone tells where summary.json is missing or damaged: it is only a digest.
Result<Summary> readSummaryOrMake(const RunFolder& run);
Result<Summary> parseSummary(const std::string& json);            ///< text of a summary.json, as the history index keeps it
Result<void> writeSummary(FileSystem& fs, const RunFolder& run, const Summary& summary);

/// Makes <workspace>/runs/<yyyymmdd-hhmmss>-<name>-<id>/ (time in UTC) with its subfolders, run.json and config.yaml (none
/// where `configYaml` is empty: imported runs).
/// `fill` may put more into the unfinished folder, for example take its lock. Either the whole folder appears or nothing.
Result<RunFolder> createRun(FileSystem& fs, const std::filesystem::path& workspace, const RunManifest& manifest,
                            const std::string& configYaml, const std::function<Result<void>(const RunFolder&)>& fill = {});
/// Takes back a run that was just made: nothing of it stays. Requires: the caller holds its lock.
Result<void> unmakeRun(FileSystem& fs, const RunFolder& run, const std::string& id);
std::string newRunId();
/// A name as part of a folder name: lower case, only a-z 0-9 . -, at most 40 characters, never empty.
std::string folderWord(std::string_view name);

/// All run folders of a workspace, newest first; folders without run.json are left out.
std::vector<RunFolder> listRuns(const std::filesystem::path& workspace);
/// Names of what lies in the workspace's folder of runs, in no order; nothing is looked into.
Result<std::vector<std::string>> readRunFolderNames(const std::filesystem::path& workspace);
/// The same for those who only show them: none also where the folder cannot be listed.
std::vector<std::string> runFolderNames(const std::filesystem::path& workspace);
RunFolder runNamed(const std::filesystem::path& workspace, const std::string& folderName);
/// The workspace that a run lies in; nothing where it was moved out of one (or into its trash).
std::optional<std::filesystem::path> workspaceOf(const RunFolder& run);
/// Held by an import while it looks for the run of a folder or makes one.
std::filesystem::path importLock(const std::filesystem::path& workspace);
/// RUN on a command line: an id, an unambiguous beginning of one, a name, a folder, or "latest".
Result<RunFolder> findRun(const std::filesystem::path& workspace, const std::string& reference);

/// The one function that opens paths which come from files: relative, below `root`, no link followed, regular files only.
/// The caller closes the descriptor.
Result<int> openBelow(const std::filesystem::path& root, const std::string& relative);

/// Proofs of life (OFD write locks, close-on-exec).
class RunLock {
public:
    /// Busy when somebody holds it. Shared for workers.lock, exclusive for lock.
    static Result<RunLock> acquire(const std::filesystem::path& file, bool shared = false);
    /// The same, trying again for up to `milliseconds`.
    static Result<RunLock> acquireWithin(const std::filesystem::path& file, int milliseconds, bool shared = false);
    /// Whether somebody holds it, by F_OFD_GETLK: takes nothing. A file that is not there is held by nobody.
    static Result<bool> look(const std::filesystem::path& file);
    static bool isHeld(const std::filesystem::path& file);  ///< the same; false where it cannot be told
    RunLock(RunLock&& other) noexcept;
    RunLock& operator=(RunLock&& other) noexcept;
    ~RunLock();
    int fd() const { return m_fd; }

private:
    explicit RunLock(int fd) : m_fd(fd) {}
    int m_fd = -1;
};

}  // namespace lathe::rundir
