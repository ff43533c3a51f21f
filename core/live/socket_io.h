// Messages with descriptors over Unix SEQPACKET sockets, and addresses of sockets behind long paths. Private to this folder.
#pragma once

#include "base/result.h"

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <sys/socket.h>
#include <sys/un.h>

namespace lathe::live {

constexpr std::size_t kMaxMessageBytes = 64u << 10;

/// sun_path holds 107 bytes; a longer path is reached through a descriptor of its folder, held open as long as this lives.
class SocketAddress {
public:
    SocketAddress() = default;
    SocketAddress(SocketAddress&& other) noexcept;
    SocketAddress& operator=(SocketAddress&&) = delete;
    ~SocketAddress();
    const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&m_address); }
    socklen_t length() const { return sizeof m_address; }

private:
    friend Result<SocketAddress> addressOf(const std::filesystem::path& path);
    sockaddr_un m_address{};
    int m_folder = -1;
};
Result<SocketAddress> addressOf(const std::filesystem::path& path);

/// A listening socket of `type` (SOCK_SEQPACKET, SOCK_STREAM) with mode 0600, close-on-exec, non-blocking. What lies at the
/// path is removed: left by a supervisor that was killed; whoever holds the run's lock owns the name.
Result<int> listenAt(const std::filesystem::path& path, int type);

bool peerIsThisUser(int fd);
/// Never blocks; false when the peer is gone or does not read. `passFd` >= 0 goes along.
bool sendMessage(int fd, std::string_view message, int passFd);

enum class Received { Message, Nothing, Closed };
/// Never blocks. A descriptor that came along replaces *takenFd (closed when takenFd is null).
Received receiveMessage(int fd, std::string& message, int* takenFd);

}  // namespace lathe::live
