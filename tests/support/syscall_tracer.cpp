#include "syscall_tracer.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <climits>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <fcntl.h>
#include <fstream>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <map>
#include <optional>
#include <set>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

namespace lathe::test {
namespace {

namespace stdfs = std::filesystem;

constexpr const char* kSay = "say";

/// Where a call has its descriptors and paths: argument numbers, -1 where it has none.
struct Shape {
    const char* name;
    int fd = -1, path = -1, directory = -1, second = -1, secondDirectory = -1, flags = -1;
};

const std::map<long, Shape>& shapes() {
    static const std::map<long, Shape> all = {
        {SYS_open, {"open", -1, 0, -1, -1, -1, 1}}, {SYS_openat, {"openat", -1, 1, 0, -1, -1, 2}}, {SYS_creat, {"creat", -1, 0}},
        {SYS_openat2, {"openat2", -1, 1, 0}}, {SYS_read, {"read", 0}}, {SYS_pread64, {"pread64", 0}}, {SYS_readv, {"readv", 0}},
        {SYS_write, {"write", 0}}, {SYS_pwrite64, {"pwrite64", 0}}, {SYS_writev, {"writev", 0}}, {SYS_pwritev, {"pwritev", 0}},
        {SYS_fsync, {"fsync", 0}}, {SYS_fdatasync, {"fdatasync", 0}}, {SYS_sync_file_range, {"sync_file_range", 0}}, {SYS_syncfs, {"syncfs", 0}},
        {SYS_ftruncate, {"ftruncate", 0}}, {SYS_truncate, {"truncate", -1, 0}}, {SYS_fallocate, {"fallocate", 0}}, {SYS_close, {"close", 0}},
        {SYS_fstat, {"fstat", 0}}, {SYS_newfstatat, {"newfstatat", 0, 1, 0}}, {SYS_stat, {"stat", -1, 0}}, {SYS_lstat, {"lstat", -1, 0}},
        {SYS_statx, {"statx", -1, 1, 0}}, {SYS_statfs, {"statfs", -1, 0}}, {SYS_fstatfs, {"fstatfs", 0}}, {SYS_access, {"access", -1, 0}},
        {SYS_faccessat, {"faccessat", -1, 1, 0}}, {SYS_faccessat2, {"faccessat2", -1, 1, 0}}, {SYS_getdents64, {"getdents64", 0}},
        {SYS_lseek, {"lseek", 0}}, {SYS_fcntl, {"fcntl", 0}}, {SYS_flock, {"flock", 0}}, {SYS_mmap, {"mmap", 4}},
        {SYS_rename, {"rename", -1, 0, -1, 1}}, {SYS_renameat, {"renameat", -1, 1, 0, 3, 2}}, {SYS_renameat2, {"renameat2", -1, 1, 0, 3, 2, 4}},
        {SYS_link, {"link", -1, 0, -1, 1}}, {SYS_linkat, {"linkat", -1, 1, 0, 3, 2}}, {SYS_symlink, {"symlink", -1, 1}},
        {SYS_unlink, {"unlink", -1, 0}}, {SYS_unlinkat, {"unlinkat", -1, 1, 0}}, {SYS_rmdir, {"rmdir", -1, 0}},
        {SYS_mkdir, {"mkdir", -1, 0}}, {SYS_mkdirat, {"mkdirat", -1, 1, 0}}, {SYS_fchmod, {"fchmod", 0}}, {SYS_chmod, {"chmod", -1, 0}},
        {SYS_fchmodat, {"fchmodat", -1, 1, 0}}, {SYS_utimensat, {"utimensat", -1, 1, 0}}, {SYS_copy_file_range, {"copy_file_range", 2}},
        {SYS_sendfile, {"sendfile", 0}}, {SYS_readlink, {"readlink", -1, 0}}, {SYS_readlinkat, {"readlinkat", -1, 1, 0}},
        {SYS_clone, {"clone"}}, {SYS_clone3, {"clone3"}}, {SYS_fork, {"fork"}}, {SYS_vfork, {"vfork"}}};
    return all;
}

std::vector<std::byte> memoryOf(pid_t pid, std::uint64_t address, std::size_t bytes) {
    std::vector<std::byte> out(bytes);
    iovec here{out.data(), bytes}, there{reinterpret_cast<void*>(address), bytes};
    const ssize_t got = ::process_vm_readv(pid, &here, 1, &there, 1, 0);
    out.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
    return out;
}

std::string textOf(pid_t pid, std::uint64_t address) {
    std::string text;
    while (text.size() < PATH_MAX && address != 0) {
        const std::size_t most = 4096 - address % 4096;  // never past a page that may be the last one
        const auto part = memoryOf(pid, address, most);
        const auto end = std::find(part.begin(), part.end(), std::byte{0});
        text.append(reinterpret_cast<const char*>(part.data()), static_cast<std::size_t>(end - part.begin()));
        if (end != part.end() || part.empty()) break;
        address += part.size();
    }
    return text;
}

std::string linkTarget(const std::string& link) {
    std::array<char, PATH_MAX> target{};
    const ssize_t got = ::readlink(link.c_str(), target.data(), target.size());
    return got > 0 ? std::string(target.data(), static_cast<std::size_t>(got)) : std::string();
}

constexpr unsigned kMostSeconds = 90;

/// Interrupts a wait that lasts too long.
class Alarm {
public:
    explicit Alarm(unsigned seconds) : m_begin(std::chrono::steady_clock::now()), m_seconds(seconds) {
        struct sigaction action {};
        action.sa_handler = [](int) {};
        ::sigaction(SIGALRM, &action, &m_before);
        ::alarm(seconds);
    }
    ~Alarm() {
        ::alarm(0);
        ::sigaction(SIGALRM, &m_before, nullptr);
    }
    Alarm(const Alarm&) = delete;
    Alarm& operator=(const Alarm&) = delete;
    bool rang() const { return std::chrono::steady_clock::now() - m_begin >= std::chrono::seconds(m_seconds); }

private:
    std::chrono::steady_clock::time_point m_begin;
    unsigned m_seconds;
    struct sigaction m_before {};
};

class Tracer {
public:
    Tracer(const stdfs::path& folder, const std::function<Verdict(const SystemCall&)>& before, const std::function<void(const SystemCall&)>& after, bool keepData)
        : m_folder(stdfs::canonical(folder).string()), m_before(before), m_after(after), m_keepData(keepData) {}

