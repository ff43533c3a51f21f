// labels: fast
// Who holds up the others, and who only takes long. Time is given.
#include "launch/workers/hang_doctor.h"
#include "launch/workers/stack_reader.h"

#include <QtTest>

using namespace lathe;
using namespace lathe::launch;
using live::Activity;
using live::Phase;

namespace {

constexpr std::int64_t kTick = 50'000'000;   // ns between looks

/// Ranks that beat at each look unless they are silent.
struct Ranks {
    explicit Ranks(std::size_t world, double secondsOfUpdate = 0.1) : beats(world), update(secondsOfUpdate) {
        for (auto& beat : beats) beat = live::Heartbeat{.phase = Phase::Training, .movedNs = 1};
    }
    /// All get on: an update now and then.
    void trainFor(double seconds) {
        for (const std::int64_t until = now + std::int64_t(seconds * 1e9); now < until;) {
            for (auto& beat : beats) {
                beat->attempt = std::int64_t(double(now) / 1e9 / update);
                beat->movedNs = now;
                beat->activity = Activity::Computing;
            }
            look();
        }
    }
    /// Nothing moves; who is not silent beats. Stops at the first finding; the seconds that it took.
    double stand(double seconds, const std::vector<std::size_t>& silent = {}) {
        const std::int64_t begin = now;
        while (double(now - begin) / 1e9 < seconds) {
            look(silent);
            if (doctor.finding()) break;
        }
        return double(now - begin) / 1e9;
    }
    void look(const std::vector<std::size_t>& silent = {}) {
        now += kTick;
        for (std::size_t rank = 0; rank < beats.size(); ++rank)
            if (beats[rank] && std::find(silent.begin(), silent.end(), rank) == silent.end()) beats[rank]->monotonicNs = now;
        doctor.look(beats, now);
    }
    QString text() const { return QString::fromStdString(sentenceOf(*doctor.finding(), beats)); }

    HangDoctor doctor;
    HangDoctor::Beats beats;
    double update;
    std::int64_t now = 1'000'000'000;
};

}  // namespace

class HangDoctorTest : public QObject {
    Q_OBJECT
private Q_SLOTS:
    // R5
    void silentRankIsNamedWithinTwoSeconds() {
        Ranks ranks(2);
        ranks.trainFor(10);
        ranks.beats[0]->activity = ranks.beats[1]->activity = Activity::Reducing;
        const double seconds = ranks.stand(10, {1});
        QVERIFY(ranks.doctor.finding() && ranks.doctor.finding()->rank == 1 && ranks.doctor.finding()->isSilent);
        QVERIFY2(seconds <= 2, qPrintable(QString::number(seconds)));
        const QString update = QString::number(ranks.beats[1]->attempt + 1);
        QVERIFY2(ranks.text().startsWith("Rank 1 has been silent for 1.") && ranks.text().contains("s in reduce gradients, update " + update + "; rank 0 waits in reduce gradients"), qPrintable(ranks.text()));
    }

    // R5: five times the usual update
    void rankThatDoesNotGetOnIsNamedByItsUpdates_data() {
        QTest::addColumn<double>("update");
        QTest::newRow("quick updates: two seconds") << 0.1;
        QTest::newRow("slow updates: five of them") << 2.0;
    }
    void rankThatDoesNotGetOnIsNamedByItsUpdates() {
        QFETCH(double, update);
        Ranks ranks(3, update);
        ranks.trainFor(100);
        QVERIFY(std::abs(*ranks.doctor.secondsOfUpdate() - update) < 0.1);
        ranks.beats[0]->activity = ranks.beats[2]->activity = Activity::Exchanging;
        const double seconds = ranks.stand(60), most = std::max(2.0, 5 * update);
        QVERIFY(ranks.doctor.finding() && ranks.doctor.finding()->rank == 1 && !ranks.doctor.finding()->isSilent);
        QVERIFY2(seconds <= most && seconds > 0.8 * most, qPrintable(QString::number(seconds)));
        QVERIFY2(ranks.text().contains("Rank 1 has not got on for") && ranks.text().contains("in forward and backward") && ranks.text().contains("rank 2 waits in exchange with the other ranks"),
                 qPrintable(ranks.text()));
    }

    void whoGetsOnAgainIsNoLongerNamed() {
        Ranks ranks(2);
        ranks.trainFor(10);
        ranks.stand(10, {1});
        QVERIFY(ranks.doctor.finding());
        ranks.trainFor(0.2);
        QVERIFY(!ranks.doctor.finding());
    }

