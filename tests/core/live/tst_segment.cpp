#include "live/frame.h"
#include "live/segment.h"

#include "base/hash.h"
#include "plan/random.h"
#include "whole_form.h"

#include <QtTest/QTest>

#include <atomic>
#include <cerrno>
#include <cmath>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <limits>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace lathe;
using namespace lathe::live;

namespace {

std::unique_ptr<Segment> makeSegment(std::size_t ringBytes, int writers = 2) {
    return std::move(Segment::create({writers, ringBytes}, "test/1")).value();
}

/// A payload that proves itself: its own number, then bytes that follow from it.
std::vector<std::byte> selfProving(std::uint64_t number, std::size_t bytes) {
    std::vector<std::byte> payload(std::max<std::size_t>(bytes, 8));
    std::memcpy(payload.data(), &number, 8);
    for (std::size_t i = 8; i < payload.size(); ++i) payload[i] = static_cast<std::byte>(number * 31 + i);
    return payload;
}
bool proves(const Frame& frame) {
    std::uint64_t number = 0;
    if (frame.payload.size() < 8) return false;
    std::memcpy(&number, frame.payload.data(), 8);
    return number == frame.sequence && frame.payload == selfProving(number, frame.payload.size());
}
std::size_t sizeOf(std::uint64_t number) { return 8 + number * 2654435761u % 150; }

}  // namespace

