// labels: process
// timeout: 300
// Runs that go back by themselves, through lathe-trainer with real workers: for an outlier in the data, and for a worse
// evaluation; with one rank and with two, and continued in between.
#include "worker_run.h"

#include "base/file_system.h"
#include "store/run_store.h"
#include "trainer_process.h"

#include <QtTest>

#include <bit>
#include <fstream>
#include <tuple>

using namespace lathe;
using namespace lathe::test;
using lathe::tests::digitsConfig;
using nlohmann::json;

namespace {

using Points = std::vector<std::tuple<int, std::int64_t, std::int64_t, std::uint64_t>>;   ///< session, attempt, step, bits

Points pointsOf(const rundir::RunFolder& run, const std::string& series, store::RunReader::Line line) {
    Points all;
    const auto reader = store::RunReader::open(run.database()).value();
    const std::vector<store::Point> points = reader->points(series, line).value();
    for (const store::Point& point : points) all.emplace_back(point.session, point.attempt, point.step, std::bit_cast<std::uint64_t>(point.value));
    return all;
}

std::vector<json> eventsOf(const rundir::RunFolder& run, const std::string& kind) {
    std::vector<json> found;
    const auto reader = store::RunReader::open(run.database()).value();
    const std::vector<store::EventRow> events = reader->events().value();
    for (const store::EventRow& row : events)
        if (row.event.kind == kind) found.push_back(json::parse(row.event.json));
    return found;
}

}  // namespace

class RollBackTest : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void initTestCase() {
        // y = 2x, but for one sample of which the loss is ten thousand times the others'
        const auto csv = m_work.scratch() / "line.csv";
        std::ofstream file(csv);
        file << "x,y\n";
        for (int i = 0; i < 320; ++i) file << (i % 16) / 16.0 << "," << (i == 150 ? 100.0 : 2.0 * ((i % 16) / 16.0)) << "\n";
        file.close();
        config::RunConfig config;
        config.data.train = csv.string();
        config.data.target = {"y"};
        config.data.evalFraction = 0;
        config.data.shuffle = false;
        config.data.batchSize = 4;
        config.evaluation.every = {Interval::Unit::Never, 0};
        config.accumulation.microBatches = 2;
        config.model.name = "linear";
        config.task.name = "regression";
        config.optimizer.name = "sgd";
        config.optimizer.learningRate = 0.1;
        config.optimizer.maxGradNorm = {};
        config.run.epochs = 2;
        config.checkpoint.every = {Interval::Unit::Updates, 8};
        config.guard.window = 8;
        config.schedule.name = "constant";
        m_line = written("line.yaml", config);

