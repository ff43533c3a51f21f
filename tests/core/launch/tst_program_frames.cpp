// What programs that are not ours send over the producer socket, well-behaved and otherwise, and what becomes of it.
#include "base/bytes.h"
#include "base/file_system.h"
#include "base/hash.h"
#include "program_host.h"
#include "program_sender.h"

#include <QtCore/QRandomGenerator>
#include <QtCore/QTemporaryDir>
#include <QtTest/QTest>

#include <cmath>
#include <csignal>
#include <limits>
#include <random>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace lathe;
using tests::ProgramHost;
using tests::Sender;

namespace {

std::string textOf(const std::optional<Bytes>& body) { return body ? ByteReader(*body).getText() : std::string("nothing"); }

}  // namespace

class TestProgramFrames : public QObject {
    Q_OBJECT

    QTemporaryDir m_folder;
    int m_serial = 0;
    std::filesystem::path workspace() { return std::filesystem::path(m_folder.path().toStdString()) / std::to_string(++m_serial); }

private Q_SLOTS:
    void initTestCase() { std::signal(SIGPIPE, SIG_IGN); }

    void pointsAreKeptInOrderOfArrival() {
        ProgramHost host(workspace());
        Sender sender(host);
        sender.hello();
        sender.series(3, "loss");
        sender.series(9, "val_acc");
        const double nan = std::numeric_limits<double>::quiet_NaN(), inf = std::numeric_limits<double>::infinity();
        const std::vector<std::pair<std::int64_t, double>> sent = {{10, 0.5}, {11, nan}, {11, 0.25}, {5, -inf}, {-3, 1.5}, {12, inf}};
        for (const auto& [step, value] : sent) sender.point(step, {{3, value}});
        sender.point(12, {{9, 0.75}, {3, 0.125}});
        sender.waitTaken(sender.number);
        const auto points = host.points("train/loss");
        QCOMPARE(points.size(), sent.size() + 1);
        for (std::size_t i = 0; i < sent.size(); ++i) {
            QCOMPARE(points[i].attempt, static_cast<std::int64_t>(i + 1));
            QCOMPARE(points[i].step, sent[i].first);
            QVERIFY(std::isnan(sent[i].second) ? std::isnan(points[i].value) : points[i].value == sent[i].second);
            QCOMPARE(points[i].wallNs, std::int64_t{1'700'000'000'000'000'000} + sent[i].first);
        }
        QCOMPARE(host.points("eval/accuracy").at(0).attempt, points.back().attempt);
        QCOMPARE(host.summary().counters.globalStep.value(), std::int64_t{12});
        QCOMPARE(host.summary().counters.skippedUpdates.value(), std::int64_t{0});
    }

    void theVectorsOfTheFormatAreUnderstood() {
        ProgramHost host(workspace());
        Sender sender(host);
        sender.hello();
        const QByteArray bytes = QByteArray::fromHex("0e00000001000000010000000000000000000400 00006c6f737300000000"
                                                     "1c000000020000000200000000000000 0700000000000000d00700000000000001000000000000000000e03f");
        sender.sendBytes(std::as_bytes(std::span(bytes.constData(), static_cast<std::size_t>(bytes.size()))));
        sender.waitTaken(2);
        const auto points = host.points("train/loss");
        QCOMPARE(points.size(), std::size_t{1});
        QCOMPARE(points[0].step, std::int64_t{7});
        QCOMPARE(points[0].wallNs, std::int64_t{2000});
        QCOMPARE(points[0].value, 0.5);
    }