class TestSegment : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void framesArriveWholeAndInOrder() {
        auto segment = makeSegment(1 << 16);
        for (std::uint64_t n = 1; n <= 100; ++n) QCOMPARE(segment->write(0, FrameType::Text, selfProving(n, sizeOf(n))).value(), n);
        auto reader = segment->reader(0);
        const auto batch = reader.read();
        QCOMPARE(batch.frames.size(), std::size_t{100});
        QCOMPARE(batch.lapped, std::uint64_t{0});
        for (std::size_t i = 0; i < 100; ++i) {
            QCOMPARE(batch.frames[i].sequence, i + 1);
            QVERIFY(proves(batch.frames[i]));
        }
        QVERIFY(reader.read().frames.empty());
        QCOMPARE(segment->reader(0, 51).read().frames.size(), std::size_t{50});
        QVERIFY(segment->reader(1).read().frames.empty());
    }
    void lappedReaderKnowsExactlyWhatItMissed() {
        auto segment = makeSegment(4096);
        auto reader = segment->reader(0);
        for (std::uint64_t n = 1; n <= 10'000; ++n) static_cast<void>(segment->write(0, FrameType::Text, selfProving(n, sizeOf(n))));
        const auto batch = reader.read();
        QVERIFY(!batch.frames.empty());
        QCOMPARE(batch.lapped + batch.frames.size(), std::uint64_t{10'000});
        QCOMPARE(batch.frames.back().sequence, std::uint64_t{10'000});
        for (const Frame& frame : batch.frames) QVERIFY(proves(frame));
    }
    /// RELIABILITY F17
    void positionsBeyondFourGigabytesAreNoEdge() {
        auto segment = makeSegment(1 << 16);
        std::vector<std::byte> payload(16'000);
        std::uint64_t number = 0;
        while (segment->writtenBytes(0) < (std::uint64_t{1} << 32) - 100'000) {
            ++number;
            std::memcpy(payload.data(), &number, 8);
            static_cast<void>(segment->write(0, FrameType::Text, payload));
        }
        auto reader = segment->reader(0, number + 1);
        for (int i = 0; i < 40; ++i) {  // across the edge, frame by frame
            ++number;
            QCOMPARE(segment->write(0, FrameType::Text, selfProving(number, 8'000)).value(), number);
            const auto batch = reader.read();
            QCOMPARE(batch.frames.size(), std::size_t{1});
            QVERIFY(proves(batch.frames.front()) && batch.lapped == 0);
        }
        QVERIFY(segment->writtenBytes(0) > std::uint64_t{1} << 32);
    }
    void oversizedFrameIsRefused() {
        auto segment = makeSegment(4096);
        const auto refused = segment->write(0, FrameType::Text, std::vector<std::byte>(2000));
        QVERIFY(!refused.ok());
        QCOMPARE(segment->lastSequence(0), std::uint64_t{0});
    }
    void readersUnderARacingWriterSeeNothingTorn() {
        auto segment = makeSegment(1 << 14);
        constexpr std::uint64_t total = 300'000;
        std::atomic<bool> bad{false};
        const auto read = [&] {
            auto reader = segment->reader(0);
            std::uint64_t seen = 0, missed = 0;
            while (seen + missed < total && !bad) {
                const auto batch = reader.read(4096);
                missed += batch.lapped;
                seen += batch.frames.size();
                for (const Frame& frame : batch.frames)
                    if (!proves(frame)) bad = true;
            }
            if (seen + missed != total) bad = true;
        };
        std::thread first(read), second(read);
        for (std::uint64_t n = 1; n <= total; ++n) static_cast<void>(segment->write(0, FrameType::Text, selfProving(n, sizeOf(n))));
        first.join();
        second.join();
        QVERIFY(!bad);
    }
    void killedWriterLeavesOnlyWholeFrames() {
        const int trials = test::isWhole() ? 2000 : 20;
        for (int trial = 0; trial < trials; ++trial) {
            auto segment = makeSegment(1 << 13);
            int started[2];
            QVERIFY(::pipe(started) == 0);
            const pid_t child = ::fork();
            if (child == 0) {
                for (std::uint64_t n = 1;; ++n) {
                    static_cast<void>(segment->write(0, FrameType::Text, selfProving(n, sizeOf(n))));
                    if (n == 1000) static_cast<void>(!::write(started[1], "x", 1));
                }
            }
            char byte = 0;
            QCOMPARE(::read(started[0], &byte, 1), ssize_t{1});
            auto early = segment->reader(0);
            std::uint64_t counted = 0;
            for (int i = 0; i < trial % 40 * 5; ++i) {
                const auto batch = early.read();
                counted += batch.lapped + batch.frames.size();
            }
            ::kill(child, SIGKILL);
            ::waitpid(child, nullptr, 0);
            ::close(started[0]);
            ::close(started[1]);
            const auto rest = early.read();
            const std::uint64_t seen = counted + rest.lapped + rest.frames.size(), numbered = segment->lastSequence(0);
            QVERIFY2(seen == numbered || seen + 1 == numbered, qPrintable(QStringLiteral("%1 of %2").arg(seen).arg(numbered)));  // the one it died in
            QCOMPARE(early.position(), segment->writtenBytes(0));
            for (const Frame& frame : rest.frames) QVERIFY(proves(frame));
        }
    }
    void windowsCannotWrite() {
        auto segment = makeSegment(4096);
        const int fd = segment->readOnlyFd().value();
        QVERIFY(::mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) == MAP_FAILED);
        const auto view = Segment::open(fd, false);
        QVERIFY(view.ok());
        QCOMPARE((*view)->token(), std::string("test/1"));
        static_cast<void>(segment->write(0, FrameType::Text, selfProving(1, 8)));
        QCOMPARE((*view)->reader(0).read().frames.size(), std::size_t{1});
    }
    void sizeCannotBeChanged() {
        auto segment = makeSegment(4096);
        QVERIFY(::ftruncate(segment->fd(), 0) != 0);
        QVERIFY(::ftruncate(segment->fd(), 1 << 20) != 0);
    }
    // RELIABILITY F15: not as SIGBUS in the middle of training
    void missingRoomIsToldWhenItIsMade() {
        const pid_t child = ::fork();
        if (child == 0) {
            const rlimit most{1 << 16, 1 << 16};
            ::signal(SIGXFSZ, SIG_IGN);
            if (::setrlimit(RLIMIT_FSIZE, &most) != 0) ::_exit(2);
            const auto made = Segment::create({2, 1 << 20}, "test/1");
            ::_exit(!made.ok() && made.error().text().find("shared memory") != std::string::npos ? 0 : 1);
        }
        int status = 0;
        QCOMPARE(::waitpid(child, &status, 0), child);
        QVERIFY2(WIFEXITED(status) && WEXITSTATUS(status) == 0, std::to_string(status).c_str());
    }
    void foreignMemoryIsRefusedWithASentence() {
        const auto sentence = [](int fd) {
            const auto opened = Segment::open(fd, false);
            return opened.ok() ? std::string() : opened.error().sentence;
        };
        const int unsealed = ::memfd_create("x", MFD_CLOEXEC);
        QVERIFY(::ftruncate(unsealed, 1 << 16) == 0);
        QVERIFY(sentence(unsealed).find("not sealed") != std::string::npos);
        const int empty = ::memfd_create("x", MFD_CLOEXEC | MFD_ALLOW_SEALING);
        ::fcntl(empty, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW);
        QVERIFY(sentence(empty).find("too small") != std::string::npos);
        const int zeros = ::memfd_create("x", MFD_CLOEXEC | MFD_ALLOW_SEALING);
        QVERIFY(::ftruncate(zeros, 1 << 16) == 0);
        ::fcntl(zeros, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW);
        QVERIFY(sentence(zeros).find("not Lathe's") != std::string::npos);
    }
    // A hostile writer can show wrong numbers; it must not crash or hang a reader.
    void randomMemoryCannotHurtAReader() {
        plan::Stream random(1, plan::Purpose::Test);
        for (int trial = 0; trial < 300; ++trial) {
            auto segment = makeSegment(4096);
            for (std::uint64_t n = 1; n <= 60; ++n) static_cast<void>(segment->write(0, FrameType::Text, selfProving(n, sizeOf(n))));
            const std::size_t start = 4096, bytes = 4096 * 3;  // control block, slots and the first ring
            auto* memory = static_cast<std::uint8_t*>(::mmap(nullptr, start + bytes, PROT_READ | PROT_WRITE, MAP_SHARED, segment->fd(), 0));
            QVERIFY(memory != MAP_FAILED);
            for (int i = 0; i < 200; ++i) memory[start + random.below(bytes)] = static_cast<std::uint8_t>(random.next());
            auto reader = segment->reader(0);
            for (int i = 0; i < 5; ++i) {
                for (const Frame& frame : reader.read().frames) {
                    static_cast<void>(decodePoints(frame.payload));
                    static_cast<void>(decodeEvent(frame.payload));
                    static_cast<void>(decodeSeries(frame.payload));
                }
            }
            static_cast<void>(segment->heartbeat(0));
            static_cast<void>(segment->control());
            ::munmap(memory, start + bytes);
        }
    }
    // The last word of the last ring: 8 bytes from its middle would lie behind the memory.
    void aFrameThatBeginsInTheMiddleOfAWordIsNotReadPastTheEnd() {
        constexpr std::size_t kRing = 4096;
        auto segment = makeSegment(kRing);
        const int last = segment->writers() - 1;
        const std::size_t slot = 8192 + 256 * static_cast<std::size_t>(last), bytes = 8192 + 4096;
        auto* memory = static_cast<std::uint8_t*>(::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, segment->fd(), 0));
        QVERIFY(memory != MAP_FAILED);
        for (std::uint64_t back = 1; back <= 8; ++back) {
            const std::uint64_t oldest = kRing - back, written = oldest + 64;
            std::memcpy(memory + slot + 128, &written, sizeof written);
            std::memcpy(memory + slot + 136, &oldest, sizeof oldest);
            auto reader = segment->reader(last);
            static_cast<void>(reader.read());
            QVERIFY(reader.position() >= oldest);
        }
        ::munmap(memory, bytes);
    }
    void heartbeatsAndControlAreNeverTorn() {
        auto segment = makeSegment(4096);
        std::atomic<bool> done{false};
        std::thread writer([&] {
            for (std::int64_t n = 1; n <= 200'000; ++n) {
                Heartbeat beat;
                beat.done = beat.total = beat.attempt = beat.step = beat.monotonicNs = n;
                segment->beat(0, beat);
                Control control;
                control.number = control.saveRequests = n;
                segment->setControl(control);
            }
            done = true;
        });
        bool torn = false;
        while (!done) {
            const auto beat = segment->heartbeat(0);
            if (beat && (beat->done != beat->total || beat->attempt != beat->step || beat->done != beat->monotonicNs)) torn = true;
            const Control control = segment->control();
            if (control.number != control.saveRequests) torn = true;
        }
        writer.join();
        QVERIFY(!torn);
        QCOMPARE(segment->controlNumber(), std::int64_t{200'000});
    }

    void framesDecodeToWhatWasEncoded() {
        std::vector<std::byte> bytes;
        PointsFrame points{3, 1ll << 40, 7, 123, 456, {{0, 1.5}, {65535, -0.0}, {2, std::numeric_limits<double>::infinity()}}};
        encode(points, bytes);
        const auto back = decodePoints(bytes);
        QVERIFY(back.ok());
        QCOMPARE(back->attempt, points.attempt);
        QCOMPARE(back->items.size(), std::size_t{3});
        QVERIFY(std::signbit(back->items[1].value) && std::isinf(back->items[2].value));
        EventFrame event{1, 2, 3, 4, "saved", "Gespeichert: \xc3\xbc", "{\"a\":1}"};
        encode(event, bytes);
        const auto eventBack = decodeEvent(bytes);
        QVERIFY(eventBack.ok() && eventBack->text == event.text && eventBack->json == event.json);
        for (std::size_t cut = 0; cut < bytes.size(); ++cut) QVERIFY(!decodeEvent(std::span(bytes).first(cut)).ok());
        bytes.push_back(std::byte{});
        QVERIFY(!decodeEvent(bytes).ok());
    }
    // The vectors of core/live/FORMAT.md.
    void bytesAreThoseOfTheFormatPage() {
        std::vector<std::byte> bytes;
        const auto hex = [&] { return QByteArray(reinterpret_cast<const char*>(bytes.data()), static_cast<int>(bytes.size())).toHex(); };
        encode(SeriesFrame{2, "train/lr", ""}, bytes);
        QCOMPARE(hex(), QByteArray("0200" "08000000" "747261696e2f6c72" "00000000"));
        encode(PointsFrame{1, 5, 4, 1000, 2000, {{2, 0.5}}}, bytes);
        QCOMPARE(hex(), QByteArray("01000000" "0500000000000000" "0400000000000000" "e803000000000000" "d007000000000000"
                                   "0100" "0200" "000000000000e03f"));
    }
};

QTEST_GUILESS_MAIN(TestSegment)
#include "tst_segment.moc"
