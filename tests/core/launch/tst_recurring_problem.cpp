// labels: fast
// A problem that comes again and again is told once, once more where it is another one, and with its count when it is over.
#include "launch/process/recurring_problem.h"

#include "fixture_run.h"
#include "launch/run/frame_book.h"

#include <QTemporaryDir>
#include <QtTest>

using namespace lathe;
using launch::RecurringProblem;

static constexpr std::int64_t kSecond = 1'000'000'000;

class RecurringProblemTest : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void initTestCase() {
        qputenv("TZ", "UTC");
        ::tzset();
    }
    void itIsToldOnceAndWithItsCountAtTheEnd() {
        RecurringProblem problem("saves could not be made");
        int told = 0;
        for (int i = 0; i < 224; ++i) told += problem.came("There is no space: need 1.2 MB, have " + std::to_string(i % 7) + (i % 2 == 0 ? ".5 kB" : " B"), (3600 + i) * kSecond) ? 1 : 0;
        QCOMPARE(told, 1);
        QCOMPARE(problem.over().value_or(""), std::string("224 saves could not be made between 01:00:00 and 01:03:43"));
        QVERIFY(!problem.over());
        QVERIFY(problem.came("There is no space: need 1.2 MB, have 0.5 kB", 4000 * kSecond));
        QVERIFY(!problem.over());   // which was told
    }
    void anotherProblemIsToldToo() {
        RecurringProblem problem("saves could not be made");
        QVERIFY(problem.came("There is no space", kSecond));
        QVERIFY(problem.came("The disk is read-only", 2 * kSecond));
        QVERIFY(!problem.came("The disk is read-only", 3 * kSecond));
        QCOMPARE(problem.over().value_or(""), std::string("3 saves could not be made between 00:00:01 and 00:00:03"));
    }
    /// Each is an event of the record; at the terminal there is one line, and one when it is over.
    void savesThatFailFillTheRecordAndNotTheTerminal() {
        QTemporaryDir folder;
        tests::FixtureRun run(folder.path().toStdString(), "one", {});
        run.beginSession(1);
        rundir::Summary summary;
        launch::FrameBook book(run.writer(), summary, 1);
        std::uint64_t sequence = 0;
        const auto take = [&](const std::string& kind, const std::string& text, const std::string& facts = {}) {
            live::EventFrame event;
            event.session = 1;
            event.wallNs = static_cast<std::int64_t>(sequence) * kSecond;
            event.kind = kind;
            event.text = text;
            event.json = facts;
            live::Frame frame;
            frame.sequence = ++sequence;
            frame.type = live::FrameType::Event;
            live::encode(event, frame.payload);
            book.take(0, frame);
        };
        for (int i = 0; i < 42; ++i) take("save_failed", "There is no space for a checkpoint: need 1.2 MB, have 0 B. Training is not affected");
        take("checkpoint", "Saved checkpoint s001-000000100 (1.2 MB)", R"({"folder": "s001-000000100", "bytes": 1200000})");
        take("save_failed", "There is no space for a checkpoint: need 1.2 MB, have 0 B. Training is not affected");
        QCOMPARE(book.takeSaid(), (std::vector<std::string>{"There is no space for a checkpoint: need 1.2 MB, have 0 B. Training is not affected",
                                                            "42 saves could not be made between 00:00:00 and 00:00:41",
                                                            "There is no space for a checkpoint: need 1.2 MB, have 0 B. Training is not affected"}));
        QCOMPARE(book.failedSaves(), 43);
        run.flush();
        const auto reader = store::RunReader::open(run.folder().database());
        const auto events = (*reader)->events().value();
        QCOMPARE(std::count_if(events.begin(), events.end(), [](const store::EventRow& row) { return row.event.kind == "save_failed"; }), 43);
    }
};

QTEST_GUILESS_MAIN(RecurringProblemTest)
#include "tst_recurring_problem.moc"
