// Work in two steps: the first of several things at a time, the second of one after another.
#include "base/in_order.h"

#include <QtTest>

#include <algorithm>
#include <atomic>
#include <latch>
#include <vector>

using namespace lathe;

class InOrderTest : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void everyThingIsTakenOnceAndInOrder_data() {
        QTest::addColumn<int>("count");
        QTest::addColumn<int>("threads");
        for (const int count : {0, 1, 3, 1000})
            for (const int threads : {0, 1, 2, 5}) QTest::addRow("%d things, %d threads", count, threads) << count << threads;
    }
    void everyThingIsTakenOnceAndInOrder() {
        QFETCH(int, count);
        QFETCH(int, threads);
        const auto things = static_cast<std::size_t>(count);
        std::vector<std::size_t> taken;                         // without a lock: never two at once
        std::vector<std::atomic<int>> prepared(things);
        bool isAfterFirst = true;
        const auto done = inOrder(things, static_cast<std::size_t>(threads),
            [&](std::size_t i) -> Result<void> {
                ++prepared[i];
                return {};
            },
            [&](std::size_t i) -> Result<void> {
                isAfterFirst = isAfterFirst && prepared[i] == 1;
                taken.push_back(i);
                return {};
            });
        QVERIFY(done.ok() && isAfterFirst);
        QCOMPARE(taken.size(), things);
        QVERIFY(std::is_sorted(taken.begin(), taken.end()));
        for (const auto& times : prepared) QCOMPARE(times.load(), 1);
    }

    /// A thread that the system holds up must not hold up the others at every thing.
    void whatIsHeldUpHoldsUpNoOther() {
        std::latch others(99);
        std::atomic<std::size_t> taken{0};
        const auto done = inOrder(100, 2, [&](std::size_t i) -> Result<void> {
            if (i == 0) others.wait();   // until all of them have had theirs
            else others.count_down();
            return {};
        }, [&](std::size_t i) -> Result<void> {
            return i == taken++ ? Result<void>() : Result<void>(Error{ErrorCode::Internal, "out of order", {}, {}});
        });
        QVERIFY(done.ok());
        QCOMPARE(taken.load(), std::size_t(100));
    }

    void theFirstErrorInOrderEndsIt() {
        for (const bool inFirstStep : {true, false}) {
            std::vector<std::size_t> taken;
            const auto fails = [](std::size_t i) -> Result<void> {
                if (i == 40 || i == 41 || i == 300) return Error{ErrorCode::Io, "thing " + std::to_string(i), {}, {}};
                return {};
            };
            const auto done = inOrder(1000, 3, [&](std::size_t i) { return inFirstStep ? fails(i) : Result<void>(); },
                                      [&](std::size_t i) {
                                          auto step = inFirstStep ? Result<void>() : fails(i);
                                          if (step.ok()) taken.push_back(i);
                                          return step;
                                      });
            QVERIFY(!done.ok());
            QCOMPARE(done.error().sentence, std::string("thing 40"));
            QCOMPARE(taken.size(), std::size_t(40));
        }
    }
};

QTEST_GUILESS_MAIN(InOrderTest)
#include "tst_in_order.moc"
