// A rank that fails, and hooks that throw, at each point: SEMANTICS L1.
#include "loop_fixture.h"
#include "rank_threads.h"

#include <QtTest>

using namespace lathe;
using namespace lathe::engine;
using namespace lathe::engine::test;

namespace {

std::vector<Batch> ones(int count) {
    std::vector<Batch> batches;
    for (int i = 0; i < count; ++i) batches.push_back(batchOf({{1.0}}, i));
    return batches;
}

/// Visits every point: evaluates and saves after each second update.
void busy(Fixture& f) {
    f.windows.batches = ones(12);
    f.evaluation.list = ones(2);
    f.settings.evaluateEvery = f.settings.saveEvery = {Interval::Unit::Updates, 2};
}

void throwsAt(Fixture& f, Point point) {
    f.recorder.act = [point](const HookContext& context, Wishes&) {
        if (context.point == point) throw std::runtime_error("boom");
    };
}

const std::vector<Point> kPoints{Point::TrainStart, Point::WindowStart, Point::MicroStep, Point::Update, Point::EvalStart, Point::EvalBatch,
                                 Point::EvalEnd, Point::BeforeSave, Point::AfterSave, Point::TrainEnd};

void addPoints() {
    QTest::addColumn<int>("point");
    for (const Point point : kPoints) QTest::newRow(std::string(name(point)).c_str()) << static_cast<int>(point);
}

}  // namespace

