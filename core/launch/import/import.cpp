#include "launch/import/import.h"

#include "base/clock.h"
#include "base/descriptor.h"
#include "base/file_system.h"
#include "base/log.h"
#include "base/number_text.h"
#include "config/series_names.h"
#include "launch/process/signal_feed.h"
#include "tensorboard/event_folder.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <map>
#include <optional>
#include <poll.h>
#include <set>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace lathe::launch {
namespace {

namespace stdfs = std::filesystem;
using rundir::State;

constexpr std::int64_t kSecond = 1'000'000'000;
constexpr std::uint64_t kBudget = 16u << 20;      // between two looks at sockets and signals
constexpr int kTurnMilliseconds = 250;            // where the system does not tell of changes (network file systems)
constexpr std::int64_t kFlushEvery = kSecond / 2, kScanEvery = 2 * kSecond;
std::int64_t now() { return Clock::system().monotonicNs(); }

/// What tells that files of a folder have changed: their names, sizes and times.
struct Stamp {
    std::uint64_t bytes = 0;
    std::size_t files = 0;
    std::int64_t newestNs = 0;     ///< wall time of the last change
    bool operator==(const Stamp&) const = default;
};

Stamp stampOf(const stdfs::path& folder) {
    Stamp stamp;
    const auto names = tensorboard::eventFilesIn(folder);
    for (std::size_t i = 0; names && i < names->size(); ++i) {
        struct stat info {};
        if (::stat((folder / (*names)[i]).c_str(), &info) != 0) continue;
        ++stamp.files;
        stamp.bytes += static_cast<std::uint64_t>(info.st_size);
        stamp.newestNs = std::max(stamp.newestNs, std::int64_t{info.st_mtim.tv_sec} * kSecond + info.st_mtim.tv_nsec);
    }
    return stamp;
}

/// Why the reading of a folder ends.
enum class Reason {
    Through,     ///< all that was there is read
    Stopped,     ///< before that
    Asked,       ///< followed until it was not wanted any more
    Silent,      ///< followed until nothing new came for long
    Unreadable   ///< the folder cannot be read any more
};

struct Ending {
    State state;
    std::string why;
};

/// `detail`: the error of what is unreadable.
Ending endingOf(Reason reason, const ImportedRun& run, double idleSeconds, const std::string& detail) {
    const std::string missing = run.missing();
    const std::string besides = missing.empty() ? "" : ". " + missing;
    switch (reason) {
        case Reason::Through: return {State::Completed, "Imported from " + run.folder().string() + besides};
        case Reason::Stopped: return {State::Stopped, "The import was stopped before it was through; import again to go on" + besides};
        case Reason::Asked: return {State::Stopped, "Following was ended on request" + besides};
        case Reason::Silent:
            if (!run.cutOff().empty()) return {State::Interrupted, "Nothing more can be read of its files: " + run.cutOff()};
            return {State::Completed, "Its files brought nothing new for " + durationText(idleSeconds) + besides};
        case Reason::Unreadable: break;
    }
    return {State::Interrupted, "Its files cannot be read any more: " + detail};
}

/// Why none of the event files of a folder can be read; empty where one can. Such a folder makes no run.
std::string unreadable(const stdfs::path& folder) {
    const auto names = tensorboard::eventFilesIn(folder);
    if (!names) return names.error().text();
    std::string why;
    for (const std::string& name : *names) {
        if (::faccessat(AT_FDCWD, (folder / name).c_str(), R_OK, AT_EACCESS) == 0) return {};
        if (why.empty()) why = fileError("read", (folder / name).native(), errno).text();
    }
    return why;
}

class Import {
public:
    Import(const ImportOptions& options, SignalFeed signals)
        : m_options(options), m_signals(std::move(signals)), m_changes(options.follow ? ::inotify_init1(IN_CLOEXEC | IN_NONBLOCK) : -1),
          m_sources(options.workspace) {}

