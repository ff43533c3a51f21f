// What programs that are not ours send beyond what can be kept: left out, told and counted; and what they are told of it.
#include "patience.h"
#include "program_host.h"
#include "program_sender.h"

#include <QtCore/QTemporaryDir>
#include <QtTest/QTest>

#include <csignal>
#include <limits>
#include <set>
#include <thread>

using namespace lathe;
using tests::ProgramHost;
using tests::Sender;

class TestProgramLimits : public QObject {
    Q_OBJECT

    QTemporaryDir m_folder;
    int m_serial = 0;
    std::filesystem::path workspace() { return std::filesystem::path(m_folder.path().toStdString()) / std::to_string(++m_serial); }

private Q_SLOTS:
    void initTestCase() { std::signal(SIGPIPE, SIG_IGN); }

    /// Each cause is told once with its first case, and at the end with how often it was.
    void damagedRecordsAreLeftOutAndTold() {
        const auto histogram = [](const std::vector<double>& edges, const std::vector<double>& counts) {
            Bytes out;
            put(out, static_cast<std::uint32_t>(counts.size()));
            for (const double edge : edges) put(out, edge);
            for (const double count : counts) put(out, count);
            return std::string(reinterpret_cast<const char*>(out.data()), out.size());
        };
        const double nan = std::numeric_limits<double>::quiet_NaN();
        ProgramHost host(workspace());
        Sender sender(host);
        sender.hello();
        sender.record(5, 1, "falls", histogram({0, 2, 1}, {1, 1}));
        sender.record(5, 1, "no number", histogram({0, 1}, {nan}));
        sender.record(5, 1, "negative", histogram({0, 1}, {-1}));
        sender.record(5, 1, "short", histogram({0}, {1}));
        sender.record(4, 1, "list", "[]");
        sender.record(4, 1, "no rows", R"({"columns":["a"],"rows":[1]})");
        for (int i = 0; i < 3; ++i) sender.record(7, i, "no picture", "hello", "image/png");
        sender.record(5, 1, "good", histogram({0, 1, 1}, {1, 0}));
        sender.record(7, 1, "a jpeg", "\xff\xd8\xff and more", "image/png");
        sender.record(9, 1, "/tmp/\xff.pt", "{\"path\":\"/tmp/\xff.pt\",\"bytes\":1}");
        sender.record(4, 1, "esc\x1b[0m", R"({"columns":[],"rows":[]})");
        sender.waitTaken(sender.number);
        host.stop();
        const auto reader = std::move(store::RunReader::open(host.run.folder().database())).value();
        std::set<std::string> names;
        const auto kept = std::move(reader->recordNames()).value();
        for (const auto& one : kept) names.insert(one.name);
        QCOMPARE(names, (std::set<std::string>{"good", "a jpeg", "/tmp/?.pt", "esc [0m"}));
        QCOMPARE(reader->newestRecords(live::FrameType::Image)->at(0).record.form, std::string("image/jpeg"));
        QVERIFY(reader->newestRecords(live::FrameType::OwnCheckpoint)->at(0).record.content.find("/tmp/?.pt") != std::string::npos);
        std::string told;
        const auto warnings = host.events("warning");
        for (const auto& row : warnings) told += row.event.text + "\n";
        QVERIFY2(warnings.size() == 9, told.c_str());  // seven causes, the path, and one count
        for (const char* name : {"falls", "no number", "negative", "short", "list", "no rows", "no picture", "not UTF-8"}) QVERIFY2(told.find(name) != std::string::npos, name);
        QVERIFY2(told.find("3 times in all: The image \"no picture\"") != std::string::npos, told.c_str());
    }

