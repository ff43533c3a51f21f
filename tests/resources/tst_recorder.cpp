// labels: process
// timeout: 300
// Scripts that start their own recorder, and scripts under `run --command`, with the real lathe-trainer.
#include "python.h"
#include "rundir/json_reader.h"
#include "store/run_store.h"
#include "trainer_process.h"

#include <QtTest/QTest>

#include <nlohmann/json.hpp>

#include <csignal>

using namespace lathe;
using namespace lathe::test;
using nlohmann::json;
using rundir::State;

class TestRecorder : public QObject {
    Q_OBJECT

    static QStringList script(const char* play) { return {QString::fromStdString(tests::PythonScript::path()), QString::fromLatin1(play)}; }
    static QProcessEnvironment surroundings(const Workspace& workspace) {
        QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
        for (const char* name : {"LATHE_SOCKET", "LATHE_TOKEN", "LATHE_RUN", "RANK", "LOCAL_RANK"}) environment.remove(QString::fromLatin1(name));
        environment.insert(QStringLiteral("LATHE_TRAINER"), QStringLiteral(LATHE_BIN_DIR "/lathe-trainer"));
        environment.insert(QStringLiteral("LATHE_WORKSPACE"), QString::fromStdString(workspace.folder().string()));
        environment.insert(QStringLiteral("PYTHONDONTWRITEBYTECODE"), QStringLiteral("1"));
        return environment;
    }
    static std::unique_ptr<QProcess> start(const Workspace& workspace, const char* play, QString program = tests::PythonScript::interpreter()) {
        auto process = std::make_unique<QProcess>();
        process->setProcessEnvironment(surroundings(workspace));
        const bool isPython = program == tests::PythonScript::interpreter();
        process->start(program, isPython ? script(play) : QStringList{QString::fromLatin1(play)});
        return process;
    }
    static rundir::Summary ended(const Workspace& workspace) {
        const auto runs = rundir::listRuns(workspace.folder());
        if (runs.empty()) qFatal("no run");
        rundir::Summary summary;
        const bool over = eventually([&] {
            auto read = rundir::readSummary(runs.front());
            if (read) summary = *read;
            return read && !rundir::isAlive(read->state) && !rundir::RunLock::isHeld(runs.front().lock());
        });
        if (!over) qFatal("the run has not ended");
        return summary;
    }
    static std::size_t pointsOf(const rundir::RunFolder& run, const std::string& series) {
        const auto reader = store::RunReader::open(run.database());
        if (!reader) return 0;
        const auto points = (*reader)->points(series, store::RunReader::Line::All);
        return points ? points->size() : 0;
    }

private Q_SLOTS:
    void initTestCase() {
        if (tests::PythonScript::interpreter().isEmpty()) QSKIP("there is no Python 3 (python3 on PATH, or LATHE_PYTHON)");
    }

