// labels: process fault
// timeout: 300
// What happens around a session that runs: its recorder stands still, its folder is moved, the disk is full or read-only,
// the machine wants to sleep.
#include "launch/run/checkpoint_choice.h"
#include "launch/run/standing.h"
#include "read_only.h"
#include "supervised.h"

#include <QtTest/QTest>

#include <algorithm>
#include <csignal>
#include <functional>
#include <sys/mount.h>
#include <unistd.h>

using namespace lathe;
using namespace lathe::test;
using rundir::State;
namespace stdfs = std::filesystem;

/// A disk of 8 MB in place of a folder, where this user may mount one.
class SmallDisk {
public:
    explicit SmallDisk(const stdfs::path& folder) : m_folder(folder) {
        m_works = makeFolders(FileSystem::real(), folder).ok() && ::mount("tmpfs", folder.c_str(), "tmpfs", 0, "size=8m") == 0;
    }
    ~SmallDisk() {
        if (m_works) ::umount2(m_folder.c_str(), MNT_DETACH);
    }
    SmallDisk(const SmallDisk&) = delete;
    SmallDisk& operator=(const SmallDisk&) = delete;

    bool works() const { return m_works; }
    /// Takes all room but so many bytes.
    bool fill(std::uint64_t left) const {
        const auto file = FileSystem::real().create(m_folder / "filler");
        const auto room = FileSystem::real().freeBytes(m_folder);
        return file.ok() && room.ok() && *room > left && (*file)->reserve(*room - left).ok();
    }

private:
    stdfs::path m_folder;
    bool m_works = false;
};

class TestSupervisorFaults : public QObject {
    Q_OBJECT

