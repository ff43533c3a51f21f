#include "live/producer_socket.h"

#include "base/bytes.h"
#include "base/log.h"
#include "live/socket_io.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <list>
#include <map>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace lathe::live {
namespace {

constexpr std::uint64_t kMagic = 0x475250454854414cull;  // "LATHEPRG" as little-endian bytes
constexpr std::size_t kHeaderBytes = 16;
constexpr std::size_t kMaxHello = 4096;
constexpr std::size_t kMaxProducers = 4096;
constexpr std::size_t kReadBytes = 128u << 10;   // of one connection at a time, so that none can starve the others
constexpr std::size_t kMaxUnsent = 4096;         // answers are small; a peer that reads none of them is not waited for

struct Connection {
    int fd = -1;
    Producer* producer = nullptr;  ///< nothing before its hello
    Bytes in, out;
    bool hasMore = false;          ///< whole messages wait in `in`
    bool wishesDue = false;
    std::uint64_t durableTold = 0;
};

Bytes message(ProducerMessage type, const Bytes& body) {
    Bytes out;
    put(out, static_cast<std::uint32_t>(body.size()));
    put(out, static_cast<std::uint16_t>(type));
    put(out, std::uint16_t{0});
    put(out, std::uint64_t{0});
    putBytes(out, body);
    return out;
}

Error refusal(const std::string& sentence) { return {ErrorCode::Corrupt, sentence, {}, {}}; }

}  // namespace

struct ProducerServer::Impl {
    std::filesystem::path path;
    Greeting greeting;
    Handler handler;
    int listener = -1, epoll = -1;
    std::list<Connection> connections;
    std::map<std::string, Producer> producers;  ///< by id
    Control::Stop stop = Control::Stop::None;
    std::int64_t saveRequests = 0;
    std::uint64_t refused = 0;
    std::size_t unacknowledged = 0;

    ~Impl() {
        for (const Connection& connection : connections) ::close(connection.fd);
        if (listener >= 0) {
            ::close(listener);
            ::unlink(path.c_str());
        }
        if (epoll >= 0) ::close(epoll);
    }

    void watch(const Connection& connection) const {
        epoll_event event{};
        event.events = connection.out.empty() && !connection.hasMore ? EPOLLIN : EPOLLIN | EPOLLOUT;  // always writable: wakes at once
        event.data.fd = connection.fd;
        if (::epoll_ctl(epoll, EPOLL_CTL_MOD, connection.fd, &event) != 0) ::epoll_ctl(epoll, EPOLL_CTL_ADD, connection.fd, &event);
    }

    void accept() {
        while (true) {
            const int fd = ::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
            if (fd < 0) return;
            if (!peerIsThisUser(fd)) {
                ++refused;
                ::close(fd);
                continue;
            }
            connections.emplace_back();
            connections.back().fd = fd;
            if (connections.size() > kMostConnections) {
                refuse(connections.back(), refusal("This run has " + std::to_string(kMostConnections) + " connections already, as many as it may have"));
                end(std::prev(connections.end()));
            } else {
                watch(connections.back());
            }
        }
    }

