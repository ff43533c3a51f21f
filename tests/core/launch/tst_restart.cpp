// labels: process
// timeout: 300
// A run whose worker crashed goes on from its last good checkpoint, so often and no more, and never into the same crash.
#include "base/exit_code.h"
#include "base/file_system.h"
#include "launch/run/checkpoint_choice.h"
#include "launch/run/standing.h"
#include "launch/session/restart.h"
#include "launch/verbs/prepare.h"
#include "rundir/checkpoint_manifest.h"
#include "supervised.h"

#include <QtTest/QTest>

#include <algorithm>
#include <csignal>

using namespace lathe;
using namespace lathe::test;
using launch::Crash;
using rundir::State;

static constexpr std::int64_t kMinute = 60'000'000'000;

class TestRestart : public QObject {
    Q_OBJECT

    static std::string why(const rundir::RunFolder& run, int session) { return rundir::readSession(run, session)->why; }

    /// Of the newest event of a kind.
    static std::string textOf(const rundir::RunFolder& run, const std::string& kind) {
        std::string out;
        const auto reader = store::RunReader::open(run.database());
        const auto events = (*reader)->events();
        for (const auto& row : *events)
            if (row.event.kind == kind) out = row.event.text;
        return out;
    }

private Q_SLOTS:
    void soOftenAnHourAndNeverTheSameTwice() {
        std::vector<Crash> earlier;
        QVERIFY(!launch::chooseRestart(earlier, {0, 10, "x"}, 0, false).goesOn);
        QVERIFY(launch::chooseRestart(earlier, {0, 10, "x"}, 0, false).why.empty());   // nobody wished for it
        for (int crash = 0; crash < 3; ++crash) {
            const Crash now{crash * 10 * kMinute, 10 + crash, "x"};
            QVERIFY(launch::chooseRestart(earlier, now, 3, false).goesOn);
            earlier.push_back(now);
        }
        QVERIFY(!launch::chooseRestart(earlier, {59 * kMinute, 100, "x"}, 3, false).goesOn);
        QVERIFY(launch::chooseRestart(earlier, {59 * kMinute, 100, "x"}, 4, false).goesOn);
        QVERIFY(launch::chooseRestart(earlier, {60 * kMinute, 100, "x"}, 3, false).goesOn);     // the first is an hour ago
        QVERIFY(!launch::chooseRestart(earlier, {500 * kMinute, 11, "x"}, 3, false).goesOn);    // the same crash once more
        QVERIFY(launch::chooseRestart(earlier, {500 * kMinute, 11, "y"}, 3, false).goesOn);
        QVERIFY(launch::chooseRestart(earlier, {500 * kMinute, 14, "x"}, 3, false).goesOn);
    }
    void onlyWhatNobodyExplainsIsACrash() {
        launch::CrashFacts facts;
        facts.end.exit.signal = SIGSEGV;
        facts.attempt = 7;
        QVERIFY(launch::crashOf(facts) && launch::crashOf(facts)->attempt == 7);
        launch::CrashFacts changed = facts;
        changed.end.stopAsked = true;
        QVERIFY(!launch::crashOf(changed));
        changed = facts;
        changed.end.killedBy = "it did not get on for 300 s";
        QVERIFY(!launch::crashOf(changed));
        changed = facts;
        changed.end.isCommand = true;
        QVERIFY(!launch::crashOf(changed));
        changed = facts;
        changed.isReplay = true;
        QVERIFY(!launch::crashOf(changed));
        changed = facts;
        changed.end.ended = launch::Ended{State::Failed, "no data", {}, {}, false, {}, {}};
        QVERIFY(!launch::crashOf(changed));
        changed = facts;
        changed.end.exit.signal = SIGKILL;
        changed.end.systemRanOutOfMemory = true;
        QVERIFY(launch::crashOf(changed)->cause.find("memory") != std::string::npos);
        changed.end.exit = {0, {}, {}};
        QVERIFY(launch::crashOf(changed));
    }
    void aHangIsACrashUnlessAStopWasAskedFor() {
        launch::CrashFacts facts;
        facts.end.exit.signal = SIGKILL;
        facts.end.killedBy = "it did not get on for 300 s";
        facts.hang = rundir::HangRecord{1, 20, "forward and backward", "s1"};
        facts.attempt = 21;
        const auto crash = launch::crashOf(facts);
        QVERIFY(crash && crash->attempt == 20);
        facts.hang->stack = "s2";
        QVERIFY(launch::crashOf(facts)->cause != crash->cause);
        facts.end.stopAsked = true;
        QVERIFY(!launch::crashOf(facts));
        facts.end.stopAsked = false;
        facts.isReplay = true;
        QVERIFY(!launch::crashOf(facts));
    }
    void whoWantedItToStandStillIsAsked() {
        QVERIFY(!launch::chooseRestart({}, {0, 10, "x"}, 3, true).goesOn);
        QVERIFY(!launch::chooseRestart({}, {0, 10, "x"}, 3, true).why.empty());
        QVERIFY(launch::chooseRestart({}, {0, 10, "x"}, 0, true).why.empty());
    }
    void itGoesBackOrGoesOnUnlessAStopWasAskedFor() {
        int wentBack = 0, restarted = 0;
        const launch::Planner plan{[&](std::int64_t notAfter) { return ++wentBack, launch::PlannedSession{static_cast<int>(notAfter), "one was damaged"}; },
                                   [&](bool) { return ++restarted, launch::PlannedSession{2, {}}; }};
        std::vector<Crash> crashes;
        launch::NextFacts back;
        back.crash.end.ended = launch::Ended{State::Stopped, "the loss is worse", {}, {}, false, launch::GoingBack{7}, {}};
        back.goesBack = launch::GoingBack{7};
        back.restartsPerHour = 3;
        launch::NextFacts crashed;
        crashed.crash.end.exit.signal = SIGSEGV;
        crashed.restartsPerHour = 3;

        launch::SessionEnd end{State::Stopped, "the loss is worse"};
        auto next = launch::planNext(end, back, crashes, plan);
        QVERIFY(next && next->kind == launch::Next::Kind::WentBack && next->session == 7 && next->why == end.why && next->notice == "one was damaged");
        end = {State::Killed, "by signal 11"};
        next = launch::planNext(end, crashed, crashes, plan);
        QVERIFY(next && next->kind == launch::Next::Kind::Restarted && next->session == 2 && next->why == "by signal 11");
        QCOMPARE(end.why, std::string("by signal 11. It goes on by itself, restart 1 of at most 3 an hour"));
        QCOMPARE(crashes.size(), std::size_t{1});

        for (launch::NextFacts* facts : {&back, &crashed}) facts->crash.end.stopAsked = true;
        const launch::SessionEnd stopped{State::Stopped, "on request"}, killed{State::Killed, "by signal 11"};
        end = stopped;
        QVERIFY(!launch::planNext(end, back, crashes, plan) && end == stopped);
        end = killed;
        QVERIFY(!launch::planNext(end, crashed, crashes, plan) && end == killed);
        QVERIFY(wentBack == 1 && restarted == 1 && crashes.size() == 1);
    }
    void whatCannotBePlannedIsTold() {
        const Error none{ErrorCode::NotFound, "There is no checkpoint", {}, {}};
        const launch::Planner plan{[&](std::int64_t) { return Result<launch::PlannedSession>(none); }, [&](bool) { return Result<launch::PlannedSession>(none); }};
        std::vector<Crash> crashes;
        launch::NextFacts facts;
        facts.goesBack = launch::GoingBack{7};
        facts.restartsPerHour = 3;
        facts.crash.end.ended = launch::Ended{State::Stopped, "worse", {}, {}, false, facts.goesBack, {}};
        launch::SessionEnd end{State::Stopped, "worse"};
        QVERIFY(!launch::planNext(end, facts, crashes, plan) && end.state == State::Diverged);
        QVERIFY2(end.why.starts_with("worse. It cannot go back: There is no checkpoint"), end.why.c_str());
        facts.goesBack = launch::GoingBack{7, State::Stopped};
        end = {State::Stopped, "worse"};
        QVERIFY(!launch::planNext(end, facts, crashes, plan) && end.state == State::Stopped);
        facts = {};
        facts.restartsPerHour = 3;
        facts.crash.end.exit.signal = SIGSEGV;
        end = {State::Killed, "by signal 11"};
        QVERIFY(!launch::planNext(end, facts, crashes, plan) && crashes.empty());
        QCOMPARE(end.why, std::string("by signal 11. It does not go on by itself: There is no checkpoint"));
    }
    void aCrashedRunGoesOnFromItsLastCheckpoint() {
        const auto workspace = fresh({});
        workspace->setScript("until 10; save; until 13; crashonce " + (workspace->scratch() / "once").string() + " 11; until 20; save; end completed, 0");
        const Answer answer = workspace->ask({"run", "digits-mlp", "--json"});
        QVERIFY2(answer.code == 0, answer.err.c_str());
        const auto run = workspace->latest();
        QCOMPARE(rundir::newestSession(run), 2);
        const auto crashed = rundir::readSession(run, 1), next = rundir::readSession(run, 2);
        QVERIFY(crashed->state == State::Killed && crashed->signal == SIGSEGV);
        QVERIFY2(crashed->why.find("It goes on by itself, restart 1 of at most 3 an hour") != std::string::npos, crashed->why.c_str());
        QCOMPARE(next->checkpoint, std::string("s001-000000010"));
        QCOMPARE(next->parentAttempt, std::int64_t{10});
        QCOMPARE(next->verb, std::string("restart"));
        QVERIFY(next->state == State::Completed);
        const auto kinds = eventKinds(run);
        QCOMPARE(std::count(kinds.begin(), kinds.end(), "restarted"), 1);
        QCOMPARE(pointsOf(run, "train/loss"), std::size_t{23});   // what came after the checkpoint is kept, beside the line
        nothingIsLeft(run);
    }
    void theSameCrashAtTheSameUpdateEndsIt() {
        const auto workspace = fresh("until 10; save; until 13; signal 6");
        QCOMPARE(workspace->ask({"run", "digits-mlp"}).code, 5);
        const auto run = workspace->latest();
        QCOMPARE(rundir::newestSession(run), 2);
        QVERIFY(launch::standingOf(run).state == State::Killed);
        QVERIFY2(why(run, 2).find("would only come once more") != std::string::npos, why(run, 2).c_str());
        nothingIsLeft(run);
    }
    void crashesThatGoOnEndItToo() {
        const auto workspace = fresh("points 10; save; points 3; signal 9");   // each time ten updates further
        QCOMPARE(workspace->ask({"run", "digits-mlp", "--set", "run.restarts_per_hour=2"}).code, 5);
        const auto run = workspace->latest();
        QCOMPARE(rundir::newestSession(run), 3);
        QVERIFY2(why(run, 3).find("restarted 2 times within the last hour") != std::string::npos, why(run, 3).c_str());
        QCOMPARE(launch::newestOnLine(run), std::string("s003-000000030"));
    }
    void beforeTheFirstCheckpointItBeginsAgainAndNotTwiceAlike() {
        const auto workspace = fresh("points 3; signal 11");
        QCOMPARE(workspace->ask({"run", "digits-mlp"}).code, 5);
        const auto run = workspace->latest();
        QCOMPARE(rundir::newestSession(run), 2);
        QVERIFY(rundir::readSession(run, 2)->verb == "start-over" && rundir::readSession(run, 2)->checkpoint.empty());
        QVERIFY2(why(run, 1).find("It goes on by itself, restart 1 of at most 3") != std::string::npos, why(run, 1).c_str());
        QVERIFY2(why(run, 2).find("would only come once more") != std::string::npos, why(run, 2).c_str());
        QVERIFY2(textOf(run, "restarted").starts_with("Begins again by itself from the start"), textOf(run, "restarted").c_str());
        nothingIsLeft(run);
    }
    void whatCrashesBeforeItsFirstUpdateIsNotBegunAgain() {
        const auto workspace = fresh("signal 11");
        QCOMPARE(workspace->ask({"run", "digits-mlp"}).code, 5);
        QCOMPARE(rundir::newestSession(workspace->latest()), 1);
        QVERIFY2(why(workspace->latest(), 1).find("There is no checkpoint yet") != std::string::npos, why(workspace->latest(), 1).c_str());
    }
    void aDamagedCheckpointThatIsPassedOverIsSaidAndRemembered() {
        const auto workspace = fresh({});
        const auto flag = workspace->scratch() / "flag";
        workspace->setScript("until 10; save; until 20; save; until 23; hold " + flag.string() + "; crashonce " + (workspace->scratch() / "once").string() + " 11; until 30; save; end completed, 0");
        const auto process = workspace->start({"run", "digits-mlp"});
        QVERIFY(eventually([&] {
            const auto runs = rundir::listRuns(workspace->folder());
            return !runs.empty() && launch::newestOnLine(runs[0]) == "s001-000000020" && rundir::readVerified(runs[0].checkpoints() / "s001-000000020");
        }));
        const auto run = workspace->latest();
        const auto file = run.checkpoints() / "s001-000000020/model-00000.safetensors";
        std::string content = *readFile(file, 1 << 20);
        content.back() = static_cast<char>(content.back() ^ 1);
        QVERIFY(replaceFile(FileSystem::real(), file, content).ok());
        QVERIFY(replaceFile(FileSystem::real(), flag, "go").ok());
        const Answer answer = Workspace::finish(*process);
        QVERIFY2(answer.code == 0, answer.err.c_str());
        QCOMPARE(rundir::readSession(run, 2)->checkpoint, std::string("s001-000000010"));
        const std::string said = textOf(run, "checkpoint_damaged");
        QVERIFY2(said.find("s001-000000020 cannot be used: Damaged: model-00000.safetensors") != std::string::npos, said.c_str());
        QVERIFY2(said.find("Goes on from s001-000000010; 10 updates that were saved after it must be made once more") != std::string::npos, said.c_str());
        QVERIFY2(answer.err.find("s001-000000020 cannot be used") != std::string::npos, answer.err.c_str());
        const auto kept = rundir::listCheckpoints(run.checkpoints());
        QVERIFY(std::any_of(kept.begin(), kept.end(), [](const auto& info) { return info.folder == "s001-000000020" && info.problem.starts_with("Damaged: "); }));
    }
    void whatTheWorkerExplainsIsNotTriedAgain() {
        const auto workspace = fresh("points 10; save; end failed, 3");
        QCOMPARE(workspace->ask({"run", "digits-mlp"}).code, 3);
        QCOMPARE(rundir::newestSession(workspace->latest()), 1);
    }
    void whatIsPausedStaysAtRestWhenItsWorkerIsKilled() {
        const auto workspace = fresh("points 10; save; train");
        QCOMPARE(workspace->ask({"run", "digits-mlp", "--detach"}).code, 0);
        const auto run = workspace->latest();
        QVERIFY(eventually([&] { return !launch::newestOnLine(run).empty(); }));
        QCOMPARE(workspace->ask({"pause", "latest"}).code, 0);
        ::kill(static_cast<pid_t>((*rundir::readLive(run))->workers.at(0).pid), SIGKILL);
        QVERIFY(eventually([&] { return launch::standingOf(run).state == State::Killed && !rundir::RunLock::isHeld(run.lock()); }));
        QCOMPARE(rundir::newestSession(run), 1);
        QVERIFY2(why(run, 1).find("It was paused") != std::string::npos, why(run, 1).c_str());
        nothingIsLeft(run);
    }
    /// While the others still have a moment to say how they ended.
    void aStopWhileAHungRunIsBeingEndedStands() {
        const auto workspace = fresh("points 20; rank 0 save; rank 1 hold /nowhere; train");
        QCOMPARE(workspace->ask({"run", "digits-mlp", "--detach", "--set", "parallel.ranks=2", "--set", "accumulation.micro_batches=2", "--set", "parallel.wait_seconds=1"}).code, 0);
        const auto run = workspace->latest();
        QVERIFY(eventually([&] { const auto live = rundir::readLive(run); return live && *live; }));
        const auto hung = (*rundir::readLive(run))->workers.at(1).pid;
        QVERIFY(eventually([&] { return !processLives(hung); }));
        QCOMPARE(workspace->ask({"stop", "latest"}).code, static_cast<int>(ExitCode::Interrupted));   // as it ended
        QVERIFY(eventually([&] { return !rundir::isAlive(launch::standingOf(run).state); }));
        QCOMPARE(rundir::newestSession(run), 1);
        QVERIFY2(why(run, 1).starts_with("Rank 1: ") && why(run, 1).find("goes on by itself") == std::string::npos, why(run, 1).c_str());
        QCOMPARE(launch::newestOnLine(run).substr(0, 5), std::string("s001-"));
        nothingIsLeft(run);
    }
    void whatIsWaitedForOnceARankIsGoneIsAnEvent() {
        const auto workspace = fresh({});
        const auto saved = workspace->scratch() / "saved";
        workspace->setScript("points 5; rank 1 signal 9; saving " + saved.string() + "; save; end failed, 3");
        QCOMPARE(workspace->ask({"run", "digits-mlp", "--detach", "--set", "parallel.ranks=2", "--set", "accumulation.micro_batches=2", "--set", "run.restarts_per_hour=0"}).code, 0);
        const auto run = workspace->latest();
        const std::string told = "Rank 1 was ended by signal SIGKILL; what the first rank is saving is waited for, at most 15 min";
        QVERIFY2(eventually([&] { return textOf(run, "warning") == told; }), textOf(run, "warning").c_str());
        QVERIFY(rundir::isAlive(launch::standingOf(run).state));
        QVERIFY(replaceFile(FileSystem::real(), saved, "").ok());
        QVERIFY(eventually([&] { return !rundir::RunLock::isHeld(run.lock()); }));
        QCOMPARE(launch::newestOnLine(run), std::string("s001-000000005"));
        nothingIsLeft(run);
    }
    void aRestartedRunIsStoppedAsAnyOther() {
        const auto workspace = fresh({});
        workspace->setScript("until 10; save; until 13; crashonce " + (workspace->scratch() / "once").string() + " 9; train");
        QCOMPARE(workspace->ask({"run", "digits-mlp", "--detach"}).code, 0);
        const auto run = workspace->latest();
        QVERIFY(eventually([&] { return rundir::newestSession(run) == 2 && launch::standingOf(run).state == State::Running; }));
        QCOMPARE(workspace->ask({"stop", "latest", "--json"}).json().value("state", ""), std::string("stopped"));
        nothingIsLeft(run);
    }
};

QTEST_GUILESS_MAIN(TestRestart)
#include "tst_restart.moc"
