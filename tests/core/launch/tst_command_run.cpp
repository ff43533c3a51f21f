// labels: process
// timeout: 300
// A person's own command as a run: its endings, its stop ladder, its settings, and what a hostile script leaves behind.
#include "launch/process/identity.h"
#include "launch/run/run_settings.h"
#include "launch/run/standing.h"
#include "python.h"
#include "store/run_store.h"
#include "trainer_process.h"

#include <QtTest/QTest>

#include <algorithm>
#include <fstream>

using namespace lathe;
using namespace lathe::test;
using nlohmann::json;
using rundir::State;

namespace stdfs = std::filesystem;

static std::string contentOf(const stdfs::path& file) {
    auto text = readFile(file, 64u << 20);
    return text ? *text : std::string();
}

static std::int64_t pidIn(const stdfs::path& file) { return std::atoll(contentOf(file).c_str()); }

static void nothingIsLeft(const rundir::RunFolder& run) {
    QVERIFY(!rundir::RunLock::isHeld(run.lock()) && !rundir::RunLock::isHeld(run.workersLock()));
    for (const auto& file : {run.liveJson(), run.socket(), run.reserve()}) QVERIFY2(!stdfs::exists(file), file.c_str());
}

class TestCommandRun : public QObject {
    Q_OBJECT

    std::unique_ptr<Workspace> m_workspace;

    /// An executable shell script in the scratch folder, which is its working folder too.
    stdfs::path script(const std::string& text, const std::string& name = "train.sh") const {
        const stdfs::path file = m_workspace->scratch() / name;
        std::ofstream(file) << "#!/bin/sh\n" << text << "\n";
        stdfs::permissions(file, stdfs::perms::owner_all);
        return file;
    }
    QStringList commandRun(const std::string& line, const QStringList& more = {}) const {
        return QStringList{"run", "--command", QString::fromStdString(line), "--workdir", QString::fromStdString(m_workspace->scratch().string())} + more;
    }
    Answer runScript(const std::string& text, const QStringList& more = {"--json"}) const {
        return m_workspace->ask(commandRun(script(text).string(), more));
    }
    /// A detached run whose script has written the file "up".
    rundir::RunFolder runningScript(const std::string& text) const {
        const Answer answer = runScript(text, {"--detach"});
        if (answer.code != 0) qFatal("did not start: %s", answer.err.c_str());
        if (!eventually([&] { return stdfs::exists(m_workspace->scratch() / "up"); })) qFatal("the script did not come up");
        return m_workspace->latest();
    }
    stdfs::path scratch(const char* name) const { return m_workspace->scratch() / name; }
    /// A Python script that has the client of resources/python as `lathe`, as a command.
    std::string python(const std::string& text) const {
        std::ofstream(scratch("train.py")) << "import os, sys, time\nsys.path.insert(0, '" LATHE_SOURCE_DIR "/resources/python')\nimport lathe\n" << text;
        return "PYTHONDONTWRITEBYTECODE=1 " + tests::PythonScript::interpreter().toStdString() + " train.py";
    }
    static std::size_t pointsOf(const rundir::RunFolder& run, const std::string& series) {
        const auto reader = store::RunReader::open(run.database());
        const auto points = reader ? (*reader)->points(series, store::RunReader::Line::All) : Result<std::vector<store::Point>>(reader.error());
        return points ? points->size() : 0;
    }
    std::string logOf(const rundir::RunFolder& run) const { return contentOf(run.rankLog(0)); }

private Q_SLOTS:
    void init() { m_workspace = std::make_unique<Workspace>(); }

    // what the queue locks for it, or a person names, is what it computes on
    void aScriptSeesTheGpusThatAreNamed() {
        QCOMPARE(runScript("echo \"sees $CUDA_VISIBLE_DEVICES\"", {"--set", "parallel.device=GPU-1,GPU-2"}).code, 0);
        const std::string log = logOf(m_workspace->latest());
        QVERIFY2(log.find("sees GPU-1,GPU-2") != std::string::npos, log.c_str());
    }