    /// False when the peer is gone.
    bool send(Connection& connection) {
        while (!connection.out.empty()) {
            const ssize_t sent = ::send(connection.fd, connection.out.data(), connection.out.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
            if (sent < 0 && errno == EINTR) continue;
            if (sent < 0) return errno == EAGAIN || errno == EWOULDBLOCK;
            connection.out.erase(connection.out.begin(), connection.out.begin() + sent);
        }
        return true;
    }

    /// Wishes and receipts are states, not a queue: one that does not fit now is told later as it stands then.
    void tell(Connection& connection) {
        if (connection.producer == nullptr) return;
        if (connection.wishesDue && connection.out.size() < kMaxUnsent) {
            Bytes body;
            put(body, static_cast<std::uint8_t>(stop));
            put(body, static_cast<std::uint64_t>(saveRequests));
            putBytes(connection.out, message(ProducerMessage::Wishes, body));
            connection.wishesDue = false;
        }
        if (connection.durableTold != connection.producer->durable && connection.out.size() < kMaxUnsent) {
            Bytes body;
            put(body, connection.producer->durable);
            putBytes(connection.out, message(ProducerMessage::Taken, body));
            connection.durableTold = connection.producer->durable;
        }
    }

    Result<std::size_t> greet(Connection& connection, std::span<const std::byte> body) {
        ByteReader in(body);
        if (in.get<std::uint64_t>() != kMagic) return refusal("This socket takes what programs log for a run of Lathe; something else was sent");
        const auto version = in.get<std::uint32_t>();
        if (version != kProducerVersion) {
            return Error{ErrorCode::Version, "The program speaks version " + std::to_string(version) + " of the protocol and this Lathe version "
                         + std::to_string(kProducerVersion) + "; use the client that came with this Lathe", {}, {}};
        }
        const std::string token = in.getText(), id = in.getText(), program = in.getText();
        if (!in.finished() || id.empty() || id.size() > 64) return refusal("The hello is malformed");
        if (token != greeting.token) return Error{ErrorCode::Permission, "The token is not the one of this session (LATHE_TOKEN); it may belong to an earlier run", {}, {}};
        if (!producers.contains(id) && producers.size() >= kMaxProducers) return refusal("Too many programs have connected to this run");
        Producer& producer = producers[id];
        producer.id = id;
        producer.program = program.substr(0, 200);
        connection.producer = &producer;
        ++producer.connections;
        connection.durableTold = producer.durable;
        connection.wishesDue = true;
        Bytes welcome;
        put(welcome, kProducerVersion);
        put(welcome, producer.durable);
        putText(welcome, greeting.runId);
        putText(welcome, greeting.runName);
        putBytes(connection.out, message(ProducerMessage::Welcome, welcome));
        return handler(producer, static_cast<std::uint16_t>(ProducerMessage::Hello), {});
    }

    Result<std::size_t> takeMessage(Connection& connection, std::uint16_t type, std::uint64_t number, std::span<const std::byte> body) {
        if (connection.producer == nullptr) {
            if (type != static_cast<std::uint16_t>(ProducerMessage::Hello)) return refusal("The first message must be a hello");
            return greet(connection, body);
        }
        Producer& producer = *connection.producer;
        if (number <= producer.taken) return std::size_t{0};  // sent again after a connection that broke
        producer.missing += number - producer.taken - 1;
        producer.taken = number;
        return handler(producer, type, body);
    }

    /// Whole messages at the front of what came in, until `*taken` bytes are enough for one poll().
    Result<void> takeMessages(Connection& connection, std::size_t* taken) {
        std::size_t done = 0;
        Result<void> result;
        connection.hasMore = false;
        while (result && connection.in.size() - done >= kHeaderBytes) {
            ByteReader header(std::span(connection.in).subspan(done, kHeaderBytes));
            const std::size_t bytes = header.get<std::uint32_t>();
            const auto type = header.get<std::uint16_t>();
            const auto zero = header.get<std::uint16_t>();
            const auto number = header.get<std::uint64_t>();
            const std::size_t most = connection.producer == nullptr ? kMaxHello : kMaxProducerMessage;
            if (zero != 0 || bytes > most) return refusal("A message is malformed or longer than " + std::to_string(most) + " bytes");
            if (connection.in.size() - done < kHeaderBytes + bytes) break;
            if (*taken >= kMostAtOnce) {
                connection.hasMore = true;
                break;
            }
            const auto written = takeMessage(connection, type, number, std::span(connection.in).subspan(done + kHeaderBytes, bytes));
            done += kHeaderBytes + bytes;
            unacknowledged += kHeaderBytes + bytes;
            if (written) *taken += *written;
            else result = written.error();
        }
        connection.in.erase(connection.in.begin(), connection.in.begin() + static_cast<std::ptrdiff_t>(done));
        return result;
    }

    void refuse(Connection& connection, const Error& why) {
        ++refused;
        if (refused == 1 || refused % 1000 == 0) log::warning("A program's connection was ended (" + std::to_string(refused) + " so far): " + why.text());
        Bytes body;
        putText(body, why.text());
        putBytes(connection.out, message(ProducerMessage::Refused, body));
        send(connection);
    }

    /// Reads once, unless messages wait already; false when the connection is over. `*taken` grows by the bytes read and written.
    bool serve(Connection& connection, std::size_t* taken) {
        return (connection.hasMore || read(connection, taken)) && takeIn(connection, taken);
    }

    /// False when the connection is over.
    bool read(Connection& connection, std::size_t* taken) {
        const std::size_t before = connection.in.size();
        connection.in.resize(before + kReadBytes);
        const ssize_t got = ::recv(connection.fd, connection.in.data() + before, kReadBytes, MSG_DONTWAIT);
        const int problem = errno;
        connection.in.resize(before + static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
        if (got == 0) return false;
        if (got < 0) return problem == EAGAIN || problem == EWOULDBLOCK || problem == EINTR;
        *taken += static_cast<std::size_t>(got);
        return true;
    }

    bool takeIn(Connection& connection, std::size_t* taken) {
        const auto result = takeMessages(connection, taken);
        tell(connection);
        if (!result) {
            refuse(connection, result.error());
            return false;
        }
        return flushOut(connection);
    }

    bool flushOut(Connection& connection) {
        const bool fine = send(connection);
        watch(connection);
        return fine;
    }

    void end(std::list<Connection>::iterator connection) {
        if (connection->producer != nullptr) --connection->producer->connections;
        ::close(connection->fd);
        connections.erase(connection);
    }
};

ProducerServer::ProducerServer(std::unique_ptr<Impl> impl) : m_impl(std::move(impl)) {}
ProducerServer::~ProducerServer() = default;
int ProducerServer::pollFd() const { return m_impl->epoll; }
int ProducerServer::producers() const { return static_cast<int>(m_impl->producers.size()); }
std::uint64_t ProducerServer::refused() const { return m_impl->refused; }

int ProducerServer::connections() const {
    return static_cast<int>(std::count_if(m_impl->connections.begin(), m_impl->connections.end(), [](const Connection& one) { return one.producer != nullptr; }));
}

std::vector<std::int64_t> ProducerServer::peers() const {
    std::vector<std::int64_t> pids;
    for (const Connection& one : m_impl->connections) {
        ucred peer{};
        socklen_t length = sizeof peer;
        if (one.producer != nullptr && ::getsockopt(one.fd, SOL_SOCKET, SO_PEERCRED, &peer, &length) == 0) pids.push_back(peer.pid);
    }
    return pids;
}

std::uint64_t ProducerServer::missing() const {
    std::uint64_t sum = 0;
    for (const auto& [id, producer] : m_impl->producers) sum += producer.missing;
    return sum;
}

Result<std::unique_ptr<ProducerServer>> ProducerServer::listen(const std::filesystem::path& socketPath, Greeting greeting, Handler handler) {
    auto impl = std::make_unique<Impl>();
    impl->path = socketPath;
    impl->greeting = std::move(greeting);
    impl->handler = std::move(handler);
    LATHE_TRY_ASSIGN(impl->listener, listenAt(socketPath, SOCK_STREAM));
    impl->epoll = ::epoll_create1(EPOLL_CLOEXEC);
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.fd = impl->listener;
    if (impl->epoll < 0 || ::epoll_ctl(impl->epoll, EPOLL_CTL_ADD, impl->listener, &event) != 0)
        return fileError("watch", socketPath.native(), errno);
    return std::make_unique<ProducerServer>(std::move(impl));
}

void ProducerServer::poll() {
    std::size_t taken = 0;
    bool more = true;  // a program that connects is heard in the same turn: it may be the child of one that has just left
    while (more && taken < kMostAtOnce) {
        std::array<epoll_event, 16> events{};
        const int count = ::epoll_wait(m_impl->epoll, events.data(), static_cast<int>(events.size()), 0);
        const std::size_t before = taken;
        more = false;
        for (int i = 0; i < count && taken < kMostAtOnce; ++i) {
            const int fd = events[static_cast<std::size_t>(i)].data.fd;
            if (fd == m_impl->listener) {
                m_impl->accept();
                more = true;
                continue;
            }
            const auto found = std::find_if(m_impl->connections.begin(), m_impl->connections.end(), [fd](const Connection& one) { return one.fd == fd; });
            if (found != m_impl->connections.end() && !m_impl->serve(*found, &taken)) m_impl->end(found);
        }
        more = more || taken != before;
    }
}

void ProducerServer::acknowledge() {
    m_impl->unacknowledged = 0;
    for (auto& [id, producer] : m_impl->producers) producer.durable = producer.taken;
    for (Connection& connection : m_impl->connections) {
        if (connection.producer == nullptr || connection.durableTold == connection.producer->durable) continue;
        m_impl->tell(connection);
        m_impl->flushOut(connection);
    }
}

std::size_t ProducerServer::unacknowledged() const { return m_impl->unacknowledged; }

void ProducerServer::setWishes(Control::Stop stop, std::int64_t saveRequests) {
    if (m_impl->stop == stop && m_impl->saveRequests == saveRequests) return;
    m_impl->stop = stop;
    m_impl->saveRequests = saveRequests;
    for (Connection& connection : m_impl->connections) {
        connection.wishesDue = true;
        m_impl->tell(connection);
        m_impl->flushOut(connection);
    }
}

}  // namespace lathe::live
