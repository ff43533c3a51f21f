// labels: process
// timeout: 300
// Runs that wait for a device: their order, what a person changes in it, and that nothing that dies loses or doubles one.
#include "base/file_system.h"
#include "config/config.h"
#include "keeper_pid.h"
#include "launch/queue/device_lock.h"
#include "launch/queue/queue_keeper.h"
#include "launch/run/run_settings.h"
#include "launch/run/standing.h"
#include "launch/verbs/prepare.h"
#include "supervised.h"
#include "without_override.h"

#include <QtTest/QTest>

#include <algorithm>
#include <chrono>
#include <csignal>

using namespace lathe;
using namespace lathe::test;
using nlohmann::json;
using rundir::State;
namespace stdfs = std::filesystem;

class TestQueue : public QObject {
    Q_OBJECT

    std::unique_ptr<Workspace> m_workspace;

    launch::Queue queue() const { return launch::Queue(m_workspace->scratch() / "state/lathe"); }
    /// Keeps the processor from the queue until it is let go.
    std::optional<launch::DeviceLock> busy() const { return busyOn("cpu"); }
    std::optional<launch::DeviceLock> busyOn(const char* device) const {
        qputenv("LATHE_DEVICE_LOCKS", QByteArray::fromStdString((m_workspace->scratch() / "devices").string()));
        return std::move(*launch::DeviceLock::take(device, launch::DeviceLock::Use::Shared));
    }
    /// Its id.
    QString put(const QString& name, const QStringList& more = {}) const {
        const Answer answer = m_workspace->ask(QStringList{"run", "digits-mlp", "--queue", "--json", "--set", "run.name=" + name} + more);
        if (answer.code != 0) qFatal("not queued: %s", answer.err.c_str());
        if (answer.json().value("state", "") != "queued") qFatal("is not queued: %s", answer.out.c_str());
        return QString::fromStdString(answer.json().value("run", ""));
    }
    QStringList waiting() const {
        QStringList names;
        const auto state = queue().read();
        for (std::size_t i = 0; state && i < state->entries.size(); ++i) names << QString::fromStdString(rundir::readManifest(rundir::RunFolder(state->entries[i].folder))->name);
        return names;
    }
    std::vector<rundir::RunFolder> runs() const { return rundir::listRuns(m_workspace->folder()); }
    std::vector<std::string> namesInOrderOfStart() const {
        std::vector<std::pair<std::int64_t, std::string>> started;
        for (const auto& run : runs()) started.emplace_back(rundir::readSession(run, 1)->startedNs, rundir::readManifest(run)->name);
        std::sort(started.begin(), started.end());
        std::vector<std::string> names;
        for (const auto& [when, name] : started) names.push_back(name);
        return names;
    }
    bool allIs(State state) const {
        return eventually([&] {
            const auto all = runs();
            return std::all_of(all.begin(), all.end(), [&](const auto& run) { return launch::standingOf(run).state == state && !rundir::RunLock::isHeld(run.lock()); });
        });
    }
    bool keeperLeaves() const { return eventually([&] { return !queue().keeperIsUp(); }); }
    std::int64_t keeperPid() const { return test::keeperPid(queue()); }

private Q_SLOTS:
    void init() {
        m_workspace = fresh("points 3; end completed, 3");
        m_workspace->setEnvironment("XDG_STATE_HOME", (m_workspace->scratch() / "state").string());
        m_workspace->setEnvironment("XDG_CONFIG_HOME", (m_workspace->scratch() / "config").string());
        m_workspace->setEnvironment("LATHE_DEVICE_LOCKS", (m_workspace->scratch() / "devices").string());
        qputenv("XDG_STATE_HOME", QByteArray::fromStdString((m_workspace->scratch() / "state").string()));
    }
    void cleanup() { QVERIFY(keeperLeaves()); }