    void everyEndingHasItsStateAndCode_data() {
        QTest::addColumn<QByteArray>("text");
        QTest::addColumn<QByteArray>("state");
        QTest::addColumn<int>("code");
        QTest::addColumn<QByteArray>("says");
        const auto row = [](const char* name, const char* text, const char* state, int code, const char* says) {
            QTest::newRow(name) << QByteArray(text) << QByteArray(state) << code << QByteArray(says);
        };
        row("completed", "echo done", "completed", 0, "exit code 0");
        row("failed", "echo boom >&2; exit 7", "failed", 3, "exit code 7; its log ends with: boom");
        row("crashed", "kill -SEGV $$", "killed", 5, "SIGSEGV");
        row("killed", "kill -KILL $$", "killed", 5, "SIGKILL");
        row("code of ours", "exit 4", "failed", 3, "exit code 4");
        row("without descriptors", "exec 0<&- 1>&- 2>&- 3>&-; sleep 0.1; exit 0", "completed", 0, "exit code 0");
    }
    void everyEndingHasItsStateAndCode() {
        QFETCH(QByteArray, text);
        QFETCH(QByteArray, state);
        QFETCH(int, code);
        QFETCH(QByteArray, says);
        const Answer answer = runScript(text.toStdString());
        QVERIFY2(answer.code == code, (std::to_string(answer.code) + answer.out + answer.err).c_str());
        const json result = answer.json();
        QCOMPARE(QByteArray::fromStdString(result.value("state", "")), state);
        QCOMPARE(result["exit"].value("code", -1), code);
        QVERIFY2(QByteArray::fromStdString(result["exit"].value("reason", "")).contains(says), result.dump().c_str());
        const auto run = m_workspace->latest();
        nothingIsLeft(run);
        const auto record = rundir::readSession(run, 1);
        QVERIFY(record.ok());
        QCOMPARE(record->commandExitCode.has_value(), !record->signal.has_value());
        const auto summary = rundir::readSummary(run);
        QVERIFY(summary.ok() && summary->task == rundir::kCommandTask && summary->model == "train" && summary->activeSeconds > 0);
    }
    void whatCannotStartLeavesNoRun_data() {
        QTest::addColumn<QString>("line");
        QTest::addColumn<QString>("folder");
        QTest::addColumn<QString>("says");
        QTest::newRow("not found") << "no-such-program --x" << "" << "There is no program \"no-such-program\" in PATH";
        QTest::newRow("no such path") << "./nowhere" << "" << "/nowhere; check";
        QTest::newRow("forgotten ./") << "plain.txt" << "" << "write ./plain.txt";
        QTest::newRow("not executable") << "./plain.txt" << "" << "is not executable";
        QTest::newRow("a folder") << "./" << "" << "is a folder";
        QTest::newRow("no folder") << "true" << "missing" << "missing does not exist";
        QTest::newRow("folder is a file") << "true" << "plain.txt" << "is not a folder";
        QTest::newRow("quoting") << "sh -c 'exit 0" << "" << "has no end";
        QTest::newRow("for a shell") << "true && true" << "" << "is for a shell";
        QTest::newRow("nothing") << " " << "" << "names no program";
    }
    void whatCannotStartLeavesNoRun() {
        QFETCH(QString, line);
        QFETCH(QString, folder);
        QFETCH(QString, says);
        std::ofstream(scratch("plain.txt")) << "x";
        const std::string workdir = (m_workspace->scratch() / folder.toStdString()).string();
        const Answer answer = m_workspace->ask({"run", "--json", "--command", line, "--workdir", QString::fromStdString(workdir)});
        QCOMPARE(answer.code, 2);
        QVERIFY2(QString::fromStdString(answer.err).contains(says), answer.err.c_str());
        QVERIFY(answer.json().contains("error"));
        QVERIFY(rundir::listRuns(m_workspace->folder()).empty());
    }
    void aFileThatNothingCanRunFailsWithASentence() {
        std::ofstream(scratch("data.bin")) << "no program";
        stdfs::permissions(scratch("data.bin"), stdfs::perms::owner_all);
        const Answer answer = m_workspace->ask(commandRun("./data.bin", {"--json"}));
        QCOMPARE(answer.code, 2);
        QCOMPARE(answer.json().value("state", ""), std::string("failed"));
        QVERIFY2(answer.json()["exit"].value("reason", "").find("begin with #!") != std::string::npos, answer.out.c_str());
        nothingIsLeft(m_workspace->latest());
    }
    void theCommandGetsItsOwnSessionAndNothingElseOpen() {
        const Answer answer = runScript("ls /proc/self/fd > fds; readlink /proc/$$/fd/0 > input; cut -d' ' -f1,5,6 /proc/$$/stat > ids; echo \"$GREETING $1\" > words; pwd > folder");
        QCOMPARE(answer.code, 0);
        QCOMPARE(contentOf(scratch("fds")), std::string("0\n1\n2\n3\n"));  // 3 is the folder that ls reads
        QCOMPARE(contentOf(scratch("input")), std::string("/dev/null\n"));
        std::istringstream ids(contentOf(scratch("ids")));
        std::int64_t pid = 0, group = 0, session = 0;
        ids >> pid >> group >> session;
        QVERIFY(pid > 1 && pid == group && pid == session);
        std::error_code ignored;
        QVERIFY(stdfs::equivalent(stdfs::path(contentOf(scratch("folder")).substr(0, contentOf(scratch("folder")).find('\n'))), m_workspace->scratch(), ignored));
        const Answer words = m_workspace->ask({"run", "--json", "--workdir", QString::fromStdString(m_workspace->scratch().string()), "--", "GREETING=good day", "./train.sh", "it's $me"});
        QVERIFY2(words.code == 0, words.err.c_str());
        QCOMPARE(contentOf(scratch("words")), std::string("good day it's $me\n"));
    }
    void argumentsAreSettingsThatCompareAndChange() {
        const std::string line = script("echo \"$@\"").string() + " --lr 3e-4 --amp";
        QCOMPARE(m_workspace->ask(commandRun(line, {"--name", "first"})).code, 0);
        const Answer changed = m_workspace->ask({"again", "first", "--set", "argument.lr=1e-3", "--name", "second", "--json", "--", "--bs", "32"});
        QVERIFY2(changed.code == 0, changed.err.c_str());
        QCOMPARE(logOf(m_workspace->latest()), std::string("--lr 1e-3 --amp --bs 32\n"));
        const json compared = m_workspace->ask({"compare", "first", "second", "--json"}).json();
        const json expected = json::array({{{"key", "argument.bs"}, {"values", {nullptr, "32"}}}, {{"key", "argument.lr"}, {"values", {"3e-4", "1e-3"}}}});
        QVERIFY2(compared["settings"] == expected, compared.dump().c_str());
        const json shown = m_workspace->ask({"show", "second", "--json"}).json();
        QCOMPARE(shown["parent"].value("verb", ""), std::string("again"));
        QCOMPARE(shown["command"]["arguments"], (json{{"amp", "true"}, {"bs", "32"}, {"lr", "1e-3"}}));
        const auto config = launch::configOf(m_workspace->latest(), 1);
        QVERIFY(config.ok() && config::isCommand(*config));
        QCOMPARE(config->command.folder, m_workspace->scratch().string());
        const Answer whole = m_workspace->ask({"again", "first", "--command", QString::fromStdString(script("exit 0", "other.sh").string()), "--json"});
        QCOMPARE(whole.code, 0);
        QCOMPARE(rundir::readManifest(m_workspace->latest())->name, std::string("first-2"));  // a name that was given stays, told apart
        QVERIFY(rundir::readSession(m_workspace->latest(), 1)->environment.at("program").ends_with("other.sh"));
    }
    void inTheForegroundItsOutputIsShown() {
        const Answer answer = runScript("echo first; sleep 0.5; echo second >&2; printf last", {});
        QCOMPARE(answer.code, 0);
        QCOMPARE(answer.out, std::string("first\nsecond\nlast"));
        QVERIFY2(answer.err.find("completed") != std::string::npos, answer.err.c_str());
    }
    void aConfigurationFileMayHoldACommand() {
        script("echo here", "here.sh");
        std::ofstream(scratch("mine.yaml")) << "format: 1\ncommand:\n  line: ./here.sh\n  folder: .\n";
        QCOMPARE(m_workspace->ask({"check", QString::fromStdString(scratch("mine.yaml").string())}).code, 0);
        QCOMPARE(m_workspace->ask({"run", QString::fromStdString(scratch("mine.yaml").string())}).code, 0);
        QCOMPARE(logOf(m_workspace->latest()), std::string("here\n"));
        const Answer missing = m_workspace->ask({"check", QString::fromStdString(scratch("mine.yaml").string()), "--set", "command.line=./gone.sh", "--json"});
        QCOMPARE(missing.code, 2);
        QCOMPARE(missing.json().at(0).value("key", ""), std::string("command.line"));
    }
    void stopIsSigtermFirst() {
        const auto run = runningScript("trap 'touch saved; exit 0' TERM; touch up; while :; do sleep 0.05; done");
        const Answer stopped = m_workspace->ask({"stop", "latest", "--json"});
        QCOMPARE(stopped.json().value("state", ""), std::string("stopped"));
        nothingIsLeft(run);
        QVERIFY(stdfs::exists(scratch("saved")));
        QCOMPARE(rundir::readSession(run, 1)->exitCode, std::optional<int>(4));
    }
    void whatDoesNotHandleSigtermIsStoppedAllTheSame() {
        const auto run = runningScript("touch up; while :; do sleep 0.05; done");
        QCOMPARE(m_workspace->ask({"stop", "latest", "--json"}).json().value("state", ""), std::string("stopped"));
        QVERIFY(launch::standingOf(run).why.find("SIGTERM") != std::string::npos);
    }
    void whatIgnoresSigtermIsKilledWithAllOfIt() {
        const auto run = runningScript("trap '' TERM; setsid sh -c 'trap \"\" TERM; echo $$ > other; while :; do sleep 0.05; done' & \n"
                                       "while [ ! -s other ]; do sleep 0.01; done; echo $$ > mine; touch up; while :; do sleep 0.05; done");
        const auto live = rundir::readLive(run);
        QVERIFY(live.ok() && live->has_value());
        QCOMPARE((*live)->workers.at(1).pid, pidIn(scratch("mine")));
        ::kill(static_cast<pid_t>((*live)->supervisor.pid), SIGTERM);
        QVERIFY(eventually([&] { return launch::standingOf(run).state == State::Stopping; }));
        ::kill(static_cast<pid_t>((*live)->supervisor.pid), SIGTERM);  // a second one leaves at once
        QVERIFY(eventually([&] { return launch::standingOf(run).state == State::Killed; }));
        QVERIFY(eventually([&] { return !rundir::RunLock::isHeld(run.lock()); }));
        nothingIsLeft(run);
        QVERIFY(!processLives(pidIn(scratch("mine"))) && !processLives(pidIn(scratch("other"))));
    }
    void whatIsLeftBehindIsEndedAndTold() {
        const Answer answer = runScript("(setsid sh -c 'echo $$ > daemon; exec sleep 1000' >/dev/null 2>&1 &)\n"
                                        "(setsid sh -c 'echo $$ > second; sleep 1000; :' &)\n"
                                        "while [ ! -s daemon ] || [ ! -s second ]; do sleep 0.01; done");
        QCOMPARE(answer.code, 0);
        const std::string why = answer.json()["exit"].value("reason", "");
        QVERIFY2(why.find("left behind were ended") != std::string::npos && why.find("sleep") != std::string::npos, why.c_str());
        QVERIFY(!processLives(pidIn(scratch("daemon"))) && !processLives(pidIn(scratch("second"))));
        nothingIsLeft(m_workspace->latest());
    }
    void aRunThatIsStartedFromWithinLivesOn() {
        const std::string inner = "\"" LATHE_BIN_DIR "/lathe-trainer\" run --detach --name inner --command 'sleep 1000'";
        const Answer answer = runScript(inner, {"--name", "outer", "--json"});
        QVERIFY2(answer.code == 0, answer.out.c_str());
        QCOMPARE(answer.json()["exit"].value("reason", ""), std::string("The command ended with exit code 0"));
        QVERIFY(eventually([&] { return m_workspace->ask({"show", "inner", "--json"}).json().value("state", "") == "running"; }));
        QCOMPARE(m_workspace->ask({"stop", "inner", "--json"}).json().value("state", ""), std::string("stopped"));
    }
    void outputIsCappedWhileItIsWritten() {
        const Answer detached = runScript("i=0; while [ $i -lt 40 ]; do head -c 5000000 /dev/zero; sleep 0.02; i=$((i+1)); done", {"--detach"});
        QCOMPARE(detached.code, 0);
        const auto run = m_workspace->latest();
        std::uintmax_t most = 0;
        QVERIFY(eventually([&] {
            std::uintmax_t sum = 0;
            for (const auto& entry : stdfs::directory_iterator(run.logs())) {
                std::error_code gone;
                const auto bytes = entry.file_size(gone);
                if (!gone) sum += bytes;
            }
            most = std::max(most, sum);
            return launch::standingOf(run).state == State::Completed;
        }));
        QVERIFY2(most > (16u << 20) && most < (120u << 20), std::to_string(most).c_str());  // of 200 MB
        QVERIFY(stdfs::file_size(run.rankLog(0)) <= (16u << 20));
    }
    void pauseHoldsEveryProcess() {
        const auto run = runningScript("(setsid sh -c 'echo $$ > other; while :; do :; done' &)\n"
                                       "while [ ! -s other ]; do sleep 0.01; done; echo $$ > mine; touch up; while :; do sleep 0.05; done");
        const auto isHeld = [&](const char* file) { return launch::factsOf(pidIn(scratch(file)))->state == 'T'; };
        QCOMPARE(m_workspace->ask({"pause", "latest"}).code, 0);
        QVERIFY(eventually([&] { return isHeld("mine") && isHeld("other") && launch::standingOf(run).state == State::Paused; }));
        QCOMPARE(m_workspace->ask({"unpause", "latest"}).code, 0);
        QVERIFY(eventually([&] { return !isHeld("mine") && !isHeld("other") && launch::standingOf(run).state == State::Running; }));
        QCOMPARE(m_workspace->ask({"pause", "latest"}).code, 0);
        QCOMPARE(m_workspace->ask({"stop", "latest", "--json"}).json().value("state", ""), std::string("stopped"));
        QVERIFY(!processLives(pidIn(scratch("other"))));
    }
    void verbsThatNeedOurCheckpointsSayWhyNot() {
        runningScript("touch up; while :; do sleep 0.05; done");
        const Answer saved = m_workspace->ask({"save", "latest"});
        QCOMPARE(saved.code, 2);
        QVERIFY2(saved.err.find("keeps its own checkpoints") != std::string::npos, saved.err.c_str());
        QCOMPARE(m_workspace->ask({"stop", "latest"}).code, 0);
        for (const QStringList& words : {QStringList{"continue", "latest"}, {"roll-back", "latest@1"}, {"fork", "latest@1"}, {"start-from-weights", "latest@1"},
                                         {"export", "latest"}, {"export", "latest@1"}, {"eval", "latest@1"}, {"verify", "latest@1"}}) {
            const Answer answer = m_workspace->ask(words);
            QVERIFY2(answer.code == 2 && answer.err.find("This script keeps its own checkpoints") != std::string::npos, (words.join(' ').toStdString() + answer.err).c_str());
        }
    }
    void aLostSupervisorEndsTheCommandAndTheNextStartIsClean() {
        const auto run = runningScript("trap 'touch told; while [ ! -e go ]; do sleep 0.05; done; touch left; exit 0' TERM; (setsid sh -c 'echo $$ > other; exec sleep 1000' &)\n"
                                       "while [ ! -s other ]; do sleep 0.01; done; touch up; while :; do sleep 0.05; done");
        const auto live = rundir::readLive(run);
        ::kill(static_cast<pid_t>((*live)->supervisor.pid), SIGKILL);
        QVERIFY(eventually([&] { return stdfs::exists(scratch("told")); }));
        QCOMPARE(rundir::name(launch::standingOf(run).state), rundir::name(State::Stopping));
        std::ofstream(scratch("go")) << "x";
        const Answer deleted = m_workspace->ask({"delete", "latest", "--json"});  // waits for what is left, books the end
        QVERIFY2(deleted.code == 0, deleted.err.c_str());
        QVERIFY(stdfs::exists(scratch("left")) && !processLives(pidIn(scratch("other"))));
        const rundir::RunFolder gone(deleted.json().value("folder", ""));
        QCOMPARE(rundir::readSession(gone, 1)->state, std::optional<State>(State::Interrupted));
        QVERIFY(logOf(gone).find("supervisor of this run is gone") != std::string::npos);
        for (const auto& who : (*live)->workers) QVERIFY(eventually([&] { return !processLives(who.pid); }));
    }
    void whatSurvivesSupervisorAndKeeperIsFoundByItsRun() {
        const auto run = runningScript("(setsid sh -c 'echo $$ > other; exec sleep 1000' &)\n"
                                       "while [ ! -s other ]; do sleep 0.01; done; echo $$ > mine; touch up; while :; do sleep 0.05; done");
        const auto live = rundir::readLive(run);
        ::kill(static_cast<pid_t>((*live)->supervisor.pid), SIGSTOP);  // so that it cannot clear up after the keeper
        ::kill(static_cast<pid_t>((*live)->workers.at(0).pid), SIGKILL);
        ::kill(static_cast<pid_t>((*live)->supervisor.pid), SIGKILL);
        QVERIFY(eventually([&] { return !processLives(pidIn(scratch("mine"))) && !rundir::RunLock::isHeld(run.lock()); }));
        QVERIFY(processLives(pidIn(scratch("other"))));
        QCOMPARE(rundir::name(launch::standingOf(run).state), rundir::name(State::Interrupted));
        QCOMPARE(m_workspace->ask({"delete", "latest"}).code, 0);
        QVERIFY(!processLives(pidIn(scratch("other"))));
    }
    void whoWatchesCanBeKilled() {
        const auto run = runningScript("touch up; while :; do sleep 0.05; done");
        const auto watching = m_workspace->start({"attach", "latest", "--json"});
        QVERIFY(watching->waitForReadyRead());
        watching->kill();
        QVERIFY(watching->waitForFinished());
        QCOMPARE(launch::standingOf(run).state, State::Running);
        QCOMPARE(m_workspace->ask({"stop", "latest", "--json"}).json().value("state", ""), std::string("stopped"));
    }
    void aKilledKeeperTakesAllWithIt() {
        const auto run = runningScript("(setsid sh -c 'echo $$ > other; exec sleep 1000' &)\n"
                                       "while [ ! -s other ]; do sleep 0.01; done; echo $$ > mine; touch up; while :; do sleep 0.05; done");
        const auto live = rundir::readLive(run);
        ::kill(static_cast<pid_t>((*live)->workers.at(0).pid), SIGKILL);
        QVERIFY(eventually([&] { return launch::standingOf(run).state == State::Killed; }));
        QVERIFY(eventually([&] { return !rundir::RunLock::isHeld(run.lock()); }));
        QVERIFY(!processLives(pidIn(scratch("mine"))) && !processLives(pidIn(scratch("other"))));
        QVERIFY(launch::standingOf(run).why.find("kept it was killed") != std::string::npos);
        nothingIsLeft(run);
    }
    void aScriptThatListensIsAskedAndItsCheckpointsAreListed() {
        if (tests::PythonScript::interpreter().isEmpty()) QSKIP("there is no python3");
        const std::string line = python("run = lathe.init(total_steps=1000)\nstep = 0\nwhile True:\n    step += 1\n    run.log(step, loss=1.0 / step)\n"
                                        "    if run.save_requested():\n        open('weights.bin', 'w').write('x')\n        run.checkpoint(step, 'weights.bin', {'eval/loss': 0.5})\n"
                                        "    if run.should_stop():\n        open('asked', 'w').write(str(step))\n        break\n"
                                        "    if step == 20: open('up', 'w').close()\n    time.sleep(0.01)\n");
        const Answer started = m_workspace->ask(commandRun(line, {"--detach"}));
        QVERIFY2(started.code == 0, started.err.c_str());
        const auto run = m_workspace->latest();
        QVERIFY(eventually([&] { return stdfs::exists(scratch("up")); }));
        QVERIFY(eventually([&] { return rundir::readSummary(run)->plannedUpdates == 1000; }));
        const Answer saved = m_workspace->ask({"save", "latest"});
        QVERIFY2(saved.code == 0, saved.err.c_str());
        const Answer stopped = m_workspace->ask({"stop", "latest"});
        QCOMPARE(stopped.code, 0);
        QVERIFY2(stopped.err.find("asked to stop") != std::string::npos, stopped.err.c_str());
        const auto steps = std::size_t(pidIn(scratch("asked")));
        QVERIFY(steps >= 20);
        QCOMPARE(pointsOf(run, "train/loss"), steps);
        const json shown = m_workspace->ask({"show", "latest", "--json"}).json();
        QCOMPARE(shown["exit"].value("reason", ""), std::string("Stopped on request"));
        QCOMPARE(shown["exit"].value("command_code", -1), 0);
        const json kept = shown["own_checkpoints"].at(0);
        QVERIFY2(kept.value("path", "").ends_with("weights.bin") && kept["metrics"].contains("eval/loss"), kept.dump().c_str());
        QCOMPARE(shown["counters"].value("global_step", std::size_t{0}), steps);
        nothingIsLeft(run);
        QVERIFY(!stdfs::exists(run.producerSocket()));
    }
    void whatAScriptDiedOfIsTold() {
        if (tests::PythonScript::interpreter().isEmpty()) QSKIP("there is no python3");
        const Answer answer = m_workspace->ask(commandRun(python("run = lathe.init()\nrun.log(1, loss=1.0)\nraise ValueError('bad shape')\n"), {"--json"}));
        QCOMPARE(answer.code, 3);
        const std::string why = answer.json()["exit"].value("reason", "");
        QVERIFY2(why.find("exit code 1") != std::string::npos && why.find("bad shape") != std::string::npos, why.c_str());
        QCOMPARE(pointsOf(m_workspace->latest(), "train/loss"), std::size_t{1});
        const Answer said = m_workspace->ask(commandRun(python("run = lathe.init()\nrun.finish(failed=True, why='no data left')\n"), {"--json"}));
        QCOMPARE(said.json().value("state", ""), std::string("failed"));
        QVERIFY2(said.json()["exit"].value("reason", "").find("no data left") != std::string::npos, said.out.c_str());
    }
    void aLostSupervisorLosesNoPointThatItHadTaken() {
        if (tests::PythonScript::interpreter().isEmpty()) QSKIP("there is no python3");
        const std::string line = python("run = lathe.init()\nfor step in range(500): run.log(step, loss=float(step))\n"
                                        "while run.missing(): time.sleep(0.001)\nopen('up', 'w').close()\ntime.sleep(1000)\n");
        QCOMPARE(m_workspace->ask(commandRun(line, {"--detach"})).code, 0);
        const auto run = m_workspace->latest();
        const auto live = rundir::readLive(run);
        QVERIFY(eventually([&] { return stdfs::exists(scratch("up")); }));
        ::kill(static_cast<pid_t>((*live)->supervisor.pid), SIGKILL);
        // The keeper books them: nothing has to be asked of the run for it.
        QVERIFY(eventually([&] { return !rundir::RunLock::isHeld(run.lock()) && rundir::readSession(run, 1)->state == State::Interrupted; }));
        QCOMPARE(pointsOf(run, "train/loss"), std::size_t{500});
    }
    void aLostSupervisorLosesNotWhereItsStepsBegan() {
        if (tests::PythonScript::interpreter().isEmpty()) QSKIP("there is no python3");
        const std::string line = python("run = lathe.init()\nfor step in range(500, 520): run.log(step, loss=float(step))\n"
                                        "while run.missing(): time.sleep(0.001)\nopen('up', 'w').close()\ntime.sleep(1000)\n");
        QCOMPARE(m_workspace->ask(commandRun(line, {"--detach"})).code, 0);
        const auto run = m_workspace->latest();
        const auto live = rundir::readLive(run);
        QVERIFY(eventually([&] { return stdfs::exists(scratch("up")) && pointsOf(run, "train/loss") == 20; }));   // all of them recorded
        ::kill(static_cast<pid_t>((*live)->supervisor.pid), SIGKILL);
        QVERIFY(eventually([&] { return !rundir::RunLock::isHeld(run.lock()) && rundir::readSession(run, 1)->state == State::Interrupted; }));
        const json session = m_workspace->ask({"show", "latest", "--json"}).json()["sessions"].at(0);
        QCOMPARE(session["first_step"], json(500));
        QCOMPARE(session["last_step"], json(519));
    }
    void aCommandThatToldOfNoStepHasNone() {
        const auto run = runningScript("touch up; exec sleep 1000");
        ::kill(static_cast<pid_t>((*rundir::readLive(run))->supervisor.pid), SIGKILL);
        QVERIFY(eventually([&] { return !rundir::RunLock::isHeld(run.lock()) && rundir::readSession(run, 1)->state == State::Interrupted; }));
        const json session = m_workspace->ask({"show", "latest", "--json"}).json()["sessions"].at(0);
        QVERIFY2(session["first_step"].is_null() && session["last_step"].is_null(), session.dump().c_str());
        QVERIFY(m_workspace->ask({"show", "latest"}).out.find("no update") != std::string::npos);
    }
    void surroundingsAreRecordedWithoutSecrets() {
        qputenv("CUDA_VISIBLE_DEVICES", "3");
        qputenv("NCCL_SECRET", "hidden");
        qputenv("MY_API_KEY", "hidden");
        QCOMPARE(runScript("test \"$MY_API_KEY\" = hidden").code, 0);  // the script itself has all of it
        const auto run = m_workspace->latest();
        const auto environment = rundir::readSession(run, 1)->environment;
        QCOMPARE(environment.at("CUDA_VISIBLE_DEVICES"), std::string("3"));
        QVERIFY(environment.contains("PATH") && environment.at("program").ends_with("train.sh"));
        for (const auto& [name, value] : environment) QVERIFY2(value != "hidden", name.c_str());
        for (const char* name : {"CUDA_VISIBLE_DEVICES", "NCCL_SECRET", "MY_API_KEY"}) qunsetenv(name);
    }