    Result<ImportReport> once();
    Result<ImportReport> follow();

private:
    struct Followed {
        std::unique_ptr<ImportedRun> run;
        std::uint64_t bytes = 0;
        std::int64_t newsNs = 0, flushedNs = 0;
        std::string problem;  ///< why its files cannot be read any more
    };

    std::string nameOf(const std::string& relative, bool several) const;
    Result<tensorboard::FoundFolders> find();
    std::unique_ptr<ImportedRun> open(const std::string& relative, bool several);
    Result<bool> readAll(ImportedRun& run);
    void finish(std::unique_ptr<ImportedRun> run, Reason reason, const std::string& detail = {});
    /// Reads a folder to its present end; nothing where that was its end here.
    std::unique_ptr<ImportedRun> readThrough(const std::string& relative, bool several);
    void problem(const std::string& sentence);
    bool stopSignalled();
    bool scan();
    void takeIn(const std::string& relative, bool several);
    std::optional<Reason> turn(Followed& followed);
    void tellFollowed();
    bool wait();
    bool isOld(const Stamp& stamp) const;

    const ImportOptions& m_options;
    stdfs::path m_root;
    SignalFeed m_signals;
    Descriptor m_changes;
    ImportReport m_report;
    std::map<std::string, Followed> m_followed;
    std::map<std::string, Stamp> m_settled;       ///< folders that were read to their end and are not followed
    std::set<std::string> m_unwanted;             ///< folders whose following was ended on request
    std::set<std::string> m_told;
    ImportSources m_sources;
    std::uint64_t m_bytesBefore = 0;
    std::int64_t m_scannedNs = 0, m_newsNs = 0, m_toldNs = -1;   ///< m_toldNs: of the news that were told last
    std::size_t m_toldRuns = 0;
};

std::string Import::nameOf(const std::string& relative, bool several) const {
    const std::string top = !m_options.name.empty() ? m_options.name : m_root.has_filename() ? m_root.filename().string() : "imported";
    return config::cleanSeriesName(relative == "." || (!several && !m_options.name.empty()) ? top : top + "/" + relative);
}

Result<tensorboard::FoundFolders> Import::find() {
    std::error_code missing;
    if (stdfs::exists(m_options.folder, missing) && !stdfs::is_directory(m_options.folder, missing))
        return Error{ErrorCode::Usage, m_options.folder.string() + " is not a folder; name the folder that the event files lie in", {}, {}};
    m_root = stdfs::canonical(m_options.folder, missing);
    if (missing) return fileError("open", m_options.folder.native(), missing.value());
    LATHE_TRY_ASSIGN(auto found, tensorboard::findEventFolders(m_root));
    for (const std::string& sentence : found.problems) problem(sentence);
    return found;
}

void Import::problem(const std::string& sentence) {
    if (m_report.problems.size() < 1000 && m_told.insert(sentence).second) m_report.problems.push_back(sentence);
}

std::unique_ptr<ImportedRun> Import::open(const std::string& relative, bool several) {
    // By its real path: a folder that is reached through a link once is known again without it.
    std::error_code missing;
    const stdfs::path folder = stdfs::canonical(m_root / relative, missing);
    if (const std::string why = unreadable(m_root / relative); !why.empty()) {
        problem(why);
        return nullptr;
    }
    const std::string name = nameOf(relative, several);
    auto run = ImportedRun::open(m_sources, missing ? m_root / relative : folder, name);
    if (!run) {
        problem(run.error().text());
        return nullptr;
    }
    const auto manifest = rundir::readManifest((*run)->run());
    if (!m_options.name.empty() && manifest && manifest->name != name)
        problem("--name changes nothing: the run of " + folder.string() + " is there already, as " + manifest->name + " (" + manifest->id + "); rename it in the window");
    return std::move(*run);
}

bool Import::stopSignalled() {
    while (m_signals.take()) m_report.stopped = true;
    return m_report.stopped;
}

/// To the present end of its files; false where it was stopped before.
Result<bool> Import::readAll(ImportedRun& run) {
    while (!stopSignalled()) {
        LATHE_TRY_ASSIGN(const bool more, run.read(kBudget));
        if (m_options.progress) m_options.progress(m_bytesBefore + run.bytesRead());
        if (!more) return true;
    }
    return false;
}

void Import::finish(std::unique_ptr<ImportedRun> run, Reason reason, const std::string& detail) {
    m_bytesBefore += run->bytesRead();
    Ending ending = endingOf(reason, *run, m_options.idleSeconds, detail);
    if (!run->failure()) static_cast<void>(run->end(ending.state, ending.why));
    if (run->failure()) {
        m_report.failed = true;
        ending = {State::Failed, "What " + run->folder().string() + " holds could not be recorded: " + run->failure()->text()};
        problem(ending.why);
        if (!run->giveUp(ending.why)) return;
    }
    m_report.runs.push_back({run->folder(), run->run(), run->isNew(), run->count(), ending.state});
}

std::unique_ptr<ImportedRun> Import::readThrough(const std::string& relative, bool several) {
    auto run = open(relative, several);
    if (!run) return nullptr;
    const auto whole = readAll(*run);
    if (whole && *whole) return run;
    if (!whole && !run->failure()) problem(whole.error().text());
    finish(std::move(run), whole ? Reason::Stopped : Reason::Unreadable, whole ? "" : whole.error().text());
    return nullptr;
}

Result<ImportReport> Import::once() {
    LATHE_TRY_ASSIGN(const auto found, find());
    if (found.withEvents.empty()) {
        return Error{ErrorCode::NotFound, "There are no event files (names with \"tfevents\") in " + m_options.folder.string() + " or below it"
                     + (found.problems.empty() ? "" : "; " + found.problems.front()), {}, {}};
    }
    const bool several = found.withEvents.size() > 1;
    for (const std::string& relative : found.withEvents) {
        if (stopSignalled()) break;
        if (auto run = readThrough(relative, several)) finish(std::move(run), Reason::Through);
    }
    return std::move(m_report);
}

// ---- following

bool Import::isOld(const Stamp& stamp) const {
    return static_cast<double>(Clock::system().wallNs() - stamp.newestNs) / 1e9 > m_options.idleSeconds;
}

/// A folder that is new or has changed: read to its end, and followed on where its files are young.
void Import::takeIn(const std::string& relative, bool several) {
    if (m_unwanted.contains(relative)) return;
    const Stamp stamp = stampOf(relative == "." ? m_root : m_root / relative);
    if (const auto settled = m_settled.find(relative); settled != m_settled.end() && settled->second == stamp) return;
    m_settled[relative] = stamp;  // where it cannot be read, only a change makes another attempt worth while
    auto run = readThrough(relative, several);
    if (!run) return;
    m_newsNs = now();
    if (isOld(stamp)) return finish(std::move(run), Reason::Through);
    Followed followed{std::move(run), 0, now(), now(), {}};
    followed.bytes = followed.run->bytesRead();
    if (const auto up = followed.run->goLive(); !up) problem(up.error().text());
    m_followed.emplace(relative, std::move(followed));
}

/// False where nothing can be found any more.
bool Import::scan() {
    m_scannedNs = now();
    const auto found = find();
    if (!found) {
        problem(found.error().text());
        return !m_followed.empty();
    }
    for (const stdfs::path& folder : found->all)
        ::inotify_add_watch(m_changes.get(), folder.c_str(), IN_MODIFY | IN_CREATE | IN_MOVED_TO | IN_CLOSE_WRITE);
    const bool several = found->withEvents.size() > 1 || !m_followed.empty();
    for (const std::string& relative : found->withEvents) {
        if (stopSignalled()) break;
        if (!m_followed.contains(relative)) takeIn(relative, several);
    }
    return true;
}

/// Why this run is to be let go; nothing while it is not.
std::optional<Reason> Import::turn(Followed& followed) {
    ImportedRun& run = *followed.run;
    if (const auto more = run.read(kBudget); !more) {
        followed.problem = more.error().text();
        if (!run.failure()) problem(followed.problem);
        return Reason::Unreadable;
    }
    if (run.bytesRead() != followed.bytes) {
        followed.bytes = run.bytesRead();
        followed.newsNs = m_newsNs = now();
        if (const auto up = run.goLive(); !up) problem(up.error().text());
    }
    if (now() - followed.flushedNs >= kFlushEvery) {
        followed.flushedNs = now();
        if (const auto flushed = run.flush(); !flushed) log::warning(flushed.error().text());
    }
    run.recorder().serve();
    if (run.failure()) return Reason::Unreadable;
    if (run.recorder().stopAsked()) return Reason::Asked;
    return static_cast<double>(now() - followed.newsNs) / 1e9 < m_options.idleSeconds ? std::nullopt : std::optional(Reason::Silent);
}

void Import::tellFollowed() {
    if (!m_options.following || (m_toldNs == m_newsNs && m_toldRuns == m_followed.size())) return;
    m_toldNs = m_newsNs;
    m_toldRuns = m_followed.size();
    std::vector<ImportedFolder> all;
    for (const auto& [relative, followed] : m_followed) all.push_back({followed.run->folder(), followed.run->run(), followed.run->isNew(), followed.run->count(), State::Running});
    m_options.following(all);
}

/// Until something has changed, a request comes or a turn is over; true: folders may be new.
bool Import::wait() {
    std::vector<pollfd> what = {{m_signals.fd(), POLLIN, 0}, {m_changes.get(), POLLIN, 0}};
    for (const auto& [relative, followed] : m_followed) what.push_back({followed.run->recorder().pollFd(), POLLIN, 0});
    ::poll(what.data(), what.size(), kTurnMilliseconds);
    bool isNew = false;
    alignas(inotify_event) std::array<char, 16384> buffer{};
    ssize_t got = 0;
    while ((got = ::read(m_changes.get(), buffer.data(), buffer.size())) > 0) {
        for (ssize_t at = 0; at < got;) {
            const auto* event = reinterpret_cast<const inotify_event*>(buffer.data() + at);
            isNew |= (event->mask & (IN_CREATE | IN_MOVED_TO | IN_Q_OVERFLOW)) != 0;
            at += static_cast<ssize_t>(sizeof *event + event->len);
        }
    }
    return isNew;
}

Result<ImportReport> Import::follow() {
    LATHE_TRY(find());
    static_cast<void>(scan());
    if (m_options.readyFd >= 0 && ::write(m_options.readyFd, "+", 1) != 1) log::warning("Nobody waits for this start any more");
    m_newsNs = now();
    while (!stopSignalled()) {
        if (wait() || now() - m_scannedNs >= kScanEvery) {
            if (!scan()) break;
        }
        for (auto it = m_followed.begin(); it != m_followed.end();) {
            const auto reason = turn(it->second);
            if (!reason) {
                ++it;
                continue;
            }
            if (*reason == Reason::Asked) m_unwanted.insert(it->first);
            m_settled[it->first] = stampOf(it->second.run->folder());
            finish(std::move(it->second.run), *reason, it->second.problem);
            it = m_followed.erase(it);
        }
        tellFollowed();
        if (!m_followed.empty()) continue;
        if (!m_unwanted.empty() || static_cast<double>(now() - m_newsNs) / 1e9 >= m_options.idleSeconds) break;
    }
    m_report.stopped = m_report.stopped || !m_unwanted.empty();
    for (auto& [relative, followed] : m_followed) finish(std::move(followed.run), Reason::Asked);
    return std::move(m_report);
}

}  // namespace

Result<ImportReport> importFolder(const ImportOptions& options) {
    std::signal(SIGPIPE, SIG_IGN);
    LATHE_TRY_ASSIGN(SignalFeed signals, SignalFeed::listen({SIGTERM, SIGINT, SIGHUP}));
    Import import(options, std::move(signals));
    return options.follow ? import.follow() : import.once();
}

}  // namespace lathe::launch
