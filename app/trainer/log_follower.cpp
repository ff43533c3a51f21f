#include "log_follower.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace lathe::trainer {

std::string LogFollower::take() {
    constexpr std::uint64_t kMost = 64u << 10;
    const int fd = ::open(m_file.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0) return {};
    struct stat info {};
    std::string text;
    if (::fstat(fd, &info) == 0 && S_ISREG(info.st_mode)) {
        const auto size = static_cast<std::uint64_t>(info.st_size);
        if (size < m_place) m_place = 0;
        const bool tooMuch = size - m_place > kMost;
        if (tooMuch) m_place = size - kMost;
        text.resize(static_cast<std::size_t>(size - m_place));
        const ssize_t got = ::pread(fd, text.data(), text.size(), static_cast<off_t>(m_place));
        text.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
        m_place += text.size();
        if (tooMuch) text = "\n[… more than can be shown; all of the newest is in " + m_file.string() + "]\n" + text;
    }
    ::close(fd);
    return text;
}

}  // namespace lathe::trainer