    void aLongNoteIsCutAndThatIsTold() {
        ProgramHost host(workspace());
        Sender sender(host);
        sender.hello();
        Bytes body;
        put(body, std::int64_t{1});
        put(body, std::int64_t{1});
        putText(body, "note");
        putText(body, std::string(200'000, 'a'));
        putText(body, "");
        sender.send(3, body);
        sender.waitTaken(1);
        const std::string note = host.events("note").at(0).event.text;
        QVERIFY2(note.size() < 4200 && note.find("it has 200000 bytes") != std::string::npos, note.c_str());
        QVERIFY(host.events("warning").at(0).event.text.find("A note is cut") != std::string::npos);
    }

    /// Of another number of ours: a digest is no program's to send.
    void framesThatAreNotForProgramsAreLeftOut() {
        ProgramHost host(workspace());
        Sender sender(host);
        sender.hello();
        for (const int type : {0, 10, 11, 15, 21, 31, 99}) sender.send(type, Bytes(5, std::byte{1}));
        sender.series(0, "loss");
        sender.point(1, {{0, 0.5}});
        sender.waitTaken(sender.number);
        QCOMPARE(host.points("train/loss").size(), std::size_t{1});
        const auto reader = std::move(store::RunReader::open(host.run.folder().database())).value();
        QVERIFY(reader->digests(1, 0, 10)->empty());
    }

    void moreSeriesThanARunCanHaveAreLeftOutAndCounted() {
        ProgramHost host(workspace());
        Sender one(host), two(host);
        two.id = "sender-two";
        one.hello();
        for (int i = 0; i < 65'535; ++i) one.series(static_cast<std::uint16_t>(i), "s" + std::to_string(i));
        one.waitTaken(one.number);
        two.hello();
        two.series(0, "one more");
        two.series(1, "s7");
        for (int step = 0; step < 3; ++step) two.point(step, {{0, 1}, {1, 2}, {9, 3}});
        two.waitTaken(two.number);
        QCOMPARE(host.facts().connections, 2);  // nobody was thrown out
        QCOMPARE(host.points("s7").size(), std::size_t{3});
        const auto warnings = host.events("warning");
        QCOMPARE(warnings.size(), std::size_t{2});
        QVERIFY(warnings[0].event.text.find("at most 65535 series") != std::string::npos);
        QVERIFY2(warnings[1].event.text.starts_with("6 times in all"), warnings[1].event.text.c_str());
    }

    /// A row of a series that is named again and again takes several times its bytes in the ring.
    void valuesThatAreRepeatedInAMessageDoNotOverrunTheRing() {
        ProgramHost host(workspace());
        Sender sender(host);
        sender.hello();
        sender.series(0, "loss");
        const std::vector<std::pair<std::uint16_t, double>> again(4000, {0, 0.5}), tooOften(5000, {0, 0.5});
        host.hold(true);  // so that much lies in the socket at once
        std::thread sends([&] {
            for (int step = 0; step < 40; ++step) sender.point(step, again);
            sender.point(40, tooOften);
        });
        host.hold(false);
        sends.join();
        sender.waitTaken(sender.number);
        QCOMPARE(host.points("train/loss").size(), std::size_t{40 * 4000 + 4096});
        QCOMPARE(host.lost(), std::uint64_t{0});
        QVERIFY(host.events("warning").at(1).event.text.starts_with("904 times in all"));
    }

    void aSenderThatGoesAwayWithAGapIsTold() {
        ProgramHost host(workspace());
        {
            Sender sender(host);
            sender.hello();
            sender.series(0, "loss");
            sender.number += 3;
            sender.point(1, {{0, 0.5}});
            sender.waitTaken(5);
        }
        host.stop();
        QVERIFY(host.events("warning").at(0).event.text.find("had to drop 3 of its messages") != std::string::npos);
    }

    /// Who heeds a stop is known of those that are there, not of those that were.
    void aWishIsHeededByWhoIsConnected() {
        ProgramHost host(workspace());
        Bytes stop;
        put(stop, std::uint8_t{1});
        {
            Sender sender(host);
            sender.hello();
            sender.send(20, stop);
            sender.waitTaken(1);
            QVERIFY(host.facts().listensForStop);
            sender.connect();
            sender.hello();
            QVERIFY(sender.receive(32).has_value());
            QTRY_COMPARE(host.facts().connections, 1);
            QVERIFY(host.facts().listensForStop);
        }
        Sender deaf(host);
        deaf.id = "deaf";
        deaf.hello();
        QVERIFY(deaf.receive(32).has_value());
        QTRY_COMPARE(host.facts().connections, 1);
        QVERIFY(!host.facts().listensForStop);
    }

    void onlyWhatIsSafeIsAcknowledged() {
        ProgramHost host(workspace());
        Sender sender(host);
        host.keepUnsafe();
        sender.hello();
        sender.series(0, "loss");
        sender.point(1, {{0, 0.5}});
        host.ask(live::Control::Stop::None, 1);  // answered after what came before
        sender.connect();
        sender.hello();
        auto welcome = sender.receive(32);
        ByteReader in(*welcome);
        in.get<std::uint32_t>();
        QCOMPARE(in.get<std::uint64_t>(), std::uint64_t{0});
    }

    void connectionsBeyondTheLimitAreToldSo() {
        ProgramHost host(workspace());
        std::vector<std::unique_ptr<Sender>> senders;
        int welcomed = 0, refused = 0;
        for (int i = 0; i < 300; ++i) {
            senders.push_back(std::make_unique<Sender>(host));
            senders.back()->id = "sender-" + std::to_string(i);
            senders.back()->hello();
            const auto [type, body] = senders.back()->receive();
            welcomed += type == 32;
            if (type != 33) continue;
            ++refused;
            QVERIFY2(ByteReader(body).getText().find("256 connections") != std::string::npos, "the sentence");
        }
        QCOMPARE(welcomed, 256);
        QCOMPARE(refused, 44);
        senders.front()->close();
        QTRY_COMPARE(host.facts().connections, 255);
        senders.back()->connect();
        senders.back()->hello();
        QVERIFY(senders.back()->receive(32).has_value());
    }
};

QTEST_GUILESS_MAIN(TestProgramLimits)
#include "tst_program_limits.moc"
