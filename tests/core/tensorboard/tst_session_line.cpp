// Which session a value belongs to, case by case.
#include "tensorboard/session_line.h"

#include <QtTest/QTest>

#include <limits>

using namespace lathe::tensorboard;
using Kind = SessionLine::Turn::Kind;

/// A line that is fed values, each younger than the one before where no time is given.
struct Fed : SessionLine {
    std::int64_t clock = 1'000;
    Turn last;
    /// Takes a value as importers do and answers "session:attempt".
    std::string at(std::size_t file, const char* tag, std::int64_t step, std::int64_t wallNs = 0) {
        if (wallNs == 0) wallNs = ++clock;
        last = turnOf(file, tag, step, wallNs);
        if (last.kind == Kind::NewStart) begin(file, last.keeps, wallNs, false);
        if (last.kind == Kind::SecondWriter) setApart(file);
        const auto placed = place(file, tag, step, wallNs);
        return std::to_string(placed.session) + ":" + std::to_string(placed.attempt);
    }
    std::optional<std::int64_t> mark(std::size_t file, std::int64_t step) {
        const auto keeps = keptByMark(step);
        if (keeps) begin(file, *keeps, ++clock, true);
        return keeps;
    }
    /// Series as "name" or "name#writer", in order.
    std::string series() const {
        std::string out;
        for (const Tag& tag : tags) out += tag.name + (tag.writer == 1 ? " " : "#" + std::to_string(tag.writer) + " ");
        return out;
    }
};

