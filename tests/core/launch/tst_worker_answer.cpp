// labels: fast process
// What is asked of a worker, with stand-ins for it: answers, refusals, nonsense and silence.
#include "config/config.h"
#include "launch/workers/worker_answer.h"
#include "plan/schedule.h"
#include "stand_in_worker.h"

#include <nlohmann/json.hpp>

#include <QTemporaryDir>
#include <QtTest>

#include <cerrno>
#include <csignal>
#include <fstream>

using namespace lathe;
using namespace lathe::launch;

class WorkerAnswerTest : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void whatABuiltInCurveOrStrategyIsNobodyIsAsked() {
        const test::StandInWorker nobody("exit 1");
        config::RunConfig config;
        config.schedule = {.name = "linear", .totalUpdates = 4};
        QCOMPARE(factorsAt(config, config.schedule, {0, 2, 4}).value(), (std::vector<double>{1, 0.5, 0}));
        QCOMPARE(explainUpdate(config)->size(), plan::explainUpdate(config).size());
    }

    void theCurveOfAPluginIsWhatTheWorkerSays() {
        const test::StandInWorker worker(R"(grep -q 'name: mine/steep' "$3" || exit 1; shift 3; test "$*" = "0 7" && echo '{"factors": [0.1, 0.30000000000000004]}')");
        const config::RunConfig config = withCurve();
        QCOMPARE(factorsAt(config, config.schedule, {0, 7}).value(), (std::vector<double>{0.1, 0.30000000000000004}));
    }

    void whatIsNoAnswerIsSaid_data() {
        QTest::addColumn<QString>("script");
        QTest::addColumn<int>("code");
        QTest::addColumn<QString>("part");
        QTest::newRow("refused") << "echo 'plugins.mine: The plug-in mine is not in /x' >&2; exit 2" << int(ErrorCode::Config) << "The plug-in mine is not in /x";
        QTest::newRow("crashed") << "kill -SEGV $$" << int(ErrorCode::Unsupported) << "gave no answer";
        QTest::newRow("nonsense") << "echo 'a {'" << int(ErrorCode::Internal) << "gave no answer";
        QTest::newRow("too few") << R"(echo '{"factors": [1]}')" << int(ErrorCode::Internal) << "1 of 2";
        QTest::newRow("no numbers") << R"(echo '{"factors": ["a", null]}')" << int(ErrorCode::Internal) << "0 of 2";
    }
    void whatIsNoAnswerIsSaid() {
        QFETCH(QString, script);
        QFETCH(int, code);
        QFETCH(QString, part);
        const test::StandInWorker worker(script.toStdString());
        const config::RunConfig config = withCurve();
        const auto factors = factorsAt(config, config.schedule, {0, 7});
        QVERIFY(!factors.ok());
        QCOMPARE(int(factors.error().code), code);
        QVERIFY2(QString::fromStdString(factors.error().sentence).contains(part), factors.error().sentence.c_str());
    }

    // one that never answers is ended
    void silenceHasADeadline() {
        const test::StandInWorker worker("echo $$ > \"$0.pid\"; exec sleep 1000");
        const auto answer = askWorker({"explain"}, std::chrono::seconds(1));
        QVERIFY(!answer.ok() && answer.error().code == ErrorCode::Timeout);
        QVERIFY2(answer.error().sentence.find("within 1 s") != std::string::npos, answer.error().sentence.c_str());
        std::ifstream file(worker.program().string() + ".pid");
        int pid = 0;
        QVERIFY(file >> pid);
        QVERIFY(::kill(pid, 0) != 0 && errno == ESRCH);
    }

    void aSessionIsBegunWhereItsWorkerHangsWhenAsked() {
        const test::StandInWorker worker("echo $$ >> \"$0.pid\"; exec sleep 1000");
        qputenv("LATHE_REFUSAL_SECONDS", "1");
        const auto unset = qScopeGuard([] { qunsetenv("LATHE_REFUSAL_SECONDS"); });
        QVERIFY(refuseBadStart(withCurve()).ok());
        std::ifstream file(worker.program().string() + ".pid");
        int pid = 0;
        QVERIFY(file >> pid);
        QVERIFY(::kill(pid, 0) != 0 && errno == ESRCH);
        QVERIFY(!(file >> pid));   // it was asked once
    }

    void thatTakesHalfAMinuteAtMost() {
        using namespace std::chrono_literals;
        const auto unset = qScopeGuard([] { qunsetenv("LATHE_REFUSAL_SECONDS"); });
        QCOMPARE(refusalPatience().count(), (30s).count());
        for (const char* other : {"", "0", "-1", "31", "1e9", "soon", "99999999999999999999"}) {
            qputenv("LATHE_REFUSAL_SECONDS", other);
            QCOMPARE(refusalPatience().count(), (30s).count());
        }
        qputenv("LATHE_REFUSAL_SECONDS", "2");
        QCOMPARE(refusalPatience().count(), (2s).count());
    }

private:
    static config::RunConfig withCurve() {
        config::RunConfig config;
        config.plugins.use = {"mine"};
        config.schedule.name = "mine/steep";
        return config;
    }
};

QTEST_GUILESS_MAIN(WorkerAnswerTest)
#include "tst_worker_answer.moc"
