// The control socket of a live run: SOCK_SEQPACKET in the run folder (through /proc/self/fd where the path is too long
// for sun_path), peers of the same uid only. A client gets a read-only descriptor of the segment and sends requests.
// Messages are JSON objects, at most 64 KiB: FORMAT.md.
#pragma once

#include "base/result.h"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>

namespace lathe::live {

/// Release: pause, and once that is saved let the workers go; where it cannot be saved it stays a pause.
enum class Verb { Attach, SaveNow, Pause, Unpause, StopAndSave, Discard, Status, Release };

struct Request {
    std::string client;   ///< random id of the client; (client, id) is answered once and remembered
    std::int64_t id = 0;
    Verb verb = Verb::Status;
};

struct Reply {
    std::int64_t id = 0;
    bool ok = true;
    std::string text;     ///< sentence: what was done, or why not
    std::string json;     ///< facts, an object or empty
};

/// Supervisor's end. Thread: owned by the supervisor's loop; `poll()` never blocks.
class ControlServer {
public:
    using Handler = std::function<Reply(const Request&)>;
    static Result<std::unique_ptr<ControlServer>> listen(const std::filesystem::path& socketPath, int readOnlySegmentFd, Handler handler);
    ~ControlServer();
    int pollFd() const;       ///< epoll descriptor: readable when poll() has something to do
    void poll();
    struct Impl;
    explicit ControlServer(std::unique_ptr<Impl> impl);

private:
    std::unique_ptr<Impl> m_impl;
};

/// A window's or terminal's end. Thread: one thread at a time.
class ControlClient {
public:
    static Result<std::unique_ptr<ControlClient>> connect(const std::filesystem::path& socketPath);
    ~ControlClient();
    /// The session's segment, read-only; the caller owns the descriptor.
    Result<int> takeSegmentFd();
    /// Sends and waits up to `timeoutMs` for the answer. Repeating a request with the same id is harmless.
    Result<Reply> ask(Verb verb, int timeoutMs = 5000);
    bool connected() const;
    struct Impl;
    explicit ControlClient(std::unique_ptr<Impl> impl);

private:
    std::unique_ptr<Impl> m_impl;
};

}  // namespace lathe::live
