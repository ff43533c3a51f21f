#include "tensorboard/event_folder.h"

#include "base/file_system.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <set>
#include <sys/stat.h>
#include <utility>

namespace lathe::tensorboard {

namespace stdfs = std::filesystem;

static constexpr int kDeepest = 32;
static constexpr std::size_t kMostFolders = 100'000;

bool isEventFile(const std::string& name) { return name.find("tfevents") != std::string::npos; }

Result<std::vector<std::string>> eventFilesIn(const stdfs::path& folder) {
    LATHE_TRY_ASSIGN(std::vector<std::string> names, listFolder(folder));
    std::erase_if(names, [&](const std::string& name) {
        struct stat info {};
        return !isEventFile(name) || ::stat((folder / name).c_str(), &info) != 0 || !S_ISREG(info.st_mode);
    });
    return names;
}

namespace {

struct Walk {
    stdfs::path root;
    FoundFolders found;
    std::set<std::pair<dev_t, ino_t>> visited, above;  ///< above: the folders that the root lies in, which a link may lead back to

    void problem(std::string sentence) { found.problems.push_back(std::move(sentence)); }
    Result<void> enter(const stdfs::path& relative, int depth);
};

Result<void> Walk::enter(const stdfs::path& relative, int depth) {
    const stdfs::path folder = relative == "." ? root : root / relative;
    struct stat info {};
    if (::stat(folder.c_str(), &info) == 0 && !visited.emplace(info.st_dev, info.st_ino).second) return {};
    if (depth > kDeepest || visited.size() > kMostFolders) {
        problem(folder.string() + " lies too deep or is one folder too many, and is left out");
        return {};
    }
    LATHE_TRY_ASSIGN(const std::vector<std::string> names, listFolder(folder));
    found.all.push_back(folder);
    bool hasEvents = false;
    for (const std::string& name : names) {
        struct stat entry {};
        if (::stat((folder / name).c_str(), &entry) != 0) continue;  // a link to nowhere
        if (S_ISREG(entry.st_mode)) hasEvents |= isEventFile(name);
        if (!S_ISDIR(entry.st_mode) || above.contains({entry.st_dev, entry.st_ino})) continue;
        const auto entered = enter(relative == "." ? stdfs::path(name) : relative / name, depth + 1);
        if (!entered) problem(entered.error().text());
    }
    if (hasEvents) found.withEvents.push_back(relative.string());
    return {};
}

}  // namespace

Result<FoundFolders> findEventFolders(const stdfs::path& root) {
    Walk walk{root, {}, {}, {}};
    for (stdfs::path folder = root; folder.has_relative_path();) {
        folder = folder.parent_path();
        struct stat info {};
        if (::stat(folder.c_str(), &info) == 0) walk.above.emplace(info.st_dev, info.st_ino);
    }
    LATHE_TRY(walk.enter(".", 0));
    std::sort(walk.found.withEvents.begin(), walk.found.withEvents.end());
    return std::move(walk.found);
}

std::string sessionFileName(std::int64_t seconds, const std::string& host, int session) {
    std::array<char, 24> begun{}, number{};
    std::snprintf(begun.data(), begun.size(), "%010lld", static_cast<long long>(seconds));
    std::snprintf(number.data(), number.size(), "%06d", session);
    // The session stands before process number and counter, which are always 0, so that names sort by it.
    return "events.out.tfevents." + std::string(begun.data()) + "." + (host.empty() ? "host" : host) + "." + number.data() + ".0.0";
}

}  // namespace lathe::tensorboard
