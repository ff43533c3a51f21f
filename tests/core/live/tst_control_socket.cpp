#include "live/control_socket.h"
#include "live/segment.h"

#include <QtCore/QTemporaryDir>
#include <QtTest/QTest>

#include <atomic>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace lathe;
using namespace lathe::live;

namespace {

/// A server on a thread of its own that counts what it was asked.
class Served {
public:
    explicit Served(const std::filesystem::path& path) {
        segment = std::move(Segment::create({2, 4096}, "run/1")).value();
        auto made = ControlServer::listen(path, segment->readOnlyFd().value(), [this](const Request& request) {
            ++asked;
            if (request.verb == Verb::Pause) return Reply{0, false, "Already paused", {}};
            return Reply{0, true, "done", "{\"n\":" + std::to_string(asked.load()) + "}"};
        });
        server = std::move(made).value();
        thread = std::thread([this] {
            while (!ending) {
                pollfd wait{server->pollFd(), POLLIN, 0};
                ::poll(&wait, 1, 5);
                server->poll();
            }
        });
    }
    ~Served() {
        ending = true;
        thread.join();
    }
    std::unique_ptr<Segment> segment;
    std::unique_ptr<ControlServer> server;
    std::atomic<int> asked{0};

private:
    std::atomic<bool> ending{false};
    std::thread thread;
};

int rawConnect(const std::filesystem::path& path) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    qstrncpy(address.sun_path, path.c_str(), sizeof address.sun_path);
    const int fd = ::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    return ::connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0 ? fd : -1;
}

}  // namespace