    void aPausedScriptThatListensSavesWhenItIsStopped() {
        if (tests::PythonScript::interpreter().isEmpty()) QSKIP("there is no Python 3");
        const std::string line = python("run = lathe.init()\nwhile not run.should_stop():\n    run.log(loss=1)\n    time.sleep(0.01)\nopen('saved', 'w').close()\n");
        QCOMPARE(m_workspace->ask(commandRun(line, {"--detach"})).code, 0);
        QVERIFY(eventually([&] { return pointsOf(m_workspace->latest(), "train/loss") > 0; }));  // it has said before that it listens
        QCOMPARE(m_workspace->ask({"pause", "latest"}).code, 0);
        QVERIFY(m_workspace->ask({"save", "latest"}).err.find("let it go on first") != std::string::npos);
        QCOMPARE(m_workspace->ask({"stop", "latest"}).code, 0);
        QVERIFY(stdfs::exists(scratch("saved")));
        QCOMPARE(launch::standingOf(m_workspace->latest()).why, std::string("Stopped on request"));
    }
    void whatIsLeftBehindIsToldWhileItIsWaitedFor() {
        const Answer answer = runScript("(trap '' TERM; touch up; exec sleep 30) & while ! [ -e up ]; do :; done; exit 0", {});
        QVERIFY2(answer.err.find("what it had left behind is told to leave (") != std::string::npos, answer.err.c_str());
    }
    void theReasonOfAFailureIsFoundBehindMuchOutput() {
        const Answer answer = runScript("head -c 17000000 /dev/zero | tr '\\0' 'y'; echo; echo the reason is here >&2; exit 1");
        QCOMPARE(answer.code, 3);
        QVERIFY2(answer.json()["exit"].value("reason", "").find("the reason is here") != std::string::npos, answer.out.substr(0, 1000).c_str());
    }
    void secretsStayOutOfWhatIsKept() {
        qputenv("TF_VAR_db_password", "hunter2");
        qputenv("PYTORCH_AUTH", "hunter2");
        qputenv("TOKENIZERS_PARALLELISM", "false");
        QCOMPARE(m_workspace->ask(commandRun("true --token=SEKRET2 --lr 3e-4", {"--json"})).code, 0);
        const auto run = m_workspace->latest();
        const auto record = rundir::readSession(run, 1);
        QVERIFY(!record->environment.contains("TF_VAR_db_password") && !record->environment.contains("PYTORCH_AUTH"));
        QVERIFY(record->environment.contains("TOKENIZERS_PARALLELISM"));
        QVERIFY(run.name().find("ekret2") == std::string::npos && run.name().find("lr3e-4") != std::string::npos);
        const Answer told = m_workspace->ask(commandRun("true --lr 0.0003", {"--set", "optimizer.learning_rate=3"}));
        QVERIFY2(told.err.find("changes nothing for a command") != std::string::npos, told.err.c_str());
        const auto runs = rundir::listRuns(m_workspace->folder());
        const json compared = m_workspace->ask({"compare", QString::fromStdString(runs[0].name()), QString::fromStdString(runs[1].name()), "--json"}).json();
        for (const json& row : compared.at("settings")) QVERIFY(row.at("key") != "argument.lr");
    }
    void whatAProgramSaysSteersNoTerminal() {
        if (tests::PythonScript::interpreter().isEmpty()) QSKIP("there is no Python 3");
        const Answer answer = m_workspace->ask(commandRun(python("run = lathe.init()\nrun.note('\\x1b]0;pwn\\x07 \\x9b31m', 'warning')\nrun.log(0, loss=1)\n")));
        QVERIFY2(answer.err.find("]0;pwn") != std::string::npos, answer.err.c_str());
        QVERIFY(answer.err.find('\x1b') == std::string::npos && answer.err.find('\x07') == std::string::npos && answer.err.find("\xc2\x9b") == std::string::npos);
    }
    void aMissingInterpreterIsNamed() {
        std::ofstream(scratch("odd.sh")) << "#!/no/such/interpreter\n";
        stdfs::permissions(scratch("odd.sh"), stdfs::perms::owner_all);
        const Answer answer = m_workspace->ask(commandRun("./odd.sh"));
        QVERIFY2(answer.code != 0 && answer.err.find("names in its first line (#!)") != std::string::npos, answer.err.c_str());
    }
};

QTEST_GUILESS_MAIN(TestCommandRun)
#include "tst_command_run.moc"