        config = digitsConfig();
        config.data.batchSize = 8;
        config.accumulation.microBatches = 2;
        config.run.maxUpdates = 40;
        config.optimizer.learningRate = 0.3;
        config.evaluation.every = {Interval::Unit::Updates, 5};
        config.guard.onWorse = "roll_back";
        config.guard.maxRollBacks = 40;
        m_digits = written("digits.yaml", config);
    }

    void outlierIsSkippedAndToldWithItsSamples() {
        const auto run = finished(m_line, {"guard.on_loss_spike=skip"});
        const auto decisions = eventsOf(run, "guard");
        QCOMPARE(decisions.size(), std::size_t(2));  // once an epoch
        QCOMPARE(decisions[0]["trigger"], json("loss spike"));
        QCOMPARE(decisions[0]["action"], json("skip"));
        QCOMPARE(decisions[0]["samples"], (json{144, 145, 146, 147, 148, 149, 150, 151}));
        QVERIFY(readDoubleOf(decisions[0]["values"]["loss"]) > 1000);
        const json shown = m_work.ask({"show", name(run), "--json"}).json();
        QCOMPARE(shown["guard"].size(), std::size_t(2));
        QCOMPARE(shown["guard"][0]["samples"], decisions[0]["samples"]);
        QCOMPARE(shown["counters"]["skipped_updates"], json(2));
        QCOMPARE(shown["counters"]["global_step"], json(78));
    }

    // what it decides does not depend on ranks, nor on interruptions
    void decisionsAreTheSameUnderRanksAndResume() {
        const QStringList guarded{"guard.on_loss_spike=skip", "guard.spike_score=4"};
        const auto one = finished(m_line, guarded), two = finished(m_line, guarded + QStringList{"parallel.ranks=2"});
        const auto parts = finished(m_line, guarded + QStringList{"run.max_updates=14"});
        QCOMPARE(m_work.ask({"continue", name(parts), "--json", "--set", "run.max_updates=none"}).code, 0);
        QVERIFY(!eventsOf(one, "guard").empty());
        for (const auto* other : {&two, &parts}) {
            const auto mine = eventsOf(one, "guard"), theirs = eventsOf(*other, "guard");
            QCOMPARE(theirs.size(), mine.size());
            for (std::size_t i = 0; i < mine.size(); ++i) QCOMPARE(theirs[i], mine[i]);
        }
        QVERIFY(withoutSession(pointsOf(one, "train/loss", store::RunReader::Line::Surviving)) == withoutSession(pointsOf(two, "train/loss", store::RunReader::Line::Surviving)));
        QVERIFY(withoutSession(pointsOf(one, "train/loss", store::RunReader::Line::Surviving)) == withoutSession(pointsOf(parts, "train/loss", store::RunReader::Line::Surviving)));
    }

    // 19 updates fit, the 19th window holds the outlier: back to update 16, twice; then it has gone back often enough
    void spikeGoesBackUntilThatIsUsedUp() {
        const Answer answer = launched(m_line, {"guard.on_loss_spike=roll_back", "guard.max_roll_backs=2"});
        QCOMPARE(answer.code, static_cast<int>(ExitCode::Diverged));
        const rundir::RunFolder run(std::string(answer.json()["folder"]));
        QCOMPARE(rundir::newestSession(run), 3);
        double rate = 0.1;
        for (int session = 1; session <= 3; ++session) {
            const auto record = rundir::readSession(run, session).value();
            QCOMPARE(record.rollBacks, session - 1);
            QCOMPARE(record.verb, std::string(session == 1 ? "start" : "roll-back"));
            QCOMPARE(*record.state, session == 3 ? rundir::State::Diverged : rundir::State::Stopped);
            if (session > 1) QVERIFY2(record.checkpoint.ends_with("-000000016"), record.checkpoint.c_str());
            QCOMPARE(config::loadUsable(run.sessionYaml(session).string())->optimizer.learningRate, rate);
            rate *= 0.5;
        }
        QCOMPARE(eventsOf(run, "rolled_back").size(), std::size_t(2));
        QVERIFY(rundir::readSession(run, 3)->why.find("guard.max_roll_backs") != std::string::npos);
        // continuing does not begin to count anew
        const Answer again = m_work.ask({"continue", name(run), "--json"});
        QCOMPARE(again.code, static_cast<int>(ExitCode::Diverged));
        QCOMPARE(rundir::newestSession(run), 4);
        // and a roll-back that a person asks for does
        QCOMPARE(m_work.ask({"roll-back", name(run) + "@16", "--json", "--set", "guard.on_loss_spike=skip"}).code, 0);
        QCOMPARE(rundir::readSession(run, 5)->rollBacks, 0);
    }

    void spikeBeforeTheFirstCheckpointGoesBackToTheStart() {
        const Answer answer = launched(m_line, {"guard.on_loss_spike=roll_back", "guard.max_roll_backs=1", "checkpoint.every=never"});
        const rundir::RunFolder run(std::string(answer.json()["folder"]));
        QVERIFY(rundir::readSession(run, 2)->checkpoint.ends_with("-000000000"));
    }

    void lostCheckpointsEndTheRunWithASentence() {
        // The only checkpoint is that of the start, and it is taken away while the run pauses.
        auto process = m_work.start(words(m_line, {"guard.on_loss_spike=roll_back", "checkpoint.every=never", "run.name=lost", "run.epochs=100000", "guard.window=1000"}));
        rundir::RunFolder run("");
        QVERIFY(eventually([&] {
            const auto runs = rundir::listRuns(m_work.folder());
            if (runs.empty() || runs[0].name().find("-lost-") == std::string::npos) return false;
            run = runs[0];
            return rundir::listCheckpoints(run.checkpoints()).size() == 1;
        }));
        std::filesystem::remove_all(run.checkpoints() / rundir::listCheckpoints(run.checkpoints())[0].folder);
        const Answer answer = Workspace::finish(*process);
        QCOMPARE(answer.code, static_cast<int>(ExitCode::Diverged));
        const std::string why = rundir::readSession(run, 1)->why;
        QVERIFY2(why.find("no checkpoint to go back to") != std::string::npos, why.c_str());
    }

    // who paused it and why: in show, runs and JSON, until somebody lets it go on
    void aPauseOfTheGuardTellsItsReason() {
        auto process = m_work.start(words(m_line, {"guard.on_loss_spike=pause", "run.name=held", "run.epochs=1000"}));
        rundir::RunFolder run("");
        QVERIFY(eventually([&] {
            for (const auto& each : rundir::listRuns(m_work.folder()))
                if (each.name().find("-held-") != std::string::npos) run = each;
            return !run.root().empty() && m_work.ask({"show", name(run), "--json"}).json()["state"] == "paused";
        }));
        const auto why = [&] { return m_work.ask({"show", name(run), "--json"}).json()["why"].get<std::string>(); };
        QVERIFY(eventually([&] { return why().starts_with("Paused by itself: Update attempt 19: "); }));
        QVERIFY2(why().find("(guard)") != std::string::npos && why().find("loss") != std::string::npos, why().c_str());
        const Answer list = m_work.ask({"runs"});
        QVERIFY2((list.out + list.err).find("Paused by itself: Update attempt 19") != std::string::npos, (list.out + list.err).c_str());
        QCOMPARE(m_work.ask({"unpause", name(run)}).code, 0);
        QVERIFY(eventually([&] { return why().empty(); }));
        QCOMPARE(m_work.ask({"pause", name(run)}).code, 0);
        QVERIFY(eventually([&] { return why() == "Paused on request"; }));
        QCOMPARE(m_work.ask({"stop", name(run)}).code, 0);
        QCOMPARE(Workspace::finish(*process).code, static_cast<int>(ExitCode::Stopped));
    }

    void worseEvaluationsGoBackTheSameWayUnderTwoRanks() {
        const auto one = finished(m_digits, {}), two = finished(m_digits, {"parallel.ranks=2"});
        QVERIFY(rundir::newestSession(one) > 1);  // it went back at least once, and ended well
        QCOMPARE(rundir::newestSession(two), rundir::newestSession(one));
        for (const char* series : {"train/loss", "train/lr", "train/grad_norm", "eval/accuracy"})
            QVERIFY2(pointsOf(two, series, store::RunReader::Line::All) == pointsOf(one, series, store::RunReader::Line::All), series);
        for (const json& event : eventsOf(one, "rolled_back")) {
            const auto best = event["why"].get<std::string>();
            QVERIFY2(best.ends_with("at update " + std::to_string(event["step"].get<int>())), best.c_str());
        }
    }

    // a person who stops while it goes back is heard
    void aStopEndsTheGoingBack() {
        auto process = m_work.start(words(m_digits, {"run.max_updates=100000", "guard.max_roll_backs=1000", "run.name=stopped", "guard.rate_factor=0.99"}));
        QVERIFY(eventually([&] {
            const auto runs = rundir::listRuns(m_work.folder());
            return !runs.empty() && runs[0].name().find("-stopped-") != std::string::npos && rundir::newestSession(runs[0]) >= 2;
        }));
        ::kill(static_cast<pid_t>(process->processId()), SIGTERM);
        const Answer answer = Workspace::finish(*process);
        QCOMPARE(answer.code, static_cast<int>(ExitCode::Stopped));
    }

    void whatThePolicyCannotUseIsSaid_data() {
        QTest::addColumn<QString>("setting");
        QTest::addColumn<QString>("key");
        QTest::newRow("no evaluations") << "evaluation.every=never" << "guard.on_worse";
        QTest::newRow("rate that does not change") << "guard.rate_factor=1" << "guard.rate_factor";
        QTest::newRow("no rate at all") << "guard.rate_factor=0" << "guard.rate_factor";
        QTest::newRow("window of three") << "guard.window=3" << "guard.window";
        QTest::newRow("action") << "guard.on_loss_spike=explode" << "guard.on_loss_spike";
    }
    void whatThePolicyCannotUseIsSaid() {
        QFETCH(QString, setting);
        QFETCH(QString, key);
        const Answer answer = m_work.ask(QStringList{"check", m_digits, "--json", "--set", setting});
        QCOMPARE(answer.code, static_cast<int>(ExitCode::Usage));
        QVERIFY2(answer.out.find("\"" + key.toStdString() + "\"") != std::string::npos, answer.out.c_str());
    }

