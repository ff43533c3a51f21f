// Work in two steps: the first of several things at a time, the second of one after another.
#include "base/in_order.h"

#include <QtTest>

#include <algorithm>
#include <atomic>
#include <set>
#include <thread>
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
        std::vector<std::pair<std::size_t, std::thread::id>> by(things);
        bool isSameThread = true;
        const auto done = inOrder(things, static_cast<std::size_t>(threads),
            [&](std::size_t i, std::size_t thread) -> Result<void> {
                ++prepared[i];
                by[i] = {thread, std::this_thread::get_id()};
                return {};
            },
            [&](std::size_t i, std::size_t thread) -> Result<void> {
                isSameThread = isSameThread && by[i] == std::pair(thread, std::this_thread::get_id());
                taken.push_back(i);
                return {};
            });
        QVERIFY(done.ok() && isSameThread);
        QCOMPARE(taken.size(), things);
        QVERIFY(std::is_sorted(taken.begin(), taken.end()));
        for (const auto& times : prepared) QCOMPARE(times.load(), 1);
        std::set<std::size_t> numbers;
        for (const auto& [number, thread] : by) numbers.insert(number);
        QVERIFY(numbers.empty() || *numbers.rbegin() < std::max<std::size_t>(1, static_cast<std::size_t>(threads)));
    }

    void theFirstErrorInOrderEndsIt() {
        for (const bool inFirstStep : {true, false}) {
            std::vector<std::size_t> taken;
            const auto fails = [](std::size_t i) -> Result<void> {
                if (i == 40 || i == 41 || i == 300) return Error{ErrorCode::Io, "thing " + std::to_string(i), {}, {}};
                return {};
            };
            const auto done = inOrder(1000, 3, [&](std::size_t i, std::size_t) { return inFirstStep ? fails(i) : Result<void>(); },
                                      [&](std::size_t i, std::size_t) {
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
