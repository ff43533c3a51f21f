// The socket through which programs that are not ours send what they log: SOCK_STREAM in the run folder, peers of the same
// uid that know the session's token. They never map the rings: the supervisor takes their messages and writes the frames.
// Messages, and what a sender must do: FORMAT.md.
#pragma once

#include "base/result.h"
#include "live/segment.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace lathe::live {

constexpr std::uint32_t kProducerVersion = 1;
constexpr std::size_t kMaxProducerMessage = 16u << 20;  ///< bytes of a body

/// Types of messages from 16 on; smaller ones are the FrameType of what becomes of them.
enum class ProducerMessage : std::uint16_t {
    Hello = 16, Saved = 17, Total = 18, Goodbye = 19, Listens = 20,
    Welcome = 32, Refused = 33, Wishes = 34, Taken = 35
};
constexpr std::uint16_t kFirstProducerMessage = 16;

/// A program that sends; the same after it has connected again.
struct Producer {
    std::string id;              ///< random, its own choice
    std::string program;         ///< "python 3.11, lathe.py 1"
    std::uint64_t taken = 0;     ///< number of the last message that came
    std::uint64_t durable = 0;   ///< … that is safe on the disk: what it is told
    std::uint64_t missing = 0;   ///< numbers that never came: what it had to drop
    int connections = 0;         ///< that stand
};

/// Supervisor's end. Thread: owned by the supervisor's loop; `poll()` never blocks, and takes about kMostAtOnce bytes, or as
/// many messages as that many bytes were made of.
class ProducerServer {
public:
    /// Takes one message of a sender (a FrameType, or a ProducerMessage), whose address stays the same as long as the server
    /// lives, and returns the bytes that were written because of it. An error is told to the sender and ends its connection.
    using Handler = std::function<Result<std::size_t>(const Producer& from, std::uint16_t type, std::span<const std::byte> body)>;
    struct Greeting {
        std::string token;                ///< what a hello must bring
        std::string runId, runName;       ///< told in the welcome
    };
    static constexpr std::size_t kMostAtOnce = 1u << 20;  ///< fits into a ring several times, so that nothing is lapped
    static constexpr std::size_t kMostConnections = 256;  ///< more are refused

    static Result<std::unique_ptr<ProducerServer>> listen(const std::filesystem::path& socketPath, Greeting greeting, Handler handler);
    ~ProducerServer();
    int pollFd() const;            ///< epoll descriptor: readable when poll() has something to do
    void poll();
    /// All that poll() has taken so far is safe: senders are told, and may forget it.
    void acknowledge();
    std::size_t unacknowledged() const;  ///< bytes of messages taken since
    /// What senders are asked for; told to each of them, also to those that come later.
    void setWishes(Control::Stop stop, std::int64_t saveRequests);
    /// Programs that have been welcomed, and connections of them that stand.
    int producers() const;
    int connections() const;
    /// Processes behind the connections that stand, as they were when they connected.
    std::vector<std::int64_t> peers() const;
    std::uint64_t missing() const; ///< messages that all senders together had to drop
    /// Connections that were ended because of what they sent, or refused.
    std::uint64_t refused() const;
    struct Impl;
    explicit ProducerServer(std::unique_ptr<Impl> impl);

private:
    std::unique_ptr<Impl> m_impl;
};

}  // namespace lathe::live
