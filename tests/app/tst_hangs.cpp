// labels: process fault
// Ranks that hang in a real run: named in time, with the stacks of all, and ended where that is wished (RELIABILITY F22, R5).
#include "trainer_process.h"

#include "base/clock.h"
#include "store/run_store.h"

#include <QtTest>

#include <csignal>
#include <fstream>

using namespace lathe;
using namespace lathe::test;
using nlohmann::json;
namespace stdfs = std::filesystem;

class HangsTest : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void init() {
        m_work = std::make_unique<Workspace>();
        const auto folder = m_work->scratch() / "plugins";
        stdfs::create_directory(folder);
        stdfs::permissions(folder, stdfs::perms::owner_all);
        stdfs::copy_file(LATHE_PLUGIN_HUNGRY, folder / "hungry.so");
        stdfs::permissions(folder / "hungry.so", stdfs::perms::owner_read | stdfs::perms::owner_write);
        m_work->setEnvironment("LATHE_PLUGINS", folder.string());
        std::ofstream data(m_work->scratch() / "line.csv");
        data << "x,y\n";
        for (int i = 0; i < 64; ++i) data << i / 64.0 << "," << 2.0 * i / 64.0 << "\n";
        data.close();
        std::ofstream(m_work->scratch() / "line.yaml") << "data: {train: line.csv, target: [y], batch_size: 8, loader_threads: 0}\nmodel: {name: hungry/product}\ntask: {name: regression}\n"
                                                          "accumulation: {micro_batches: 2}\noptimizer: {name: sgd, learning_rate: 0.01}\nschedule: {name: constant}\nrun: {epochs: none, max_updates: 1000000000}\n"
                                                          "evaluation: {every: never}\ncheckpoint: {every: 20 updates}\ntelemetry: {log_every: 50 updates}\nparallel: {threads: 1, ranks: 2}\nplugins: {use: [hungry]}\n";
    }

    /// R5: two seconds, from the signal to the event
    void stoppedRankIsNamedAndGoesOn() {
        auto process = started({});
        const rundir::RunFolder run = training();
        const std::int64_t before = Clock::system().wallNs();
        ::kill(pidOf(run, 1), SIGSTOP);
        QVERIFY(eventually([&] { return !eventsOf(run, "stacks").empty(); }, 60'000));
        const auto told = [&run] { return rundir::readSummary(run)->why; };   // what every list of runs reads
        QVERIFY(eventually([&] { return told().starts_with("Rank 1 gives no sign of life in "); }, 60'000));
        QVERIFY(m_work->ask({"runs"}).err.find("Rank 1 gives no sign of life in ") != std::string::npos);
        ::kill(pidOf(run, 1), SIGCONT);
        const store::EventRow hang = eventsOf(run, "hang").at(0);
        const double seconds = double(hang.event.wallNs - before) / 1e9;
        qInfo("named after %.2f s: %s", seconds, hang.event.text.c_str());
        QVERIFY2(hang.event.text.starts_with("Rank 1 has been silent for"), hang.event.text.c_str());
        const json facts = json::parse(hang.event.json);
        QVERIFY(facts["rank"] == 1 && facts["silent"] == true && facts["ranks"].size() == 2);
        const json ranks = json::parse(eventsOf(run, "stacks").at(0).event.json)["ranks"];
        QVERIFY2(ranks[1]["note"].get<std::string>().find("kill -CONT") != std::string::npos && ranks[1]["stack"].empty(), ranks.dump().c_str());
        QVERIFY2(ranks[0]["stack"].size() > 5 && ranks[0]["stack"].dump().find("lathe::engine::Trainer::run()") != std::string::npos, ranks.dump().c_str());
        QVERIFY(eventually([&] { return !eventsOf(run, "hang_over").empty(); }, 60'000));
        QVERIFY(eventually([&] { return told().empty(); }, 60'000));
        end(*process, run);
    }

    /// The rank that the others wait for is named as the cause, not the first one.
    void whatHangsAtAStopIsNamedAsTheCause() {
        auto process = started({});
        const rundir::RunFolder run = training();
        ::kill(pidOf(run, 1), SIGSTOP);
        QVERIFY(eventually([&] { return !eventsOf(run, "hang").empty(); }, 60'000));
        for (int i = 0; i < 2; ++i) {   // the second time: at once
            ::kill(static_cast<pid_t>(process->processId()), SIGINT);
            if (i == 0) QVERIFY(eventually([&] { return !eventsOf(run, "stop_asked").empty(); }, 60'000));
        }
        Workspace::finish(*process);
        const auto record = rundir::readSession(run, rundir::newestSession(run)).value();
        QVERIFY2(record.why.starts_with("Rank 1: "), record.why.c_str());
    }

    void aRankThatIsStoppedDuringAStopIsNamed() {
        auto process = started({"checkpoint.every=1 update"});
        const rundir::RunFolder run = training();
        const pid_t rank = pidOf(run, 1);
        ::kill(rank, SIGSTOP);
        auto stop = m_work->start({"stop", QString::fromStdString(run.place().string())});
        QByteArray told;
        QVERIFY(eventually([&] { told += stop->readAllStandardError(); return told.contains("no sign of life from rank 1 for "); }, 30'000));
        ::kill(rank, SIGCONT);
        QCOMPARE(Workspace::finish(*stop, 30'000).code, 0);
        Workspace::finish(*process, 30'000);
        QVERIFY(rundir::readSession(run, 1)->state == rundir::State::Stopped);
    }

    // all ranks say where they are, also the one that sleeps
    void sleepingRankIsNamedWithItsStackAndEnded() {
        auto process = started({"plugins.hungry.sleep_at=1000", "plugins.hungry.on_rank=1", "parallel.wait_seconds=4", "guard.on_hang=stop"});
        const Answer answer = Workspace::finish(*process);
        QCOMPARE(answer.code, static_cast<int>(ExitCode::Interrupted));
        const rundir::RunFolder run = m_work->latest();
        QVERIFY(!eventsOf(run, "hang").empty());
        const store::EventRow hang = eventsOf(run, "hang").at(0);
        QVERIFY2(hang.event.text.starts_with("Rank 1 has not got on for") && hang.event.text.find("in forward and backward, update 1001; rank 0 waits in ") != std::string::npos, hang.event.text.c_str());
        const json ranks = json::parse(eventsOf(run, "stacks").at(0).event.json)["ranks"];
        QVERIFY2(ranks[1]["stack"].dump().find("hungry.so") != std::string::npos, ranks.dump().c_str());
        QVERIFY2(ranks[0]["stack"].dump().find("RankBoard::exchange") != std::string::npos, ranks.dump().c_str());
        const auto record = rundir::readSession(run, 1).value();
        QVERIFY2(record.why.starts_with("Rank 1") && record.why.find("did not get on for 4 s in forward and backward, update 1001 while the other ranks waited") != std::string::npos, record.why.c_str());
        const auto log = readFile(run.rankLog(1), 1u << 20).value();
        QVERIFY(log.find("==== stack ") != std::string::npos);
        const auto own = readFile(run.supervisorLog(), 1u << 20).value();
        QVERIFY2(own.find("Stacks of all ranks") != std::string::npos, own.c_str());
    }

    void ranksAreStartedAgainUnlessTheyHangAtTheSamePlace() {
        auto process = started({"plugins.hungry.sleep_at=1000", "plugins.hungry.on_rank=1", "parallel.wait_seconds=3", "checkpoint.every=300 updates"});
        const Answer answer = Workspace::finish(*process, 90'000);
        QCOMPARE(answer.code, static_cast<int>(ExitCode::Interrupted));
        const rundir::RunFolder run = m_work->latest();
        QCOMPARE(rundir::newestSession(run), 2);
        QVERIFY(eventsOf(run, "hang").size() >= 2);
        QCOMPARE(eventsOf(run, "restarted").size(), std::size_t(1));
        const auto first = rundir::readSession(run, 1).value(), second = rundir::readSession(run, 2).value();
        QVERIFY(first.hang && second.hang && !first.hang->stack.empty() && *first.hang == *second.hang);
        QCOMPARE(first.hang->attempt, 1000);
        QVERIFY2(second.why.find("does not go on by itself") != std::string::npos, second.why.c_str());
        QCOMPARE(second.counters->globalStep.value(), 1000);   // it went on from update 900 and came as far again
    }

    void oneProcessAloneIsNamedToo() {
        auto process = started({"parallel.ranks=1", "plugins.hungry.sleep_at=1000", "guard.on_hang=wait", "parallel.wait_seconds=1", "run.restarts_per_hour=0"});
        const rundir::RunFolder run = training();
        QVERIFY(eventually([&] { return !eventsOf(run, "stacks").empty(); }, 30'000));
        QVERIFY2(eventsOf(run, "hang").at(0).event.text.starts_with("The worker has not got on for"), eventsOf(run, "hang").at(0).event.text.c_str());
        QVERIFY(process->state() == QProcess::Running);   // it is waited for
        ::kill(pidOf(run, 0), SIGKILL);
        Workspace::finish(*process, 30'000);
    }

private:
    std::unique_ptr<QProcess> started(const QStringList& settings) const {
        QStringList words{"run", QString::fromStdString((m_work->scratch() / "line.yaml").string()), "--json"};
        for (const QString& setting : settings) words << "--set" << setting;
        return m_work->start(words);
    }
    /// A run that has made some updates.
    rundir::RunFolder training() const {
        const bool up = eventually([&] {
            const auto runs = rundir::listRuns(m_work->folder());
            if (runs.empty()) return false;
            const auto summary = rundir::readSummary(runs[0]);
            return summary && summary->counters.updateAttempts.value() >= 100;
        }, 60'000);
        if (!up) qFatal("it does not train");
        return m_work->latest();
    }
    static pid_t pidOf(const rundir::RunFolder& run, std::size_t rank) { return static_cast<pid_t>(rundir::readLive(run).value()->workers.at(rank).pid); }
    static std::vector<store::EventRow> eventsOf(const rundir::RunFolder& run, const std::string& kind) {
        const auto reader = store::RunReader::open(run.database());
        if (!reader) return {};
        std::vector<store::EventRow> all = (*reader)->events().value();
        std::erase_if(all, [&](const store::EventRow& row) { return row.event.kind != kind; });
        return all;
    }
    void end(QProcess& process, const rundir::RunFolder& run) const {
        m_work->ask({"stop", QString::fromStdString(run.place().string())});
        QCOMPARE(Workspace::finish(process, 30'000).code, static_cast<int>(ExitCode::Stopped));
    }

    std::unique_ptr<Workspace> m_work;
};

QTEST_GUILESS_MAIN(HangsTest)
#include "tst_hangs.moc"