class OutOfStepTest : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void aRankThatFailsAsksTheOthersNothingMore_data() { addPoints(); }
    /// SEMANTICS L1: of hooks, at each point: it leaves, and the others learn that they lost it
    void aRankThatFailsAsksTheOthersNothingMore() {
        QFETCH(int, point);
        const auto where = static_cast<Point>(point);
        std::vector<Ending> endings(2);
        std::string order;
        std::vector<std::string> told;
        asRanks(ranks(2), [&](Parallel& parallel) {
            Fixture f;
            f.group = &parallel;
            busy(f);
            if (parallel.rank() == 1) {
                f.recorder.isRequired = true;
                throwsAt(f, where);
            }
            endings[static_cast<std::size_t>(parallel.rank())] = f.run(2);
            if (parallel.rank() != 1) return;
            order = f.recorder.order;
            told = f.recorder.exceptions;
        });
        QCOMPARE(endings[1].state, rundir::State::Failed);
        QVERIFY2(endings[1].why.find("boom") != std::string::npos, endings[1].why.c_str());
        QVERIFY(!endings[1].lostContact);
        QCOMPARE(told.size(), std::size_t(1));
        const std::string thrown = std::string(name(where)) + "; ";
        QVERIFY2(order.ends_with(thrown + "exception; " + (where == Point::TrainEnd ? "" : "train end; ")), order.c_str());
        if (where == Point::TrainEnd) QCOMPARE(endings[0].state, rundir::State::Completed);
        else QVERIFY2(endings[0].lostContact && endings[0].state == rundir::State::Failed, endings[0].why.c_str());
    }

    /// SEMANTICS L1: the window after a save cannot be loaded on one rank
    void aLookAtTheNextWindowThatFailsOnOneRankEndsBoth() {
        class Damaged final : public WindowSource {
        public:
            explicit Damaged(ListSource& source) : m_source(source) {}
            Result<void> load(const plan::Window& window, const plan::Sharing::Share& share, std::vector<Batch>& out) override {
                if (window.microBatches.front().begin == 4) return Error{ErrorCode::Data, "rose/12.jpg cannot be decoded", {}, {}};
                return m_source.load(window, share, out);
            }

        private:
            ListSource& m_source;
        };
        std::vector<Ending> endings(2);
        std::string order;
        asRanks(ranks(2), [&](Parallel& parallel) {
            Fixture f;
            f.group = &parallel;
            busy(f);
            f.evaluation.list.clear();
            Damaged damaged(f.windows);
            if (parallel.rank() == 1) f.source = &damaged;
            endings[static_cast<std::size_t>(parallel.rank())] = f.run(2);
            if (parallel.rank() == 1) order = f.recorder.order;
        });
        QVERIFY2(endings[1].why.find("rose/12.jpg") != std::string::npos, endings[1].why.c_str());
        QVERIFY2(order.ends_with("update; exception; train end; "), order.c_str());
        QVERIFY2(endings[0].lostContact, endings[0].why.c_str());
    }

    void aRequiredHookThatThrowsEverywhereEndsWithItsFirstSentence_data() {
        QTest::addColumn<int>("world");
        QTest::newRow("one process") << 1;
        QTest::newRow("two ranks") << 2;
    }
    void aRequiredHookThatThrowsEverywhereEndsWithItsFirstSentence() {
        QFETCH(int, world);
        asRanks(ranks(world), [](Parallel& parallel) {
            Fixture f;
            f.group = &parallel;
            busy(f);
            f.recorder.isRequired = true;
            f.recorder.act = [](const HookContext& context, Wishes&) { throw std::runtime_error("boom at " + std::string(name(context.point))); };
            const Ending ending = f.run(2);
            QCOMPARE(ending.state, rundir::State::Failed);
            QVERIFY2(ending.why.find("boom at train start") != std::string::npos, ending.why.c_str());
            QVERIFY(f.recorder.rows.empty());
        });
    }

    void aFailureIsToldOnce_data() { addPoints(); }
    /// A hook that is not required goes on being called; one that is required ends the run there, and its state is saved.
    void aFailureIsToldOnce() {
        QFETCH(int, point);
        const auto where = static_cast<Point>(point);
        for (const bool required : {false, true}) {
            Fixture f;
            busy(f);
            f.recorder.isRequired = required;
            throwsAt(f, where);
            const Ending ending = f.run(6);
            QCOMPARE(ending.state, required ? rundir::State::Failed : rundir::State::Completed);
            if (required && where != Point::TrainStart) QVERIFY(!f.saver.steps.empty());
            if (required) QCOMPARE(f.recorder.exceptions.size(), std::size_t(1));
            if (required && where == Point::EvalBatch) QVERIFY(f.progress.evaluationPending && f.recorder.evaluations.empty());
            if (required) continue;
            const std::string thrown = std::string(name(where)) + "; ";
            std::size_t times = 0;
            for (std::size_t at = f.recorder.order.find(thrown); at != std::string::npos; at = f.recorder.order.find(thrown, at + 1)) ++times;
            QVERIFY(times > 0);
            QCOMPARE(f.recorder.exceptions.size(), times);
        }
    }

    void aHookThatThrowsWhilePausedIsHandledAsElsewhere() {
        for (const bool required : {false, true}) {
            Fixture f;
            busy(f);
            f.evaluation.list.clear();
            f.recorder.isRequired = required;
            f.recorder.act = [](const HookContext& context, Wishes& wishes) { wishes.hold = context.point == Point::Update && context.counters->globalStep.value() == 1; };
            f.recorder.whilePaused = [](Wishes&) { throw std::runtime_error("boom"); };
            const Ending ending = f.run(4);
            QCOMPARE(ending.state, required ? rundir::State::Failed : rundir::State::Completed);
            QCOMPARE(f.recorder.exceptions.size(), std::size_t(1));
            QVERIFY2(f.recorder.exceptions.at(0).find("recorder at a pause") != std::string::npos, f.recorder.exceptions.at(0).c_str());
            QCOMPARE(f.saver.steps, required ? (std::vector<std::int64_t>{1}) : (std::vector<std::int64_t>{2, 3}));
            QVERIFY(f.recorder.order.ends_with("train end; "));
            const double before = f.time.seconds();
            while (f.time.seconds() <= before) std::this_thread::yield();  // the clock goes on
        }
    }
};

QTEST_GUILESS_MAIN(OutOfStepTest)
#include "tst_out_of_step.moc"
