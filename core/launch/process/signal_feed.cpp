#include "launch/process/signal_feed.h"

#include "base/error.h"

#include <cerrno>
#include <csignal>
#include <sys/signalfd.h>
#include <unistd.h>

namespace lathe::launch {

Result<SignalFeed> SignalFeed::listen(std::initializer_list<int> signals) {
    sigset_t wanted;
    ::sigemptyset(&wanted);
    for (const int number : signals) ::sigaddset(&wanted, number);
    ::pthread_sigmask(SIG_BLOCK, &wanted, nullptr);
    const int fd = ::signalfd(-1, &wanted, SFD_CLOEXEC | SFD_NONBLOCK);
    if (fd < 0) return fileError("listen for", "signals, so a wish to stop could not be heard", errno);
    return SignalFeed(fd);
}

std::optional<int> SignalFeed::take() {
    signalfd_siginfo info{};
    if (::read(m_fd.get(), &info, sizeof info) != static_cast<ssize_t>(sizeof info)) return std::nullopt;
    return static_cast<int>(info.ssi_signo);
}

}  // namespace lathe::launch