    void aScriptByItselfBecomesARun() {
        const Workspace workspace;
        const auto answer = Workspace::finish(*start(workspace, "everything"));
        QVERIFY2(answer.code == 0, answer.err.c_str());
        const auto summary = ended(workspace);
        QCOMPARE(summary.state, State::Completed);
        QCOMPARE(summary.name, std::string("played"));
        QCOMPARE(summary.counters.globalStep.value(), std::int64_t{999});
        QVERIFY(summary.last.contains("train/loss") && !summary.sparkline.empty());
        const auto run = workspace.latest();
        QCOMPARE(pointsOf(run, "train/loss"), std::size_t{1004});
        QVERIFY(!std::filesystem::exists(run.producerSocket()) && !std::filesystem::exists(run.liveJson()));
        const json shown = workspace.ask({"show", "latest", "--json"}).json();
        QCOMPARE(shown.at("summary").at("best").get<double>(), 0.5);
        QCOMPARE(shown.at("own_checkpoints").size(), std::size_t{1});
        QCOMPARE(shown.at("own_checkpoints")[0].at("metrics").at("eval/loss").get<std::string>(), std::string("0.25"));
        QCOMPARE(shown.at("records").size(), std::size_t{7});
        const json weights = workspace.ask({"records", "latest", "weights", "--json"}).json();
        QCOMPARE(weights.size(), std::size_t{2});
        QCOMPARE(weights[1].at("content").dump(), std::string(R"({"counts":[7.0],"edges":[0.0,1.0]})"));
        const std::string picture = workspace.ask({"records", "latest", "input", "--json"}).json()[0].at("content").get<std::string>();
        QCOMPARE(readFile(picture, 1000)->substr(1), std::string("PNG\r\n\x1a\n picture"));
        QCOMPARE(workspace.ask({"records", "latest", "nothing"}).code, 2);
        const std::string several = workspace.ask({"records", "latest", "weights", "sample"}).out, one = workspace.ask({"records", "latest", "sample"}).out;
        QVERIFY2(several.find("weights, step 3: ") != std::string::npos && several.find("sample, step 1: once") != std::string::npos && one.starts_with("step 1: once"), several.c_str());
        const json fourth = workspace.ask({"records", "latest", "--step", "4", "--json"}).json();
        QVERIFY(fourth.size() == 1 && fourth[0].at("name") == "weights" && fourth[0].at("step") == 4);
        const QString out = QString::fromStdString((workspace.scratch() / "files").string());
        const auto files = workspace.ask({"records", "latest", "--out", out, "--json"}).json();
        QCOMPARE(files.size(), std::size_t{8});
        for (const json& file : files) QVERIFY2(file.contains("file") && std::filesystem::path(file.at("file").get<std::string>()).parent_path() == out.toStdString(), file.dump().c_str());
        QCOMPARE(*readFile(out.toStdString() + "/confusion-2.csv", 1000), std::string("a,b\r\n1,nan\r\n,x\r\n"));
        QCOMPARE(*readFile(out.toStdString() + "/weights-4.csv", 1000), std::string("from,to,count\r\n0,1,7\r\n"));
        QCOMPARE(readFile(out.toStdString() + "/input-5.png", 1000)->substr(1), std::string("PNG\r\n\x1a\n picture"));
        const auto again = workspace.ask({"records", "latest", "--out", out});
        QVERIFY2(again.code != 0 && again.err.find("is not empty") != std::string::npos, again.err.c_str());
        QVERIFY(workspace.ask({"show", "latest"}).out.find("histogram weights: 2") != std::string::npos);
        const std::string yaml = *readFile(run.sessionYaml(1), 1u << 20);
        QVERIFY2(yaml.find("play_client.py everything") != std::string::npos, yaml.c_str());
    }

    void howAScriptEndsIsWrittenDown_data() {
        QTest::addColumn<QString>("play");
        QTest::addColumn<int>("state");
        QTest::addColumn<QString>("why");
        QTest::newRow("exception") << "raises" << int(State::Failed) << "ValueError: shapes differ";
        QTest::newRow("Ctrl-C") << "interrupted" << int(State::Stopped) << "Ctrl-C";
        QTest::newRow("killed") << "killed" << int(State::Interrupted) << "without saying how";
        QTest::newRow("daemon") << "daemon" << int(State::Completed) << "ended";
    }
    void howAScriptEndsIsWrittenDown() {
        QFETCH(QString, play);
        QFETCH(int, state);
        QFETCH(QString, why);
        const Workspace workspace;
        Workspace::finish(*start(workspace, play.toLatin1().constData()));
        const auto summary = ended(workspace);
        QCOMPARE(int(summary.state), state);
        QVERIFY2(summary.why.find(why.toStdString()) != std::string::npos, summary.why.c_str());
        if (play == QStringLiteral("killed") || play == QStringLiteral("daemon")) QCOMPARE(pointsOf(workspace.latest(), "train/loss"), std::size_t{100});
    }

    void saveAndStopReachTheScript() {
        const Workspace workspace;
        const auto process = start(workspace, "obeys");
        QVERIFY(eventually([&] { return process->canReadLine(); }));
        QVERIFY(eventually([&] { return workspace.ask({"save", "latest"}).code == 0; }));  // once it has said that it listens
        const auto kept = [&] { return workspace.ask({"show", "latest", "--json"}).json().at("own_checkpoints").size(); };
        QVERIFY(eventually([&] { return kept() == 1; }));
        QVERIFY(workspace.ask({"pause", "latest"}).code != 0);
        QCOMPARE(workspace.ask({"stop", "latest"}).code, 0);
        const auto answer = Workspace::finish(*process);
        QCOMPARE(answer.code, 0);
        QCOMPARE(answer.json().at("saved").get<int>(), 1);
        QCOMPARE(ended(workspace).state, State::Stopped);
    }

