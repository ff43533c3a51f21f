#include "live/control_socket.h"

#include "live/socket_io.h"

#include <nlohmann/json.hpp>

#include <array>
#include <cerrno>
#include <chrono>
#include <deque>
#include <list>
#include <map>
#include <optional>
#include <poll.h>
#include <random>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>
#include <utility>

namespace lathe::live {
namespace {

constexpr std::size_t kMaxClients = 64;
constexpr std::size_t kRememberedReplies = 64;    // of one client
constexpr std::size_t kRememberedClients = 256;
constexpr int kMessagesPerPoll = 16;              // of one client, so that none can starve the recorder
constexpr std::int64_t kProtocolVersion = 1;
constexpr std::int64_t kNoRequest = 0;             // id of the reply to what is no request that can be answered
constexpr std::array kVerbs{"attach", "save-now", "pause", "unpause", "stop-and-save", "discard", "status", "release"};

/// A sentence when the other side speaks another version, or none at all.
std::optional<std::string> versionProblem(const nlohmann::json& message, const char* what) {
    const auto version = message.find("version");
    if (version == message.end() || !version->is_number_integer())
        return std::string("This ") + what + " does not say its version; Lathe speaks version " + std::to_string(kProtocolVersion);
    if (*version == kProtocolVersion) return std::nullopt;
    return std::string("This ") + what + " is of version " + version->dump() + ", this program speaks version " + std::to_string(kProtocolVersion)
           + "; use the lathe-trainer that the run was started with";
}

Result<Request> parseRequest(const std::string& message) {
    const Error notUnderstood{ErrorCode::Usage, "This request is not understood", {}, {}};
    const auto json = nlohmann::json::parse(message, nullptr, false);
    if (!json.is_object()) return notUnderstood;
    if (auto problem = versionProblem(json, "request")) return Error{ErrorCode::Version, std::move(*problem), {}, {}};
    Request request;
    const auto client = json.find("client"), id = json.find("id"), verb = json.find("verb");
    if (client == json.end() || !client->is_string() || id == json.end() || !id->is_number_integer() || verb == json.end() || !verb->is_string())
        return notUnderstood;
    request.client = client->get<std::string>();
    request.id = id->get<std::int64_t>();
    for (std::size_t i = 0; i < kVerbs.size(); ++i)
        if (*verb == kVerbs[i]) {
            request.verb = static_cast<Verb>(i);
            return request;
        }
    return notUnderstood;
}

Result<Reply> parseReply(const std::string& message) {
    const Error notUnderstood{ErrorCode::Corrupt, "The run's supervisor gave an answer that is not understood", {}, {}};
    const auto json = nlohmann::json::parse(message, nullptr, false);
    if (!json.is_object()) return notUnderstood;
    if (auto problem = versionProblem(json, "answer")) return Error{ErrorCode::Version, std::move(*problem), {}, {}};
    const auto id = json.find("id"), ok = json.find("ok"), text = json.find("text"), facts = json.find("json");
    for (const auto& field : {id, ok, text, facts})
        if (field == json.end()) return notUnderstood;
    if (!id->is_number_integer() || !ok->is_boolean() || !text->is_string() || !facts->is_string()) return notUnderstood;
    return Reply{id->get<std::int64_t>(), ok->get<bool>(), text->get<std::string>(), facts->get<std::string>()};
}

std::string replyText(const Reply& reply) {
    return nlohmann::json{{"version", kProtocolVersion}, {"id", reply.id}, {"ok", reply.ok}, {"text", reply.text}, {"json", reply.json}}
        .dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace

struct ControlServer::Impl {
    std::filesystem::path path;
    int listener = -1, epoll = -1, segmentFd = -1;
    Handler handler;
    std::list<int> clients;
    std::map<std::string, std::deque<Reply>> memory;  ///< by client
    std::deque<std::string> memoryOrder;

    ~Impl() {
        for (const int fd : clients) ::close(fd);
        if (listener >= 0) {
            ::close(listener);
            ::unlink(path.c_str());
        }
        if (epoll >= 0) ::close(epoll);
        if (segmentFd >= 0) ::close(segmentFd);
    }

    void accept() {
        while (true) {
            const int fd = ::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
            if (fd < 0) return;
            if (!peerIsThisUser(fd) || clients.size() >= kMaxClients) {
                ::close(fd);
                continue;
            }
            epoll_event event{};
            event.events = EPOLLIN;
            event.data.fd = fd;
            if (::epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event) != 0) {
                ::close(fd);
                continue;
            }
            clients.push_back(fd);
        }
    }

    /// False: the client is gone or broke the protocol.
    bool serve(int fd) {
        for (int n = 0; n < kMessagesPerPoll; ++n) {
            std::string message;
            const Received received = receiveMessage(fd, message, nullptr);
            if (received == Received::Nothing) return true;
            if (received == Received::Closed) return false;
            const auto request = parseRequest(message);
            if (!request) {
                static_cast<void>(sendMessage(fd, replyText({kNoRequest, false, request.error().sentence, {}}), -1));
                return false;
            }
            if (!sendMessage(fd, replyText(answer(*request)), request->verb == Verb::Attach ? segmentFd : -1)) return false;
        }
        return true;
    }

    /// A repeated request gets the first answer again and does nothing twice.
    Reply answer(const Request& request) {
        auto [it, isNew] = memory.try_emplace(request.client);
        if (isNew) {
            memoryOrder.push_back(request.client);
            if (memoryOrder.size() > kRememberedClients) {
                memory.erase(memoryOrder.front());
                memoryOrder.pop_front();
            }
        }
        std::deque<Reply>& replies = it->second;
        for (const Reply& known : replies)
            if (known.id == request.id) return known;
        Reply reply = request.verb == Verb::Attach ? Reply{} : handler(request);
        reply.id = request.id;
        if (request.verb != Verb::Attach && request.verb != Verb::Status) {
            replies.push_back(reply);
            if (replies.size() > kRememberedReplies) replies.pop_front();
        }
        return reply;
    }
};

ControlServer::ControlServer(std::unique_ptr<Impl> impl) : m_impl(std::move(impl)) {}
ControlServer::~ControlServer() = default;
int ControlServer::pollFd() const { return m_impl->epoll; }

Result<std::unique_ptr<ControlServer>> ControlServer::listen(const std::filesystem::path& socketPath, int readOnlySegmentFd, Handler handler) {
    auto impl = std::make_unique<Impl>();
    impl->path = socketPath;
    impl->segmentFd = readOnlySegmentFd;
    impl->handler = std::move(handler);
    LATHE_TRY_ASSIGN(impl->listener, listenAt(socketPath, SOCK_SEQPACKET));
    impl->epoll = ::epoll_create1(EPOLL_CLOEXEC);
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.fd = impl->listener;
    if (impl->epoll < 0 || ::epoll_ctl(impl->epoll, EPOLL_CTL_ADD, impl->listener, &event) != 0)
        return fileError("watch", socketPath.native(), errno);
    return std::unique_ptr<ControlServer>(new ControlServer(std::move(impl)));
}

void ControlServer::poll() {
    std::array<epoll_event, 16> events{};
    const int count = ::epoll_wait(m_impl->epoll, events.data(), static_cast<int>(events.size()), 0);
    for (int i = 0; i < count; ++i) {
        const int fd = events[static_cast<std::size_t>(i)].data.fd;
        if (fd == m_impl->listener) {
            m_impl->accept();
        } else if (!m_impl->serve(fd)) {
            ::close(fd);
            m_impl->clients.remove(fd);
        }
    }
}

struct ControlClient::Impl {
    int fd = -1;
    int segmentFd = -1;
    std::string client;
    std::int64_t lastId = 0;