    void follow(pid_t child, Traced& out) {
        m_known.insert(child);
        const Alarm alarm(kMostSeconds);
        while (true) {
            int status = 0;
            const pid_t pid = ::waitpid(-1, &status, __WALL);
            if (pid < 0 && errno == EINTR) {
                out.hung = out.hung || alarm.rang();
                for (const pid_t each : out.hung ? m_known : std::set<pid_t>()) ::kill(each, SIGKILL);
                continue;
            }
            if (pid < 0) return;
            if (WIFEXITED(status) || WIFSIGNALED(status)) {
                if (pid == child) out.exitCode = WIFEXITED(status) ? WEXITSTATUS(status) : -1, out.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
                m_entered.erase(pid);
                m_known.erase(pid);
                continue;
            }
            if (WIFSTOPPED(status)) stopped(pid, status);
        }
    }

private:
    void stopped(pid_t pid, int status) {
        const int signal = WSTOPSIG(status);
        if (status >> 8 == (SIGTRAP | (PTRACE_EVENT_SECCOMP << 8))) {
            enter(pid);
            ::ptrace(m_entered.contains(pid) ? PTRACE_SYSCALL : PTRACE_CONT, pid, nullptr, nullptr);
            return;
        }
        if (signal == (SIGTRAP | 0x80)) {
            leave(pid);
            ::ptrace(PTRACE_CONT, pid, nullptr, nullptr);
            return;
        }
        const bool isEvent = (status >> 16) != 0 || (signal == SIGSTOP && !m_known.contains(pid)) || (signal == SIGTRAP);
        m_known.insert(pid);
        ::ptrace(PTRACE_CONT, pid, nullptr, reinterpret_cast<void*>(isEvent ? 0L : static_cast<long>(signal)));
    }

