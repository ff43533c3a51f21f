#include "engine/session/stack_writer.h"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <execinfo.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace lathe::engine {
namespace {

constexpr int kMostFrames = 100;
constexpr int kOwnFrames = 2;   ///< the handler, and what called it

void writeText(const char* text) { static_cast<void>(!::write(STDERR_FILENO, text, std::strlen(text))); }

/// Without allocating.
void writeMark(const char* words) {
    std::array<char, 32> digits{};
    std::size_t at = digits.size() - 2;
    digits[at] = '\n';
    for (auto rest = static_cast<unsigned>(::getpid()); rest > 0 && at > 0; rest /= 10) digits[--at] = static_cast<char>('0' + rest % 10);
    writeText(words);
    writeText(digits.data() + at);
}

void onStackAsked(int) {
    if (::syscall(SYS_gettid) != ::getpid()) {  // another thread took it
        ::syscall(SYS_tgkill, ::getpid(), ::getpid(), SIGURG);
        return;
    }
    const int before = errno;
    static std::array<void*, kMostFrames> frames;   // one thread at a time, and not on a stack that may be small
    const int count = ::backtrace(frames.data(), kMostFrames);
    writeMark("==== stack ");
    if (count > kOwnFrames) ::backtrace_symbols_fd(frames.data() + kOwnFrames, count - kOwnFrames, STDERR_FILENO);
    writeMark("==== end of stack ");
    errno = before;
}

}  // namespace

void writeStackWhenAsked() {
    std::array<void*, 4> frames{};
    static_cast<void>(::backtrace(frames.data(), static_cast<int>(frames.size())));   // loads what it needs now, not in the handler
    struct sigaction action {};
    action.sa_handler = onStackAsked;
    sigemptyset(&action.sa_mask);
    action.sa_flags = SA_RESTART;
    ::sigaction(SIGURG, &action, nullptr);
}

}  // namespace lathe::engine
