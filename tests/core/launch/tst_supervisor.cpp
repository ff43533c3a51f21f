// labels: process
// timeout: 300
// The supervisor with a worker that plays scripts: how sessions end, what is recorded, what is left behind.
#include "base/clock.h"
#include "launch/process/identity.h"
#include "launch/run/checkpoint_choice.h"
#include "launch/run/run_settings.h"
#include "launch/run/standing.h"
#include "rundir/checkpoint_manifest.h"
#include "store/run_store.h"
#include "supervised.h"

#include <QtTest/QTest>

#include <algorithm>
#include <unistd.h>

using namespace lathe;
using namespace lathe::test;
using rundir::State;

class TestSupervisor : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void everyEndingHasItsStateAndCode_data() {
        QTest::addColumn<QByteArray>("script");
        QTest::addColumn<QByteArray>("state");
        QTest::addColumn<int>("code");
        QTest::addColumn<QByteArray>("says");
        const auto row = [](const char* name, const char* script, const char* state, int code, const char* says) {
            QTest::newRow(name) << QByteArray(script) << QByteArray(state) << code << QByteArray(says);
        };
        row("completed", "points 20; save; end completed, 0", "completed", 0, "the script says so");
        row("stopped", "points 20; save; end stopped, 4", "stopped", 4, "the script says so");
        row("failed", "points 3; end failed, 3", "failed", 3, "the script says so");
        row("bad configuration", "end failed, 2", "failed", 2, "the script says so");
        row("diverged", "points 3; end diverged, 6", "diverged", 6, "the script says so");
        row("out of memory", "points 3; end out of memory, 7", "out of memory", 7, "the script says so");
        row("silent success", "points 3; exit 0", "failed", 3, "without saying how");
        row("silent failure", "say disk on fire; exit 3", "failed", 3, "disk on fire");
        row("silent memory", "exit 7", "out of memory", 7, "Memory");
        row("SIGKILL", "points 3; signal 9", "killed", 5, "SIGKILL");
        row("SIGSEGV", "say about to fall; points 3; signal 11", "killed", 5, "about to fall");
        row("SIGABRT", "signal 6", "killed", 5, "SIGABRT");
        row("crash after the end", "points 3; save; end completed, 0", "completed", 0, "");
    }
    void everyEndingHasItsStateAndCode() {
        QFETCH(QByteArray, script);
        QFETCH(QByteArray, state);
        QFETCH(int, code);
        QFETCH(QByteArray, says);
        const auto workspace = fresh(script.toStdString());
        const Answer answer = workspace->ask({"run", "digits-mlp", "--json", "--set", "run.restarts_per_hour=0"});
        QVERIFY2(answer.code == code, (std::to_string(answer.code) + " " + answer.out + answer.err).c_str());
        const auto result = answer.json();
        QCOMPARE(QByteArray::fromStdString(result.value("state", "")), state);
        QCOMPARE(result["exit"].value("code", -1), code);
        QVERIFY2(result["exit"].value("reason", "").find(says.toStdString()) != std::string::npos, result.dump().c_str());
        const auto run = workspace->latest();
        nothingIsLeft(run);
        const auto record = rundir::readSession(run, 1);
        QVERIFY(record.ok() && record->state && rundir::name(*record->state) == state.toStdString());
        QVERIFY(launch::standingOf(run).state == *record->state);
        QCOMPARE(record->environment.at("threads"), std::string("2"));
        const bool steps = script.contains("points 20");
        if (steps) QCOMPARE(pointsOf(run, "train/loss"), std::size_t{20});
        if (script.contains("points 3")) QCOMPARE(pointsOf(run, "train/lr"), std::size_t{3});
        if (script.contains("save")) QCOMPARE(record->lastCheckpoint, rundir::checkpointName(1, GlobalStep(steps ? 20 : 3)));
    }
    void aDetachedRunIsStoppedWithACheckpoint() {
        const auto workspace = fresh("train");
        const auto run = running(*workspace);
        QVERIFY(launch::standingOf(run).state == State::Running || launch::standingOf(run).state == State::Starting);
        const auto live = rundir::readLive(run);
        QVERIFY(live.ok() && live->has_value());
        const Answer stopped = workspace->ask({"stop", "latest", "--json"});
        QVERIFY2(stopped.code == 0, stopped.err.c_str());
        QCOMPARE(stopped.json().value("state", ""), std::string("stopped"));
        nothingIsLeft(run);
        QVERIFY(!processLives((*live)->supervisor.pid) && !processLives((*live)->workers.at(0).pid));
        const auto record = rundir::readSession(run, 1);
        QVERIFY(!record->lastCheckpoint.empty());
        QCOMPARE(rundir::parseCheckpointName(record->lastCheckpoint)->step, record->counters->globalStep);
        QCOMPARE(std::int64_t(pointsOf(run, "train/loss")), record->counters->globalStep.value());
    }
    void pauseHoldsAndSaveSaves() {
        const auto workspace = fresh("train");
        const auto run = running(*workspace);
        QCOMPARE(workspace->ask({"pause", "latest"}).code, 0);
        QVERIFY(eventually([&] { return launch::standingOf(run).state == State::Paused; }));
        QCOMPARE(workspace->ask({"unpause", "latest"}).code, 0);
        QVERIFY(eventually([&] { return launch::standingOf(run).state == State::Running; }));
        const Answer saved = workspace->ask({"save", "latest", "--json"});
        QCOMPARE(saved.code, 0);
        QVERIFY(rundir::readCheckpoint(run.checkpoints() / saved.json().value("checkpoint", "")).ok());
        QCOMPARE(workspace->ask({"stop", "latest", "--discard"}).code, 0);
        QVERIFY(launch::standingOf(run).state == State::Cancelled);
        QCOMPARE(workspace->ask({"stop", "latest"}).code, 2);
    }
    void signalsToTheSupervisorSaveAndStop_data() {
        QTest::addColumn<int>("number");
        for (const int number : {SIGTERM, SIGINT, SIGHUP}) QTest::addRow("%d", number) << number;
    }
    void signalsToTheSupervisorSaveAndStop() {
        QFETCH(int, number);
        const auto workspace = fresh("train");
        const auto process = workspace->start({"run", "digits-mlp", "--json"});
        QVERIFY(eventually([&] { return !rundir::listRuns(workspace->folder()).empty() && pointsOf(workspace->latest(), "train/loss") > 5; }));
        ::kill(static_cast<pid_t>(process->processId()), number);
        const Answer answer = Workspace::finish(*process);
        QCOMPARE(answer.code, 4);
        QCOMPARE(answer.json().value("state", ""), std::string("stopped"));
        QCOMPARE(answer.json()["checkpoints"].size(), std::size_t{1});
        nothingIsLeft(workspace->latest());
    }
    void aSecondSignalLeavesAtOnce() {
        const auto workspace = fresh("points 5; deaf");
        const auto process = workspace->start({"run", "digits-mlp", "--json"});
        QVERIFY(eventually([&] { return !rundir::listRuns(workspace->folder()).empty() && pointsOf(workspace->latest(), "train/loss") == 5; }));
        ::kill(static_cast<pid_t>(process->processId()), SIGINT);
        QVERIFY(eventually([&] { return launch::standingOf(workspace->latest()).state == State::Stopping; }));
        ::kill(static_cast<pid_t>(process->processId()), SIGINT);
        const Answer answer = Workspace::finish(*process, 20'000);
        QCOMPARE(answer.code, 5);
        QCOMPARE(answer.json().value("state", ""), std::string("killed"));
        QVERIFY(answer.json()["exit"].value("reason", "").find("asked twice") != std::string::npos);
        nothingIsLeft(workspace->latest());
    }
    void aRunWithoutItsConfigurationIsShownAndRefusedByName() {
        const auto workspace = fresh("points 5; save; end stopped, 4");
        QCOMPARE(workspace->ask({"run", "digits-mlp"}).code, 4);
        const auto run = workspace->latest();
        std::filesystem::remove(run.configYaml());
        std::filesystem::remove(run.sessionYaml(1));
        QCOMPARE(workspace->ask({"show", "latest"}).code, 0);
        for (const QStringList& words : {QStringList{"continue", "latest"}, QStringList{"roll-back", "latest@5"}, QStringList{"again", "latest"}}) {
            const Answer refused = workspace->ask(words);
            QVERIFY2(refused.code > 0 && refused.err.find("1.yaml") != std::string::npos, refused.err.c_str());
        }
        QCOMPARE(rundir::newestSession(run), 1);
    }
    void aSilentWorkerIsSaidWhereverOneWaits_data() {
        QTest::addColumn<QByteArray>("script");
        QTest::newRow("while it trains") << QByteArray("points 5; deaf");
        QTest::newRow("before its first sign of life") << QByteArray("deaf");
    }
    void aSilentWorkerIsSaidWhereverOneWaits() {
        QFETCH(QByteArray, script);
        const auto workspace = fresh(script.toStdString());
        const auto process = workspace->start({"run", "digits-mlp"});
        const auto says = [](QProcess& program, const QByteArray& text, QByteArray& heard) {
            return eventually([&] { return (heard += program.readAllStandardError()).contains(text); });
        };
        QByteArray foreground, watching, stopping;
        QVERIFY2(says(*process, "no sign of life", foreground), foreground.constData());
        const auto attached = workspace->start({"attach", "latest"});
        QVERIFY2(says(*attached, "no sign of life", watching), watching.constData());
        const auto stop = workspace->start({"stop", "latest"});
        QVERIFY2(says(*stop, "no sign of life", stopping), stopping.constData());
        ::kill(static_cast<pid_t>(process->processId()), SIGINT);  // asked twice: at once
        QCOMPARE(Workspace::finish(*process, 20'000).code, 5);
        QCOMPARE(Workspace::finish(*attached).code, 5);
        QCOMPARE(Workspace::finish(*stop).code, 5);   // nothing was saved
    }
    void aStoppedSupervisorIsSaidToWhoWatches() {
        const auto workspace = fresh("train");
        const auto run = running(*workspace);
        const auto live = *rundir::readLive(run);
        ::kill(static_cast<pid_t>(live->supervisor.pid), SIGSTOP);
        const auto attached = workspace->start({"attach", "latest"});
        QByteArray heard;
        const bool said = eventually([&] { return (heard += attached->readAllStandardError()).contains("does not answer"); });
        ::kill(static_cast<pid_t>(live->supervisor.pid), SIGCONT);
        QVERIFY2(said, heard.constData());
        QCOMPARE(workspace->ask({"stop", "latest"}).code, 0);
        QCOMPARE(Workspace::finish(*attached).code, 4);
    }
    void twoStartsOnOneFolderGiveOneRun() {
        const auto workspace = fresh("points 5; save; end stopped, 4");
        QCOMPARE(workspace->ask({"run", "digits-mlp"}).code, 4);
        workspace->setScript("train");
        const auto one = workspace->start({"continue", "latest", "--detach", "--json"});
        const auto two = workspace->start({"continue", "latest", "--detach", "--json"});
        const Answer first = Workspace::finish(*one, 12'000), second = Workspace::finish(*two, 12'000);   // the loser waits for nobody's session
        QVERIFY2((first.code == 0) != (second.code == 0), (first.err + second.err).c_str());
        const Answer& loser = first.code == 0 ? second : first;
        QCOMPARE(loser.code, 8);
        QVERIFY2(loser.err.find("in use") != std::string::npos, loser.err.c_str());
        QCOMPARE(rundir::newestSession(workspace->latest()), 2);
        QCOMPARE(workspace->ask({"stop", "latest"}).code, 0);
    }
    // else it would wait for the end of a session that nobody asked to stop
    void aStopReturnsAlsoWhereTheRunIsTakenUpAgainAtOnce() {
        const auto workspace = fresh("train");
        const auto run = running(*workspace);
        const auto stop = workspace->start({"stop", "latest"});
        QVERIFY(eventually([&] { return workspace->ask({"continue", "latest", "--detach"}).code == 0; }));
        const Answer stopped = Workspace::finish(*stop, 15'000);
        QVERIFY2(stopped.code == 0, (stopped.out + stopped.err).c_str());
        QVERIFY(rundir::readSession(run, 1)->state == State::Stopped);
        QCOMPARE(workspace->ask({"stop", "latest"}).code, 0);
    }
    void aKilledSupervisorLosesNothing() {
        const auto workspace = fresh("train");
        const auto run = running(*workspace);
        const auto live = *rundir::readLive(run);
        ::kill(static_cast<pid_t>(live->supervisor.pid), SIGKILL);
        QVERIFY(eventually([&] { return !processLives(live->workers.at(0).pid); }));
        QVERIFY(launch::standingOf(run).state == State::Interrupted);
        QVERIFY(launch::standingOf(run).why.find("supervisor") != std::string::npos);
        workspace->setScript("points 5; end completed, 0");
        const Answer next = workspace->ask({"continue", "latest", "--json"});
        QVERIFY2(next.code == 0, next.err.c_str());
        nothingIsLeft(run);
        const auto record = rundir::readSession(run, 1);
        QVERIFY(record->state == State::Interrupted);
        QVERIFY2(record->why.find("saved") != std::string::npos, record->why.c_str());
        // Every step that the worker made is there, also those after its supervisor was gone, and the new session goes on behind them.
        const auto reader = store::RunReader::open(run.database());
        const auto points = (*reader)->points("train/loss", store::RunReader::Line::Surviving);
        const std::int64_t saved = rundir::parseCheckpointName(record->lastCheckpoint)->step.value();
        QCOMPARE(std::int64_t(points->size()), saved + 5);
        for (std::size_t i = 0; i < points->size(); ++i) QCOMPARE(points->at(i).step, std::int64_t(i) + 1);
        QVERIFY(listFolder(run.spill())->empty());
        // A millisecond of active time a step, counted once over both sessions.
        QVERIFY(qAbs(rundir::readSummary(run)->activeSeconds - (static_cast<double>(saved) + 5 + static_cast<double>(saved)) / 1000) < 1e-6);
    }
    void aTalkativeWorkerIsNeverHeldUp() {
        const auto workspace = fresh("flood 40; points 5; end completed, 0");
        QCOMPARE(workspace->ask({"run", "digits-mlp"}).code, 0);
        const auto log = workspace->latest().rankLog(0);
        QVERIFY(std::filesystem::file_size(log) <= 41u << 20);
        QVERIFY(std::filesystem::exists(log.string() + ".1"));
    }
    void aKilledSupervisorKeepsBestValueAndTime() {
        const auto workspace = fresh("points 10; best 0.75; train");
        const auto run = running(*workspace);
        QVERIFY(eventually([&] { const auto summary = rundir::readSummary(run); return summary && summary->best && summary->activeSeconds > 0; }));
        const auto live = *rundir::readLive(run);
        const auto shown = workspace->ask({"show", "latest", "--json"}).json();
        QVERIFY2(shown["sessions"][0].value("last_step", 0) > 0, shown["sessions"].dump().c_str());  // though its row is written at the end
        ::kill(static_cast<pid_t>(live->supervisor.pid), SIGKILL);
        QVERIFY(eventually([&] { return !processLives(live->workers.at(0).pid); }));
        workspace->setScript("end completed, 0");
        QCOMPARE(workspace->ask({"continue", "latest"}).code, 0);
        const auto summary = rundir::readSummary(run);
        QVERIFY(summary->best.has_value());
        QCOMPARE(summary->best->value, 0.75);
        const std::int64_t saved = rundir::parseCheckpointName(rundir::readSession(run, 1)->lastCheckpoint)->step.value();
        QCOMPARE(summary->activeSeconds, static_cast<double>(saved) / 1000);  // the script's update takes a millisecond
        QVERIFY(!summary->sparkline.empty());
    }
    void aDamagedSummaryIsMadeAnew() {
        const auto workspace = fresh("points 10; save; end stopped, 4");
        QCOMPARE(workspace->ask({"run", "digits-mlp", "--set", "run.name=hurt"}).code, 4);
        const auto run = workspace->latest();
        QVERIFY(replaceFile(FileSystem::real(), run.summaryJson(), "{").ok());
        const Answer next = workspace->ask({"continue", "latest"});
        QVERIFY2(next.code == 4, next.err.c_str());
        const auto summary = rundir::readSummary(run);
        QVERIFY2(summary.ok(), summary.ok() ? "" : summary.error().sentence.c_str());
        QCOMPARE(summary->name, std::string("hurt"));
        QCOMPARE(summary->counters.globalStep.value(), std::int64_t{20});
    }
    void aDamagedDatabaseIsNamedWithAWayOn() {
        const auto workspace = fresh("points 10; save; end stopped, 4");
        QCOMPARE(workspace->ask({"run", "digits-mlp"}).code, 4);
        const auto run = workspace->latest();
        QVERIFY(replaceFile(FileSystem::real(), run.database(), std::string(20'000, 'x')).ok());
        const Answer refused = workspace->ask({"continue", "latest"});
        QVERIFY2(refused.code == 3, refused.err.c_str());
        QVERIFY2(refused.err.find("run.sqlite") != std::string::npos && refused.err.find("move it") != std::string::npos, refused.err.c_str());
        std::filesystem::rename(run.database(), run.root() / "old.sqlite");
        QCOMPARE(workspace->ask({"continue", "latest"}).code, 4);
    }
    void goingOnFromAnOlderCheckpointIsSaid() {
        const auto workspace = fresh("points 10; save; points 10; save; end stopped, 4");
        QCOMPARE(workspace->ask({"run", "digits-mlp"}).code, 4);
        const auto run = workspace->latest();
        std::filesystem::remove(run.checkpoints() / "s001-000000020/model-00000.safetensors");
        workspace->setScript("points 1; end completed, 0");
        const Answer next = workspace->ask({"continue", "latest"});
        QVERIFY2(next.code == 0, next.err.c_str());
        QCOMPARE(rundir::readSession(run, 2)->checkpoint, std::string("s001-000000010"));
        QVERIFY2(next.err.find("s001-000000020 cannot be used") != std::string::npos && next.err.find("Goes on from s001-000000010") != std::string::npos, next.err.c_str());
        const auto kinds = eventKinds(run);
        QVERIFY(std::find(kinds.begin(), kinds.end(), "warning") != kinds.end());
    }
    void aCheckpointOfAnotherRunIsRefused() {
        const auto workspace = fresh("points 10; save; end stopped, 4");
        QCOMPARE(workspace->ask({"run", "digits-mlp", "--set", "run.name=one"}).code, 4);
        QCOMPARE(workspace->ask({"run", "digits-mlp", "--set", "run.name=two"}).code, 4);
        const auto one = *rundir::findRun(workspace->folder(), "one"), two = *rundir::findRun(workspace->folder(), "two");
        std::filesystem::remove_all(one.checkpoints() / "s001-000000010");
        std::filesystem::copy(two.checkpoints() / "s001-000000010", one.checkpoints() / "s001-000000010");
        for (const QStringList& words : {QStringList{"continue", "one"}, QStringList{"roll-back", "one@10"}, QStringList{"fork", "one@10"}}) {
            const Answer refused = workspace->ask(words);
            QCOMPARE(refused.code, 3);
            QVERIFY2(refused.err.find(rundir::readManifest(two)->id) != std::string::npos, refused.err.c_str());
        }
        QCOMPARE(rundir::newestSession(one), 1);
    }
    void unfinishedCheckpointsAreListedThenRemoved() {
        const auto workspace = fresh("points 5; save; points 5; partial; signal 9");
        QCOMPARE(workspace->ask({"run", "digits-mlp", "--set", "run.restarts_per_hour=0"}).code, 5);
        const auto run = workspace->latest();
        auto shown = workspace->ask({"show", "latest", "--json"}).json();
        QCOMPARE(shown["checkpoints"].size(), std::size_t{2});
        QCOMPARE(shown["checkpoints"][1].value("valid", true), false);
        workspace->setScript("points 2; end completed, 0");
        QCOMPARE(workspace->ask({"continue", "latest"}).code, 0);
        QCOMPARE(rundir::readSession(run, 2)->checkpoint, std::string("s001-000000005"));
        shown = workspace->ask({"show", "latest", "--json"}).json();
        QCOMPARE(shown["checkpoints"].size(), std::size_t{1});
    }
    void retentionKeepsBestPinnedAndTheOneInUse() {
        const auto workspace = fresh("metric 0.5; points 10; save; metric 0.9; points 10; save; metric 0.7; points 10; save; end stopped, 4");
        QCOMPARE(workspace->ask({"run", "digits-mlp"}).code, 4);
        const auto run = workspace->latest();
        QCOMPARE(workspace->ask({"pin", "latest@10"}).code, 0);
        workspace->setScript("metric 0.1; points 10; save; points 10; save; points 10; save; points 10; save; end completed, 0");
        QCOMPARE(workspace->ask({"continue", "latest"}).code, 0);
        std::vector<std::int64_t> steps;
        for (const auto& info : rundir::listCheckpoints(run.checkpoints())) steps.push_back(info.step.value());
        const std::vector<std::int64_t> expected = {10, 20, 30, 50, 60, 70};  // pinned, best, loaded, the last three
        QVERIFY2(steps == expected, nlohmann::json(steps).dump().c_str());
        const auto rows = (*store::RunReader::open(run.database()))->checkpoints();
        QCOMPARE(std::count_if(rows->begin(), rows->end(), [](const auto& row) { return row.deleted; }), 1);
    }
    void rollingBackMakesABranch() {
        const auto workspace = fresh("points 10; save; points 10; save; points 3; end stopped, 4");
        QCOMPARE(workspace->ask({"run", "digits-mlp"}).code, 4);
        const auto run = workspace->latest();
        workspace->setScript("points 4; save; end stopped, 4");
        QCOMPARE(workspace->ask({"roll-back", "latest@10"}).code, 4);
        const auto reader = store::RunReader::open(run.database());
        QCOMPARE((*reader)->points("train/loss", store::RunReader::Line::Surviving)->size(), std::size_t{14});
        QCOMPARE((*reader)->points("train/loss", store::RunReader::Line::All)->size(), std::size_t{27});
        // The newest checkpoint of the line, not the one with the highest step, which lies on the abandoned branch.
        QCOMPARE(launch::newestOnLine(run), std::string("s002-000000014"));
        const auto shown = workspace->ask({"show", "latest", "--json"}).json();
        QCOMPARE(shown["sessions"].size(), std::size_t{2});
        QCOMPARE(shown["branches"].size(), std::size_t{2});
        QCOMPARE(shown["branches"][0].value("surviving", false), true);
        QCOMPARE(workspace->ask({"roll-back", "latest@11"}).code, 2);
    }
    void forkAndWeightsMakeNewRuns() {
        const auto workspace = fresh("points 10; save; end stopped, 4");
        QCOMPARE(workspace->ask({"run", "digits-mlp", "--set", "run.name=first"}).code, 4);
        const auto first = workspace->latest();
        workspace->setScript("points 1; save; end completed, 0");
        const Answer forked = workspace->ask({"fork", "first@10", "--set", "run.name=second", "--json"});
        QVERIFY2(forked.code == 0, forked.err.c_str());
        const auto second = *rundir::findRun(workspace->folder(), "second");
        QCOMPARE(rundir::readManifest(second)->parent->run, rundir::readManifest(first)->id);
        QVERIFY(std::filesystem::hard_link_count(second.checkpoints() / "s000-000000010/model-00000.safetensors") == 2);
        QCOMPARE(launch::newestOnLine(second), std::string("s001-000000011"));
        const Answer light = workspace->ask({"start-from-weights", "first@latest", "--set", "run.name=third", "--json"});
        QVERIFY2(light.code == 0, light.err.c_str());
        QCOMPARE(light.json()["counters"].value("global_step", -1), 1);
        QCOMPARE(workspace->ask({"fork", "first@10", "--set", "model.hidden=8"}).code, 2);
        // Without a checkpoint of its own a run from weights starts over from those weights, not from the state beside them.
        workspace->setScript("points 2; signal 9");
        QCOMPARE(workspace->ask({"start-from-weights", "first@10", "--set", "run.name=fourth", "--set", "run.restarts_per_hour=0"}).code, 5);
        const auto fourth = *rundir::findRun(workspace->folder(), "fourth");
        QCOMPARE(launch::newestOnLine(fourth), std::string());
        QCOMPARE(workspace->ask({"continue", "fourth"}).code, 5);
        const auto again = rundir::readSession(fourth, 2);
        QVERIFY(again->weightsOnly && again->checkpoint == "s000-000000010" && again->verb == "start-over");
        QCOMPARE(rundir::readSummary(fourth)->counters.globalStep, GlobalStep(2));
    }
    void aDamagedCheckpointIsRefusedByName() {
        const auto workspace = fresh("points 10; save; points 1; save; end stopped, 4");
        QCOMPARE(workspace->ask({"run", "digits-mlp"}).code, 4);
        const auto run = workspace->latest();
        const auto file = run.checkpoints() / "s001-000000011/model-00000.safetensors";
        std::string content = *readFile(file, 1 << 20);
        content.back() = static_cast<char>(content.back() ^ 1);
        QVERIFY(replaceFile(FileSystem::real(), file, content).ok());
        const Answer refused = workspace->ask({"continue", "latest", "--json"});
        QCOMPARE(refused.code, 3);
        QVERIFY2(refused.err.find("model-00000.safetensors") != std::string::npos, refused.err.c_str());
        QCOMPARE(rundir::newestSession(run), 1);
        QVERIFY2(rundir::listCheckpoints(run.checkpoints()).at(1).problem.starts_with("Damaged: model-00000.safetensors"), "it is remembered");
        const Answer checked = workspace->ask({"verify", "latest@11", "--json"});
        QCOMPARE(checked.code, 3);
        QCOMPARE(checked.json()["bad_files"].size(), std::size_t{1});
        QCOMPARE(workspace->ask({"verify", "latest@10"}).code, 0);
        QCOMPARE(workspace->ask({"roll-back", "latest@10"}).code, 4);
    }
    void aRunThatReachedItsTargetNamesTheKey() {
        const auto workspace = fresh("points 10; save; end completed, 0");
        QCOMPARE(workspace->ask({"run", "digits-mlp", "--set", "run.max_updates=10"}).code, 0);
        const Answer refused = workspace->ask({"continue", "latest"});
        QCOMPARE(refused.code, 2);
        QVERIFY2(refused.err.find("run.max_updates") != std::string::npos, refused.err.c_str());
        QCOMPARE(workspace->ask({"continue", "latest", "--set", "run.max_updates=20"}).code, 0);
        QCOMPARE(launch::configOf(workspace->latest(), 2)->run.maxUpdates, std::optional<std::int64_t>(20));
    }
    void aCopiedRunningFolderIsARunOfItsOwn() {
        const auto workspace = fresh("train");
        const auto run = running(*workspace);
        QCOMPARE(workspace->ask({"save", "latest"}).code, 0);
        const auto live = *rundir::readLive(run);
        const auto copy = workspace->scratch() / "copy";
        std::filesystem::create_directory(copy);
        for (const char* part : {"run.json", "config.yaml", "summary.json", "live.json", "sessions", "checkpoints", "logs", "spill", "run.sqlite"})
            std::filesystem::copy(run.root() / part, copy / part, std::filesystem::copy_options::recursive);
        workspace->setScript("points 1; end completed, 0");
        const Answer continued = workspace->ask({"continue", QString::fromStdString(copy.string())});
        QVERIFY2(continued.code == 0, continued.err.c_str());
        // The original was not touched.
        QVERIFY(processLives(live->supervisor.pid) && processLives(live->workers.at(0).pid));
        QVERIFY(launch::standingOf(run).state == State::Running);
        QCOMPARE(workspace->ask({"stop", "latest"}).code, 0);
    }
    void anotherHostsRunIsNotJudgedFromHere() {
        const auto workspace = fresh("points 5; save; end stopped, 4");
        QCOMPARE(workspace->ask({"run", "digits-mlp"}).code, 4);
        const auto run = workspace->latest();
        rundir::LiveRecord live{{"gpu1", "other-boot", ::getpid(), 1, "t"}, {}, 1, 1};
        QVERIFY(rundir::writeLive(FileSystem::real(), run, live).ok());
        auto summary = *rundir::readSummary(run);
        summary.state = State::Running;
        summary.updatedNs = Clock::system().wallNs();
        QVERIFY(rundir::writeSummary(FileSystem::real(), run, summary).ok());
        const auto standing = launch::standingOf(run);
        QVERIFY(!standing.onThisHost && standing.state == State::Running);
        QVERIFY2(standing.why.starts_with("On gpu1, seen"), standing.why.c_str());
        const Answer refused = workspace->ask({"continue", "latest"});
        QCOMPARE(refused.code, 8);
        QVERIFY(refused.err.find("gpu1") != std::string::npos);
    }
    void aReusedPidIsNeverTakenForOurs() {
        const auto self = launch::identityOf(::getpid(), "t");
        QVERIFY(self.has_value());
        QVERIFY(launch::VerifiedProcess::find(*self).has_value());
        for (const auto change : {0, 1, 2}) {
            auto other = *self;
            if (change == 0) other.startTime += 1;
            if (change == 1) other.bootId = "another start of the machine";
            if (change == 2) other.host = "another";
            QVERIFY(!launch::VerifiedProcess::find(other).has_value());
        }
    }
    void aNewerFormatIsRefusedByName() {
        const auto workspace = fresh("points 5; save; end stopped, 4");
        QCOMPARE(workspace->ask({"run", "digits-mlp"}).code, 4);
        const auto run = workspace->latest();
        const std::string session = *readFile(run.sessionJson(1), 1 << 20);
        std::string newer = session;
        newer.replace(newer.find("\"format\": 1"), 11, "\"format\": 9");
        QVERIFY(replaceFile(FileSystem::real(), run.sessionJson(1), newer).ok());
        const Answer refused = workspace->ask({"continue", "latest"});
        QCOMPARE(refused.code, 3);
        QVERIFY2(refused.err.find("format 9") != std::string::npos, refused.err.c_str());
        QVERIFY(replaceFile(FileSystem::real(), run.sessionJson(1), session).ok());
    }
    void aMissingWorkerIsNamed() {
        Workspace workspace;
        workspace.useFakeWorker("/nowhere");
        const Answer answer = workspace.ask({"run", "digits-mlp", "--detach"});
        QCOMPARE(answer.code, 3);
        QVERIFY2(answer.err.find("lathe-worker") != std::string::npos, answer.err.c_str());
        QVERIFY(launch::standingOf(workspace.latest()).state == State::Failed);
        nothingIsLeft(workspace.latest());
    }
    void aSignalBeforeTheSupervisorIsReadyIsHeard() {
        const auto workspace = fresh("train");
        for (int round = 0; round < 20; ++round) {
            const auto process = workspace->start({"run", "digits-mlp", "--json"});
            QVERIFY(process->waitForStarted());
            process->waitForFinished(round);  // at most so many milliseconds
            ::kill(static_cast<pid_t>(process->processId()), SIGTERM);
            const Answer answer = Workspace::finish(*process);
            QVERIFY2(answer.code == 4 || answer.code == -1, std::to_string(answer.code).c_str());  // -1: before it read its command line
        }
        for (const auto& run : rundir::listRuns(workspace->folder())) {
            const State state = launch::standingOf(run).state;   // by whether it had made an update yet
            QVERIFY(state == State::Stopped || state == State::Cancelled);
        }
        const auto names = listFolder(workspace->folder() / "runs");
        QVERIFY(!names.ok() || std::none_of(names->begin(), names->end(), [](const auto& name) { return name.starts_with("."); }));
    }
    void eventsTellWhatWasAsked() {
        const auto workspace = fresh("train");
        const auto run = running(*workspace);
        QCOMPARE(workspace->ask({"stop", "latest"}).code, 0);
        const auto kinds = eventKinds(run);
        for (const char* kind : {"plan", "asked", "checkpoint", "ended"}) QVERIFY2(std::find(kinds.begin(), kinds.end(), kind) != kinds.end(), kind);
    }
};

QTEST_GUILESS_MAIN(TestSupervisor)
#include "tst_supervisor.moc"