class TestControlSocket : public QObject {
    Q_OBJECT
    QTemporaryDir m_folder;
    std::filesystem::path path(const std::string& name) { return std::filesystem::path(m_folder.path().toStdString()) / name; }

private Q_SLOTS:
    void aClientGetsTheMemoryAndAnswers() {
        Served served(path("a.sock"));
        auto client = ControlClient::connect(path("a.sock"));
        QVERIFY(client.ok());
        const auto fd = (*client)->takeSegmentFd();
        QVERIFY(fd.ok());
        const auto view = Segment::open(*fd, false);
        QVERIFY(view.ok());
        QCOMPARE((*view)->token(), std::string("run/1"));
        const auto saved = (*client)->ask(Verb::SaveNow);
        QVERIFY(saved.ok() && saved->ok);
        QCOMPARE(saved->text, std::string("done"));
        const auto paused = (*client)->ask(Verb::Pause);
        QVERIFY(paused.ok() && !paused->ok);
        QCOMPARE(paused->text, std::string("Already paused"));
        struct stat info {};
        QVERIFY(::stat(path("a.sock").c_str(), &info) == 0);
        QCOMPARE(int(info.st_mode & 0777), 0600);
    }
    void aRepeatedRequestIsDoneOnce() {
        Served served(path("b.sock"));
        const int fd = rawConnect(path("b.sock"));
        QVERIFY(fd >= 0);
        const QByteArray request = R"({"version":1,"client":"c","id":7,"verb":"save-now"})";
        QByteArray answers[2];
        for (QByteArray& answer : answers) {
            QCOMPARE(::send(fd, request.data(), static_cast<std::size_t>(request.size()), 0), static_cast<ssize_t>(request.size()));
            char buffer[4096];
            const ssize_t got = ::recv(fd, buffer, sizeof buffer, 0);
            QVERIFY(got > 0);
            answer = QByteArray(buffer, static_cast<int>(got));
        }
        ::close(fd);
        QCOMPARE(answers[0], answers[1]);
        QCOMPARE(served.asked.load(), 1);
    }
    void nonsenseClosesTheConnectionAndNothingElse() {
        Served served(path("c.sock"));
        for (const QByteArray& message : {QByteArray("not json"), QByteArray("[]"), QByteArray(R"({"version":1,"client":1,"id":1,"verb":"save-now"})"),
                                          QByteArray(R"({"version":1,"client":"c","id":1,"verb":"format-disk"})"), QByteArray(60'000, '{')}) {
            const int fd = rawConnect(path("c.sock"));
            QVERIFY(fd >= 0);
            ::send(fd, message.data(), static_cast<std::size_t>(message.size()), MSG_NOSIGNAL);
            char buffer[4096];
            while (::recv(fd, buffer, sizeof buffer, 0) > 0) {}  // an answer that says so, then the end
            ::close(fd);
        }
        QCOMPARE(served.asked.load(), 0);
        QVERIFY((*ControlClient::connect(path("c.sock")))->ask(Verb::Status).ok());
    }
    void anotherVersionIsRefusedWithASentence() {
        Served served(path("v.sock"));
        for (const QByteArray& message : {QByteArray(R"({"client":"c","id":1,"verb":"save-now"})"), QByteArray(R"({"version":2,"client":"c","id":1,"verb":"save-now"})"),
                                          QByteArray(R"({"version":"1","client":"c","id":1,"verb":"save-now"})")}) {
            const int fd = rawConnect(path("v.sock"));
            QCOMPARE(::send(fd, message.data(), static_cast<std::size_t>(message.size()), MSG_NOSIGNAL), static_cast<ssize_t>(message.size()));
            char buffer[4096];
            const ssize_t got = ::recv(fd, buffer, sizeof buffer, 0);
            QVERIFY(got > 0);
            QVERIFY2(QByteArray(buffer, static_cast<int>(got)).contains("version 1"), buffer);
            QCOMPARE(::recv(fd, buffer, sizeof buffer, 0), ssize_t{0});
            ::close(fd);
        }
        QCOMPARE(served.asked.load(), 0);
    }
    void anAnswerOfAnotherVersionOrShapeIsAnError_data() {
        QTest::addColumn<QByteArray>("answer");
        QTest::addColumn<QByteArray>("says");
        QTest::newRow("newer") << QByteArray(R"({"version":2,"id":1,"ok":true,"text":"","json":""})") << QByteArray("version 2");
        QTest::newRow("no version") << QByteArray(R"({"id":1,"ok":true,"text":"","json":""})") << QByteArray("version");
        QTest::newRow("wrong types") << QByteArray(R"({"version":1,"id":"1","ok":5,"text":null,"json":{}})") << QByteArray("not understood");
        QTest::newRow("not JSON") << QByteArray("yes") << QByteArray("not understood");
        QTest::newRow("refused") << QByteArray(R"({"version":1,"id":0,"ok":false,"text":"speak plainly","json":""})") << QByteArray("speak plainly");
    }
    void anAnswerOfAnotherVersionOrShapeIsAnError() {
        QFETCH(QByteArray, answer);
        QFETCH(QByteArray, says);
        const auto file = path("w.sock");
        ::unlink(file.c_str());
        sockaddr_un address{};
        address.sun_family = AF_UNIX;
        qstrncpy(address.sun_path, file.c_str(), sizeof address.sun_path);
        const int listener = ::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
        QVERIFY(::bind(listener, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0 && ::listen(listener, 1) == 0);
        const auto client = ControlClient::connect(file);
        QVERIFY(client.ok());
        const int peer = ::accept(listener, nullptr, nullptr);
        QCOMPARE(::send(peer, answer.data(), static_cast<std::size_t>(answer.size()), 0), static_cast<ssize_t>(answer.size()));
        const auto reply = (*client)->ask(Verb::Status);
        QVERIFY(!reply.ok());
        QVERIFY2(reply.error().sentence.find(says.toStdString()) != std::string::npos, reply.error().sentence.c_str());
        ::close(peer);
        ::close(listener);
    }
    void clientsThatDoNotReadDoNotStopTheServer() {
        Served served(path("d.sock"));
        const int deaf = rawConnect(path("d.sock"));
        const QByteArray request = R"({"version":1,"client":"deaf","id":1,"verb":"status"})";
        for (int i = 0; i < 2000; ++i)
            if (::send(deaf, request.data(), static_cast<std::size_t>(request.size()), MSG_DONTWAIT | MSG_NOSIGNAL) < 0) break;
        auto client = ControlClient::connect(path("d.sock"));
        QVERIFY(client.ok());
        QVERIFY((*client)->ask(Verb::Status).ok());
        ::close(deaf);
    }
    void pathsLongerThanAnAddressWork() {
        const auto folder = path(std::string(200, 'x'));
        QVERIFY(::mkdir(folder.c_str(), 0700) == 0);
        Served served(folder / "control.sock");
        auto client = ControlClient::connect(folder / "control.sock");
        QVERIFY(client.ok());
        QVERIFY((*client)->ask(Verb::Status).ok());
    }
    void aLeftoverSocketIsReplacedAndAMissingOneSaysSo() {
        const auto nobody = ControlClient::connect(path("none.sock"));
        QVERIFY(!nobody.ok());
        QVERIFY(nobody.error().sentence.find("not up") != std::string::npos);
        const pid_t child = ::fork();
        if (child == 0) {  // dies without tidying up
            const int segment = ::dup(0);
            auto server = ControlServer::listen(path("e.sock"), segment, [](const Request&) { return Reply{}; });
            ::_exit(server.ok() ? 0 : 1);
        }
        int status = 0;
        ::waitpid(child, &status, 0);
        QVERIFY(WIFEXITED(status) && WEXITSTATUS(status) == 0);
        QVERIFY(std::filesystem::exists(path("e.sock")));
        QVERIFY(!ControlClient::connect(path("e.sock")).ok());
        Served served(path("e.sock"));
        QVERIFY((*ControlClient::connect(path("e.sock")))->ask(Verb::Status).ok());
    }
    void aServerThatGoesAwayIsNoticed() {
        auto served = std::make_unique<Served>(path("f.sock"));
        auto client = std::move(ControlClient::connect(path("f.sock"))).value();
        QVERIFY(client->ask(Verb::Status).ok());
        served.reset();
        QVERIFY(!client->ask(Verb::Status).ok());
        QVERIFY(!client->connected());
        QVERIFY(!std::filesystem::exists(path("f.sock")));
    }
};

QTEST_GUILESS_MAIN(TestControlSocket)
#include "tst_control_socket.moc"
