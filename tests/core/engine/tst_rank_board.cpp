// Exchanges of ranks over shared memory: everybody reads what everybody put up, in step; who is gone is noticed.
#include "engine/parallel/rank_board.h"

#include <QtTest>

#include <csignal>
#include <cstring>
#include <random>
#include <stdexcept>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace lathe::engine;

namespace {

constexpr std::int64_t kLong = 30'000;

std::vector<std::byte> bytesOf(std::uint32_t value, std::size_t count) {
    std::vector<std::byte> bytes(count);
    for (std::size_t i = 0; i < count; ++i) bytes[i] = static_cast<std::byte>((value * 2654435761u + i * 40503u) >> 7);
    return bytes;
}

/// So many exchanges of one rank; the number of those that went wrong.
int play(RankBoard& board, int rank, int world, int rounds) {
    std::mt19937 lengths(7);   // the same on each rank
    std::mt19937 pauses(static_cast<unsigned>(rank));
    int wrong = 0;
    for (int round = 0; round < rounds; ++round) {
        const std::size_t count = lengths() % 3000;
        if (pauses() % 8 == 0) std::this_thread::yield();
        const auto seed = [&](int of) { return static_cast<std::uint32_t>(round * 131 + of); };
        board.exchange(bytesOf(seed(rank), count), kLong);
        for (int other = 0; other < world; ++other) {
            const auto expected = bytesOf(seed(other), count);
            const auto found = board.of(other);
            wrong += found.size() == count && std::equal(found.begin(), found.end(), expected.begin()) ? 0 : 1;
        }
    }
    return wrong;
}

template <typename Action>
QString thrown(Action action) {
    try {
        action();
    } catch (const std::exception& problem) {
        return QString::fromUtf8(problem.what());
    }
    return "nothing";
}

}  // namespace

class RankBoardTest : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void everyRankReadsWhatEveryRankPutUp_data() {
        QTest::addColumn<int>("world");
        for (const int world : {1, 2, 3, 4}) QTest::addRow("%d ranks", world) << world;
    }
    void everyRankReadsWhatEveryRankPutUp() {
        QFETCH(int, world);
        const auto first = RankBoard::make(world);
        QVERIFY(first);
        const std::string place = first->place();
        std::vector<pid_t> others;
        for (int rank = 1; rank < world; ++rank) {
            others.push_back(::fork());
            if (others.back() != 0) continue;
            const auto board = RankBoard::open(place, rank, world);
            ::_exit(board && play(*board, rank, world, 3000) == 0 ? 0 : 1);
        }
        QCOMPARE(play(*first, 0, world, 3000), 0);
        for (const pid_t other : others) {
            int status = -1;
            ::waitpid(other, &status, 0);
            QCOMPARE(status, 0);
        }
    }

    void theLargestExchangeFitsAndMoreIsRefused() {
        const auto board = RankBoard::make(1);
        board->exchange(bytesOf(1, RankBoard::kMostBytes), kLong);
        QCOMPARE(board->of(0).size(), RankBoard::kMostBytes);
        QVERIFY(thrown([&] { board->exchange(bytesOf(1, RankBoard::kMostBytes + 1), kLong); }).contains("fits"));
    }

    void aKilledRankIsNoticed() {
        const auto first = RankBoard::make(2);
        const std::string place = first->place();
        const pid_t other = ::fork();
        if (other == 0) {
            const auto board = RankBoard::open(place, 1, 2);
            board->exchange(bytesOf(1, 8), kLong);
            ::raise(SIGKILL);
        }
        first->exchange(bytesOf(0, 8), kLong);
        QElapsedTimer timer;
        timer.start();
        QVERIFY(thrown([&] { first->exchange(bytesOf(0, 8), kLong); }).contains("rank 1 has ended"));
        QVERIFY(timer.elapsed() < 15'000);
        ::waitpid(other, nullptr, 0);
    }

    void aRankThatLeavesIsNoticedWhereAllAreThreads() {
        const auto first = RankBoard::make(2);
        std::thread other([&] { RankBoard::open(first->place(), 1, 2)->exchange(bytesOf(1, 8), kLong); });
        first->exchange(bytesOf(0, 8), kLong);
        QVERIFY(thrown([&] { first->exchange(bytesOf(0, 8), kLong); }).contains("rank 1 has ended"));
        other.join();
    }

    void anotherLengthAndALateRankAreNoticed() {
        const auto first = RankBoard::make(2);
        const auto second = RankBoard::open(first->place(), 1, 2);
        QVERIFY(thrown([&] { first->exchange(bytesOf(0, 8), 1); }).contains("did not come in time"));
        QVERIFY(thrown([&] { second->exchange(bytesOf(1, 16), kLong); }).contains("something else"));
    }

    void whatCannotBeReachedIsNothing() {
        const auto first = RankBoard::make(2);
        const std::string place = first->place();
        QVERIFY(!RankBoard::open("none", 1, 2));
        QVERIFY(!RankBoard::open(place + "x", 1, 2));                                     // another machine
        QVERIFY(!RankBoard::open("1/fd/9999" + place.substr(place.find(' ')), 1, 2));
        QVERIFY(!RankBoard::open(place, 1, 3));                                           // of another size
    }
};

QTEST_GUILESS_MAIN(RankBoardTest)
#include "tst_rank_board.moc"
