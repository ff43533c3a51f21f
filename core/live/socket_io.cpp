#include "live/socket_io.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace lathe::live {

SocketAddress::SocketAddress(SocketAddress&& other) noexcept
    : m_address(other.m_address), m_folder(std::exchange(other.m_folder, -1)) {}
SocketAddress::~SocketAddress() {
    if (m_folder >= 0) ::close(m_folder);
}

Result<SocketAddress> addressOf(const std::filesystem::path& path) {
    SocketAddress address;
    address.m_address.sun_family = AF_UNIX;
    std::string text = path.string();
    if (text.size() >= sizeof address.m_address.sun_path) {
        address.m_folder = ::open(path.parent_path().c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
        if (address.m_folder < 0) return fileError("open folder", path.parent_path().native(), errno);
        text = "/proc/self/fd/" + std::to_string(address.m_folder) + "/" + path.filename().string();
        if (text.size() >= sizeof address.m_address.sun_path) return fileError("address", path.native(), ENAMETOOLONG);
    }
    std::memcpy(address.m_address.sun_path, text.c_str(), text.size() + 1);
    return address;
}

Result<int> listenAt(const std::filesystem::path& path, int type) {
    ::unlink(path.c_str());
    LATHE_TRY_ASSIGN(const SocketAddress address, addressOf(path));
    const int fd = ::socket(AF_UNIX, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0) return fileError("create", "a socket", errno);
    if (::bind(fd, address.get(), address.length()) == 0 && ::chmod(path.c_str(), 0600) == 0 && ::listen(fd, 16) == 0) return fd;
    const int problem = errno;
    ::close(fd);
    return fileError("listen on", path.native(), problem);
}

bool peerIsThisUser(int fd) {
    ucred peer{};
    socklen_t length = sizeof peer;
    return ::getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &length) == 0 && peer.uid == ::geteuid();
}

bool sendMessage(int fd, std::string_view message, int passFd) {
    if (message.size() > kMaxMessageBytes) return false;
    iovec part{const_cast<char*>(message.data()), message.size()};
    msghdr header{};
    header.msg_iov = &part;
    header.msg_iovlen = 1;
    alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
    if (passFd >= 0) {
        header.msg_control = control;
        header.msg_controllen = sizeof control;
        cmsghdr* item = CMSG_FIRSTHDR(&header);
        item->cmsg_level = SOL_SOCKET;
        item->cmsg_type = SCM_RIGHTS;
        item->cmsg_len = CMSG_LEN(sizeof(int));
        std::memcpy(CMSG_DATA(item), &passFd, sizeof passFd);
    }
    ssize_t sent = 0;
    do sent = ::sendmsg(fd, &header, MSG_NOSIGNAL | MSG_DONTWAIT);
    while (sent < 0 && errno == EINTR);
    return sent == static_cast<ssize_t>(message.size());
}

static void takeDescriptors(msghdr& header, int* takenFd) {
    for (cmsghdr* item = CMSG_FIRSTHDR(&header); item; item = CMSG_NXTHDR(&header, item)) {
        if (item->cmsg_level != SOL_SOCKET || item->cmsg_type != SCM_RIGHTS) continue;
        const std::size_t count = (item->cmsg_len - CMSG_LEN(0)) / sizeof(int);
        for (std::size_t i = 0; i < count; ++i) {
            int fd = -1;
            std::memcpy(&fd, CMSG_DATA(item) + i * sizeof(int), sizeof fd);
            if (takenFd) std::swap(fd, *takenFd);
            if (fd >= 0) ::close(fd);
        }
    }
}

Received receiveMessage(int fd, std::string& message, int* takenFd) {
    message.resize(kMaxMessageBytes);
    iovec part{message.data(), message.size()};
    alignas(cmsghdr) char control[CMSG_SPACE(4 * sizeof(int))] = {};
    msghdr header{};
    header.msg_iov = &part;
    header.msg_iovlen = 1;
    header.msg_control = control;
    header.msg_controllen = sizeof control;
    ssize_t got = 0;
    do got = ::recvmsg(fd, &header, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    while (got < 0 && errno == EINTR);
    if (got < 0) return errno == EAGAIN || errno == EWOULDBLOCK ? Received::Nothing : Received::Closed;
    takeDescriptors(header, takenFd);
    if (got == 0 || (header.msg_flags & MSG_TRUNC)) return Received::Closed;
    message.resize(static_cast<std::size_t>(got));
    return Received::Message;
}

}  // namespace lathe::live
