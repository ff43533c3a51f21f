#include "patience.h"

#include "base/file_system.h"
#include "live/spill.h"

#include <QtCore/QTemporaryDir>
#include <QtTest/QTest>

#include <csignal>
#include <cstring>
#include <fstream>
#include <sys/resource.h>

using namespace lathe;
using namespace lathe::live;

namespace {

std::vector<std::byte> payloadOf(std::uint64_t number) {
    std::vector<std::byte> bytes(56, static_cast<std::byte>(number));
    std::memcpy(bytes.data(), &number, sizeof number);
    return bytes;
}
void writeFrames(Segment& segment, std::uint64_t count) {
    for (std::uint64_t i = 0; i < count; ++i) {
        const std::uint64_t number = segment.lastSequence(0) + 1;
        static_cast<void>(segment.write(0, FrameType::Text, payloadOf(number)));
    }
}

}  // namespace

class TestSpill : public QObject {
    Q_OBJECT
    QTemporaryDir m_folder;
    std::filesystem::path folder(const char* name) {
        const auto path = std::filesystem::path(m_folder.path().toStdString()) / name;
        static_cast<void>(makeFolders(FileSystem::real(), path));
        return path;
    }

private Q_SLOTS:
    // The recorder stands still; the writer goes on at a pace that the spiller can follow, far past the ring's size.
    void aStoppedRecorderLosesNothing() {
        auto segment = std::move(Segment::create({2, 1 << 16}, "t")).value();
        const auto where = folder("stopped");
        RingFeed feed(*segment, 0, where, 3);
        constexpr std::uint64_t total = 20'000;  // 20 times the ring
        std::uint64_t next = 1;
        {
            Spiller spiller(*segment, 0, where, 3);
            while (segment->lastSequence(0) < total) {
                writeFrames(*segment, 100);
                // Half a ring of frames that are neither recorded nor spilled is the writer's lead at most.
                QTRY_VERIFY(segment->lastSequence(0) - segment->spillSettled(0) < 700);
            }
            for (int idle = 0; idle < 100 && next <= total;) {
                const auto batch = feed.read();
                QCOMPARE(batch.lost, std::uint64_t{0});
                for (const Frame& frame : batch.frames) {
                    QCOMPARE(frame.sequence, next++);
                    QVERIFY(frame.payload == payloadOf(frame.sequence));
                }
                if (batch.frames.empty()) ++idle;
            }
            QCOMPARE(next, total + 1);
            QVERIFY(spiller.spilledFrames() > 0);
            QCOMPARE(spiller.lostFrames(), std::uint64_t{0});
        }
    }
    void whatNobodyHasIsCountedExactly() {
        auto segment = std::move(Segment::create({2, 4096}, "t")).value();
        RingFeed feed(*segment, 0, folder("lost"), 1);
        writeFrames(*segment, 1000);  // no spiller: the ring holds the newest only
        const auto batch = feed.read(1 << 20, true);
        QCOMPARE(batch.lost + batch.frames.size(), std::uint64_t{1000});
        QVERIFY(batch.lost > 0);
        QCOMPARE(batch.frames.back().sequence, std::uint64_t{1000});
    }
    void aGapWaitsForTheSpillerAndIsThenFilled() {
        auto segment = std::move(Segment::create({2, 4096}, "t")).value();
        const auto where = folder("gap");
        RingFeed feed(*segment, 0, where, 1);
        writeFrames(*segment, 30);
        {
            Spiller spiller(*segment, 0, where, 1);
            QVERIFY(spiller.flushAll().ok());
        }
        segment->setSpillSettled(0, 0);  // as if the helper thread had not reported yet
        writeFrames(*segment, 50);       // laps the feed: frames 1..30 are in the spill file only
        QVERIFY(feed.read().frames.empty());
        segment->setSpillSettled(0, 80);
        const auto batch = feed.read();
        QCOMPARE(batch.frames.front().sequence, std::uint64_t{1});
        QCOMPARE(batch.frames.size() + batch.lost, std::uint64_t{80});
    }
    void flushAllLeavesTheUnrecordedFramesOnDisk() {
        auto segment = std::move(Segment::create({2, 1 << 16}, "t")).value();
        const auto where = folder("flush");
        writeFrames(*segment, 100);
        Control control;
        control.recordedSeq = {40, 0};
        segment->setControl(control);
        Spiller spiller(*segment, 0, where, 12);
        QVERIFY(spiller.flushAll().ok());
        const auto spilled = readSpill(where, 12, 0, 1);
        QVERIFY(spilled.ok());
        QCOMPARE(spilled->frames.front().sequence, std::uint64_t{41});
        QCOMPARE(spilled->frames.back().sequence, std::uint64_t{100});
        QCOMPARE(readSpill(where, 12, 0, 95)->frames.size(), std::size_t{6});
        QVERIFY(readSpill(where, 1, 0, 1)->frames.empty());   // s012 is not s1
    }
    void aTornEndIsLeftOutAndDamageToldWithAllAroundItRead() {
        auto segment = std::move(Segment::create({2, 1 << 16}, "t")).value();
        const auto where = folder("torn");
        writeFrames(*segment, 10);
        {
            Spiller spiller(*segment, 0, where, 1);
            QVERIFY(spiller.flushAll().ok());
        }
        const auto file = where / spillName(1, 0);
        const std::string whole = readFile(file, 1 << 20).value();
        const auto readBack = [&](const std::string& content) {
            std::ofstream(file, std::ios::binary | std::ios::trunc) << content;
            auto spilled = readSpillFile(file, 1);
            if (!spilled.ok()) qFatal("%s", spilled.error().text().c_str());
            for (const Frame& frame : spilled->frames)
                if (frame.payload != payloadOf(frame.sequence)) qFatal("a frame that was never written");
            return std::move(*spilled);
        };
        std::size_t longest = 0;
        for (std::size_t cut = 0; cut <= whole.size(); ++cut) {
            const Spilled torn = readBack(whole.substr(0, cut));
            QVERIFY(!torn.damage);
            QVERIFY(torn.frames.size() >= longest && torn.frames.size() <= 10);
            longest = torn.frames.size();
            if (cut < 20) continue;
            const Spilled unwritten = readBack(whole.substr(0, cut) + std::string(300, '\0'));   // the length was kept and the data was not
            QVERIFY(unwritten.frames.size() == torn.frames.size() || unwritten.frames.size() == torn.frames.size() + 1);
        }
        QCOMPARE(longest, std::size_t{10});
        QVERIFY(!readBack(whole + std::string(300, '\0')).damage);
        const std::size_t record = (whole.size() - 20) / 10;
        for (std::size_t at = 20; at < whole.size(); ++at) {
            for (const int bit : {1, 128}) {
                std::string damaged = whole;
                damaged[at] = static_cast<char>(damaged[at] ^ bit);
                const Spilled spilled = readBack(damaged);
                QCOMPARE(spilled.frames.size(), std::size_t{9});
                QVERIFY(spilled.damage || at < whole.size() - record + 4);
                QVERIFY(spilled.damage || at >= whole.size() - record);   // a longer last record cannot be told from a torn one
            }
        }
        QVERIFY(readBack("no spill" + whole.substr(8)).damage);
    }
    void partsAreReadInTheirOrderAndAlsoWithoutTheFirst() {
        auto segment = std::move(Segment::create({2, 1 << 16}, "t")).value();
        const auto where = folder("parts");
        for (int part = 0; part < 12; ++part) {
            writeFrames(*segment, 3);
            Control control;
            control.recordedSeq = {static_cast<std::uint64_t>(part) * 3, 0};
            segment->setControl(control);
            Spiller spiller(*segment, 0, where, 1);
            QVERIFY(spiller.flushAll().ok());
        }
        QCOMPARE(spillFiles(where, 1)->size(), std::size_t{12});
        QCOMPARE(readSpill(where, 1, 0, 1)->frames.size(), std::size_t{36});
        QVERIFY(FileSystem::real().remove(where / spillName(1, 0)).ok());
        const auto rest = readSpill(where, 1, 0, 1);
        QCOMPARE(rest->frames.size(), std::size_t{33});
        for (std::size_t i = 0; i < 33; ++i) QCOMPARE(rest->frames[i].sequence, i + 4);
    }
    void aPartThatCannotBeReadNowIsAnError() {
        auto segment = std::move(Segment::create({2, 1 << 16}, "t")).value();
        const auto where = folder("away");
        writeFrames(*segment, 3);
        {
            Spiller spiller(*segment, 0, where, 1);
            QVERIFY(spiller.flushAll().ok());
        }
        const auto part = where / (spillName(1, 0) + ".1");
        std::filesystem::create_symlink(part, part);
        QVERIFY(!readSpill(where, 1, 0, 1).ok());
        QVERIFY(!readSpill(part, 1, 0, 1).ok());
        QVERIFY(readSpill(where / "nothing", 1, 0, 1)->frames.empty());
    }
    void whatCannotBeWrittenIsTriedAgainWhileItStandsInTheRing() {
        auto segment = std::move(Segment::create({2, 4096}, "t")).value();
        const auto where = folder("later") / "made later";
        Spiller spiller(*segment, 0, where, 1);
        writeFrames(*segment, 20);
        QVERIFY(!spiller.flushAll().ok());
        QCOMPARE(spiller.lostFrames(), std::uint64_t{0});
        QVERIFY(makeFolders(FileSystem::real(), where).ok());
        QVERIFY(spiller.flushAll().ok());
        QCOMPARE(readSpill(where, 1, 0, 1)->frames.size(), std::size_t{20});
    }
    void whatIsOverwrittenBeforeItCouldBeWrittenIsCounted() {
        auto segment = std::move(Segment::create({2, 4096}, "t")).value();
        Spiller spiller(*segment, 0, "/nonexistent/spill", 1);
        writeFrames(*segment, 1000);
        QVERIFY(!spiller.flushAll().ok());
        RingReader ring = segment->reader(0);
        QCOMPARE(spiller.lostFrames() + ring.read().frames.size(), std::uint64_t{1000});
        QVERIFY(segment->write(0, FrameType::Text, payloadOf(1001)).ok());
    }
    // A file that may not get longer than 1.5 MiB: the first batch goes in, the second is cut short, the third would go into another file.
    void aFailureInBetweenIsNotForgotten() {
        auto segment = std::move(Segment::create({2, 8u << 20}, "t")).value();
        const auto where = folder("between");
        constexpr std::uint64_t total = 40'000;
        writeFrames(*segment, total);
        ::signal(SIGXFSZ, SIG_IGN);
        rlimit before{};
        QCOMPARE(::getrlimit(RLIMIT_FSIZE, &before), 0);
        rlimit small = before;
        small.rlim_cur = 3u << 19;
        QCOMPARE(::setrlimit(RLIMIT_FSIZE, &small), 0);
        {
            Spiller spiller(*segment, 0, where, 1);
            const auto flushed = spiller.flushAll();
            QCOMPARE(::setrlimit(RLIMIT_FSIZE, &before), 0);
            QVERIFY(!flushed.ok());
            QVERIFY(spiller.flushAll().ok());
            QCOMPARE(spiller.lostFrames(), std::uint64_t{0});
        }
        const auto spilled = readSpill(where, 1, 0, 1);
        QVERIFY(spilled.ok());
        QCOMPARE(spilled->frames.size(), std::size_t{total});
        for (std::uint64_t i = 0; i < total; ++i) QCOMPARE(spilled->frames[i].sequence, i + 1);
    }
    void namesSort() {
        QCOMPARE(spillName(3, 0), std::string("s003-r0.spill"));
        QCOMPARE(spillName(1234, 2), std::string("s1234-r2.spill"));
    }
};

QTEST_GUILESS_MAIN(TestSpill)
#include "tst_spill.moc"
