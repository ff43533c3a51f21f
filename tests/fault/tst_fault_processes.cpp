// labels: process fault
// timeout: 3600
// RELIABILITY F1, F2, F20, F25: a whole run, command, supervisor and worker, with any of their calls killed or failed. The
// worker is one that does not compute. Nothing may hang, and what is left is a run that opens and tells how it ended.
#include "fault_run.h"
#include "fault_sweep.h"
#include "launch/run/settle.h"
#include "launch/run/standing.h"

#include <QtTest/QTest>

using namespace lathe;
using namespace lathe::test;

namespace {

/// Nothing was recorded yet when it ended.
bool isEmptyRecord(const rundir::RunFolder& run) {
    const auto reader = store::RunReader::open(run.database());
    return !reader.ok() && reader.error().text().find("is not a run database") != std::string::npos;
}

std::string judged(const std::filesystem::path& workspace, Ending ending, const std::string&) {
    const auto runs = rundir::listRuns(workspace);
    if (ending == Ending::Undisturbed && runs.empty()) return "there is no run";
    for (const rundir::RunFolder& run : runs) {
        const auto standing = launch::standingOf(run);
        if (standing.state != rundir::State::Completed && isEmptyRecord(run)) continue;
        if (std::string problem = problemOf(run); !problem.empty()) return run.name() + ": " + problem;
        if (rundir::isAlive(standing.state)) return run.name() + " is told as " + std::string(rundir::name(standing.state)) + " and nobody is there";
        if (rowsOf(run) > 0 && standing.why.find("before its worker started") != std::string::npos) return "it has points and is told as never begun";
        if (standing.state == rundir::State::Completed) static_cast<void>(launch::settleToRead(run));   // as whoever reads it does: a lost supervisor's points lie beside the record
        if (standing.state == rundir::State::Completed && rowsOf(run) < 200) return "completed with " + std::to_string(rowsOf(run)) + " of 200 points";
        if (std::filesystem::exists(run.database()) && rowsOf(run) < 0) return "its points have a hole";
    }
    if (ending == Ending::Undisturbed && launch::standingOf(runs.front()).state != rundir::State::Completed) return "the undisturbed run did not complete";
    return {};
}

Operation wholeRun(const char* name, const std::vector<std::string>& words) {
    return {name, [](const std::filesystem::path&) {}, [words](const std::filesystem::path& workspace) {
                std::vector<std::string> all = {LATHE_BIN_DIR "/lathe-trainer"};
                all.insert(all.end(), words.begin(), words.end());
                all.insert(all.end(), {"--workspace", workspace.string()});
                return executes(all, {"LATHE_PROGRAMS=" LATHE_BIN_DIR "/../tests/fake", "LATHE_FAKE_SCRIPT=points 200; end completed, 0", "ASAN_OPTIONS=detect_leaks=0"})();
            }, judged};
}

}  // namespace

class TestFaultProcesses : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void anyCallOfAWholeRunKilledOrFailed_data() {
        QTest::addColumn<bool>("detached");
        QTest::newRow("here") << false;
        QTest::newRow("in the background") << true;
    }
    void anyCallOfAWholeRunKilledOrFailed() {
        QFETCH(bool, detached);
        std::vector<std::string> words = {"run", "digits-mlp", "--set", "run.keep_awake=false"};
        if (detached) words.push_back("--detach");
        const SweepCount count = sweep(wholeRun(QTest::currentDataTag(), words), 25);
        if (!count.works) QSKIP(count.why.c_str());
        qInfo("seed %llu: %zu calls, %zu of %zu points, %zu bad states", static_cast<unsigned long long>(faultSeed()), count.calls, count.points, count.possible, count.bad.size());
        for (std::size_t i = 0; i < count.bad.size() && i < 10; ++i) qWarning("%s", count.bad[i].c_str());
        QVERIFY(count.calls > 100);
        QVERIFY(count.bad.empty());
    }
};

QTEST_GUILESS_MAIN(TestFaultProcesses)
#include "tst_fault_processes.moc"