    /// Before a call is made. Those whose result is of interest are kept until they leave.
    void enter(pid_t pid) {
        user_regs_struct registers{};
        if (::ptrace(PTRACE_GETREGS, pid, nullptr, &registers) != 0) return;
        auto call = describe(pid, registers);
        if (!call) return;
        const Verdict verdict = call->name == kSay ? Verdict{} : m_before(*call);
        if (verdict.what == Verdict::What::Kill) {
            registers.orig_rax = static_cast<unsigned long long>(-1);  // it is not made any more
            ::ptrace(PTRACE_SETREGS, pid, nullptr, &registers);
            ::kill(pid, SIGKILL);  // of a thread: its whole process
            return;
        }
        if (verdict.what == Verdict::What::Fail) {
            registers.orig_rax = static_cast<unsigned long long>(-1);
            registers.rax = static_cast<unsigned long long>(-static_cast<long long>(verdict.errorNumber));
            ::ptrace(PTRACE_SETREGS, pid, nullptr, &registers);
            call->result = -verdict.errorNumber;
            if (m_after) m_after(*call);
            return;
        }
        if (verdict.what == Verdict::What::Short && registers.rdx > 1) {
            registers.rdx /= 2;
            ::ptrace(PTRACE_SETREGS, pid, nullptr, &registers);
            call->bytes = registers.rdx;
            call->data.resize(std::min<std::size_t>(call->data.size(), registers.rdx));
        }
        if (m_after && verdict.isFollowed) m_entered[pid] = std::move(*call);
    }

    void leave(pid_t pid) {
        user_regs_struct registers{};
        const auto entered = m_entered.find(pid);
        if (entered == m_entered.end()) return;
        SystemCall call = std::move(entered->second);
        m_entered.erase(entered);
        if (::ptrace(PTRACE_GETREGS, pid, nullptr, &registers) != 0) return;
        call.result = static_cast<std::int64_t>(registers.rax);
        m_after(call);
    }

    std::optional<SystemCall> describe(pid_t pid, const user_regs_struct& registers) const {
        const auto shape = shapes().find(static_cast<long>(registers.orig_rax));
        if (shape == shapes().end()) return std::nullopt;
        const std::array<std::uint64_t, 6> arguments = {registers.rdi, registers.rsi, registers.rdx, registers.r10, registers.r8, registers.r9};
        const auto argument = [&](int index) { return index < 0 ? 0 : arguments[static_cast<std::size_t>(index)]; };
        const Shape& how = shape->second;
        SystemCall call;
        call.number = shape->first;
        call.name = how.name;
        if (call.number == SYS_write && argument(how.fd) == STDOUT_FILENO) {
            call.name = kSay;
            call.data = memoryOf(pid, arguments[1], arguments[2]);
            return call;
        }
        if (call.startsProcess()) return call;
        if (how.path >= 0) call.path = pathOf(pid, how.directory < 0 ? AT_FDCWD : static_cast<int>(argument(how.directory)), textOf(pid, argument(how.path)));
        if (how.second >= 0) call.second = pathOf(pid, how.secondDirectory < 0 ? AT_FDCWD : static_cast<int>(argument(how.secondDirectory)), textOf(pid, argument(how.second)));
        if (call.path.empty() && how.fd >= 0) call.path = fileOf(pid, static_cast<int>(argument(how.fd)));
        if (!isInside(call.path) && !isInside(call.second)) return std::nullopt;
        if (how.flags >= 0) call.flags = static_cast<int>(argument(how.flags));
        takeContent(pid, arguments, call);
        return call;
    }

