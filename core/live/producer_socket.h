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

/// Types of messages; 1 to 9 are those of the frames that become of them.
enum class ProducerMessage : std::uint16_t {
    Series = 1, Points = 2, Event = 3, Table = 4, Histogram = 5, Text = 6, Image = 7, Summary = 8, OwnCheckpoint = 9,
    Hello = 16, Saved = 17, Total = 18, Goodbye = 19, Listens = 20,
    Welcome = 32, Refused = 33, Wishes = 34, Taken = 35
};

/// A program that sends; the same after it has connected again.
struct Producer {
    std::string id;              ///< random, its own choice
    std::string program;         ///< "python 3.11, lathe.py 1"
    std::uint64_t taken = 0;     ///< number of the last message that was taken
    std::uint64_t missing = 0;   ///< numbers that never came: what it had to drop
};

/// Supervisor's end. Thread: owned by the supervisor's loop; `poll()` never blocks, and takes about kMostAtOnce bytes.
class ProducerServer {
public:
    /// Takes one message of a sender. An error is told to it and ends its connection.
    using Handler = std::function<Result<void>(const Producer& from, ProducerMessage type, std::span<const std::byte> body)>;
    struct Greeting {
        std::string token;                ///< what a hello must bring
        std::string runId, runName;       ///< told in the welcome
    };
    static constexpr std::size_t kMostAtOnce = 1u << 20;  ///< fits into a ring several times, so that nothing is lapped

    static Result<std::unique_ptr<ProducerServer>> listen(const std::filesystem::path& socketPath, Greeting greeting, Handler handler);
    ~ProducerServer();
    int pollFd() const;            ///< epoll descriptor: readable when poll() has something to do
    void poll();
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