    void recordsAreKeptAndFoundByName() {
        ProgramHost host(workspace());
        Sender sender(host);
        sender.hello();
        const std::string table = R"({"columns":["a"],"rows":[[1],[null]]})", large(200'000, 'x'), picture = "\x89PNG\r\n\x1a\n not really";
        sender.record(4, 1, "confusion", table);
        sender.record(6, 2, "sample", "once upon a time");
        sender.record(6, 3, "sample", large);
        sender.record(7, 3, "input", picture, "image/png");
        sender.record(7, 4, "input", picture, "image/png");
        sender.record(8, 4, "best", "0.25");
        sender.record(8, 5, "best", "0.5");
        sender.record(9, 5, "model.pt", R"({"path":"/tmp/model.pt","bytes":12,"metrics":{"val_loss":"0.5"}})");
        sender.record(4, 6, "broken", "{\"columns\": [");
        sender.record(9, 6, "no path", "{\"metrics\": {}}");
        sender.waitTaken(sender.number);
        host.stop();
        const auto reader = std::move(store::RunReader::open(host.run.folder().database())).value();
        const auto names = reader->recordNames();
        QVERIFY(names.ok());
        QCOMPARE(names->size(), std::size_t{5});
        const auto texts = reader->records(live::FrameType::Text, "sample");
        QCOMPARE(texts->size(), std::size_t{2});
        QCOMPARE((*texts)[0].record.content, std::string("once upon a time"));
        QCOMPARE((*texts)[1].record.content, std::string());
        const auto aside = readFile(host.run.folder().blobs() / (*texts)[1].record.blob, 1u << 20);
        QVERIFY(aside.ok());
        QCOMPARE(*aside, large);
        const auto pictures = reader->records(live::FrameType::Image, "input");
        QCOMPARE(pictures->size(), std::size_t{2});
        QCOMPARE((*pictures)[0].record.blob, hashHex(std::as_bytes(std::span(picture))));
        QCOMPARE((*pictures)[0].record.blob, (*pictures)[1].record.blob);
        QCOMPARE(reader->newestRecords(live::FrameType::Summary)->at(0).record.content, std::string("0.5"));
        QCOMPARE(reader->newestRecords(live::FrameType::OwnCheckpoint)->at(0).record.content, std::string(R"({"bytes":12,"metrics":{"eval/loss":"0.5"},"path":"/tmp/model.pt"})"));
        QCOMPARE(reader->records(live::FrameType::Table, "confusion")->at(0).record.content, table);
        const auto warnings = host.events("warning");
        QCOMPARE(warnings.size(), std::size_t{2});
        QVERIFY(warnings[0].event.text.find("broken") != std::string::npos);
        QVERIFY(warnings[1].event.text.find("no path") != std::string::npos);
    }

    void wishesReachEachSenderAlsoLateOnes() {
        ProgramHost host(workspace());
        Sender early(host);
        early.hello();
        QVERIFY(early.receive(34).has_value());
        host.ask(live::Control::Stop::SaveAndStop, 2);
        auto told = early.receive(34);
        QVERIFY(told.has_value());
        Sender late(host);
        late.id = "sender-two";
        late.hello();
        for (const auto& body : {told, late.receive(34)}) {
            ByteReader in(*body);
            QCOMPARE(in.get<std::uint8_t>(), std::uint8_t{1});
            QCOMPARE(in.get<std::uint64_t>(), std::uint64_t{2});
            QVERIFY(in.finished());
        }
        Bytes saved;
        put(saved, std::int64_t{2});
        early.send(17, saved);
        early.waitTaken(1);
        QCOMPARE(host.facts().saved, std::int64_t{2});
        QCOMPARE(host.facts().producers, 2);
    }

    /// What was not acknowledged is sent again after a broken connection; nothing is doubled, and gaps are counted.
    void aBrokenConnectionLosesAndDoublesNothing() {
        ProgramHost host(workspace());
        Sender sender(host);
        sender.hello();
        sender.series(0, "loss");
        for (int i = 1; i <= 100; ++i) sender.point(i, {{0, double(i)}});
        Bytes half = Sender::message(2, ++sender.number, Sender::pointBody(101, {{0, 101}}));
        half.resize(half.size() / 2);
        sender.sendBytes(half);
        sender.connect();
        sender.hello();
        const auto welcome = sender.receive(32);
        ByteReader in(*welcome);
        QCOMPARE(in.get<std::uint32_t>(), std::uint32_t{1});
        const auto taken = in.get<std::uint64_t>();
        QVERIFY(taken <= 101);
        for (sender.number = taken / 2; sender.number < 102;) {  // much of it a second time
            const auto step = static_cast<std::int64_t>(sender.number);
            if (step == 0) sender.series(0, "loss");
            else sender.point(step, {{0, double(step)}});
        }
        sender.number += 7;  // dropped
        sender.point(102, {{0, 102}});
        Bytes goodbye;
        put(goodbye, std::uint8_t{0});
        putText(goodbye, "");
        sender.send(19, goodbye);
        sender.waitTaken(sender.number);
        QCOMPARE(host.facts().missing, std::uint64_t{7});
        QVERIFY(host.facts().goodbye.has_value());
        const auto points = host.points("train/loss");
        QCOMPARE(points.size(), std::size_t{102});
        for (std::size_t i = 0; i < points.size(); ++i) QCOMPARE(points[i].value, double(i + 1));
        const auto warnings = host.events("warning");
        QCOMPARE(warnings.size(), std::size_t{1});
        QVERIFY(warnings[0].event.text.find("7 of its messages") != std::string::npos);
    }

    void strangersAreToldWhyAndShutOut_data() {
        QTest::addColumn<int>("what");
        QTest::addColumn<QString>("sentence");
        QTest::newRow("version") << 0 << "version 2";
        QTest::newRow("token") << 1 << "token";
        QTest::newRow("no hello") << 2 << "hello";
        QTest::newRow("garbage") << 3 << "malformed";
        QTest::newRow("giant") << 4 << "longer than";
        QTest::newRow("points of a wrong length") << 5 << "wrong length";
        QTest::newRow("zero is not zero") << 6 << "malformed";
        QTest::newRow("not our magic") << 7 << "something else";
    }
    void strangersAreToldWhyAndShutOut() {
        QFETCH(int, what);
        QFETCH(QString, sentence);
        ProgramHost host(workspace());
        Sender good(host), bad(host);
        good.hello();
        good.series(0, "loss");
        bad.id = "bad";
        Bytes odd(40, std::byte{0});
        if (what == 0) bad.hello(2);
        if (what == 1) bad.hello(1, "0123456789abcdef0123456789abcdef");
        if (what == 2) bad.point(1, {{0, 1}});
        if (what == 3) bad.sendBytes(std::as_bytes(std::span("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n", 36)));
        if (what >= 4 && what <= 6) bad.hello();
        if (what == 4) bad.sendBytes(std::as_bytes(std::span("\xff\xff\xff\x7f\x02\0\0\0\1\0\0\0\0\0\0\0", 16)));
        if (what == 5) bad.send(2, Bytes(25, std::byte{1}));
        if (what == 6) bad.sendBytes(std::as_bytes(std::span("\1\0\0\0\x02\0\1\0\1\0\0\0\0\0\0\0x", 17)));
        if (what == 7) bad.sendBytes(Sender::message(16, 0, odd));
        const std::string said = textOf(bad.receive(33));
        QVERIFY2(said.find(sentence.toStdString()) != std::string::npos, said.c_str());
        QCOMPARE(bad.receive().first, 0);
        good.point(1, {{0, 0.5}});
        good.waitTaken(2);
        QCOMPARE(host.points("train/loss").size(), std::size_t{1});
    }

    /// Flipped bytes and cut ends in what would be a whole conversation: the recorder lives, and hears the next one.
    void anyBytesAreSurvived() {
        ProgramHost host(workspace());
        const std::uint32_t seed = QRandomGenerator::global()->generate();
        qInfo("seed %u", seed);
        std::mt19937 random(seed);
        Sender plain(host, false);
        for (int round = 0; round < 300; ++round) {
            plain.id = "fuzz-" + std::to_string(round);
            plain.number = 0;
            Bytes talk = plain.helloMessage();
            Bytes series, event;
            put(series, std::uint16_t{1});
            putText(series, "loss");
            putText(series, "");
            put(event, std::int64_t{1});
            put(event, std::int64_t{1});
            for (const char* text : {"note", "a sentence", "{}"}) putText(event, text);
            putBytes(talk, Sender::message(1, 1, series));
            putBytes(talk, Sender::message(2, 2, Sender::pointBody(1, {{1, 0.5}, {2, 1.5}})));
            putBytes(talk, Sender::message(3, 3, event));
            const std::size_t flips = random() % 5;
            for (std::size_t i = 0; i < flips; ++i) talk[random() % talk.size()] ^= static_cast<std::byte>(1u << (random() % 8));
            if (flips == 0) talk.resize(random() % talk.size());
            plain.connect();
            plain.sendBytes(talk);
            plain.close();
        }
        Sender good(host);
        good.hello();
        good.series(0, "after");
        good.point(1, {{0, 0.5}});
        good.waitTaken(2);
        QCOMPARE(host.points("after").size(), std::size_t{1});
        QVERIFY((*store::RunReader::open(host.run.folder().database()))->verify().ok());
    }

    void tenThousandNamesAndAGiantOne() {
        ProgramHost host(workspace());
        Sender sender(host);
        sender.hello();
        for (int i = 0; i < 10'000; ++i) sender.series(static_cast<std::uint16_t>(i), "layer." + std::to_string(i) + ".weight");
        sender.series(10'000, std::string(1u << 20, 'n'));
        std::vector<std::pair<std::uint16_t, double>> row;
        for (int i = 0; i <= 10'000; ++i) row.emplace_back(static_cast<std::uint16_t>(i), i);
        for (int step = 0; step < 3; ++step) sender.point(step, row);
        sender.point(3, {{20'000, 1.5}});  // never declared
        sender.waitTaken(sender.number);
        host.stop();
        const auto series = std::move((*store::RunReader::open(host.run.folder().database()))->series()).value();
        QCOMPARE(series.size(), std::size_t{10'002});
        for (const auto& one : series) {
            QVERIFY(one.name.size() <= 200);
            QCOMPARE(one.points, std::int64_t{one.name == "unnamed/20000" ? 1 : 3});
        }
    }

    void twoProgramsShareASeriesByItsName() {
        ProgramHost host(workspace());
        Sender one(host), two(host);
        two.id = "sender-two";
        for (Sender* sender : {&one, &two}) {
            sender->hello();
            sender->series(sender == &one ? 1 : 2, "loss");
            sender->series(sender == &one ? 2 : 1, "other");
            for (int step = 0; step < 50; ++step) sender->point(step, {{sender == &one ? std::uint16_t{1} : std::uint16_t{2}, 0.5}});
        }
        for (Sender* sender : {&one, &two}) sender->waitTaken(sender->number);
        QCOMPARE(host.points("train/loss").size(), std::size_t{100});
    }

    void aNameThatIsTakenIsShownUnderAnotherAndTold() {
        ProgramHost host(workspace());
        Sender sender(host);
        sender.hello();
        sender.series(1, "val/loss");
        sender.series(2, "eval/loss");
        sender.point(1, {{1, 0.5}, {2, 0.25}});
        sender.waitTaken(sender.number);
        QCOMPARE(host.points("eval/loss").at(0).value, 0.5);
        QCOMPARE(host.points("eval/loss (2)").at(0).value, 0.25);
        QVERIFY(host.events("note").at(0).event.text.find("\"eval/loss\" is shown as \"eval/loss (2)\"") != std::string::npos);
    }

    /// A program cannot speak for the supervisor.
    void eventsThatMakeTheSupervisorActAreOnlyNotes() {
        ProgramHost host(workspace());
        Sender sender(host);
        sender.hello();
        Bytes body;
        put(body, std::int64_t{1});
        put(body, std::int64_t{1});
        putText(body, "ended");
        putText(body, "bye \xff");
        putText(body, R"({"state":"completed"})");
        sender.send(3, body);
        Bytes total;
        put(total, std::int64_t{500});
        sender.send(18, total);
        sender.waitTaken(2);
        QVERIFY(host.events("ended").empty());
        QCOMPARE(host.events("note").at(0).event.text, std::string("bye ?"));
        QCOMPARE(host.summary().plannedUpdates.value_or(0), std::int64_t{500});
    }

    void theSocketIsForThisUserOnly() {
        ProgramHost host(workspace());
        struct stat info {};
        QCOMPARE(::stat(host.variable("LATHE_SOCKET").c_str(), &info), 0);
        QCOMPARE(int(info.st_mode & 0777), 0600);
        if (::getuid() != 0) QSKIP("only root can become another user to try");
        const auto path = host.variable("LATHE_SOCKET");
        ::chmod(path.c_str(), 0666);
        for (auto folder = std::filesystem::path(path).parent_path(); folder != folder.root_path(); folder = folder.parent_path())
            if (folder.string().starts_with(m_folder.path().toStdString())) ::chmod(folder.c_str(), 0755);
        const pid_t child = ::fork();
        if (child == 0) {
            if (::setuid(65534) != 0) ::_exit(3);
            sockaddr_un address{};
            address.sun_family = AF_UNIX;
            qstrncpy(address.sun_path, path.c_str(), sizeof address.sun_path);
            const int fd = ::socket(AF_UNIX, SOCK_STREAM, 0);
            if (::connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) ::_exit(4);
            char byte = 0;
            ::_exit(::recv(fd, &byte, 1, 0) == 0 ? 0 : 5);  // hung up on without a word
        }
        int status = 0;
        QCOMPARE(::waitpid(child, &status, 0), child);
        QCOMPARE(WEXITSTATUS(status), 0);
    }
};

QTEST_GUILESS_MAIN(TestProgramFrames)
#include "tst_program_frames.moc"