    void takeContent(pid_t pid, const std::array<std::uint64_t, 6>& arguments, SystemCall& call) const {
        if (call.name == "ftruncate" || call.name == "truncate") call.offset = static_cast<std::int64_t>(arguments[1]);
        if (call.name == "read" || call.name == "pread64") call.bytes = arguments[2];
        if (call.name != "write" && call.name != "pwrite64") return;
        call.bytes = arguments[2];
        call.offset = call.name == "pwrite64" ? static_cast<std::int64_t>(arguments[3]) : positionOf(pid, static_cast<int>(arguments[0]));
        if (m_keepData) call.data = memoryOf(pid, arguments[1], arguments[2]);
    }

    /// Where the next write of a descriptor goes.
    static std::int64_t positionOf(pid_t pid, int fd) {
        const int info = ::open(("/proc/" + std::to_string(pid) + "/fdinfo/" + std::to_string(fd)).c_str(), O_RDONLY | O_CLOEXEC);
        std::array<char, 256> text{};
        const ssize_t got = info < 0 ? -1 : ::read(info, text.data(), text.size() - 1);
        if (info >= 0) ::close(info);
        return got > 5 ? std::atoll(text.data() + 5) : -1;  // "pos:\t123"
    }

    static std::string fileOf(pid_t pid, int fd) { return fd < 0 ? std::string() : linkTarget("/proc/" + std::to_string(pid) + "/fd/" + std::to_string(fd)); }

    /// Absolute, with the descriptors of folders that a path leads through replaced by where they are.
    std::string pathOf(pid_t pid, int directory, const std::string& path) const {
        static constexpr std::string_view kOwn = "/proc/self/fd/";
        if (path.starts_with(kOwn)) {
            const std::size_t end = path.find('/', kOwn.size());
            const std::string folder = fileOf(pid, std::atoi(path.c_str() + kOwn.size()));
            return end == std::string::npos ? folder : folder + path.substr(end);
        }
        if (path.starts_with('/')) return path;
        const std::string base = directory == AT_FDCWD ? linkTarget("/proc/" + std::to_string(pid) + "/cwd") : fileOf(pid, directory);
        return path.empty() ? base : base + "/" + path;
    }

    bool isInside(const std::string& path) const {
        return path.starts_with(m_folder) && (path.size() == m_folder.size() || path[m_folder.size()] == '/');
    }

    std::string m_folder;
    const std::function<Verdict(const SystemCall&)>& m_before;
    const std::function<void(const SystemCall&)>& m_after;
    bool m_keepData;
    std::map<pid_t, SystemCall> m_entered;
    std::set<pid_t> m_known;
};

/// From here on the calls of `shapes()` stop for the tracer, also those of what is started; all others run as ever.
bool stopAtCalls() {
    std::vector<sock_filter> filter = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr))};
    for (const auto& [number, shape] : shapes()) {
        filter.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<std::uint32_t>(number), 0, 1));
        filter.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRACE));
    }
    filter.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
    const sock_fprog program{static_cast<unsigned short>(filter.size()), filter.data()};
    return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

[[noreturn]] void beTraced(const std::function<int()>& work, int output) {
    ::dup2(output, STDOUT_FILENO);
    ::dup2(output, STDERR_FILENO);
    if (::ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) != 0) ::_exit(200);
    ::raise(SIGSTOP);
    if (!stopAtCalls()) ::_exit(202);
    try {
        ::_exit(work());
    } catch (const std::exception& thrown) {   // it may not unwind into the test that it was forked from
        ::dprintf(STDERR_FILENO, "%s\n", thrown.what());
        ::_exit(201);
    }
}

/// All that is left of what this process started, once it is their reaper.
void endChildren() {
    std::ifstream children("/proc/self/task/" + std::to_string(::getpid()) + "/children");
    for (pid_t pid = 0; children >> pid;) ::kill(pid, SIGKILL);
}

