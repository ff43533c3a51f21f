// Which session a value belongs to, case by case.
#include "tensorboard/session_line.h"

#include <QtTest/QTest>

#include <limits>

using namespace lathe::tensorboard;

/// Feeds a value and answers "session:attempt".
static std::string at(SessionLine& line, std::size_t file, const char* tag, std::int64_t step, std::optional<std::int64_t>* began = nullptr) {
    const auto keeps = line.startBefore(file, tag, step);
    if (began) *began = keeps;
    const auto placed = line.place(file, tag, step);
    return std::to_string(placed.session) + ":" + std::to_string(placed.attempt);
}

class TestSessionLine : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void aFileIsOneSessionAndStepsAreAttempts() {
        SessionLine line;
        const auto a = line.fileNamed("a");
        QCOMPARE(at(line, a, "loss", 0), std::string("1:0"));
        QCOMPARE(at(line, a, "lr", 0), std::string("1:0"));
        QCOMPARE(at(line, a, "loss", 10), std::string("1:10"));
        QCOMPARE(at(line, a, "lr", -3), std::string("1:1"));  // goes back: numbered on
        QCOMPARE(line.repeated, std::uint64_t{1});
        QCOMPARE(line.fileNamed("a"), a);
    }
    void aStartMarkGoesBackToItsStep() {
        SessionLine line;
        const auto a = line.fileNamed("a"), b = line.fileNamed("b");
        QVERIFY(!line.start(a, 0));  // there is nothing to go back over
        for (int step = 0; step < 20; ++step) at(line, a, "loss", step);
        at(line, a, "odd", 1'000'000);
        QCOMPARE(line.start(b, 12), std::optional<std::int64_t>(11));
        std::optional<std::int64_t> began;
        QCOMPARE(at(line, b, "loss", 12, &began), std::string("2:12"));
        QVERIFY(!began);  // the mark has said it already
        QCOMPARE(at(line, a, "loss", 20), std::string("1:20"));  // who still writes into the old file stays there
    }
    void aFileThatTakesANameOverIsANewStart() {
        SessionLine line;
        const auto a = line.fileNamed("a"), b = line.fileNamed("b"), c = line.fileNamed("c");
        for (int step = 0; step < 20; ++step) at(line, a, "loss", step);
        at(line, a, "odd", 500);
        std::optional<std::int64_t> began;
        QCOMPARE(at(line, b, "loss", 20, &began), std::string("2:20"));
        QCOMPARE(began, std::optional<std::int64_t>(500));  // goes on: nothing is left behind
        QCOMPARE(at(line, b, "odd", 501, &began), std::string("2:501"));
        QVERIFY(!began);  // one file, one start
        QCOMPARE(at(line, c, "loss", 5, &began), std::string("3:5"));
        QCOMPARE(began, std::optional<std::int64_t>(4));  // goes back
    }
    void aSecondWriterWithNamesOfItsOwnSharesTheSession() {
        SessionLine line;
        const auto train = line.fileNamed("train"), eval = line.fileNamed("eval"), again = line.fileNamed("z");
        for (int step = 0; step < 20; ++step) at(line, train, "loss", step);
        QCOMPARE(at(line, eval, "accuracy", 4), std::string("1:4"));
        QCOMPARE(at(line, eval, "accuracy", 9), std::string("1:9"));
        QCOMPARE(at(line, again, "loss", 7), std::string("2:7"));
        QCOMPARE(at(line, eval, "accuracy", 14), std::string("2:14"));  // goes on beside the new start
        QCOMPARE(at(line, train, "loss", 20), std::string("1:20"));
    }
    void twoWritersOfOneNameAreNotMixed() {
        SessionLine line;
        const auto a = line.fileNamed("a"), b = line.fileNamed("b");
        at(line, a, "loss", 0);
        QCOMPARE(at(line, b, "loss", 0), std::string("2:0"));
        for (int step = 1; step < 5; ++step) {
            QCOMPARE(at(line, a, "loss", step), "1:" + std::to_string(step));
            QCOMPARE(at(line, b, "loss", step), "2:" + std::to_string(step));
        }
        QCOMPARE(line.session, 2);
        QCOMPARE(line.repeated, std::uint64_t{0});
    }
    void repeatedStepsAreNumberedOnAndCounted() {
        SessionLine line;
        const auto a = line.fileNamed("a");
        QCOMPARE(at(line, a, "loss", 5), std::string("1:5"));
        QCOMPARE(at(line, a, "loss", 5), std::string("1:6"));
        QCOMPARE(at(line, a, "loss", 6), std::string("1:7"));
        QCOMPARE(at(line, a, "loss", 20), std::string("1:20"));
        QCOMPARE(line.repeated, std::uint64_t{1});
    }
    void theOddestStepsDoNotOverflow() {
        SessionLine line;
        const auto a = line.fileNamed("a"), b = line.fileNamed("b");
        const auto most = std::numeric_limits<std::int64_t>::max(), least = std::numeric_limits<std::int64_t>::min();
        at(line, a, "x", most);
        at(line, a, "x", most);
        at(line, a, "y", least);
        QCOMPARE(line.start(b, least), std::optional(least));
        QCOMPARE(line.tags[0].lastAttempt, most);
    }
    void theStateComesBackWhole() {
        SessionLine line;
        const auto a = line.fileNamed("a ü"), b = line.fileNamed("b");
        for (int step = 0; step < 3; ++step) at(line, a, "loss \"x\"", step);
        line.files[a].offset = 1234, line.files[a].headBytes = 99, line.files[a].headHash = 0xfedcba9876543210u;
        at(line, b, "loss \"x\"", 1);
        auto back = SessionLine::fromJson(line.toJson());
        QVERIFY(back.has_value());
        QVERIFY(back->files == line.files && back->tags == line.tags);
        QCOMPARE(back->session, 2);
        QCOMPARE(at(*back, a, "loss \"x\"", 3), std::string("1:3"));
        QVERIFY(back->place(b, "new", 1).tag == 1);
        for (const char* bad : {"", "{}", "[]", "{\"session\": 1}", "{\"session\":1,\"has_points\":true,\"largest_attempt\":0,\"repeated\":0,\"files\":[],\"tags\":[[\"t\",3,1,0,0]]}"})
            QVERIFY2(!SessionLine::fromJson(bad), bad);
    }
};

QTEST_GUILESS_MAIN(TestSessionLine)
#include "tst_session_line.moc"
