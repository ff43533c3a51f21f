#include "rundir/run_folder.h"

#include "base/clock.h"
#include "base/file_system.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <ctime>
#include <fcntl.h>
#include <set>
#include <sys/file.h>
#include <sys/random.h>
#include <unistd.h>

namespace lathe::rundir {

namespace stdfs = std::filesystem;

static constexpr const char* kRuns = "runs";
static constexpr std::size_t kMaxNameLength = 40;
static constexpr std::size_t kIdLength = 12;
static constexpr auto kLeftoverAge = std::chrono::minutes(10);

RunFolder RunFolder::held() const {
    const int fd = m_folder ? -1 : ::open(m_root.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) return *this;
    RunFolder out(kDescriptors + std::to_string(fd));
    out.m_folder = std::shared_ptr<const int>(new int(fd), [](const int* held) {
        ::close(*held);
        delete held;
    });
    return out;
}

stdfs::path RunFolder::place() const { return m_folder ? stdfs::path(shownPath(m_root.native())) : m_root; }

std::string newRunId() {
    static constexpr std::string_view kAlphabet = "0123456789abcdefghijklmnopqrstuvwxyz";
    std::string id;
    while (id.size() < kIdLength) {
        std::array<unsigned char, 32> random{};
        if (::getrandom(random.data(), random.size(), 0) != static_cast<ssize_t>(random.size())) continue;
        for (const unsigned char byte : random) {
            if (byte < 252 && id.size() < kIdLength) id += kAlphabet[byte % 36];  // 252 = 7 * 36: no letter is likelier
        }
    }
    return id;
}

std::string folderWord(std::string_view name) {
    std::string out;
    for (const char c : name.substr(0, 4 * kMaxNameLength)) {
        const char lower = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
        const bool kept = (lower >= 'a' && lower <= 'z') || (lower >= '0' && lower <= '9') || lower == '.';
        if (kept) out += lower;
        else if (!out.empty() && out.back() != '-') out += '-';
    }
    out.resize(std::min(out.size(), kMaxNameLength));
    while (!out.empty() && (out.back() == '-' || out.back() == '.')) out.pop_back();
    while (!out.empty() && (out.front() == '.' || out.front() == '-')) out.erase(out.begin());
    return out.empty() ? "run" : out;
}

static std::string stampText(std::int64_t wallNs) {
    const std::time_t seconds = static_cast<std::time_t>(wallNs / 1'000'000'000);
    std::tm parts{};
    ::gmtime_r(&seconds, &parts);
    std::array<char, 32> text{};
    std::strftime(text.data(), text.size(), "%Y%m%d-%H%M%S", &parts);
    return text.data();
}

/// Held while a run is made, beside others who make one; alone for a moment where nobody does, and then whatever is
/// unfinished was left by a program that died. A folder on a disk without such locks is judged by its age.
class MakingRun {
public:
    MakingRun(FileSystem& fs, const stdfs::path& runs) : m_fd(::open(runs.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
        removeUnfinished(fs, runs, m_fd >= 0 && ::flock(m_fd, LOCK_EX | LOCK_NB) == 0);
        while (m_fd >= 0 && ::flock(m_fd, LOCK_SH) != 0 && errno == EINTR) {}
    }
    ~MakingRun() {
        if (m_fd >= 0) ::close(m_fd);
    }
    MakingRun(const MakingRun&) = delete;
    MakingRun& operator=(const MakingRun&) = delete;

private:
    static void removeUnfinished(FileSystem& fs, const stdfs::path& runs, bool isAlone) {
        const auto names = listFolder(runs);
        for (std::size_t i = 0; names && i < names->size(); ++i) {
            const RunFolder unfinished(runs / (*names)[i]);
            const auto held = (*names)[i].starts_with(".new-") ? RunLock::look(unfinished.lock()) : true;
            if (!held || *held) continue;
            std::error_code problem;
            const auto changed = stdfs::last_write_time(unfinished.root(), problem);
            const bool isOld = !problem && stdfs::file_time_type::clock::now() - changed > kLeftoverAge;
            if (isAlone || isOld) (void)removeTree(fs, unfinished.root());
        }
    }
    int m_fd;
};

static Result<void> fillRun(FileSystem& fs, const RunFolder& run, const RunManifest& manifest, const std::string& configYaml,
                            const std::function<Result<void>(const RunFolder&)>& fill) {
    for (const stdfs::path& folder : {run.root(), run.sessions(), run.checkpoints(), run.spill(), run.logs()})
        LATHE_TRY(fs.makeFolder(folder));
    if (!configYaml.empty()) LATHE_TRY(replaceFile(fs, run.configYaml(), configYaml));
    if (fill) LATHE_TRY(fill(run));
    return writeManifest(fs, run, manifest);
}

Result<RunFolder> createRun(FileSystem& fs, const stdfs::path& workspace, const RunManifest& manifest, const std::string& configYaml,
                            const std::function<Result<void>(const RunFolder&)>& fill) {
    const stdfs::path runs = workspace / kRuns;
    LATHE_TRY(makeFolders(fs, runs));
    const MakingRun making(fs, runs);
    const RunFolder unfinished(runs / (".new-" + manifest.id));
    const RunFolder run(runs / (stampText(manifest.createdNs) + "-" + folderWord(manifest.name) + "-" + manifest.id));
    const auto made = [&]() -> Result<void> {
        LATHE_TRY(fillRun(fs, unfinished, manifest, configYaml, fill));
        LATHE_TRY(fs.syncFolder(unfinished.root()));
        LATHE_TRY(fs.rename(unfinished.root(), run.root()));
        return fs.syncFolder(runs);
    }();
    if (made) return run;
    std::error_code ignored;
    for (const stdfs::path& root : {unfinished.root(), run.root()}) {
        if (stdfs::exists(root, ignored)) (void)removeTree(fs, root);
    }
    return Error(made.error()).in("while making a run in " + workspace.string());
}

Result<void> unmakeRun(FileSystem& fs, const RunFolder& run, const std::string& id) {
    const stdfs::path place = run.place(), unfinished = place.parent_path() / (".new-" + id);
    LATHE_TRY(fs.rename(place, unfinished));
    return removeTree(fs, unfinished);
}

/// When a run was made, in seconds and as its folder's name tells; a folder that was renamed is asked for its run.json.
static std::string stampOf(const RunFolder& run) {
    constexpr std::string_view kShape = "00000000-000000";
    const std::string stamp = run.name().substr(0, kShape.size());
    const bool named = stamp.size() == kShape.size() && std::equal(stamp.begin(), stamp.end(), kShape.begin(), [](char c, char shape) {
        return shape == '-' ? c == '-' : c >= '0' && c <= '9';
    });
    if (named) return stamp;
    const auto manifest = readManifest(run);
    return manifest ? stampText(manifest->createdNs) : std::string();
}

using Stamped = std::pair<std::string, RunFolder>;

/// Runs that were made within one second have the same stamp.
static void sortWithinSeconds(std::vector<Stamped>& runs) {
    const auto createdNs = [](const RunFolder& run) {
        const auto manifest = readManifest(run);
        return manifest ? manifest->createdNs : 0;
    };
    for (std::size_t begin = 0, end = 0; begin < runs.size(); begin = end) {
        while (end < runs.size() && runs[end].first == runs[begin].first) ++end;
        if (end - begin < 2) continue;
        std::vector<std::pair<std::int64_t, Stamped>> group;
        for (std::size_t i = begin; i < end; ++i) group.emplace_back(createdNs(runs[i].second), runs[i]);
        std::stable_sort(group.begin(), group.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
        for (std::size_t i = begin; i < end; ++i) runs[i] = group[i - begin].second;
    }
}

RunFolder runNamed(const stdfs::path& workspace, const std::string& folderName) { return RunFolder(workspace / kRuns / folderName); }

std::optional<stdfs::path> workspaceOf(const RunFolder& run) {
    const stdfs::path runs = run.place().parent_path();
    return runs.filename() == kRuns ? std::optional(runs.parent_path()) : std::nullopt;
}

stdfs::path importLock(const stdfs::path& workspace) { return workspace / "import.lock"; }

Result<std::vector<std::string>> readRunFolderNames(const stdfs::path& workspace) {
    auto names = listFolder(workspace / kRuns);
    if (!names && names.error().code == ErrorCode::NotFound) return std::vector<std::string>();
    if (names) std::erase_if(*names, [](const std::string& name) { return name.starts_with("."); });
    return names;
}

std::vector<std::string> runFolderNames(const stdfs::path& workspace) {
    auto names = readRunFolderNames(workspace);
    return names ? std::move(*names) : std::vector<std::string>();
}

std::vector<RunFolder> listRuns(const stdfs::path& workspace) {
    std::vector<Stamped> found;
    for (const std::string& name : runFolderNames(workspace)) {
        RunFolder run = runNamed(workspace, name);
        std::error_code ignored;
        if (stdfs::exists(run.runJson(), ignored)) found.emplace_back(stampOf(run), run);
    }
    std::stable_sort(found.begin(), found.end(), [](const Stamped& a, const Stamped& b) { return a.first > b.first; });
    sortWithinSeconds(found);
    std::vector<RunFolder> out;
    for (Stamped& run : found) out.push_back(std::move(run.second));
    return out;
}

/// Several with one id are copies of a folder: only their folders tell them apart.
static Error ambiguous(const std::string& reference, const std::vector<RunFolder>& found, const char* what) {
    std::string list;
    std::set<std::string> ids;
    for (std::size_t i = 0; i < found.size(); ++i) {
        const auto manifest = readManifest(found[i]);
        if (manifest) ids.insert(manifest->id);
        if (i < 5) list += (i == 0 ? "" : ", ") + (manifest ? manifest->id + " (" + manifest->name + ", " + found[i].name() + ")" : found[i].name());
    }
    if (found.size() > 5) list += " and " + std::to_string(found.size() - 5) + " more";
    const char* advice = ids.size() == found.size() ? "; name one by its id or the beginning of it" : "; some are copies of one: name one by its folder";
    return {ErrorCode::Usage, std::string("Several runs ") + what + " \"" + reference + "\": " + list + advice, {}, {}};
}

Result<RunFolder> findRun(const stdfs::path& workspace, const std::string& reference) {
    std::error_code ignored;
    const bool isPath = reference.find('/') != std::string::npos || reference == ".";
    const RunFolder path(stdfs::absolute(reference, ignored).lexically_normal());
    const RunFolder plain(path.root().has_filename() ? path.root() : path.root().parent_path());
    if (isPath && stdfs::exists(plain.runJson(), ignored)) return plain;
    const std::vector<RunFolder> runs = listRuns(workspace);
    if (runs.empty() && !isPath) return Error{ErrorCode::NotFound, "No run \"" + reference + "\": there are no runs in " + workspace.string() + " yet", {}, {}};
    if (reference == "latest") return runs.front();
    std::vector<RunFolder> named, begun, same;
    for (const RunFolder& run : runs) {
        if (run.name() == reference) return run;
        const auto manifest = readManifest(run);
        if (!manifest) continue;
        if (manifest->id == reference) same.push_back(run);
        const auto user = readUser(run);
        const bool renamed = user && user->name;
        if ((renamed ? *user->name : manifest->name) == reference) named.push_back(run);
        if (!reference.empty() && manifest->id.starts_with(reference)) begun.push_back(run);
    }
    if (same.size() == 1) return same.front();
    if (same.size() > 1) return ambiguous(reference, same, "have the id");
    if (named.size() == 1) return named.front();
    if (named.size() > 1) return ambiguous(reference, named, "are named");
    if (begun.size() == 1) return begun.front();
    if (begun.size() > 1) return ambiguous(reference, begun, "have an id that begins with");
    if (isPath) return Error{ErrorCode::NotFound, "No run in " + plain.root().string() + ": there is no run.json", {}, {}};
    return Error{ErrorCode::NotFound, "No run \"" + reference + "\" in " + workspace.string()
                 + "; lathe-trainer runs lists what is there", {}, {}};
}

}  // namespace lathe::rundir