    /// A run whose supervisor stands still while its worker makes so many updates and ends; then it goes on to the end.
    /// `meanwhile` is done before those updates.
    rundir::RunFolder afterAStandstill(const Workspace& workspace, const std::function<void(const rundir::RunFolder&)>& meanwhile) {
        stdfs::remove(workspaceFlag());
        if (workspace.ask({"run", "digits-mlp", "--detach"}).code != 0) qFatal("did not start");
        const auto run = workspace.latest();
        if (!eventually([&] { return pointsOf(run, "train/loss") == 30; })) qFatal("no steps");
        const auto live = *rundir::readLive(run);
        ::kill(static_cast<pid_t>(live->supervisor.pid), SIGSTOP);
        meanwhile(run);
        const bool released = replaceFile(FileSystem::real(), workspaceFlag(), "go").ok();
        const bool wrote = eventually([&] { return !processLives(live->workers.at(0).pid); }, 120'000);
        const std::size_t recorded = pointsOf(run, "train/loss");
        ::kill(static_cast<pid_t>(live->supervisor.pid), SIGCONT);
        if (!released || !wrote || recorded != 30) qFatal("the supervisor did not stand still");
        if (!eventually([&] { return !rundir::RunLock::isHeld(run.lock()); }, 120'000)) qFatal("it did not end");
        return run;
    }

private Q_SLOTS:
    void aRecorderThatStandsStillForAFastMinuteLosesNothing() {
        // 10,000 updates a second for a minute, through a ring and a spill file of the usual sizes.
        constexpr std::size_t kUpdates = 600'000;
        const auto workspace = fresh("points 30; hold " + workspaceFlag() + "; points " + std::to_string(kUpdates) + "; end completed, 0");
        const auto run = afterAStandstill(*workspace, [](const auto&) {});
        QVERIFY(launch::standingOf(run).state == State::Completed);
        const auto points = *(*store::RunReader::open(run.database()))->points("train/loss", store::RunReader::Line::All);
        QCOMPARE(points.size(), kUpdates + 30);
        for (std::size_t i = 0; i < points.size(); ++i) {
            if (points[i].step != std::int64_t(i) + 1) QFAIL(("a hole at step " + std::to_string(i + 1)).c_str());
        }
        QCOMPARE(pointsOf(run, "train/lr"), kUpdates + 30);
        const auto kinds = eventKinds(run);
        QVERIFY(std::find(kinds.begin(), kinds.end(), "frames_lost") == kinds.end());
        nothingIsLeft(run);
    }
    void whatIsLostAllTheSameIsCountedExactly() {
        const auto workspace = fresh("points 30; hold " + workspaceFlag() + "; points 60000; end completed, 0");
        const auto run = afterAStandstill(*workspace, [](const rundir::RunFolder& stopped) {
            stdfs::remove(stopped.spill());  // nowhere to spill to
            QVERIFY(replaceFile(FileSystem::real(), stopped.spill(), "in the way").ok());
        });
        QVERIFY(launch::standingOf(run).state == State::Completed);
        const auto reader = store::RunReader::open(run.database());
        const auto events = (*reader)->events();
        QCOMPARE(events->back().event.kind, std::string("frames_lost"));
        const auto lost = nlohmann::json::parse(events->back().event.json).value("frames", std::size_t{0});
        QVERIFY(lost > 0);
        QCOMPARE(pointsOf(run, "train/loss") + lost, std::size_t{60030});
    }
    void aFolderThatIsRemovedWhileItRunsIsToldAtOnce() {
        const auto workspace = fresh("train");
        const auto process = workspace->start({"run", "digits-mlp"});
        QVERIFY(eventually([&] { return !rundir::listRuns(workspace->folder()).empty() && pointsOf(workspace->latest(), "train/loss") > 10; }));
        const auto run = workspace->latest();
        QVERIFY(eventually([&] {  // whoever writes may put one more file in
            std::error_code again;
            stdfs::remove_all(run.root(), again);
            return !stdfs::exists(run.root());
        }));
        const Answer answer = Workspace::finish(*process);
        QVERIFY2(answer.code > 0, answer.err.c_str());
        QVERIFY2(answer.err.find("The folder of this run was removed") != std::string::npos, answer.err.c_str());
        QVERIFY(!stdfs::exists(run.root()));
    }
    void aFolderThatIsMovedWhileItRunsStaysOneRun() {
        const auto workspace = fresh("train");
        const auto run = running(*workspace);
        const QString id = QString::fromStdString(rundir::readManifest(run)->id);
        const rundir::RunFolder moved(run.root().parent_path() / "renamed");
        stdfs::rename(run.root(), moved.root());
        const std::size_t before = pointsOf(moved, "train/loss");
        QVERIFY(eventually([&] { return pointsOf(moved, "train/loss") > before + 10; }));
        QVERIFY(launch::standingOf(moved).state == State::Running);
        QCOMPARE(workspace->ask({"pause", id}).code, 0);
        QVERIFY(eventually([&] { return launch::standingOf(moved).state == State::Paused; }));
        QCOMPARE(workspace->ask({"unpause", id}).code, 0);
        QCOMPARE(workspace->ask({"save", id}).code, 0);
        const Answer stopped = workspace->ask({"stop", id, "--json"});
        QVERIFY2(stopped.code == 0, stopped.err.c_str());
        QCOMPARE(stopped.json().value("state", ""), std::string("stopped"));
        QCOMPARE(stopped.json().value("folder", ""), moved.root().string());
        nothingIsLeft(moved);
        QVERIFY(!stdfs::exists(run.root()));
        QVERIFY(!stdfs::exists(moved.database().string() + "-wal"));
        QVERIFY(rundir::readSession(moved, 1)->state == State::Stopped);
        QCOMPARE(std::int64_t(pointsOf(moved, "train/loss")), rundir::readSession(moved, 1)->counters->globalStep.value());
        QVERIFY((*store::RunReader::open(moved.database()))->verify().ok());
        const std::string log = *readFile(moved.supervisorLog(), 1 << 20);
        QVERIFY2(log.find("/proc/self/fd") == std::string::npos, log.c_str());
    }
    void aFolderThatIsMovedWhileOneWaitsForItsEndIsFollowed() {
        const auto workspace = fresh("points 30; hold " + workspaceFlag() + "; save; end stopped, 4");
        stdfs::remove(workspaceFlag());
        const auto process = workspace->start({"run", "digits-mlp"});
        QVERIFY(eventually([&] { return !rundir::listRuns(workspace->folder()).empty() && pointsOf(workspace->latest(), "train/loss") == 30; }));
        const auto run = workspace->latest();
        const auto stop = workspace->start({"stop", "latest"});
        const auto attached = workspace->start({"attach", "latest"});
        QVERIFY(eventually([&] { return launch::standingOf(run).state == State::Stopping; }));
        QVERIFY(eventually([&] { return !attached->readAllStandardError().isEmpty(); }));
        const auto moved = workspace->scratch() / "elsewhere";
        stdfs::rename(run.root(), moved);
        QVERIFY(replaceFile(FileSystem::real(), workspaceFlag(), "go").ok());
        const Answer stopped = Workspace::finish(*stop), ended = Workspace::finish(*process);
        QVERIFY2(stopped.code == 0 && stopped.out.find("stopped") != std::string::npos, (stopped.out + stopped.err).c_str());
        QVERIFY2(ended.code == 4 && ended.err.find("Everything is in " + moved.string()) != std::string::npos, ended.err.c_str());
        QCOMPARE(Workspace::finish(*attached).code, 4);
        nothingIsLeft(rundir::RunFolder(moved));
        QCOMPARE(*listFolder(workspace->scratch()), (std::vector<std::string>{"elsewhere", "work"}));  // no index was made where it went
    }
    void aRunKeepsTheMachineAwakeAndLetsGo() {
        const auto workspace = fresh("train");
        const std::string bin = workspace->scratch().string() + "/bin", told = workspace->scratch().string() + "/told";
        stdfs::create_directory(bin);
        const auto standIn = [&](const std::string& script) {
            QVERIFY(replaceFile(FileSystem::real(), bin + "/systemd-inhibit", "#!/bin/sh\n" + script).ok());
            stdfs::permissions(bin + "/systemd-inhibit", stdfs::perms::owner_all);
        };
        standIn("echo $$ \"$@\" > " + told + ".new; mv " + told + ".new " + told + "; exec cat\n");
        workspace->setEnvironment("PATH", bin + ":/usr/bin:/bin");
        const auto inhibitor = [&] { return std::stoll(*readFile(told, 1000)); };

        const auto stopped = running(*workspace);
        QVERIFY(eventually([&] { return stdfs::exists(told); }));
        const std::string words = *readFile(told, 1000);
        QVERIFY2(words.find(" --what=sleep --who=Lathe --why=Training digits-mlp --mode=block cat") != std::string::npos, words.c_str());
        QVERIFY(processLives(inhibitor()));
        QCOMPARE(workspace->ask({"stop", "latest"}).code, 0);
        QVERIFY(eventually([&] { return !processLives(inhibitor()); }));

        stdfs::remove(told);
        const auto killed = running(*workspace);
        QVERIFY(eventually([&] { return stdfs::exists(told); }));
        ::kill(static_cast<pid_t>((*rundir::readLive(killed))->supervisor.pid), SIGKILL);
        QVERIFY(eventually([&] { return !processLives(inhibitor()); }));

        stdfs::remove(told);
        workspace->setScript("points 5; end completed, 0");
        QCOMPARE(workspace->ask({"run", "digits-mlp", "--set", "run.keep_awake=false"}).code, 0);
        QVERIFY(!stdfs::exists(told));
    }
    void withoutLogindARunSaysSoOnceAndGoesOn_data() {
        QTest::addColumn<bool>("refuses");
        QTest::newRow("not installed") << false;
        QTest::newRow("refuses") << true;
    }
    void withoutLogindARunSaysSoOnceAndGoesOn() {
        QFETCH(bool, refuses);
        const auto workspace = fresh("points 5; hold " + workspaceFlag() + "; end completed, 0");
        stdfs::remove(workspaceFlag());
        const std::string bin = workspace->scratch().string() + "/bin";
        stdfs::create_directory(bin);
        if (refuses) {
            QVERIFY(replaceFile(FileSystem::real(), bin + "/systemd-inhibit", "#!/bin/sh\nexit 3\n").ok());
            stdfs::permissions(bin + "/systemd-inhibit", stdfs::perms::owner_all);
        }
        workspace->setEnvironment("PATH", bin);
        QCOMPARE(workspace->ask({"run", "digits-mlp", "--detach"}).code, 0);
        const auto run = workspace->latest();
        const auto times = [&] {
            const auto log = readFile(run.supervisorLog(), 1 << 20);
            return log ? QString::fromStdString(*log).count(QStringLiteral("may go to sleep")) : qsizetype(0);
        };
        QVERIFY(eventually([&] { return times() > 0; }));
        QVERIFY(replaceFile(FileSystem::real(), workspaceFlag(), "go").ok());
        QVERIFY(eventually([&] { return !rundir::RunLock::isHeld(run.lock()); }));
        QVERIFY(launch::standingOf(run).state == State::Completed);
        QCOMPARE(times(), qsizetype(1));
    }
    void aReadOnlyFolderIsReadAndNotChanged() {
        const auto workspace = fresh("points 5; save; end stopped, 4");
        QCOMPARE(workspace->ask({"run", "digits-mlp"}).code, 4);
        const auto run = workspace->latest();
        const ReadOnlyFolder readOnly(run.root());
        if (!readOnly.works()) QSKIP("no right to mount, and root may write anywhere");
        QVERIFY(launch::standingOf(run).state == State::Stopped);
        QCOMPARE(workspace->ask({"show", "latest", "--json"}).json()["series"].empty(), false);
        QCOMPARE(workspace->ask({"series", "latest", "train/loss", "--json"}).json().size(), std::size_t{5});
        QCOMPARE(workspace->ask({"verify", "latest@latest"}).code, 0);
        for (const QStringList& words : {QStringList{"continue", "latest"}, {"roll-back", "latest@5"}, {"pin", "latest@5"}, {"export", "latest"}}) {
            const Answer refused = workspace->ask(words);
            QCOMPARE(refused.code, 3);
            QVERIFY2(refused.err.find(run.root().string()) != std::string::npos, refused.err.c_str());
        }
        QCOMPARE(workspace->ask({"fork", "latest@5"}).code, 4);  // takes from it without changing it
    }
    void aFullDiskStillGetsItsExitRecord_data() {
        QTest::addColumn<std::size_t>("updates");
        QTest::newRow("few points") << std::size_t{20};
        QTest::newRow("more points than there is room for") << std::size_t{400'000};
    }
    void aFullDiskStillGetsItsExitRecord() {
        QFETCH(std::size_t, updates);
        const auto workspace = fresh("points 20; hold " + workspaceFlag() + "; points " + std::to_string(updates) + "; end completed, 0");
        stdfs::remove(workspaceFlag());
        const SmallDisk disk(workspace->folder());
        if (!disk.works()) QSKIP("no right to mount a small disk");
        const auto process = workspace->start({"run", "digits-mlp"});
        QVERIFY(eventually([&] { return !rundir::listRuns(workspace->folder()).empty() && pointsOf(workspace->latest(), "train/loss") == 20; }));
        const auto run = workspace->latest();
        QVERIFY(disk.fill(0));
        QVERIFY(replaceFile(FileSystem::real(), workspaceFlag(), "go").ok());
        const Answer ended = Workspace::finish(*process);
        QCOMPARE(ended.code, 0);
        QVERIFY2(ended.err.find("LOG ERROR") == std::string::npos, ended.err.c_str());
        const auto standing = launch::standingOf(run);
        QVERIFY2(standing.state == State::Completed, standing.why.c_str());
        const auto rows = *(*store::RunReader::open(run.database()))->sessions();
        QCOMPARE(rows.at(0).end, std::string("completed"));
        const auto summary = rundir::readSummary(run);
        QVERIFY(summary->state == State::Completed && summary->counters.globalStep.value() == std::int64_t(updates) + 20);
        const bool whole = pointsOf(run, "train/loss") == updates + 20;
        QVERIFY(whole || updates > 1000);
        QVERIFY2(whole || standing.why.find("No space left") != std::string::npos || standing.why.find("full") != std::string::npos || ended.err.find("neither recorded") != std::string::npos, standing.why.c_str());
        nothingIsLeft(run);
    }
    void aStopThatCouldNotSaveIsRefusedAndLosesNothing() {
        const auto workspace = fresh("points 20; save; train");
        const SmallDisk disk(workspace->folder());
        if (!disk.works()) QSKIP("no right to mount a small disk");
        QCOMPARE(workspace->ask({"run", "digits-mlp", "--detach"}).code, 0);
        const auto run = workspace->latest();
        QVERIFY(eventually([&] { return stdfs::exists(run.checkpoints() / "s001-000000020"); }));
        QVERIFY(disk.fill(100'000));
        const Answer refused = workspace->ask({"stop", "latest"});
        QVERIFY(refused.code != 0);
        QVERIFY2(refused.err.find("its disk is full") != std::string::npos && refused.err.find("--discard") != std::string::npos, refused.err.c_str());
        QVERIFY(rundir::isAlive(launch::standingOf(run).state));
        QVERIFY(stdfs::remove(workspace->folder() / "filler"));
        QCOMPARE(workspace->ask({"pause", "latest"}).code, 0);
        QCOMPARE(workspace->ask({"save", "latest"}).code, 0);
        QVERIFY(eventually([&] { return launch::newestOnLine(run) > "s001-000000020"; }));
        QVERIFY(disk.fill(100'000));   // nothing is lost by a stop now
        QVERIFY(eventually([&] { return workspace->ask({"stop", "latest"}).code == 0; }));
        QVERIFY(launch::standingOf(run).state == State::Stopped);
    }
    void aDiskWithoutRoomForASessionIsRefusedAndLeftAsItWas() {
        const auto workspace = fresh("points 20; save; end stopped, 4");
        const SmallDisk disk(workspace->folder());
        if (!disk.works()) QSKIP("no right to mount a small disk");
        QCOMPARE(workspace->ask({"run", "digits-mlp"}).code, 4);
        QVERIFY(disk.fill(300'000));
        for (const QStringList& words : {QStringList{"run", "digits-mlp"}, {"run", "digits-mlp", "--detach"}, {"continue", "latest"}, {"fork", "latest@20"}}) {
            const Answer refused = workspace->ask(words);
            QCOMPARE(refused.code, 3);
            QVERIFY2(refused.err.find("Free some space") != std::string::npos && QString::fromStdString(refused.err).count(QLatin1Char('\n')) == 1, refused.err.c_str());
        }
        QCOMPARE(listFolder(workspace->folder() / "runs")->size(), std::size_t{1});
        QCOMPARE(rundir::newestSession(workspace->latest()), 1);
        QVERIFY(launch::standingOf(workspace->latest()).state == State::Stopped);
    }

private:
    std::string workspaceFlag() const { return m_flags.path().toStdString() + "/go"; }
    QTemporaryDir m_flags;
};

QTEST_GUILESS_MAIN(TestSupervisorFaults)
#include "tst_supervisor_faults.moc"