    void ranksThatWaitForOneAnotherAreNamedTogether() {
        Ranks ranks(2);
        ranks.trainFor(10);
        ranks.beats[0]->activity = Activity::Reducing;
        ranks.beats[1]->activity = Activity::Exchanging;
        ranks.beats[0]->attempt += 1;
        ranks.stand(10);
        QVERIFY(ranks.doctor.finding() && ranks.doctor.finding()->isMutual);
        QCOMPARE(ranks.doctor.finding()->rank, 1);   // the one behind
        QVERIFY2(ranks.text().startsWith("The ranks have waited for one another for") && ranks.text().contains("rank 0 in reduce gradients") && ranks.text().contains("rank 1 in exchange"), qPrintable(ranks.text()));
    }

    void whatTakesLongForGoodReasonIsNoHang_data() {
        QTest::addColumn<int>("phase");
        QTest::addColumn<double>("seconds");
        QTest::newRow("loading data") << int(Phase::LoadingData) << 50.0;
        QTest::newRow("a big model") << int(Phase::BuildingModel) << 250.0;
        QTest::newRow("loading the checkpoint") << int(Phase::LoadingCheckpoint) << 100.0;
        QTest::newRow("first update") << int(Phase::FirstUpdate) << 100.0;
        QTest::newRow("evaluating") << int(Phase::Evaluating) << 50.0;
        QTest::newRow("saving") << int(Phase::Saving) << 800.0;
        QTest::newRow("paused") << int(Phase::Paused) << 5000.0;
    }
    void whatTakesLongForGoodReasonIsNoHang() {
        QFETCH(int, phase);
        QFETCH(double, seconds);
        Ranks ranks(2);
        ranks.trainFor(10);
        ranks.beats[0]->phase = Phase(phase);
        ranks.beats[0]->activity = Activity::None;
        ranks.beats[1]->activity = Activity::Exchanging;   // waits for it in its update
        ranks.stand(seconds);
        QVERIFY2(!ranks.doctor.finding(), qPrintable(ranks.doctor.finding() ? ranks.text() : QString()));
    }

    void aSaveThatLooksAtTheNextWindowIsHeldUpLikeAnUpdate() {
        Ranks ranks(1);
        ranks.trainFor(10);
        ranks.beats[0]->phase = Phase::Saving;
        ranks.beats[0]->activity = Activity::Computing;
        ranks.stand(10);
        QVERIFY(ranks.doctor.finding() && !ranks.doctor.finding()->isSilent);
        QVERIFY2(ranks.text().contains("in forward and backward, update "), qPrintable(ranks.text()));
    }

    void beforeUpdatesAreKnownMoreIsBorne() {
        Ranks ranks(1);
        ranks.stand(20);
        QVERIFY(!ranks.doctor.finding());
    }

    // this process was stopped, or the machine slept
    void timeInWhichNobodyLookedIsHeldAgainstNobody() {
        Ranks ranks(2);
        ranks.trainFor(10);
        ranks.now += 60'000'000'000;
        ranks.look({0, 1});
        QVERIFY(!ranks.doctor.finding());
        ranks.stand(1, {0, 1});
        QVERIFY(!ranks.doctor.finding());
    }

    void whoHasEndedIsNotSilent() {
        Ranks ranks(2);
        ranks.trainFor(10);
        ranks.beats[1].reset();
        ranks.beats[0]->activity = Activity::Reducing;
        ranks.stand(10);
        QVERIFY(!ranks.doctor.finding());
    }

    void framesAreReadable() {
        QCOMPARE(frameText("/opt/lib/libtorch_cpu.so(_ZN5torch8autograd6Engine17evaluate_functionEi+0x12) [0x7f00]"), std::string("torch::autograd::Engine::evaluate_function(int) (libtorch_cpu.so)"));
        QCOMPARE(frameText("/usr/bin/lathe-worker(+0x3abc) [0x55]"), std::string("+0x3abc (lathe-worker)"));
        QCOMPARE(frameText("[0x7ffe]"), std::string("[0x7ffe]"));
        QCOMPARE(frameText(""), std::string());
        for (const char* odd : {"(", ")", "a(b", ")(", "/(", "x(+"}) frameText(odd);
        RankStack one{.rank = 0, .frames = {"a (x)", "b (y)"}, .note = {}}, other = one;
        other.note = "elsewhere";
        QCOMPARE(one.digest(), other.digest());
        other.frames.pop_back();
        QVERIFY(one.digest() != other.digest());
    }
};

QTEST_GUILESS_MAIN(HangDoctorTest)
#include "tst_hang_doctor.moc"