class TestSessionLine : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void aFileIsOneSessionAndStepsAreAttempts() {
        Fed line;
        const auto a = line.fileNamed("a");
        QCOMPARE(line.at(a, "loss", 0), std::string("1:0"));
        QCOMPARE(line.at(a, "lr", 0), std::string("1:0"));
        QCOMPARE(line.at(a, "loss", 10), std::string("1:10"));
        QCOMPARE(line.at(a, "lr", -3), std::string("1:1"));  // goes back: numbered on
        QCOMPARE(line.repeated, std::uint64_t{1});
        QCOMPARE(line.fileNamed("a"), a);
        QVERIFY(line.knows(a, "lr") && !line.knows(a, "other"));
    }
    void aStartMarkGoesBackToItsStep() {
        Fed line;
        const auto a = line.fileNamed("a"), b = line.fileNamed("b");
        QVERIFY(!line.mark(a, 0));  // there is nothing to go back over
        for (int step = 0; step < 20; ++step) line.at(a, "loss", step);
        const std::int64_t early = line.clock;
        line.at(a, "odd", 1'000'000);
        QCOMPARE(line.mark(b, 12), std::optional<std::int64_t>(11));
        QCOMPARE(line.at(b, "loss", 12), std::string("2:12"));
        QVERIFY(line.last.kind == Kind::GoesOn);  // the mark has said it already
        QCOMPARE(line.at(a, "loss", 20, early), std::string("1:20"));  // written before the mark, read after it
        QVERIFY(line.last.kind == Kind::GoesOn);
        QCOMPARE(line.at(a, "loss", 21), std::string("2:21"));  // who really goes on writing has a series of his own
        QVERIFY(line.last.kind == Kind::SecondWriter && line.last.other == b && !line.last.cutNothing);
        QCOMPARE(line.series(), std::string("loss odd loss#2 "));
    }
    void aFileThatTakesANameOverIsANewStart() {
        Fed line;
        const auto a = line.fileNamed("a"), b = line.fileNamed("b"), c = line.fileNamed("c");
        for (int step = 0; step < 20; ++step) line.at(a, "loss", step);
        line.at(a, "odd", 500);
        QCOMPARE(line.at(b, "loss", 20), std::string("2:20"));
        QVERIFY(line.last.kind == Kind::NewStart && line.last.keeps == 500);  // goes on: nothing is left behind
        QCOMPARE(line.at(b, "odd", 501), std::string("2:501"));
        QVERIFY(line.last.kind == Kind::GoesOn);  // one file, one start
        QCOMPARE(line.at(c, "loss", 5), std::string("3:5"));
        QVERIFY(line.last.kind == Kind::NewStart && line.last.keeps == 4);  // goes back
    }
    void aSecondWriterWithNamesOfItsOwnSharesTheSession() {
        Fed line;
        const auto train = line.fileNamed("train"), eval = line.fileNamed("eval"), again = line.fileNamed("z");
        for (int step = 0; step < 20; ++step) line.at(train, "loss", step);
        QCOMPARE(line.at(eval, "accuracy", 4), std::string("1:4"));
        QCOMPARE(line.at(eval, "accuracy", 9), std::string("1:9"));
        QCOMPARE(line.at(again, "loss", 7), std::string("2:7"));
        QCOMPARE(line.at(eval, "accuracy", 14), std::string("2:14"));  // goes on beside the new start
        QCOMPARE(line.series(), std::string("loss accuracy "));
    }
    void twoWritersOfOneNameInTurnHaveSeriesOfTheirOwn() {
        Fed line;
        const auto a = line.fileNamed("a"), b = line.fileNamed("b");
        line.at(a, "loss", 0);
        QCOMPARE(line.at(b, "loss", 0), std::string("2:0"));  // as far as can be told by then, a new start
        QVERIFY(line.last.kind == Kind::NewStart && line.last.keeps == -1);
        QCOMPARE(line.at(a, "loss", 1), std::string("2:1"));
        QVERIFY(line.last.kind == Kind::SecondWriter && line.last.other == b && line.last.cutNothing);
        QCOMPARE(line.at(b, "loss", 1), std::string("2:1"));
        for (int step = 2; step < 5; ++step) {
            QCOMPARE(line.at(a, "loss", step), "2:" + std::to_string(step));
            QCOMPARE(line.at(b, "loss", step), "2:" + std::to_string(step));
        }
        QCOMPARE(line.series(), std::string("loss loss#2 "));
        QCOMPARE(line.session, 2);
        QCOMPARE(line.repeated, std::uint64_t{0});
        line.at(a, "own", 5);  // names of its own stay plain
        line.at(a, "own", 6);
        QCOMPARE(line.series(), std::string("loss loss#2 own "));
    }
    void twoWritersReadOneAfterTheOtherAreToldByTheirTimes() {
        Fed line;
        const auto a = line.fileNamed("a"), b = line.fileNamed("b"), c = line.fileNamed("c"), d = line.fileNamed("d");
        for (int step = 0; step < 5; ++step) QCOMPARE(line.at(a, "loss", step, 100 + 10 * step), "1:" + std::to_string(step));
        for (int step = 0; step < 5; ++step) QCOMPARE(line.at(b, "loss", step, 101 + 10 * step), "1:" + std::to_string(step));
        for (int step = 0; step < 5; ++step) QCOMPARE(line.at(c, "loss", step, 102 + 10 * step), "1:" + std::to_string(step));
        QCOMPARE(line.series(), std::string("loss loss#2 loss#3 "));
        QCOMPARE(line.at(d, "loss", 2, 500), std::string("2:2"));  // and after all of them a new start
        QVERIFY(line.last.kind == Kind::NewStart && line.last.keeps == 1);
        QCOMPARE(line.at(b, "loss", 5, 501), std::string("2:5"));
        QCOMPARE(line.series(), std::string("loss loss#2 loss#3 "));
    }
    void valuesWithoutATimeMakeNoSecondWriter() {
        Fed line;
        const auto a = line.fileNamed("a"), b = line.fileNamed("b");
        for (int step = 0; step < 5; ++step) line.at(a, "loss", step);
        QVERIFY(line.turnOf(b, "loss", 3, 0).kind == Kind::NewStart);
    }
    void repeatedStepsAreNumberedOnAndCounted() {
        Fed line;
        const auto a = line.fileNamed("a");
        QCOMPARE(line.at(a, "loss", 5), std::string("1:5"));
        QCOMPARE(line.at(a, "loss", 5), std::string("1:6"));
        QCOMPARE(line.at(a, "loss", 6), std::string("1:7"));
        QCOMPARE(line.at(a, "loss", 20), std::string("1:20"));
        QCOMPARE(line.repeated, std::uint64_t{1});
    }
    void theOddestStepsDoNotOverflow() {
        Fed line;
        const auto a = line.fileNamed("a"), b = line.fileNamed("b");
        const auto most = std::numeric_limits<std::int64_t>::max(), least = std::numeric_limits<std::int64_t>::min();
        line.at(a, "x", most);
        line.at(a, "x", most);
        line.at(a, "y", least);
        QCOMPARE(line.mark(b, least), std::optional(least));
        QCOMPARE(line.tags[0].lastAttempt, most);
    }
    void theStateComesBackWhole() {
        Fed line;
        const auto a = line.fileNamed("a ü"), b = line.fileNamed("b"), c = line.fileNamed("c");
        for (int step = 0; step < 3; ++step) line.at(a, "loss \"x\"", step, 100 + 10 * step);
        line.files[a].offset = 1234, line.files[a].headBytes = 99, line.files[a].headHash = 0xfedcba9876543210u;
        line.at(b, "loss \"x\"", 1, 115);
        line.at(c, "loss \"x\"", 1, 300);
        auto back = SessionLine::fromJson(line.toJson());
        QVERIFY(back.has_value());
        QVERIFY(back->files == line.files && back->tags == line.tags);
        QCOMPARE(back->session, 2);
        QCOMPARE(back->place(b, "loss \"x\"", 2, 125).tag, std::size_t{1});
        QVERIFY(back->turnOf(a, "loss \"x\"", 3, 299).kind == Kind::GoesOn);
        const auto turn = back->turnOf(a, "loss \"x\"", 3, 301);
        QVERIFY(turn.kind == Kind::SecondWriter && turn.cutNothing);
        back->setApart(a);
        QCOMPARE(back->files[a].writer, 3);
        QVERIFY(back->place(b, "new", 1, 126).tag == 2);
        for (const char* bad : {"", "{}", "[]", "{\"session\": 1}",
                                "{\"session\":1,\"has_points\":true,\"largest_attempt\":0,\"repeated\":0,\"writers\":1,\"begun_by_mark\":false,\"begun_ns\":0,\"files\":[],\"tags\":[[\"t\",1,3,1,0,0,0]]}"})
            QVERIFY2(!SessionLine::fromJson(bad), bad);
    }
};

QTEST_GUILESS_MAIN(TestSessionLine)
#include "tst_session_line.moc"
