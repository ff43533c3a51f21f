// A program that logs to a ProgramHost, and says exactly what the test wants.
#pragma once

#include "base/bytes.h"
#include "program_host.h"

#include <QtTest/QTest>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#include <utility>
#include <vector>

namespace lathe::tests {

/// With every byte as core/live/FORMAT.md has it.
class Sender {
public:
    explicit Sender(ProgramHost& host, bool connects = true) : m_host(host) {
        if (connects) connect();
    }
    ~Sender() { close(); }
    void close() {
        if (m_fd >= 0) ::close(m_fd);
        m_fd = -1;
    }
    void connect() {
        close();
        sockaddr_un address{};
        address.sun_family = AF_UNIX;
        qstrncpy(address.sun_path, m_host.variable("LATHE_SOCKET").c_str(), sizeof address.sun_path);
        m_fd = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
        const timeval patience{20, 0};
        ::setsockopt(m_fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
        if (::connect(m_fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) qFatal("cannot connect");
    }
    static Bytes message(int type, std::uint64_t sequence, const Bytes& body) {
        Bytes out;
        put(out, static_cast<std::uint32_t>(body.size()));
        put(out, static_cast<std::uint16_t>(type));
        put(out, std::uint16_t{0});
        put(out, sequence);
        putBytes(out, body);
        return out;
    }
    /// False when the other side has closed already.
    bool sendBytes(std::span<const std::byte> bytes) {
        while (!bytes.empty()) {
            const ssize_t sent = ::send(m_fd, bytes.data(), bytes.size(), MSG_NOSIGNAL);
            if (sent <= 0) return false;
            bytes = bytes.subspan(static_cast<std::size_t>(sent));
        }
        return true;
    }
    bool send(int type, const Bytes& body) { return sendBytes(message(type, ++number, body)); }
    void hello(std::uint32_t version = 1, const std::string& token = {}) { sendBytes(helloMessage(version, token)); }
    Bytes helloMessage(std::uint32_t version = 1, const std::string& token = {}) const {
        Bytes body;
        putBytes(body, std::as_bytes(std::span("LATHEPRG", 8)));
        put(body, version);
        putText(body, token.empty() ? m_host.variable("LATHE_TOKEN") : token);
        putText(body, id);
        putText(body, "test 1");
        return message(16, 0, body);
    }
    /// The next message, type 0 when the connection has been closed.
    std::pair<int, Bytes> receive() {
        const Bytes header = take(16);
        if (header.empty()) return {};
        ByteReader in(header);
        const auto size = in.get<std::uint32_t>();
        const int type = in.get<std::uint16_t>();
        return {type, take(size)};
    }
    /// Messages up to one of this type; empty when the connection was closed before.
    std::optional<Bytes> receive(int type) {
        while (true) {
            auto [got, body] = receive();
            if (got == type) return body;
            if (got == 0) return std::nullopt;
        }
    }
    void waitTaken(std::uint64_t sequence) {
        while (auto body = receive(35))
            if (ByteReader(*body).get<std::uint64_t>() >= sequence) return;
        QFAIL("the connection was closed");
    }
    void series(std::uint16_t seriesId, const std::string& name) {
        Bytes body;
        put(body, seriesId);
        putText(body, name);
        putText(body, "");
        send(1, body);
    }
    static Bytes pointBody(std::int64_t step, const std::vector<std::pair<std::uint16_t, double>>& values) {
        Bytes body;
        put(body, step);
        put(body, std::int64_t{1'700'000'000'000'000'000} + step);
        put(body, static_cast<std::uint16_t>(values.size()));
        for (const auto& [seriesId, value] : values) {
            put(body, seriesId);
            put(body, value);
        }
        return body;
    }
    void point(std::int64_t step, const std::vector<std::pair<std::uint16_t, double>>& values) { send(2, pointBody(step, values)); }
    void record(int type, std::int64_t step, const std::string& name, const std::string& content, const std::string& form = {}) {
        Bytes body;
        put(body, step);
        put(body, std::int64_t{5});
        putText(body, name);
        putText(body, form);
        putText(body, content);
        send(type, body);
    }

    std::string id = "sender-one";
    std::uint64_t number = 0;

private:
    Bytes take(std::size_t size) {
        Bytes out(size);
        std::size_t done = 0;
        while (done < size) {
            const ssize_t got = ::recv(m_fd, out.data() + done, size - done, 0);
            if (got <= 0) return {};
            done += static_cast<std::size_t>(got);
        }
        return out;
    }
    ProgramHost& m_host;
    int m_fd = -1;
};

}  // namespace lathe::tests