    ~Impl() {
        if (fd >= 0) ::close(fd);
        if (segmentFd >= 0) ::close(segmentFd);
    }
    void disconnect() {
        if (fd >= 0) ::close(std::exchange(fd, -1));
    }
};

ControlClient::ControlClient(std::unique_ptr<Impl> impl) : m_impl(std::move(impl)) {}
ControlClient::~ControlClient() = default;
bool ControlClient::connected() const { return m_impl->fd >= 0; }

Result<std::unique_ptr<ControlClient>> ControlClient::connect(const std::filesystem::path& socketPath) {
    auto impl = std::make_unique<Impl>();
    LATHE_TRY_ASSIGN(const SocketAddress address, addressOf(socketPath));
    impl->fd = ::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (impl->fd < 0) return fileError("create", "a socket", errno);
    if (::connect(impl->fd, address.get(), address.length()) != 0) {
        const int problem = errno;
        if (problem == ECONNREFUSED || problem == ENOENT)
            return Error{ErrorCode::NotFound, "Nothing answers at " + socketPath.string() + "; the run is not up", {}, {}};
        return fileError("connect to", socketPath.native(), problem);
    }
    std::random_device random;
    for (int i = 0; i < 4; ++i) impl->client += std::to_string(random()) + (i < 3 ? "-" : "");
    return std::unique_ptr<ControlClient>(new ControlClient(std::move(impl)));
}

Result<int> ControlClient::takeSegmentFd() {
    LATHE_TRY(ask(Verb::Attach));
    if (m_impl->segmentFd < 0) return Error{ErrorCode::Corrupt, "The run's supervisor sent no shared memory", {}, {}};
    return std::exchange(m_impl->segmentFd, -1);
}

Result<Reply> ControlClient::ask(Verb verb, int timeoutMs) {
    const Error gone{ErrorCode::NotFound, "The run's supervisor has gone", {}, {}};
    if (m_impl->fd < 0) return gone;
    const std::int64_t id = ++m_impl->lastId;
    const nlohmann::json request{{"version", kProtocolVersion}, {"client", m_impl->client}, {"id", id}, {"verb", kVerbs[static_cast<std::size_t>(verb)]}};
    if (!sendMessage(m_impl->fd, request.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace), -1)) {
        m_impl->disconnect();
        return gone;
    }
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds(timeoutMs);
    while (true) {
        std::string message;
        const Received received = receiveMessage(m_impl->fd, message, &m_impl->segmentFd);
        if (received == Received::Closed) {
            m_impl->disconnect();
            return gone;
        }
        if (received == Received::Message) {
            LATHE_TRY_ASSIGN(Reply reply, parseReply(message));
            if (reply.id == kNoRequest) return Error{ErrorCode::Usage, std::move(reply.text), {}, {}};
            if (reply.id == id) return reply;
            continue;  // the late answer to a question given up
        }
        const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now()).count();
        if (left <= 0) return Error{ErrorCode::Timeout, "The run's supervisor did not answer within " + std::to_string(timeoutMs) + " ms", {}, {}};
        pollfd wait{m_impl->fd, POLLIN, 0};
        ::poll(&wait, 1, static_cast<int>(left));
    }
}

}  // namespace lathe::live
