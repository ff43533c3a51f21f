#include "launch/process/process_tree.h"

#include "base/file_system.h"
#include "base/number_text.h"
#include "launch/process/identity.h"

#include <map>
#include <optional>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace lathe::launch {

static bool runsThisProgram(std::int64_t pid) {
    struct stat own {}, other {};
    return ::stat("/proc/self/exe", &own) == 0 && ::stat(("/proc/" + std::to_string(pid) + "/exe").c_str(), &other) == 0
           && own.st_dev == other.st_dev && own.st_ino == other.st_ino;
}

/// Every process that lives, as visit(process, pid of its parent).
template <typename Visit>
static void forEachLiving(Visit visit) {
    const auto names = listFolder("/proc");
    for (std::size_t i = 0; names && i < names->size(); ++i) {
        const auto number = readInteger((*names)[i]);
        if (!number || *number <= 1) continue;
        const auto facts = factsOf(*number);
        if (facts && facts->state != 'Z' && facts->state != 'X') visit(TreeProcess{*number, facts->startTime, facts->name}, facts->parent);
    }
}

std::vector<TreeProcess> processesWith(const std::string& variable, OwnProgram own) {
    constexpr std::uint64_t kMost = 8u << 20;
    std::vector<TreeProcess> found;
    forEachLiving([&](TreeProcess process, std::int64_t) {
        const auto environment = readFile("/proc/" + std::to_string(process.pid) + "/environ", kMost);
        if (!environment) return;  // another user's
        const std::string entry = variable + '\0';
        const bool has = environment->starts_with(entry) || environment->find('\0' + entry) != std::string::npos;
        if (has && (own == OwnProgram::Included || !runsThisProgram(process.pid))) found.push_back(std::move(process));
    });
    return found;
}

std::vector<TreeProcess> descendantsOf(std::int64_t pid) {
    std::multimap<std::int64_t, TreeProcess> byParent;
    forEachLiving([&](TreeProcess process, std::int64_t parent) { byParent.emplace(parent, std::move(process)); });
    std::vector<TreeProcess> found;
    std::vector<std::int64_t> parents = {pid};
    while (!parents.empty()) {
        const auto [first, last] = byParent.equal_range(parents.back());
        parents.pop_back();
        for (auto child = first; child != last; ++child) {
            if (runsThisProgram(child->second.pid)) continue;
            found.push_back(child->second);
            parents.push_back(child->second.pid);
        }
    }
    return found;
}

void signalAll(const std::vector<TreeProcess>& processes, int number) {
    for (const TreeProcess& process : processes) {
        const int pidfd = static_cast<int>(::syscall(SYS_pidfd_open, static_cast<pid_t>(process.pid), 0));
        if (pidfd < 0) continue;
        // Asked after the pidfd is open: what the pid means now is what it holds.
        if (startTimeOf(process.pid) == process.startTime) ::syscall(SYS_pidfd_send_signal, pidfd, number, nullptr, 0);
        ::close(pidfd);
    }
}

}  // namespace lathe::launch
