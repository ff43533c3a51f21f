#include "launch/process/apart.h"

#include <array>
#include <cerrno>
#include <cstdlib>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace lathe::launch {

void leaveTerminal() {
    ::setsid();
    const int null = ::open("/dev/null", O_RDWR | O_CLOEXEC);
    for (const int fd : {0, 1, 2}) ::dup2(null, fd);
    if (null > 2) ::close(null);
    if (::chdir("/") != 0) return;  // keeps the folder that the command was given in free to be unmounted
}

Result<Apart> runApart(const std::function<ExitCode(int ready)>& work) {
    std::array<int, 2> ready{-1, -1};
    if (::pipe2(ready.data(), O_CLOEXEC) != 0) return fileError("make", "a pipe", errno);
    const pid_t child = ::fork();
    if (child < 0) return fileError("start", "a process in the background", errno);
    if (child == 0) {
        ::close(ready[0]);
        leaveTerminal();
        std::_Exit(static_cast<int>(work(ready[1])));
    }
    ::close(ready[1]);
    char byte = 0;
    ssize_t got = 0;
    do {
        got = ::read(ready[0], &byte, 1);
    } while (got < 0 && errno == EINTR);
    ::close(ready[0]);
    if (got != 1) ::waitpid(child, nullptr, 0);
    return Apart{child, got == 1};
}

}  // namespace lathe::launch
