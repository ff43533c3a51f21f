#include "session/child_process.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

extern char** environ;

namespace lathe::session {

namespace {

constexpr off_t kMostOutput = 1 << 20;

/// The end of a memory file.
QByteArray contentOf(int fd) {
    struct stat info {};
    if (::fstat(fd, &info) != 0) return {};
    const off_t from = std::max<off_t>(0, info.st_size - kMostOutput);
    QByteArray content(info.st_size - from, Qt::Uninitialized);
    const ssize_t got = ::pread(fd, content.data(), std::size_t(content.size()), from);
    content.resize(std::max<ssize_t>(got, 0));
    return content;
}

struct SpawnSetup {
    posix_spawnattr_t attributes;
    posix_spawn_file_actions_t actions;

    SpawnSetup(int outputFd, int errorsFd) {
        ::posix_spawnattr_init(&attributes);
        ::posix_spawn_file_actions_init(&actions);
        ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
        sigset_t none, all;
        sigemptyset(&none);
        sigfillset(&all);
        ::posix_spawnattr_setsigmask(&attributes, &none);
        ::posix_spawnattr_setsigdefault(&attributes, &all);
        ::posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
        ::posix_spawn_file_actions_adddup2(&actions, outputFd, 1);
        ::posix_spawn_file_actions_adddup2(&actions, errorsFd, 2);
        ::posix_spawn_file_actions_addclosefrom_np(&actions, 3);
    }
    ~SpawnSetup() {
        ::posix_spawn_file_actions_destroy(&actions);
        ::posix_spawnattr_destroy(&attributes);
    }
};

}  // namespace

Result<std::unique_ptr<ChildProcess>> ChildProcess::start(const std::vector<std::string>& words) {
    const int output = ::memfd_create("output", MFD_CLOEXEC), errors = ::memfd_create("errors", MFD_CLOEXEC);
    pid_t pid = 0;
    int problem = output < 0 || errors < 0 ? errno : 0;
    if (problem == 0) {
        const SpawnSetup setup(output, errors);
        std::vector<char*> arguments;
        for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
        arguments.push_back(nullptr);
        problem = ::posix_spawn(&pid, words.front().c_str(), &setup.actions, &setup.attributes, arguments.data(), environ);
    }
    const int pidFd = problem == 0 ? int(::syscall(SYS_pidfd_open, pid, 0)) : -1;
    if (problem != 0 || pidFd < 0) {
        for (const int fd : {output, errors})
            if (fd >= 0) ::close(fd);
        return fileError("start", words.front(), problem ? problem : errno);
    }
    return std::unique_ptr<ChildProcess>(new ChildProcess(pid, pidFd, output, errors));
}

ChildProcess::ChildProcess(int pid, int pidFd, int outputFd, int errorsFd)
    : m_pid(pid), m_pidFd(pidFd), m_outputFd(outputFd), m_errorsFd(errorsFd), m_notifier(pidFd, QSocketNotifier::Read) {
    connect(&m_notifier, &QSocketNotifier::activated, this, [this] { reap(); });
}

ChildProcess::~ChildProcess() {
    // The child goes on; init takes it over when this program ends.
    m_notifier.setEnabled(false);
    for (const int fd : {m_pidFd, m_outputFd, m_errorsFd}) ::close(fd);
}

void ChildProcess::reap() {
    siginfo_t info{};
    if (::waitid(P_PID, id_t(m_pid), &info, WEXITED | WNOHANG) != 0 || info.si_pid == 0) return;
    m_notifier.setEnabled(false);
    const bool exited = info.si_code == CLD_EXITED;
    m_result = {exited ? info.si_status : -1, exited ? 0 : info.si_status, contentOf(m_outputFd), contentOf(m_errorsFd)};
    Q_EMIT ended();
}

}  // namespace lathe::session