std::string drained(int fd) {
    std::string text;
    std::array<char, 4096> part{};
    ::lseek(fd, 0, SEEK_SET);
    for (ssize_t got = 0; (got = ::read(fd, part.data(), part.size())) > 0;) text.append(part.data(), static_cast<std::size_t>(got));
    return text;
}

}  // namespace

bool SystemCall::isWrite() const { return name == "write" || name == "pwrite64" || name == "writev" || name == "pwritev"; }
bool SystemCall::startsProcess() const { return name == "clone" || name == "clone3" || name == "fork" || name == "vfork"; }
bool SystemCall::isSync() const { return name == "fsync" || name == "fdatasync"; }
bool SystemCall::changesDisk() const {
    static constexpr std::array kOthers = {"ftruncate", "truncate", "fallocate", "rename", "renameat", "renameat2", "link", "linkat", "symlink", "unlink",
                                           "unlinkat", "rmdir", "mkdir", "mkdirat", "copy_file_range", "sendfile", "creat", "fchmod", "chmod", "fchmodat"};
    const bool creates = (name == "open" || name == "openat") && (flags & O_CREAT) != 0;
    return creates || isWrite() || isSync() || std::find(kOthers.begin(), kOthers.end(), name) != kOthers.end();
}

Traced trace(const stdfs::path& folder, const std::function<int()>& work, const std::function<Verdict(const SystemCall&)>& before,
             const std::function<void(const SystemCall&)>& after, bool keepData) {
    Traced out;
    const int output = ::memfd_create("output", MFD_CLOEXEC);
    const pid_t child = ::fork();
    if (child == 0) beTraced(work, output);
    int status = 0;
    const bool isStopped = child > 0 && ::waitpid(child, &status, 0) == child && WIFSTOPPED(status);
    constexpr long kOptions = PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACESECCOMP | PTRACE_O_TRACECLONE | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK | PTRACE_O_TRACEEXEC | PTRACE_O_EXITKILL;
    if (!isStopped || ::ptrace(PTRACE_SETOPTIONS, child, nullptr, reinterpret_cast<void*>(kOptions)) != 0) {
        out.why = std::string("this machine does not let a test trace its child: ") + std::strerror(errno);
        if (child > 0 && isStopped) ::kill(child, SIGKILL), ::waitpid(child, nullptr, 0);
        ::close(output);
        return out;
    }
    out.works = true;
    ::ptrace(PTRACE_CONT, child, nullptr, nullptr);
    Tracer(folder, before, after, keepData).follow(child, out);
    out.output = drained(output);
    ::close(output);
    return out;
}

Traced runAlone(const std::function<int()>& work) {
    Traced out;
    out.works = true;
    const int output = ::memfd_create("output", MFD_CLOEXEC);
    ::prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
    const pid_t child = ::fork();
    if (child == 0) {
        ::dup2(output, STDOUT_FILENO);
        ::dup2(output, STDERR_FILENO);
        ::_exit(work());
    }
    const Alarm alarm(kMostSeconds);
    for (int status = 0; true;) {
        const pid_t pid = ::waitpid(-1, &status, __WALL);
        if (pid < 0 && errno == ECHILD) break;
        out.hung = out.hung || (pid < 0 && alarm.rang());
        if (out.hung) endChildren();
        if (pid == child) out.exitCode = WIFEXITED(status) ? WEXITSTATUS(status) : -1, out.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    }
    out.output = drained(output);
    ::close(output);
    return out;
}

std::function<int()> executes(std::vector<std::string> words, std::vector<std::string> environment) {
    return [words = std::move(words), environment = std::move(environment)]() mutable {
        std::vector<char*> argv;
        for (std::string& word : words) argv.push_back(word.data());
        argv.push_back(nullptr);
        for (std::string& variable : environment) ::putenv(variable.data());
        ::execv(argv.front(), argv.data());
        return 201;
    };
}

}  // namespace lathe::test
