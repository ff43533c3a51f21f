#include "base/file_system.h"
#include "failing_file_system.h"
#include "read_only.h"
#include "rundir/run_folder.h"

#include <QtCore/QTemporaryDir>
#include <QtTest/QTest>

#include <cmath>
#include <fcntl.h>
#include <random>
#include <set>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace lathe;
using namespace lathe::rundir;
namespace stdfs = std::filesystem;

static FileSystem& disk() { return FileSystem::real(); }

static void put(const stdfs::path& file, std::string_view text) { QVERIFY(replaceFile(disk(), file, text).ok()); }

static RunManifest manifestNamed(const std::string& name, std::int64_t createdNs = 1'700'000'000'000'000'000) {
    RunManifest manifest;
    manifest.id = newRunId();
    manifest.name = name;
    manifest.createdNs = createdNs;
    manifest.host = "here";
    return manifest;
}

class TestRunFolder : public QObject {
    Q_OBJECT

    QTemporaryDir m_folder;
    int m_serial = 0;

    stdfs::path freshWorkspace() {
        return stdfs::path(m_folder.path().toStdString()) / ("w" + std::to_string(++m_serial));
    }
    RunFolder freshRun() {
        auto run = createRun(disk(), freshWorkspace(), manifestNamed("digits"), "run: {}\n");
        return std::move(run).value();
    }

private Q_SLOTS:
    void everyStateHasAWordAndTroubleAnExitCode() {
        int states = 0;
        for (; states < 1000 && !rundir::name(static_cast<rundir::State>(states)).empty(); ++states) {
            const auto state = static_cast<rundir::State>(states);
            QVERIFY(rundir::stateFrom(rundir::name(state)) == state);
            QVERIFY(!(rundir::isAlive(state) && rundir::isTrouble(state)));
            QCOMPARE(rundir::isTrouble(state), rundir::exitCodeOf(state) != ExitCode::Completed && rundir::exitCodeOf(state) != ExitCode::Stopped);
        }
        QCOMPARE(states, static_cast<int>(rundir::State::Lost) + 1);
        QVERIFY(!rundir::stateFrom("").has_value() && !rundir::stateFrom("bliss").has_value());
    }
    void aNewRunIsWholeAndPrivate() {
        const RunManifest manifest = manifestNamed("Digits MLP / lr=6e-4");
        const auto run = createRun(disk(), freshWorkspace(), manifest, "run: {}\n");
        QVERIFY2(run.ok(), run.ok() ? "" : run.error().text().c_str());
        QCOMPARE(run->name(), "20231114-221320-digits-mlp-lr-6e-4-" + manifest.id);
        QCOMPARE(readManifest(*run)->name, manifest.name);
        QCOMPARE(*readFile(run->configYaml(), 100), std::string("run: {}\n"));
        for (const auto& folder : {run->root(), run->sessions(), run->checkpoints(), run->spill(), run->logs()}) {
            struct stat info {};
            QVERIFY(::stat(folder.c_str(), &info) == 0);
            QCOMPARE(info.st_mode & 0777, 0700u);
        }
    }
    void anImportedRunHasSettingsInsteadOfAConfiguration() {
        RunManifest manifest = manifestNamed("theirs");
        manifest.kind = RunKind::Imported;
        manifest.source = "/data/logs";
        const auto run = createRun(disk(), freshWorkspace(), manifest, "");
        QVERIFY(run.ok());
        QCOMPARE(readManifest(*run)->kind, RunKind::Imported);
        QCOMPARE(readManifest(*run)->source, std::string("/data/logs"));
        QVERIFY(!std::filesystem::exists(run->configYaml()));
        QVERIFY(readSettings(*run)->empty());
        const std::map<std::string, std::string> settings = {{"lr", "3e-4"}, {"näme", "a\nb"}};
        QVERIFY(writeSettings(disk(), *run, settings).ok());
        QVERIFY(*readSettings(*run) == settings);
    }
    void aManifestOfAnUnknownKindIsRefused() {
        const RunFolder run = freshRun();
        QCOMPARE(readManifest(run)->kind, RunKind::Started);
        std::string text = *readFile(run.runJson(), 1 << 16);
        const std::string word = "\"started\"";
        text.replace(text.find(word), word.size(), "\"dreamt\"");
        QVERIFY(replaceFile(disk(), run.runJson(), text).ok());
        const auto read = readManifest(run);
        QVERIFY(!read.ok());
        QVERIFY2(read.error().text().find("kind") != std::string::npos, read.error().text().c_str());
    }
    void aRunThatCannotBeMadeLeavesNothing() {
        const auto workspace = freshWorkspace();
        const auto run = createRun(disk(), workspace, manifestNamed("x"), "", [](const RunFolder&) -> Result<void> {
            return Error{ErrorCode::NoSpace, "No space", {}, {}};
        });
        QVERIFY(!run.ok());
        QCOMPARE(run.error().code, ErrorCode::NoSpace);
        QVERIFY(listFolder(workspace / "runs")->empty());
    }
    void aDiskThatFailsAtAnyCallLeavesAllOrNothing_data() {
        QTest::addColumn<bool>("fromThenOn");
        QTest::newRow("once") << false;
        QTest::newRow("from then on") << true;
    }
    void aDiskThatFailsAtAnyCallLeavesAllOrNothing() {
        QFETCH(bool, fromThenOn);
        int points = 0;
        for (int failAt = 1;; ++failAt, ++points) {
            const auto workspace = freshWorkspace();
            test::FailingFileSystem failing(failAt, fromThenOn);
            const auto run = createRun(failing, workspace, manifestNamed("x"), "run: {}\n", [&](const RunFolder& unfinished) {
                SessionRecord session;
                session.verb = "start";
                return writeSession(failing, unfinished, session);
            });
            if (failing.calls() < failAt) break;  // it was over before
            QVERIFY(!run.ok());
            QCOMPARE(run.error().code, ErrorCode::NoSpace);
            const auto left = listFolder(workspace / "runs");
            QVERIFY(!left.ok() || left->empty());
        }
        QVERIFY(points > 20);
    }
    void aRecordIsReplacedWholeOrStays() {
        for (int failAt = 1;; ++failAt) {
            const RunFolder run = freshRun();
            Summary summary;
            summary.id = "old";
            QVERIFY(writeSummary(disk(), run, summary).ok());
            summary.id = "new";
            test::FailingFileSystem failing(failAt, true, EIO);
            const auto said = writeSummary(failing, run, summary);
            const bool written = said.ok();
            if (!written) QVERIFY2(said.error().text().find(run.root().string()) != std::string::npos && said.error().text().find(".tmp-") == std::string::npos, said.error().text().c_str());
            const std::string kept = readSummary(run)->id;
            QVERIFY(kept == "new" || !written);
            QVERIFY(kept == "old" || kept == "new");
            const auto names = listFolder(run.root());
            for (const std::string& name : *names) QVERIFY2(name.find(".tmp-") == std::string::npos, name.c_str());
            if (failing.calls() < failAt) break;
        }
    }
    // it failed because of its own place, and is told by its own name
    void whatCannotBeReplacedIsToldByItsName() {
        const RunFolder run = freshRun();
        const auto folder = replaceFile(disk(), run.sessions(), "{");
        QVERIFY(!folder.ok());
        QCOMPARE(folder.error().sentence, "Cannot replace " + run.sessions().string() + ": Is a directory");
        const auto nowhere = replaceFile(disk(), run.root() / "gone/summary.json", "{");
        QVERIFY(!nowhere.ok());
        QCOMPARE(nowhere.error().sentence, "Cannot create " + (run.root() / "gone/summary.json").string() + ": No such file or directory");
    }
    void aMissingSummaryIsMadeAnew() {
        const RunFolder run = freshRun();
        QVERIFY(!readSummary(run).ok());
        QCOMPARE(readSummaryOrMake(run)->name, std::string("digits"));
        put(run.summaryJson(), "{");
        QCOMPARE(readSummaryOrMake(run)->name, std::string("digits"));
        put(run.summaryJson(), R"({"format": 2})");
        QCOMPARE(readSummaryOrMake(run).error().code, ErrorCode::Version);
    }
    void randomBytesNeverCrashAReader() {
        const RunFolder run = freshRun();
        Summary summary;
        summary.id = "abc";
        summary.best = BestValue{"eval/loss", 0.5, 3, false};
        summary.sparkline = {{1, 0.5}};
        QVERIFY(writeSummary(disk(), run, summary).ok());
        const std::string whole = *readFile(run.summaryJson(), 1 << 20);
        std::mt19937 random(11);
        int refused = 0;
        for (int i = 0; i < 20000; ++i) {
            std::string changed = whole.substr(0, random() % 8 == 0 ? random() % whole.size() : whole.size());
            for (unsigned n = 0; n <= random() % 4 && !changed.empty(); ++n) changed[random() % changed.size()] = static_cast<char>(random());
            refused += parseSummary(changed).ok() ? 0 : 1;
        }
        QVERIFY(refused > 10000);
    }
    void halfMadeRunsOfDeadProgramsAreRemoved() {
        const auto workspace = freshWorkspace();
        const auto old = workspace / "runs/.new-old", young = workspace / "runs/.new-young";
        QVERIFY(makeFolders(disk(), old / "logs").ok() && makeFolders(disk(), young).ok());
        stdfs::last_write_time(old, stdfs::file_time_type::clock::now() - std::chrono::hours(1));
        const int making = ::open((workspace / "runs").c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);  // another program makes a run
        QCOMPARE(::flock(making, LOCK_SH), 0);
        QVERIFY(createRun(disk(), workspace, manifestNamed("x"), "").ok());
        QVERIFY(!stdfs::exists(old) && stdfs::exists(young));
        ::close(making);
        QVERIFY(createRun(disk(), workspace, manifestNamed("y"), "").ok());
        QVERIFY(!stdfs::exists(young));
        QCOMPARE(listRuns(workspace).size(), std::size_t{2});
    }
    void namesBecomeFolderWords_data() {
        QTest::addColumn<QByteArray>("name");
        QTest::addColumn<QByteArray>("word");
        QTest::newRow("plain") << QByteArray("digits-convnet-lr6e-4") << QByteArray("digits-convnet-lr6e-4");
        QTest::newRow("spaces") << QByteArray("  My  Run ") << QByteArray("my-run");
        QTest::newRow("climbing") << QByteArray("../../etc/passwd") << QByteArray("etc-passwd");
        QTest::newRow("umlaut") << QByteArray("gr\xc3\xb6\xc3\x9f""e") << QByteArray("gr-e");
        QTest::newRow("nothing") << QByteArray("///") << QByteArray("run");
        QTest::newRow("long") << QByteArray(300, 'a') << QByteArray(40, 'a');
    }
    void namesBecomeFolderWords() {
        QFETCH(QByteArray, name);
        QFETCH(QByteArray, word);
        QCOMPARE(QByteArray::fromStdString(folderWord(name.toStdString())), word);
    }
    void idsAreTwelveLettersAndDigitsAndDiffer() {
        std::set<std::string> seen;
        for (int i = 0; i < 500; ++i) {
            const std::string id = newRunId();
            QCOMPARE(id.size(), std::size_t{12});
            QVERIFY(id.find_first_not_of("0123456789abcdefghijklmnopqrstuvwxyz") == std::string::npos);
            seen.insert(id);
        }
        QCOMPARE(seen.size(), std::size_t{500});
    }
    void recordsAreReadBackEqual() {
        const RunFolder run = freshRun();
        SessionRecord session;
        session.number = 2;
        session.verb = "roll-back";
        session.parentSession = 1;
        session.parentAttempt = 120;
        session.checkpoint = "s001-000000120";
        session.state = State::OutOfMemory;
        session.why = "Memory exhausted";
        session.signal = 9;
        session.counters = Counters{};
        session.counters->globalStep = GlobalStep(119);
        session.environment = {{"threads", "2"}};
        QVERIFY(writeSession(disk(), run, session).ok());
        const auto back = readSession(run, 2);
        QVERIFY2(back.ok(), back.ok() ? "" : back.error().text().c_str());
        QCOMPARE(back->parentAttempt, std::int64_t{120});
        QCOMPARE(back->checkpoint, session.checkpoint);
        QVERIFY(back->state == State::OutOfMemory && back->signal == 9 && !back->exitCode);
        QVERIFY(back->counters == session.counters);
        QCOMPARE(back->environment.at("threads"), std::string("2"));
        QCOMPARE(newestSession(run), 2);

        LiveRecord live{{"here", "boot", 77, 123456789, "t"}, {{"here", "boot", 78, 5, "t"}}, 2, 9};
        QVERIFY(writeLive(disk(), run, live).ok());
        QCOMPARE((*readLive(run))->workers.at(0).pid, std::int64_t{78});
        QCOMPARE((*readLive(run))->supervisor.startTime, std::uint64_t{123456789});
        QVERIFY(removeLive(disk(), run).ok());
        QVERIFY(removeLive(disk(), run).ok());
        QVERIFY(!readLive(run)->has_value());
    }
    void numbersOfASummarySurviveExactly() {
        const RunFolder run = freshRun();
        Summary summary;
        summary.id = "abc";
        summary.state = State::Diverged;
        summary.last = {{"train/loss", std::nan("")}, {"train/lr", 0.1 + 0.2}, {"x", -HUGE_VAL}, {"tiny", 5e-324}};
        summary.best = BestValue{"eval/accuracy", 1.0 / 3, 7, true};
        summary.sparkline = {{1, 0.1}, {2, std::nan("")}, {3, 0.3}};
        QVERIFY(writeSummary(disk(), run, summary).ok());
        const auto back = readSummary(run);
        QVERIFY2(back.ok(), back.ok() ? "" : back.error().text().c_str());
        QVERIFY(std::isnan(back->last.at("train/loss")));
        QCOMPARE(back->last.at("x"), -HUGE_VAL);
        QVERIFY(back->last.at("train/lr") == 0.1 + 0.2 && back->last.at("tiny") == 5e-324);
        QVERIFY(back->best->value == 1.0 / 3 && back->best->higherIsBetter);
        QCOMPARE(back->sparkline.size(), std::size_t{2});
        QVERIFY(!back->plannedUpdates);
    }
    void aBadRecordNamesFileAndField_data() {
        QTest::addColumn<QByteArray>("text");
        QTest::addColumn<QByteArray>("named");
        QTest::addColumn<int>("code");
        QTest::newRow("type") << QByteArray(R"({"format":1,"id":7})") << QByteArray("\"id\"") << int(ErrorCode::Corrupt);
        QTest::newRow("missing") << QByteArray(R"({"format":1})") << QByteArray("\"id\"") << int(ErrorCode::Corrupt);
        QTest::newRow("inside") << QByteArray(R"({"format":1,"id":"a","parent":{"run":[]}})") << QByteArray("\"parent.run\"") << int(ErrorCode::Corrupt);
        QTest::newRow("huge") << QByteArray(R"({"format":1,"id":"a","created_ns":18446744073709551615})") << QByteArray("created_ns") << int(ErrorCode::Corrupt);
        QTest::newRow("twice") << QByteArray(R"({"format":1,"id":"a","id":"b"})") << QByteArray("twice") << int(ErrorCode::Corrupt);
        QTest::newRow("not json") << QByteArray("{\"format\":1,") << QByteArray("JSON") << int(ErrorCode::Corrupt);
        QTest::newRow("not utf-8") << QByteArray("{\"format\":1,\"id\":\"\xff\"}") << QByteArray("JSON") << int(ErrorCode::Corrupt);
        QTest::newRow("list") << QByteArray("[1]") << QByteArray("object") << int(ErrorCode::Corrupt);
        QTest::newRow("empty") << QByteArray("") << QByteArray("JSON") << int(ErrorCode::Corrupt);
        QTest::newRow("deep") << QByteArray("{\"format\":1,\"id\":\"a\",\"x\":" + QByteArray(100000, '[') + QByteArray(100000, ']') + "}") << QByteArray("16 levels") << int(ErrorCode::Corrupt);
        QTest::newRow("newer") << QByteArray(R"({"format":7,"id":"a"})") << QByteArray("format 7") << int(ErrorCode::Version);
        QTest::newRow("no format") << QByteArray(R"({"id":"a"})") << QByteArray("\"format\"") << int(ErrorCode::Corrupt);
    }
    void aBadRecordNamesFileAndField() {
        QFETCH(QByteArray, text);
        QFETCH(QByteArray, named);
        QFETCH(int, code);
        const RunFolder run = freshRun();
        put(run.runJson(), text.toStdString());
        const auto manifest = readManifest(run);
        QVERIFY(!manifest.ok());
        QCOMPARE(int(manifest.error().code), code);
        QVERIFY2(manifest.error().sentence.find(named.toStdString()) != std::string::npos, manifest.error().sentence.c_str());
        QVERIFY(manifest.error().sentence.find("run.json") != std::string::npos);
    }
    void unknownFieldsAreIgnoredAndKeptInUserJson() {
        const RunFolder run = freshRun();
        put(run.userJson(), R"({"format":1,"colour":"green","tags":["a"]})");
        QVERIFY(editUser(disk(), run, [](UserRecord& user) { user.star = true; user.pinned.push_back("s001-000000010"); }).ok());
        const auto user = readUser(run);
        QVERIFY(user.ok() && user->star && user->tags == std::vector<std::string>{"a"} && !user->note);
        QVERIFY(readFile(run.userJson(), 10000)->find("green") != std::string::npos);
    }
    void editsOfSeveralProcessesAllArrive() {
        const RunFolder run = freshRun();
        std::vector<pid_t> children;
        for (int child = 0; child < 4; ++child) {
            const pid_t pid = ::fork();
            if (pid == 0) {
                bool ok = true;
                for (int i = 0; i < 10; ++i) {
                    ok = ok && editUser(disk(), run, [&](UserRecord& user) {
                        user.tags.push_back(std::to_string(child) + "." + std::to_string(i));
                    }).ok();
                }
                ::_exit(ok ? 0 : 1);
            }
            children.push_back(pid);
        }
        for (const pid_t pid : children) {
            int status = -1;
            QCOMPARE(::waitpid(pid, &status, 0), pid);
            QCOMPARE(status, 0);
        }
        QCOMPARE(readUser(run)->tags.size(), std::size_t{40});
    }
    void aRunIsFoundByEveryReference() {
        const auto workspace = freshWorkspace();
        RunManifest one = manifestNamed("alpha", 1'700'000'000'000'000'000), two = manifestNamed("beta", 1'700'000'100'000'000'000);
        one.id = "aaa111111111";
        two.id = "aab222222222";
        const auto first = createRun(disk(), workspace, one, ""), second = createRun(disk(), workspace, two, "");
        for (const std::string& reference : {one.id, std::string("aaa"), std::string("alpha"), first->name(), first->root().string(), first->root().string() + "/"}) {
            const auto found = findRun(workspace, reference);
            QVERIFY2(found.ok(), reference.c_str());
            QCOMPARE(found->root().string(), first->root().string());
        }
        QCOMPARE(findRun(workspace, "latest")->name(), second->name());
        QCOMPARE(findRun(workspace, "aa").error().code, ErrorCode::Usage);
        QVERIFY(findRun(workspace, "aa").error().sentence.find(one.id) != std::string::npos);
        QCOMPARE(findRun(workspace, "zzz").error().code, ErrorCode::NotFound);
        QCOMPARE(findRun(workspace, "").error().code, ErrorCode::NotFound);
        QVERIFY(editUser(disk(), *first, [](UserRecord& user) { user.name = "gamma"; }).ok());
        QVERIFY(findRun(workspace, "gamma").ok() && !findRun(workspace, "alpha").ok());
        QCOMPARE(listRuns(workspace).size(), std::size_t{2});
    }
    void runsOfOneSecondAreOrderedToo() {
        const auto workspace = freshWorkspace();
        std::vector<std::string> expected;
        for (int i = 0; i < 6; ++i) {
            const auto run = createRun(disk(), workspace, manifestNamed("x", 1'700'000'000'000'000'000 + i * 1000), "");
            expected.insert(expected.begin(), run->name());
        }
        std::vector<std::string> names;
        for (const RunFolder& run : listRuns(workspace)) names.push_back(run.name());
        QVERIFY(names == expected);
    }
    void aRenamedFolderIsAsOldAsItsRun() {
        const auto workspace = freshWorkspace();
        std::vector<RunFolder> made;
        for (const int day : {0, 1, 2}) made.push_back(*createRun(disk(), workspace, manifestNamed("x", 1'700'000'000'000'000'000 + day * 86'400'000'000'000), ""));
        stdfs::rename(made[0].root(), workspace / "runs/zebra");
        stdfs::rename(made[2].root(), workspace / "runs/aardvark");
        std::vector<std::string> names;
        for (const RunFolder& run : listRuns(workspace)) names.push_back(run.name());
        QVERIFY((names == std::vector<std::string>{"aardvark", made[1].name(), "zebra"}));
        QCOMPARE(findRun(workspace, "latest")->name(), std::string("aardvark"));
    }
    void aHeldFolderIsFoundWhereverItGoes() {
        const auto workspace = freshWorkspace();
        const RunFolder run = *createRun(disk(), workspace, manifestNamed("x"), "");
        const RunFolder held = run.held(), copy = held;
        QCOMPARE(held.place(), run.root());
        stdfs::rename(run.root(), workspace / "elsewhere");
        QCOMPARE(copy.name(), std::string("elsewhere"));
        QCOMPARE(copy.held().root(), held.root());  // held once is held
        QVERIFY(readManifest(copy).ok());
        QVERIFY(editUser(disk(), copy, [](UserRecord& user) { user.note = "moved"; }).ok());
        QVERIFY(stdfs::exists(workspace / "elsewhere/user.json"));
        const auto missing = readSession(copy, 1);
        QVERIFY2(missing.error().text().find((workspace / "elsewhere/sessions/1.json").string()) != std::string::npos, missing.error().text().c_str());
        QCOMPARE(RunFolder(workspace / "nowhere").held().root(), workspace / "nowhere");
    }
    void aNameMayHoldASlash() {
        const auto workspace = freshWorkspace();
        const auto run = createRun(disk(), workspace, manifestNamed("lr/3e-4 and ../more", 1'700'000'000'000'000'000), "");
        QCOMPARE(findRun(workspace, "lr/3e-4 and ../more")->root().string(), run->root().string());
        const auto nothing = findRun(workspace, "lr/1e-4");
        QVERIFY(!nothing && nothing.error().sentence.find("run.json") != std::string::npos);
    }
    void nothingIsOpenedOutside_data() {
        QTest::addColumn<QByteArray>("path");
        for (const char* path : {"", "/etc/passwd", "../outside", "in/../../outside", "in/..", "..", ".", "./inside", "in//file", "in/",
                                 "..\\outside", "in\\file", "link", "linked/file", "in", "fifo", "..%2foutside", "%2e%2e/outside", "..;/outside",
                                 "\xe2\x88\x95" "etc", ".../outside", "in/file/", "in/file."})
            QTest::newRow(*path == 0 ? "empty" : path) << QByteArray(path);
    }
    void nothingIsOpenedOutside() {
        QFETCH(QByteArray, path);
        const stdfs::path base = freshWorkspace(), root = base / "root";
        QVERIFY(makeFolders(disk(), root / "in").ok());
        QVERIFY(makeFolders(disk(), base / "elsewhere").ok());
        put(base / "outside", "secret");
        put(base / "elsewhere/file", "secret");
        put(root / "in/file", "ours");
        stdfs::create_symlink(base / "outside", root / "link");
        stdfs::create_symlink(base / "elsewhere", root / "linked");
        QVERIFY(::mkfifo((root / "fifo").c_str(), 0600) == 0);
        const auto fd = openBelow(root, path.toStdString());
        QVERIFY(!fd.ok());
        const auto good = openBelow(root, "in/file");
        QVERIFY(good.ok());
        ::close(*good);
    }
    void aHeldLockIsSeenByOthersAndFreeAfterDeath() {
        const RunFolder run = freshRun();
        int ready[2], quit[2];
        QVERIFY(::pipe(ready) == 0 && ::pipe(quit) == 0);
        const pid_t pid = ::fork();
        if (pid == 0) {
            ::close(quit[1]);
            auto lock = RunLock::acquire(run.lock());
            char byte = lock.ok() ? 'y' : 'n';
            if (::write(ready[1], &byte, 1) != 1) ::_exit(1);
            (void)!::read(quit[0], &byte, 1);
            ::_exit(0);
        }
        char answer = 0;
        QVERIFY(::read(ready[0], &answer, 1) == 1 && answer == 'y');
        QVERIFY(RunLock::isHeld(run.lock()));
        QCOMPARE(RunLock::acquire(run.lock()).error().code, ErrorCode::Busy);
        // Opening and closing the file elsewhere must not release it (the trap of older POSIX locks).
        QVERIFY(readFile(run.lock(), 10).ok());
        QVERIFY(RunLock::isHeld(run.lock()));
        ::close(quit[1]);
        ::waitpid(pid, nullptr, 0);
        QVERIFY(!RunLock::isHeld(run.lock()));
        QVERIFY(RunLock::acquire(run.lock()).ok());
        for (const int fd : {ready[0], ready[1], quit[0]}) ::close(fd);
    }
    void sharedLocksGoTogetherAndKeepAnExclusiveOneOut() {
        const RunFolder run = freshRun();
        auto one = RunLock::acquire(run.workersLock(), true);
        auto two = RunLock::acquire(run.workersLock(), true);
        QVERIFY(one.ok() && two.ok());
        QVERIFY(RunLock::isHeld(run.workersLock()));
        QVERIFY(!RunLock::acquire(run.workersLock()).ok());
        QVERIFY(!RunLock::acquireWithin(run.workersLock(), 30).ok());
    }
    void aFolderWithoutWriteAccessGivesASentence() {
        const RunFolder run = freshRun();
        const test::ReadOnlyFolder readOnly(run.root());
        if (!readOnly.works()) QSKIP("no right to mount, and root may write anywhere");
        QCOMPARE(RunLock::acquire(run.lock()).error().code, ErrorCode::Permission);
        QVERIFY(readManifest(run).ok() && readUser(run).ok());
    }
    void onlyARunInAWorkspaceHasOne() {
        QVERIFY(workspaceOf(runNamed("/work", "a-run")) == stdfs::path("/work"));
        for (const char* place : {"/work/trash/a-run", "/a-run", "/work/runs/nested/a-run"}) QVERIFY2(!workspaceOf(RunFolder(place)), place);
    }
};

QTEST_GUILESS_MAIN(TestRunFolder)
#include "tst_run_folder.moc"