    void latestIsTheNewestThatIsUpForWhoAsksSomethingOfIt() {
        m_workspace->setScript("train");
        const Answer begun = m_workspace->ask({"run", "digits-mlp", "--detach", "--set", "run.name=up"});
        QVERIFY2(begun.code == 0, begun.err.c_str());
        m_workspace->setScript("points 3; end completed, 0");
        auto hand = busy();
        put("waits");
        const Answer stopped = m_workspace->ask({"stop", "latest"});
        QVERIFY2(stopped.code == 0 && stopped.out.starts_with("up: stopped") && stopped.err.find("is the newest run that is up") != std::string::npos, (stopped.out + stopped.err).c_str());
        QCOMPARE(waiting(), QStringList{"waits"});
        // Where only that one is left it is not taken out by who did not name it.
        const Answer refused = m_workspace->ask({"stop", "latest"});
        QVERIFY2(refused.code == 2 && refused.err.find("No run is up; waits waits in the queue") != std::string::npos, refused.err.c_str());
        QCOMPARE(waiting(), QStringList{"waits"});
        // Who watches it waits for its turn.
        const auto watching = m_workspace->start({"attach", "latest"});
        QByteArray told;
        QVERIFY(eventually([&] { told += watching->readAllStandardError(); return told.contains("waits in the queue (lathe-trainer queue) and is watched once it starts"); }));
        hand.reset();
        QVERIFY(watching->waitForFinished(30'000));
        QCOMPARE(watching->exitCode(), 0);
        QVERIFY(watching->readAllStandardOutput().contains("waits: completed"));
    }
    void runsStartOneAfterTheOther() {
        auto hand = busy();
        for (const char* name : {"one", "two", "three", "four"}) put(name);
        QCOMPARE(waiting(), (QStringList{"one", "two", "three", "four"}));
        QVERIFY(allIs(State::Queued));
        QCOMPARE(m_workspace->ask({"show", "one"}).err, std::string());
        hand.reset();
        QVERIFY(allIs(State::Completed));
        QCOMPARE(namesInOrderOfStart(), (std::vector<std::string>{"one", "two", "three", "four"}));
        std::int64_t before = 0;
        for (const std::string& name : namesInOrderOfStart()) {
            const auto all = runs();
            const auto run = *std::find_if(all.begin(), all.end(), [&](const auto& one) { return rundir::readManifest(one)->name == name; });
            const auto record = rundir::readSession(run, 1);
            QVERIFY(record->startedNs >= before);  // alone on its device
            before = record->endedNs;
            QCOMPARE(pointsOf(run, "train/loss"), std::size_t{3});
        }
        QVERIFY(keeperLeaves());
        QVERIFY(waiting().isEmpty());
    }

    void whatIsHeldMovedAndRemovedIsHeeded() {
        auto hand = busy();
        for (const char* name : {"one", "two", "three", "four"}) put(name);
        QCOMPARE(m_workspace->ask({"queue", "hold", "one"}).code, 0);
        QCOMPARE(m_workspace->ask({"queue", "move", "four", "first"}).code, 0);
        QCOMPARE(m_workspace->ask({"queue", "remove", "2"}).code, 0);  // by its place: one
        QCOMPARE(waiting(), (QStringList{"four", "two", "three"}));
        QCOMPARE(m_workspace->ask({"queue", "hold", "two"}).code, 0);
        QCOMPARE(m_workspace->ask({"queue", "move", "three", "1"}).code, 0);
        QCOMPARE(m_workspace->ask({"stop", "four"}).code, 0);
        const json listed = m_workspace->ask({"queue", "--json"}).json();
        QCOMPARE(listed.at("entries").size(), std::size_t{2});
        QCOMPARE(listed.at("entries")[1].at("name").get<std::string>(), std::string("two"));
        QCOMPARE(listed.at("entries")[1].at("held").get<bool>(), true);
        QCOMPARE(listed.at("entries")[0].at("waits").get<std::string>(), std::string("waits for the processor"));
        QCOMPARE(listed.at("entries")[1].at("waits").get<std::string>(), std::string("held"));
        hand.reset();
        QVERIFY(keeperLeaves());
        QCOMPARE(waiting(), QStringList{"two"});
        QCOMPARE(m_workspace->ask({"queue", "release", "two"}).code, 0);
        QVERIFY(keeperLeaves());
        for (const auto& run : runs()) {
            const std::string name = rundir::readManifest(run)->name;
            const auto standing = launch::standingOf(run);
            QCOMPARE(int(standing.state), int(name == "two" || name == "three" ? State::Completed : State::Cancelled));
            if (standing.state == State::Cancelled) QCOMPARE(standing.why, std::string("It was taken out of the queue before it started"));
        }
    }

    void aKilledKeeperLosesAndDoublesNothing() {
        auto hand = busy();
        for (int number = 1; number <= 6; ++number) put("run" + QString::number(number));
        hand.reset();
        for (int kill = 0; kill < 4; ++kill) {
            const std::size_t before = std::size_t(waiting().size());
            QVERIFY(eventually([&] { return std::size_t(waiting().size()) < before || before == 0; }));
            if (const auto keeper = keeperPid(); keeper > 0) ::kill(static_cast<pid_t>(keeper), SIGKILL);
            QVERIFY(keeperLeaves());
            QCOMPARE(m_workspace->ask({"queue"}).code, 0);  // whoever looks wakes another
        }
        QVERIFY(keeperLeaves());
        QVERIFY(allIs(State::Completed));
        QCOMPARE(namesInOrderOfStart(), (std::vector<std::string>{"run1", "run2", "run3", "run4", "run5", "run6"}));
        for (const auto& run : runs()) {
            QCOMPARE(rundir::newestSession(run), 1);
            QCOMPARE(pointsOf(run, "train/loss"), std::size_t{3});
        }
    }

    // overnight nobody looks
    void theEndOfARunWakesTheQueueWhoseKeeperWasKilled() {
        const std::string flag = (m_workspace->scratch() / "flag").string();
        m_workspace->setScript("points 3; hold " + flag + "; end completed, 3");
        put("first");
        QVERIFY(eventually([&] { return launch::standingOf(runs().front()).state == State::Running; }));
        m_workspace->setScript("points 3; end completed, 3");
        put("second");
        ::kill(static_cast<pid_t>(keeperPid()), SIGKILL);
        QVERIFY(keeperLeaves());
        QVERIFY(replaceFile(FileSystem::real(), flag, "go").ok());
        QVERIFY(allIs(State::Completed));
    }

    void oneFailureDoesNotStopTheRestUnlessAsked() {
        for (const bool holds : {false, true}) {
            auto hand = busy();
            QCOMPARE(m_workspace->ask({"queue", "after-failure", holds ? "hold" : "go-on"}).code, 0);
            m_workspace->setScript("points 1; end failed, 1");
            put(holds ? "bad2" : "bad1");
            m_workspace->setScript("points 3; end completed, 3");
            put(holds ? "good2" : "good1");
            hand.reset();
            QVERIFY(keeperLeaves());
            QCOMPARE(waiting(), holds ? QStringList{"good2"} : QStringList{});
        }
        const auto state = queue().read();
        QVERIFY(state->entries.at(0).held && state->entries[0].why.find("ended as failed") != std::string::npos);
        QCOMPARE(m_workspace->ask({"queue", "remove", "good2"}).code, 0);
    }

    void whatCanNeverRunIsRefused() {
        const Answer answer = m_workspace->ask({"run", "digits-mlp", "--queue", "--set", "parallel.device=GPU-00000000-0000-0000-0000-000000000000"});
        QCOMPARE(answer.code, 2);
        QVERIFY2(answer.err.find("parallel.device") != std::string::npos, answer.err.c_str());
        QVERIFY(waiting().isEmpty());
        QCOMPARE(m_workspace->ask({"queue", "move", "nobody", "first"}).code, 2);
        QCOMPARE(m_workspace->ask({"queue", "dance"}).code, 2);
        QCOMPARE(m_workspace->ask({"queue", "hold"}).code, 2);
    }

    // two stand-ins for GPUs; a run of two ranks takes both, and neither before it has the other
    void ranksWaitForAGpuEach() {
        m_workspace->setEnvironment("LATHE_NVML", LATHE_FAKE_NVML);
        m_workspace->setEnvironment("FAKE_NVML", "fine");
        auto second = busyOn("GPU-11111111-bbbb");
        const QStringList both{"--set", "parallel.device=cuda", "--set", "parallel.ranks=2", "--set", "accumulation.micro_batches=2"};
        put("both", both);
        put("first", {"--set", "parallel.device=GPU-00000000-aaaa"});
        const json waits = m_workspace->ask({"queue", "--json"}).json().at("entries");
        QCOMPARE(waits[0].at("waits").get<std::string>(), std::string("waits for 2 GPUs"));
        QCOMPARE(waits[1].at("waits").get<std::string>(), std::string("waits behind both"));
        QVERIFY(allIs(State::Queued));
        QVERIFY(eventually([&] { return busyOn("GPU-00000000-aaaa").has_value(); }));   // it is not kept while the other one is missing
        second.reset();
        QVERIFY(keeperLeaves());   // how they end is not asked: the worker that stands in plays one rank
        QCOMPARE(namesInOrderOfStart(), (std::vector<std::string>{"both", "first"}));
        for (const auto& run : runs()) {
            const bool isBoth = rundir::readManifest(run)->name == "both";
            QCOMPARE(launch::configOf(run, 1)->parallel.device, std::string(isBoth ? "GPU-00000000-aaaa,GPU-11111111-bbbb" : "GPU-00000000-aaaa"));
        }
        const Answer tooMany = m_workspace->ask({"run", "digits-mlp", "--queue", "--set", "parallel.device=cuda", "--set", "parallel.ranks=3", "--set", "accumulation.micro_batches=3"});
        QCOMPARE(tooMany.code, 2);
        QVERIFY2(tooMany.err.find("3 ranks on GPUs need one each") != std::string::npos, tooMany.err.c_str());
    }

    void aKeeperThatIsStoppedIsNamed() {
        auto hand = busy();
        put("one");
        const auto keeper = static_cast<pid_t>(keeperPid());
        ::kill(keeper, SIGSTOP);
        QVERIFY(eventually([&] { return !launch::stoppedKeeperNote(queue()).empty(); }));
        for (const QStringList& words : {QStringList{"queue"}, {"queue", "--json"}}) {
            const Answer told = m_workspace->ask(words);
            QVERIFY2(told.out.find("kill -CONT " + std::to_string(keeper)) != std::string::npos, told.out.c_str());
        }
        ::kill(keeper, SIGCONT);
        QVERIFY(eventually([&] { return launch::stoppedKeeperNote(queue()).empty(); }));
        hand.reset();
        QVERIFY(allIs(State::Completed));
    }

    // a driver that comes up late, after the first log-in say, costs no run its place
    void whatCannotRunNowIsTriedOn() {
        const stdfs::path library = m_workspace->scratch() / "nvml.so";
        stdfs::create_symlink(LATHE_FAKE_NVML, library);
        m_workspace->setEnvironment("LATHE_NVML", library.string());
        m_workspace->setEnvironment("FAKE_NVML", "fine");
        auto hand = busyOn("GPU-00000000-aaaa");
        put("one", {"--set", "parallel.device=GPU-00000000-aaaa"});
        ::kill(static_cast<pid_t>(keeperPid()), SIGKILL);
        QVERIFY(keeperLeaves());
        stdfs::remove(library);
        hand.reset();
        const std::string waits = m_workspace->ask({"queue", "--json"}).json().at("entries")[0].at("waits").get<std::string>();
        QVERIFY2(waits.starts_with("cannot start now: This machine has no GPU GPU-00000000-aaaa"), waits.c_str());
        QVERIFY(queue().keeperIsUp());
        QVERIFY(!queue().read()->entries.at(0).held);
        stdfs::create_symlink(LATHE_FAKE_NVML, library);
        QCOMPARE(m_workspace->ask({"queue", "move", "one", "first"}).code, 0);   // looks at the machine again
        QVERIFY(allIs(State::Completed));
    }

    void aRunWhoseLockCannotBeOpenedKeepsItsPlace() {
        auto hand = busy();
        put("one");
        const auto run = runs().front();
        stdfs::remove(run.lock());
        stdfs::create_directory(run.lock());
        hand.reset();
        QVERIFY(eventually([&] { return !queue().read()->entries.at(0).why.empty(); }));
        const std::string waits = m_workspace->ask({"queue", "--json"}).json().at("entries")[0].at("waits").get<std::string>();
        QVERIFY2(waits.find("waits for the processor; it could not be started: ") == 0 && waits.find("lock") != std::string::npos, waits.c_str());
        stdfs::remove(run.lock());
        QVERIFY(keeperLeaves());
        QCOMPARE(int(launch::standingOf(run).state), int(State::Completed));
    }

    void aFolderOfSessionsThatCannotBeListedCostsNoTurn() {
        if (!programsAreWithoutOverride()) QSKIP("root cannot give up reading what it may not read");
        auto hand = busy();
        put("one");
        const auto run = runs().front();
        stdfs::permissions(run.sessions(), stdfs::perms::owner_write | stdfs::perms::owner_exec);
        hand.reset();
        QVERIFY(eventually([&] { return queue().read()->entries.empty() || !queue().read()->entries.at(0).why.empty(); }));
        const auto waits = queue().read()->entries;
        stdfs::permissions(run.sessions(), stdfs::perms::owner_all);
        QCOMPARE(waits.size(), std::size_t{1});
        QVERIFY2(waits.at(0).why.find("sessions: Permission denied") != std::string::npos, waits.at(0).why.c_str());
        QVERIFY(keeperLeaves());
        QCOMPARE(int(launch::standingOf(run).state), int(State::Completed));
    }

    // of a full disk, say: each try fails in the same words, and is no reason for the next
    void whatCannotBeWrittenIsToldOnce() {
        if (!programsAreWithoutOverride()) QSKIP("root cannot give up writing where it may not write");
        auto hand = busy();
        put("one");
        const auto run = runs().front();
        stdfs::permissions(run.sessions(), stdfs::perms::owner_read | stdfs::perms::owner_exec);
        hand.reset();
        QVERIFY(eventually([&] { return !queue().read()->entries.at(0).why.empty(); }));
        const std::string why = queue().read()->entries.at(0).why;
        const std::string wanted = "sessions/1.json: Permission denied";
        QVERIFY2(why.find(wanted) != std::string::npos, why.c_str());
        stdfs::permissions(run.sessions(), stdfs::perms::owner_all);
        QVERIFY(keeperLeaves());
        QCOMPARE(int(launch::standingOf(run).state), int(State::Completed));
        const std::string told = *readFile(queue().folder() / "queue.log", 1 << 20);
        QVERIFY2(told.find(wanted) != std::string::npos && told.find(wanted) == told.rfind(wanted), told.c_str());
    }

    void aDamagedSummaryCostsNoTurn() {
        auto hand = busy();
        put("one");
        const auto run = runs().front();
        QVERIFY(replaceFile(FileSystem::real(), run.summaryJson(), "{").ok());
        hand.reset();
        QVERIFY(keeperLeaves());
        QCOMPARE(int(launch::standingOf(run).state), int(State::Completed));
        QCOMPARE(pointsOf(run, "train/loss"), std::size_t{3});
    }

    void aRunThatWasTakenAwayLeavesTheQueueAndADiskThatIsNotThereDoesNot() {
        auto hand = busy();
        put("one");
        put("two");
        stdfs::rename(runs().front().place(), m_workspace->scratch() / "elsewhere");   // one
        QVERIFY(eventually([&] { return queue().read()->entries.size() == 1; }));
        const stdfs::path all = m_workspace->folder() / "runs", away = m_workspace->folder() / "not-mounted";
        stdfs::rename(all, away);
        hand.reset();
        const std::string waits = m_workspace->ask({"queue", "--json"}).json().at("entries")[0].at("waits").get<std::string>();
        QVERIFY2(waits.starts_with("cannot start now: "), waits.c_str());
        QVERIFY(queue().keeperIsUp());
        stdfs::rename(away, all);
        QVERIFY(keeperLeaves());
        QCOMPARE(int(launch::standingOf(runs().front()).state), int(State::Completed));
    }

    void aRunThatWaitsIsNotStartedByHandToo() {
        auto hand = busy();
        const QString id = put("one");
        for (const char* verb : {"continue", "delete"}) {
            const Answer answer = m_workspace->ask({QString::fromLatin1(verb), id});
            QVERIFY2(answer.code != 0 && answer.err.find("waits in the queue") != std::string::npos, answer.err.c_str());
        }
        hand.reset();
        QVERIFY(allIs(State::Completed));
    }

    // that a newer Lathe wrote, or that the disk does not give just now
    void aQueueThatCannotBeReadDoesNotSayThatARunIsNotInIt() {
        auto hand = busy();
        const QString id = put("one");
        const auto run = runs().front();
        const std::string whole = *readFile(queue().file(), 1 << 20);
        QVERIFY(replaceFile(FileSystem::real(), queue().file(), R"({"format": 1000, "entries": []})").ok());
        for (const char* verb : {"continue", "delete", "stop"}) {
            const Answer answer = m_workspace->ask({QString::fromLatin1(verb), id});
            QVERIFY2(answer.code != 0 && answer.err.find("queue.json") != std::string::npos, answer.err.c_str());
        }
        const auto standing = launch::standingOf(run);
        QCOMPARE(int(standing.state), int(State::Queued));
        QVERIFY2(standing.why.find("queue.json") != std::string::npos, standing.why.c_str());
        QVERIFY(!rundir::readSession(run, 1)->state);
        QVERIFY(replaceFile(FileSystem::real(), queue().file(), whole).ok());
        hand.reset();
        QVERIFY(allIs(State::Completed));
    }

    void aDamagedFileIsToldAndKept() {
        auto hand = busy();
        put("one");
        QVERIFY(replaceFile(FileSystem::real(), queue().file(), "{\"format\": 1, \"entries\": [{}]}").ok());
        for (const QStringList& words : {QStringList{"queue"}, QStringList{"run", "digits-mlp", "--queue"}}) {
            const Answer answer = m_workspace->ask(words);
            QVERIFY(answer.code != 0);
            QVERIFY2(answer.err.find("queue.json") != std::string::npos && answer.err.find("Move the file away") != std::string::npos, answer.err.c_str());
        }
        QCOMPARE(runs().size(), std::size_t{1});   // nothing was made that could not be put in
        const launch::Standing waiting = launch::standingOf(runs().back());
        QCOMPARE(waiting.state, State::Interrupted);  // nobody starts it
        QVERIFY2(waiting.why.starts_with("Its place in the queue cannot be read: ") && waiting.why.find("Move the file away") != std::string::npos, waiting.why.c_str());
        QVERIFY(eventually([&] {
            const auto said = readFile(queue().folder() / "queue.log", 1 << 20);
            return said && said->find("Move the file away") != std::string::npos;
        }));
        QVERIFY(queue().keeperIsUp());   // it may hold runs
        QVERIFY(stdfs::remove(queue().file()));
    }

    void whatCannotBePutInLeavesNothing() {
        const launch::Queue nowhere("/proc/no-such-folder");
        auto made = launch::prepareRun(m_workspace->folder(), config::load("digits-mlp")->config, "digits-mlp");
        QVERIFY(made.ok());
        made->run = made->run.held();
        QVERIFY(!launch::enqueue(nowhere, std::move(*made)).ok());
        QVERIFY(runs().empty());
        QCOMPARE(listFolder(m_workspace->folder() / "runs")->size(), std::size_t{0});
        // A run that was there before keeps the end that it had.
        put("one");
        QVERIFY(allIs(State::Completed));
        const rundir::RunFolder run = runs().front();
        const std::string before = *readFile(run.summaryJson(), 1 << 20);
        auto lock = rundir::RunLock::acquire(run.lock());
        QVERIFY(lock.ok());
        rundir::SessionRecord session;
        session.number = 2;
        session.verb = "continue";
        QVERIFY(rundir::writeSession(FileSystem::real(), run, session).ok());
        QVERIFY(replaceFile(FileSystem::real(), run.sessionYaml(2), *readFile(run.sessionYaml(1), 1 << 20)).ok());
        QVERIFY(!launch::enqueue(nowhere, launch::Prepared{run, 2, std::move(*lock), {}}).ok());
        QCOMPARE(rundir::newestSession(run), 1);
        QVERIFY(!stdfs::exists(run.sessionYaml(2)));
        QCOMPARE(int(launch::standingOf(run).state), int(State::Completed));
        QCOMPARE(*readFile(run.summaryJson(), 1 << 20), before);
    }

    void aRunByHandAndTheQueueSeeEachOther() {
        const std::string flag = (m_workspace->scratch() / "flag").string();
        m_workspace->setScript("points 3; hold " + flag + "; end completed, 3");
        QCOMPARE(m_workspace->ask({"run", "digits-mlp", "--detach", "--set", "run.name=hand"}).code, 0);
        m_workspace->setScript("points 3; end completed, 3");
        put("waits");
        QCOMPARE(waiting(), QStringList{"waits"});
        QVERIFY(queue().keeperIsUp());
        QVERIFY(replaceFile(FileSystem::real(), flag, "go").ok());
        QVERIFY(allIs(State::Completed));
        QCOMPARE(namesInOrderOfStart(), (std::vector<std::string>{"hand", "waits"}));
    }

    // a cleaner of old or temporary files
    void aLockThatIsRemovedIsTakenAgainByWhoHadIt() {
        const std::string flag = (m_workspace->scratch() / "flag").string();
        const stdfs::path lock = m_workspace->scratch() / "devices/lathe-cpu.lock";
        m_workspace->setScript("points 3; hold " + flag + "; end completed, 3");
        put("one");
        QVERIFY(eventually([&] { return launch::standingOf(runs().front()).state == State::Running; }));
        m_workspace->setScript("points 3; end completed, 3");
        put("two");
        for (int i = 0; i < 3; ++i) {
            QVERIFY(stdfs::remove(lock));
            QVERIFY(eventually([&] { return stdfs::exists(lock) && !busy(); }));
        }
        QCOMPARE(waiting(), QStringList{"two"});
        QVERIFY(replaceFile(FileSystem::real(), flag, "go").ok());
        QVERIFY(allIs(State::Completed));
        QCOMPARE(namesInOrderOfStart(), (std::vector<std::string>{"one", "two"}));
        const auto first = runs().back(), second = runs().front();
        QVERIFY(rundir::readSession(second, 1)->startedNs >= rundir::readSession(first, 1)->endedNs);
        const auto kinds = eventKinds(first);
        QCOMPARE(std::count(kinds.begin(), kinds.end(), "warning"), std::ptrdiff_t{0});
    }
    // also where the keeper is the first to make the file anew
    void aRemovedLockOfARunByHandKeepsTheQueueWaiting() {
        const std::string flag = (m_workspace->scratch() / "flag").string();
        const stdfs::path lock = m_workspace->scratch() / "devices/lathe-cpu.lock";
        m_workspace->setScript("points 3; hold " + flag + "; end completed, 3");
        QCOMPARE(m_workspace->ask({"run", "digits-mlp", "--detach", "--set", "run.name=hand"}).code, 0);
        QVERIFY(eventually([&] { return launch::standingOf(runs().front()).state == State::Running; }));
        m_workspace->setScript("points 3; end completed, 3");
        QVERIFY(stdfs::remove(lock));
        put("waits");
        QVERIFY(eventually([&] {   // long enough for the keeper to have looked again at one that is no longer new
            std::error_code missing;
            const auto made = stdfs::last_write_time(lock, missing);
            return !missing && stdfs::file_time_type::clock::now() - made > std::chrono::seconds(3);
        }));
        QCOMPARE(waiting(), QStringList{"waits"});
        QVERIFY(replaceFile(FileSystem::real(), flag, "go").ok());
        QVERIFY(allIs(State::Completed));
        QVERIFY(rundir::readSession(runs().front(), 1)->startedNs >= rundir::readSession(runs().back(), 1)->endedNs);
    }
    void aLockThatOthersHaveMeanwhileIsTold() {
        const std::string flag = (m_workspace->scratch() / "flag").string();
        const stdfs::path lock = m_workspace->scratch() / "devices/lathe-cpu.lock";
        m_workspace->setScript("points 3; hold " + flag + "; end completed, 3");
        put("one");
        QVERIFY(eventually([&] { return launch::standingOf(runs().front()).state == State::Running; }));
        auto other = busyOn("other");
        stdfs::rename(m_workspace->scratch() / "devices/lathe-other.lock", lock);
        const auto warnings = [&] {
            const auto kinds = eventKinds(runs().front());
            return std::count(kinds.begin(), kinds.end(), "warning");
        };
        QVERIFY(eventually([&] { return warnings() == 1; }));
        other.reset();
        QVERIFY(eventually([&] { return !busy(); }));   // it has it again
        QVERIFY(replaceFile(FileSystem::real(), flag, "go").ok());
        QVERIFY(allIs(State::Completed));
        QCOMPARE(warnings(), std::ptrdiff_t{1});
    }

    void systemdBringsTheQueueBackWhereItIs() {
        const stdfs::path bin = m_workspace->scratch() / "bin";
        stdfs::create_directories(bin);
        QVERIFY(replaceFile(FileSystem::real(), bin / "systemctl", "#!/bin/sh\necho \"$@\" >>\"$XDG_STATE_HOME/said\"\n").ok());
        stdfs::permissions(bin / "systemctl", stdfs::perms::owner_all);
        m_workspace->setEnvironment("PATH", bin.string() + ":" + qgetenv("PATH").toStdString());
        auto hand = busy();
        put("one");
        hand.reset();
        const auto unit = readFile(m_workspace->scratch() / "config/systemd/user/lathe-queue.service", 10'000);
        QVERIFY(unit.ok());
        QVERIFY2(unit->find("lathe-trainer\" queue keep") != std::string::npos, unit->c_str());
        QVERIFY(readFile(m_workspace->scratch() / "state/said", 10'000)->find("--user enable lathe-queue.service") != std::string::npos);
        QVERIFY(allIs(State::Completed));
    }
};

QTEST_GUILESS_MAIN(TestQueue)
#include "tst_queue.moc"