    void aScriptThatDoesNotListenIsStoppedByASignal() {
        const Workspace workspace;
        const auto process = start(workspace, "deaf");
        QVERIFY(eventually([&] { return process->canReadLine(); }));
        QVERIFY(eventually([&] { return pointsOf(workspace.latest(), "train/loss") == 1; }));
        QCOMPARE(workspace.ask({"save", "latest"}).code, 2);
        QCOMPARE(workspace.ask({"stop", "latest"}).code, 0);
        QCOMPARE(Workspace::finish(*process).code, -1);
        const auto summary = ended(workspace);
        QCOMPARE(summary.state, State::Stopped);
        QCOMPARE(summary.why, std::string("Stopped on request, by SIGTERM"));
        const json session = workspace.ask({"show", "latest", "--json"}).json().at("sessions").at(0);
        QCOMPARE(session.at("first_step").get<int>(), -5);
        QCOMPARE(session.at("last_step").get<int>(), -5);
    }

    void seriesAreFoundByTheNamesOfTheScript() {
        const Workspace workspace;
        QCOMPARE(Workspace::finish(*start(workspace, "everything")).code, 0);
        ended(workspace);
        const auto ours = workspace.ask({"series", "latest", "train/loss"}), own = workspace.ask({"series", "latest", "loss"});
        QCOMPARE(own.code, 0);
        QCOMPARE(own.out, ours.out);
        const auto wrong = workspace.ask({"series", "latest", "train/los"});
        QCOMPARE(wrong.code, 2);
        QVERIFY2(wrong.err.find("did you mean \"train/loss\"?") != std::string::npos, wrong.err.c_str());
    }

    void aWorkspaceWithAnOddNameIsFoundFromC() {
        const Workspace workspace;
        const auto process = std::make_unique<QProcess>();
        auto environment = surroundings(workspace);
        const std::filesystem::path odd = workspace.scratch() / "a \"b\"\n\tc\\d";
        environment.insert(QStringLiteral("LATHE_WORKSPACE"), QString::fromStdString(odd.string()));
        process->setProcessEnvironment(environment);
        process->start(QStringLiteral(LATHE_PLAY_C), {QStringLiteral("everything")});
        const auto answer = Workspace::finish(*process);
        QVERIFY2(answer.code == 0 && answer.err.empty(), answer.err.c_str());
        const auto runs = rundir::listRuns(odd);
        QCOMPARE(runs.size(), std::size_t{1});
        QVERIFY(eventually([&] { return pointsOf(runs[0], "train/loss") == 1002; }));
    }

    void whatAScriptHasStartedIsNotEndedWithItsRecorder() {
        const Workspace workspace;
        const auto process = start(workspace, "helped");
        QVERIFY(eventually([&] { return process->canReadLine(); }));
        process->readLine();
        const auto run = workspace.latest();
        QVERIFY(eventually([&] { return pointsOf(run, "train/loss") == 1; }));
        QCOMPARE(::kill(static_cast<pid_t>((*rundir::readLive(run))->supervisor.pid), SIGKILL), 0);
        QVERIFY(eventually([&] { return !rundir::RunLock::isHeld(run.lock()); }));
        QCOMPARE(workspace.ask({"delete", "latest"}).code, 0);  // settles what was left
        process->write("\n");
        QCOMPARE(Workspace::finish(*process).json().at("helper"), json());
    }

    void aDaemonCanBeStoppedToo() {
        const Workspace workspace;
        QCOMPARE(Workspace::finish(*start(workspace, "deaf_daemon")).code, 0);
        QVERIFY(eventually([&] { return pointsOf(workspace.latest(), "train/loss") > 0; }));
        QCOMPARE(workspace.ask({"stop", "latest"}).code, 0);
        QCOMPARE(ended(workspace).state, State::Stopped);
    }

    void aScriptOutlivesItsKilledRecorder() {
        const Workspace workspace;
        const auto process = start(workspace, "loses_its_recorder");
        QVERIFY(eventually([&] { return process->canReadLine(); }));
        const auto run = workspace.latest();
        QVERIFY(eventually([&] { return pointsOf(run, "train/loss") == 1; }));
        const auto live = rundir::readLive(run);
        QVERIFY(live && *live);
        QCOMPARE(::kill(static_cast<pid_t>((*live)->supervisor.pid), SIGKILL), 0);
        process->write("\n");
        const auto answer = Workspace::finish(*process);
        QVERIFY2(answer.code == 0, answer.err.c_str());
        const json shown = workspace.ask({"show", "latest", "--json"}).json();
        QCOMPARE(shown.at("state").get<std::string>(), std::string("interrupted"));
        QCOMPARE(pointsOf(run, "train/loss"), std::size_t{1});
    }

