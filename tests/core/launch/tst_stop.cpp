// labels: process
// timeout: 300
// Stopping in all its ways: what a discard loses, a pause that lets the memory go, stages, signals while it ends; and what the
// person's own command is told at the end.
#include "base/exit_code.h"
#include "base/file_system.h"
#include "launch/run/checkpoint_choice.h"
#include "launch/run/standing.h"
#include "launch/session/notify.h"
#include "launch/workers/stop_ladder.h"
#include "launch/workers/stopping.h"
#include "rundir/checkpoint_manifest.h"
#include "supervised.h"

#include <nlohmann/json.hpp>

#include <QtTest/QTest>

#include <csignal>
#include <sys/stat.h>

using namespace lathe;
using namespace lathe::test;
using rundir::State;
namespace stdfs = std::filesystem;

static constexpr std::int64_t kSecond = 1'000'000'000;

class TestStop : public QObject {
    Q_OBJECT

    static std::string quietly(const Answer& answer) { return answer.out + answer.err; }

    /// A settings file of the user that names a script with this content.
    static stdfs::path notifyBy(Workspace& workspace, const std::string& script, mode_t mode = 0600) {
        const stdfs::path program = workspace.scratch() / "tell me.sh", settings = workspace.scratch() / "config/lathe/settings.yaml";
        stdfs::create_directories(settings.parent_path());
        if (!replaceFile(FileSystem::real(), program, "#!/bin/sh\n" + script)) qFatal("no script");
        stdfs::permissions(program, stdfs::perms::owner_all);
        if (!replaceFile(FileSystem::real(), settings, "notify_command: \"'" + program.string() + "' --short\"\n")) qFatal("no settings");
        ::chmod(settings.c_str(), mode);
        workspace.setEnvironment("XDG_CONFIG_HOME", (workspace.scratch() / "config").string());
        return program;
    }
    static std::string warnings(const rundir::RunFolder& run) {
        std::string out;
        const auto reader = store::RunReader::open(run.database());
        const auto events = (*reader)->events();
        for (const auto& row : *events)
            if (row.event.kind == "warning") out += row.event.text + "\n";
        return out;
    }

private Q_SLOTS:
    void theLadderTakesItsTime() {
        launch::StopLadder ladder;
        using Stage = launch::StopLadder::Stage;
        ladder.ask(false, 0);
        QVERIFY(ladder.advance(59 * kSecond, false) == Stage::None && ladder.stage() == Stage::Asked);
        QCOMPARE(ladder.stopping(8 * kSecond)->secondsLeft, 52.0);
        QCOMPARE(launch::sentenceOf(*ladder.stopping(8 * kSecond)), std::string("asked to save and stop; SIGTERM in 52 s"));
        QVERIFY(ladder.advance(60 * kSecond, false) == Stage::Terminated);
        QVERIFY(ladder.advance(74 * kSecond, false) == Stage::None);
        QVERIFY(ladder.advance(75 * kSecond, false) == Stage::Killed);
        QVERIFY(ladder.reason().find("60 s") != std::string::npos);
        launch::StopLadder twice;
        twice.ask(false, 0);
        twice.hurry(kSecond);
        QVERIFY(twice.discards() && twice.isHurried());
        QVERIFY(twice.advance(kSecond, true) == Stage::Terminated);   // also while it saves
        QVERIFY(twice.advance(4 * kSecond, true) == Stage::Killed);
        launch::StopLadder saving;
        saving.ask(false, 0);
        QVERIFY(saving.advance(300 * kSecond, true) == Stage::None);  // a slow disk gets its time
        QCOMPARE(saving.stopping(300 * kSecond)->secondsLeft, 600.0);
        QCOMPARE(launch::sentenceOf({launch::StopStage::Saving, 600, false}), std::string("asked to save and stop, saving; SIGTERM at the latest in 600 s"));
        QVERIFY(saving.advance(314 * kSecond, false) == Stage::None);  // it no longer saves
        QCOMPARE(saving.stopping(314 * kSecond)->secondsLeft, 1.0);
        QVERIFY(saving.advance(315 * kSecond, false) == Stage::Terminated);
        QVERIFY2(saving.reason().find("within 315 s of being asked") != std::string::npos, saving.reason().c_str());
    }
    void aSaveThatNeverEndsIsToldToLeaveWhenItWasSaid() {
        launch::StopLadder ladder;
        using Stage = launch::StopLadder::Stage;
        ladder.ask(false, 0);
        for (int second = 0; second < 900; ++second) {
            QVERIFY(ladder.advance(second * kSecond, true) == Stage::None);
            QCOMPARE(ladder.stopping(second * kSecond)->secondsLeft, 900.0 - second);
        }
        QVERIFY(ladder.advance(900 * kSecond, true) == Stage::Terminated);
        QVERIFY(ladder.advance(915 * kSecond, true) == Stage::Killed);
        QCOMPARE(ladder.reason(), std::string("it did not save and stop within 900 s of being asked"));
    }
    void theReasonNamesTheTimeThatThereWas() {
        using Stage = launch::StopLadder::Stage;
        launch::StopLadder other;   // first with a save, then without
        other.ask(false, 0);
        other.ask(true, 30 * kSecond);
        QVERIFY(other.advance(40 * kSecond, false) == Stage::Terminated);
        QCOMPARE(other.reason(), std::string("it did not stop within 10 s of being asked"));
        launch::StopLadder deaf;
        deaf.ask(false, 0, false);
        QVERIFY(deaf.advance(0, false) == Stage::Terminated && deaf.advance(59 * kSecond, false) == Stage::None);
        deaf.ask(true, 20 * kSecond, false);
        QVERIFY(deaf.advance(30 * kSecond, false) == Stage::Killed);
        QCOMPARE(deaf.reason(), std::string("it did not leave within 30 s of SIGTERM"));
    }
    void whatAStatusTellsIsReadAgain() {
        using launch::StopStage;
        for (const StopStage stage : {StopStage::Asked, StopStage::FinishingUpdate, StopStage::Saving, StopStage::Leaving, StopStage::ToldToLeave, StopStage::Killed}) {
            const launch::Stopping told{stage, 12.5, stage == StopStage::Leaving};
            const nlohmann::json status = {{"state", "stopping"}, {"stopping", launch::stoppingJson(told)}};
            QCOMPARE(launch::stoppingOf(status), std::optional(told));
            QCOMPARE(launch::stoppingIn(status.dump()), std::optional(told));
        }
        QCOMPARE(launch::stoppingJson({StopStage::ToldToLeave, 3, true}).dump(), std::string(R"({"discards":true,"seconds_left":3.0,"stage":"told-to-leave"})"));
    }
    void aStatusOfAnotherProgramIsReadAsFarAsItGoes() {
        using launch::StopStage, launch::stoppingIn;
        for (const char* text : {"", "[1]", "{}", "nonsense {", R"({"stopping": null})", R"({"stopping": "yes"})", R"({"stopping": []})"}) QVERIFY2(!stoppingIn(text), text);
        QCOMPARE(stoppingIn(R"({"stopping": {"stage": "thinking it over", "seconds_left": 5}})"), std::optional(launch::Stopping{StopStage::Asked, 5, false}));
        for (const char* text : {R"({"stopping": {"stage": "saving", "seconds_left": "nan"}})", R"({"stopping": {"stage": "saving", "seconds_left": -3}})",
                                 R"({"stopping": {"stage": "saving", "seconds_left": 1e300}})", R"({"stopping": {"stage": "saving", "seconds_left": {}}})", R"({"stopping": {"stage": "saving"}})"})
            QCOMPARE(stoppingIn(text), std::optional(launch::Stopping{StopStage::Saving, 0, false}));
        QCOMPARE(stoppingIn(R"({"stopping": {"stage": 7}})")->stage, StopStage::Asked);
    }
    void nobodySavesWhileARankIsStopped() {
        live::Heartbeat saves, silent;
        saves.phase = live::Phase::Saving;
        saves.monotonicNs = 100 * kSecond;
        silent = saves;
        silent.monotonicNs = 90 * kSecond;
        QVERIFY(launch::isSaving({saves, saves}, 101 * kSecond));
        QVERIFY(launch::isSaving({saves, std::nullopt}, 101 * kSecond));   // one that has ended
        QVERIFY(!launch::isSaving({saves, silent}, 101 * kSecond) && !launch::isSaving({silent, saves}, 101 * kSecond));
        QCOMPARE(launch::silentRank({saves, silent}, 101 * kSecond), std::optional<int>(1));
        QVERIFY(!launch::silentRank({saves, saves}, 101 * kSecond));
        saves.phase = live::Phase::Training;
        QVERIFY(!launch::isSaving({saves, saves}, 101 * kSecond) && !launch::isSaving({}, 0));
    }
    void aDiscardTellsWhatItLosesBefore() {
        const auto workspace = fresh("points 40; save; points 25; train");
        const auto run = running(*workspace);
        QVERIFY(eventually([&] { return pointsOf(run, "train/loss") > 70; }));
        QCOMPARE(workspace->ask({"pause", "latest"}).code, 0);
        QVERIFY(eventually([&] { return launch::standingOf(run).state == State::Paused; }));
        const auto lost = workspace->ask({"stop", "latest", "--discard", "--dry-run", "--json"}).json().at("lost");
        QCOMPARE(lost.value("checkpoint", ""), std::string("s001-000000040"));
        const std::int64_t updates = lost.value("updates", std::int64_t{-1});
        QVERIFY(updates >= 30 && lost.value("seconds", -1.0) > 0);
        QVERIFY(launch::standingOf(run).state == State::Paused);   // only told
        const Answer told = workspace->ask({"stop", "latest", "--discard", "--dry-run"});
        QVERIFY2(told.out.find("Lost are " + std::to_string(updates) + " updates (") != std::string::npos && told.out.find("s001-000000040") != std::string::npos, told.out.c_str());
        const Answer done = workspace->ask({"stop", "latest", "--discard"});
        QVERIFY2(done.code == 0 && done.err.find("Lost are " + std::to_string(updates)) != std::string::npos, quietly(done).c_str());
        QVERIFY(launch::standingOf(run).state == State::Cancelled);
        QCOMPARE(launch::newestOnLine(run), std::string("s001-000000040"));
        QCOMPARE(workspace->ask({"stop", "latest", "--dry-run"}).code, 2);   // only of a discard
        nothingIsLeft(run);
    }
    void aPauseLetsTheMemoryGoAndGoesOnExactlyThere() {
        const auto workspace = fresh("train");
        const auto run = running(*workspace);
        const auto live = *rundir::readLive(run);
        const Answer released = workspace->ask({"pause", "latest", "--release", "--json"});
        QVERIFY2(released.code == 0, released.err.c_str());
        QCOMPARE(released.json().value("state", ""), std::string("stopped"));
        QVERIFY(!processLives(live->workers.at(0).pid) && !processLives(live->supervisor.pid));
        const auto record = rundir::readSession(run, 1);
        QVERIFY2(record->why.find("Paused with its memory let go") != std::string::npos, record->why.c_str());
        QCOMPARE(rundir::parseCheckpointName(record->lastCheckpoint)->step, record->counters->globalStep);
        QCOMPARE(rundir::listCheckpoints(run.checkpoints()).size(), std::size_t{1});
        nothingIsLeft(run);
        workspace->setScript("points 5; end completed, 0");
        QCOMPARE(workspace->ask({"continue", "latest"}).code, 0);
        QCOMPARE(rundir::readSession(run, 2)->parentAttempt, record->counters->updateAttempts.value());
    }
    void aPauseThatCannotSaveKeepsItsMemory() {
        const auto workspace = fresh("train");
        const auto run = running(*workspace);
        stdfs::remove_all(run.checkpoints());
        QVERIFY(replaceFile(FileSystem::real(), run.checkpoints(), "no folder").ok());
        const Answer refused = workspace->ask({"pause", "latest", "--release"});
        QVERIFY2(refused.code == 3 && refused.err.find("keeps its memory") != std::string::npos, quietly(refused).c_str());
        QVERIFY(eventually([&] { return launch::standingOf(run).state == State::Paused; }));
        const Answer taken = workspace->ask({"continue", "latest"});
        QVERIFY2(taken.code == 8 && taken.err.find("is paused; lathe-trainer unpause ") != std::string::npos, quietly(taken).c_str());
        stdfs::remove(run.checkpoints());
        QCOMPARE(workspace->ask({"unpause", "latest"}).code, 0);
        QVERIFY(eventually([&] { return launch::standingOf(run).state == State::Running; }));
        QCOMPARE(workspace->ask({"stop", "latest"}).code, 0);
    }
    void aSaveTellsWhatItWaitsFor() {
        const auto workspace = fresh({});
        const stdfs::path flag = workspace->scratch() / "flag";
        workspace->setScript("points 20; hold " + flag.string() + "; train");
        const auto run = running(*workspace);
        const auto save = workspace->start({"save", "latest"});
        QByteArray told;
        QVERIFY(eventually([&] { told += save->readAllStandardError(); return told.contains("Waits for the checkpoint: "); }));
        QVERIFY(replaceFile(FileSystem::real(), flag, "go").ok());
        QCOMPARE(Workspace::finish(*save).code, 0);
        QCOMPARE(workspace->ask({"stop", "latest", "--discard"}).code, 0);
    }
    void stoppedBeforeAnyUpdateIsCancelled() {
        const auto workspace = fresh({});
        const stdfs::path flag = workspace->scratch() / "flag";
        workspace->setScript("hold " + flag.string() + "; end stopped, 4");
        QCOMPARE(workspace->ask({"run", "digits-mlp", "--detach"}).code, 0);
        const auto stop = workspace->start({"stop", "latest", "--json"});
        QVERIFY(eventually([&] { return launch::standingOf(workspace->latest()).state == State::Stopping; }));
        QVERIFY(replaceFile(FileSystem::real(), flag, "go").ok());
        QCOMPARE(Workspace::finish(*stop).json().value("state", ""), std::string("cancelled"));
        QCOMPARE(rundir::readSession(workspace->latest(), 1)->exitCode, std::optional<int>(4));
    }
    void whatAWorkerLeftInItsGroupGoesWithIt() {
        const auto workspace = fresh({});
        const stdfs::path pid = workspace->scratch() / "pid";
        workspace->setScript("points 20; leave " + pid.string() + "; end completed, 0");
        QCOMPARE(workspace->ask({"run", "digits-mlp"}).code, 0);
        const auto left = std::stoll(*readFile(pid, 100));
        QVERIFY(eventually([&] { return !processLives(left); }, 60'000));
    }
    void workersGoBeforeTheirSupervisorWhereMemoryRunsOut() {
        const auto workspace = fresh("train");
        const auto run = running(*workspace);
        const auto live = *rundir::readLive(run);
        const auto score = [](std::int64_t process) { return std::stoi(*readFile("/proc/" + std::to_string(process) + "/oom_score_adj", 32)); };
        const int own = score(live->supervisor.pid);
        QCOMPARE(score(live->workers.at(0).pid), std::min(1000, own + 300));
        QCOMPARE(workspace->ask({"stop", "latest", "--discard"}).code, 0);
    }
    void theCommandOfThePersonIsToldTheEnd() {
        const auto workspace = fresh("points 20; end completed, 0");
        const stdfs::path said = workspace->scratch() / "said";
        notifyBy(*workspace, "printf '%s\\n' \"$@\" \"$LATHE_RUN_ENDING\" \"$LATHE_RUN_WHY\" >'" + said.string() + "'\n");
        const std::string name = "$(touch x); \"quoted\"";
        QCOMPARE(workspace->ask({"run", "digits-mlp", "--set", QString::fromStdString("run.name=" + name)}).code, 0);
        QCOMPARE(*readFile(said, 10'000), "--short\n" + name + "\ncompleted\n" + workspace->latest().place().string() + "\ncompleted\nthe script says so\n");
        QCOMPARE(warnings(workspace->latest()), std::string());
        const auto overnight = workspace->ask({"overnight", "--json"}).json();
        QVERIFY(overnight.value("notify_command", "").find("tell me.sh") != std::string::npos);
    }
    void aNotificationThatFailsIsAnEvent_data() {
        QTest::addColumn<QByteArray>("script");
        QTest::addColumn<QByteArray>("says");
        QTest::addColumn<int>("mode");
        QTest::newRow("fails") << QByteArray("echo no bus >&2; exit 3\n") << QByteArray("exit code 3: no bus") << 0600;
        QTest::newRow("hangs") << QByteArray("sleep 1000\n") << QByteArray("did not end within 10 s") << 0600;
        QTest::newRow("writable by others") << QByteArray("exit 0\n") << QByteArray("can be written by others") << 0666;
    }
    void aNotificationThatFailsIsAnEvent() {
        QFETCH(QByteArray, script);
        QFETCH(QByteArray, says);
        QFETCH(int, mode);
        const auto workspace = fresh("points 20; end completed, 0");
        notifyBy(*workspace, script.toStdString(), static_cast<mode_t>(mode));
        const Answer answer = workspace->ask({"run", "digits-mlp"});
        QCOMPARE(answer.code, 0);
        const bool isLong = qstrcmp(QTest::currentDataTag(), "hangs") == 0;   // only that is worth a word
        QCOMPARE(answer.err.find("The run has ended; waits for notify_command (") != std::string::npos && answer.err.find("tell me.sh' --short), at most 10 s\n") != std::string::npos, isLong);
        const auto run = workspace->latest();
        QVERIFY2(answer.err.find("The notification failed: ") != std::string::npos && answer.err.find(says.toStdString()) != std::string::npos, answer.err.c_str());
        QVERIFY2(warnings(run).find(says.toStdString()) != std::string::npos, warnings(run).c_str());
        nothingIsLeft(run);
    }
    void whoFollowsARunIsToldThatItsNotificationIsWaitedFor() {
        const auto workspace = fresh("train");
        const stdfs::path begun = workspace->scratch() / "begun", enough = workspace->scratch() / "enough";
        notifyBy(*workspace, "touch '" + begun.string() + "'; while [ ! -e '" + enough.string() + "' ]; do sleep 0.05; done\n");
        running(*workspace);
        const auto attached = workspace->start({"attach", "latest"});
        QByteArray seen, told;
        QVERIFY(eventually([&] { return !(seen += attached->readAllStandardError()).isEmpty(); }));
        const auto stops = workspace->start({"stop", "latest"});
        const char* const kNote = "The run has ended; waits for notify_command (";
        QVERIFY(eventually([&] { return (told += stops->readAllStandardError()).contains(kNote); }));
        QVERIFY(eventually([&] { return (seen += attached->readAllStandardError()).contains(kNote); }));
        const auto goesOn = workspace->start({"continue", "latest", "--detach"});
        QVERIFY(eventually([&] { return (told += goesOn->readAllStandardError()).count(kNote) >= 2; }));
        QVERIFY(replaceFile(FileSystem::real(), enough, "").ok());
        QCOMPARE(Workspace::finish(*stops).code, 0);
        QCOMPARE(Workspace::finish(*goesOn).code, 0);
        QCOMPARE(workspace->ask({"stop", "latest"}).code, 0);
        QCOMPARE(Workspace::finish(*attached).code, static_cast<int>(ExitCode::Stopped));   // it watched on
    }
    void aStopWhileTheNotificationIsWaitedForSaysThatItHasEnded() {
        const auto workspace = fresh("points 5; end completed, 0");
        const stdfs::path begun = workspace->scratch() / "begun", enough = workspace->scratch() / "enough";
        notifyBy(*workspace, "touch '" + begun.string() + "'; while [ ! -e '" + enough.string() + "' ]; do sleep 0.05; done\n");
        const auto process = workspace->start({"run", "digits-mlp"});
        QVERIFY(eventually([&] { return stdfs::exists(begun); }));
        const auto stops = workspace->start({"stop", "latest"});
        QByteArray told;
        QVERIFY(eventually([&] { return (told += stops->readAllStandardError()).contains("The run has ended; waits for notify_command ("); }));
        QVERIFY(replaceFile(FileSystem::real(), enough, "").ok());
        const Answer stopped = Workspace::finish(*stops);
        QVERIFY2(stopped.code == 2 && stopped.err.find("does not run here: it is completed") != std::string::npos, stopped.err.c_str());
        QCOMPARE(Workspace::finish(*process).code, 0);
    }
    void whatTellsItsUserOfItsEndIsWaitedFor() {
        const auto workspace = fresh("points 20; end completed, 0");
        const stdfs::path begun = workspace->scratch() / "begun";
        notifyBy(*workspace, "touch '" + begun.string() + "'; sleep 1\n");   // as long as its supervisor holds the run
        const auto process = workspace->start({"run", "digits-mlp"});
        QVERIFY(eventually([&] { return stdfs::exists(begun); }));
        const Answer deleted = workspace->ask({"delete", "latest"});
        QVERIFY2(deleted.code == 0, quietly(deleted).c_str());
        QCOMPARE(Workspace::finish(*process).code, 0);
        QVERIFY(rundir::listRuns(workspace->folder()).empty());
    }
    void settingsThatCannotBeUsedAreNamed() {
        const auto workspace = fresh({});
        notifyBy(*workspace, "exit 0\n");
        const stdfs::path settings = workspace->scratch() / "config/lathe/settings.yaml";
        for (const char* text : {"notify_command: [a, b]\n", "notify: x\n", "just words\n", "notify_command: \"unclosed\n"}) {
            QVERIFY(replaceFile(FileSystem::real(), settings, text).ok());
            const std::string told = workspace->ask({"overnight", "--json"}).json().value("notification", "");
            QVERIFY2(told.find("settings.yaml") != std::string::npos && told.find("names a program that does") == std::string::npos, told.c_str());
        }
    }
};

QTEST_GUILESS_MAIN(TestStop)
#include "tst_stop.moc"