private:
    QString written(const char* file, const config::RunConfig& config) const {
        const auto path = m_work.scratch() / file;
        if (!replaceFile(FileSystem::real(), path, config::toYaml(config)).ok()) qFatal("cannot write");
        return QString::fromStdString(path.string());
    }
    static QStringList words(const QString& config, const QStringList& settings) {
        QStringList all{"run", config, "--json"};
        for (const QString& setting : settings) all << "--set" << setting;
        return all;
    }
    Answer launched(const QString& config, const QStringList& settings) const { return m_work.ask(words(config, settings)); }
    rundir::RunFolder finished(const QString& config, const QStringList& settings) const {
        const Answer answer = launched(config, settings);
        if (answer.code != 0) qWarning("%s", (answer.err + answer.out).c_str());
        return rundir::RunFolder(std::string(answer.json()["folder"]));
    }
    static QString name(const rundir::RunFolder& run) { return QString::fromStdString(run.root().string()); }
    static double readDoubleOf(const json& text) { return std::stod(text.get<std::string>()); }
    static Points withoutSession(Points points) {
        for (auto& point : points) std::get<0>(point) = 0;
        return points;
    }

    Workspace m_work;
    QString m_line, m_digits;
};

QTEST_GUILESS_MAIN(RollBackTest)
#include "tst_roll_back.moc"