    /// What missing() does not count is safe, whatever becomes of the recorder.
    void whatIsAcknowledgedOutlivesAKilledRecorder() {
        const Workspace workspace;
        const auto process = start(workspace, "safe");
        QVERIFY(eventually([&] { return process->canReadLine(); }));
        const auto run = workspace.latest();
        const auto live = rundir::readLive(run);
        QVERIFY(live && *live);
        QCOMPARE(::kill(static_cast<pid_t>((*live)->supervisor.pid), SIGKILL), 0);
        process->write("\n");
        QCOMPARE(Workspace::finish(*process).code, 0);
        QCOMPARE(pointsOf(run, "train/loss"), std::size_t{10});
    }

    /// A gap in the numbers of a script that never says goodbye.
    void whatIsMissingIsInTheSentenceOfTheEnd() {
        const Workspace workspace;
        QCOMPARE(Workspace::finish(*start(workspace, "gap")).code, -1);
        const auto summary = ended(workspace);
        QVERIFY2(summary.why.find("3 messages of the script are missing") != std::string::npos, summary.why.c_str());
        QVERIFY(workspace.ask({"show", "latest"}).out.find("3 messages of the script are missing") != std::string::npos);
    }

    void recordsAreFoundByTheNamesOfTheScript() {
        const Workspace workspace;
        QCOMPARE(Workspace::finish(*start(workspace, "escapes")).code, 0);
        ended(workspace);
        const auto answer = workspace.ask({"records", "latest", "a\x1b[31mb", "--json"});
        QVERIFY2(answer.code == 0, answer.err.c_str());
        QCOMPARE(answer.json()[0].at("content").get<std::string>(), std::string("text"));
    }

    void eachInitAfterAnEndIsARunOfItsOwn() {
        const Workspace workspace;
        const auto answer = Workspace::finish(*start(workspace, "twice"));
        QVERIFY2(answer.code == 0, answer.err.c_str());
        QCOMPARE(rundir::listRuns(workspace.folder()).size(), std::size_t{2});
        QCOMPARE(ended(workspace).state, State::Completed);
    }

    void aCProgramByItself() {
        const Workspace workspace;
        const auto answer = Workspace::finish(*start(workspace, "everything", QStringLiteral(LATHE_PLAY_C)));
        QVERIFY2(answer.code == 0, answer.err.c_str());
        QCOMPARE(ended(workspace).state, State::Completed);
        QCOMPARE(pointsOf(workspace.latest(), "train/loss"), std::size_t{1002});
    }

    void underRunCommandTheSameScriptLogsToThatRun() {
        const Workspace workspace;
        const QStringList command = QStringList{"run", "--json", "--name", "kept", "--", tests::PythonScript::interpreter()} + script("everything");
        const auto answer = workspace.ask(command);
        QVERIFY2(answer.code == 0, answer.err.c_str());
        QCOMPARE(rundir::listRuns(workspace.folder()).size(), std::size_t{1});
        QCOMPARE(ended(workspace).name, std::string("kept"));
        QCOMPARE(pointsOf(workspace.latest(), "train/loss"), std::size_t{1004});
    }

    void whatCannotBeRecordedIsSaid_data() {
        QTest::addColumn<QString>("pid");
        QTest::newRow("nobody") << "2147483646";
        QTest::newRow("negative") << "-5";
        QTest::newRow("no number") << "abc";
    }
    void whatCannotBeRecordedIsSaid() {
        QFETCH(QString, pid);
        const Workspace workspace;
        const auto answer = workspace.ask({"record", "--pid", pid, "--json"});
        QVERIFY(answer.code != 0);
        QVERIFY(!answer.err.empty() || answer.out.find("error") != std::string::npos);
        QVERIFY(rundir::listRuns(workspace.folder()).empty());
    }
};

QTEST_GUILESS_MAIN(TestRecorder)
#include "tst_recorder.moc"
