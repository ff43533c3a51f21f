// What a session runs, as real processes: workers that only sleep, a command behind its keeper, a script that runs already.
#include "base/clock.h"
#include "base/file_system.h"
#include "launch/command/keeper.h"
#include "launch/session/running_program.h"
#include "launch/session/running_workers.h"
#include "program_sender.h"
#include "session_bench.h"

#include <QtCore/QCoreApplication>
#include <QtCore/QProcess>
#include <QtTest/QTest>

#include <csignal>
#include <filesystem>
#include <map>
#include <span>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace lathe;
using namespace lathe::test;
using launch::Running;

static constexpr std::int64_t kSecond = 1'000'000'000;

static std::int64_t now() { return Clock::system().monotonicNs(); }

class TestRunning : public QObject {
    Q_OBJECT

    std::unique_ptr<QTemporaryDir> m_folder;
    std::unique_ptr<SessionBench> m_session;
    std::vector<std::string> m_told;

    Running::Order order() {
        return {m_session->run.folder(), m_session->config, m_session->summary, 1, "running", m_session->recorder->memory(),
                [this](const std::string& kind, const std::string& text, const std::string&) { m_told.push_back(kind + ": " + text); }};
    }
    void make(int ranks) {
        m_session = std::make_unique<SessionBench>(Running::Kind::Training, ranks);
        m_session->config.parallel.ranks = ranks;
    }
    /// What stands in the place of lathe-worker.
    void putWorker(const char* script) const {
        const std::filesystem::path program = std::filesystem::path(m_folder->path().toStdString()) / "lathe-worker";
        if (!replaceFile(FileSystem::real(), program, script).ok()) qFatal("no program");
        std::filesystem::permissions(program, std::filesystem::perms::owner_all);
    }
    static bool isGone(Running& running) {
        return QTest::qWaitFor([&] { return running.turn(now()); }, 20'000);
    }
    static void hasNothing(Running& running) {
        QVERIFY(running.identities().empty() && !running.end(0) && !running.hang() && !running.hangRecord() && running.endedFor(0).empty());
        running.signal(SIGKILL, now());
        running.capLogs();
    }
    /// A process that logs: it says hello, and stays until it is ended.
    static pid_t logs(const launch::ProgramFrames& frames) {
        std::map<std::string, std::string> variables;
        for (const auto& [name, value] : frames.environment()) variables[name] = value;
        Bytes hello;
        putBytes(hello, std::as_bytes(std::span("LATHEPRG", 8)));
        put(hello, std::uint32_t{1});
        for (const std::string& text : {variables["LATHE_TOKEN"], std::string("child"), std::string("test 1")}) putText(hello, text);
        const Bytes message = tests::Sender::message(16, 0, hello);
        sockaddr_un address{};
        address.sun_family = AF_UNIX;
        qstrncpy(address.sun_path, variables["LATHE_SOCKET"].c_str(), sizeof address.sun_path);
        const pid_t child = ::fork();
        if (child != 0) return child;
        ::prctl(PR_SET_PDEATHSIG, SIGKILL);
        ::signal(SIGTERM, SIG_DFL);
        const int fd = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
        if (::connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) ::_exit(1);
        if (::send(fd, message.data(), message.size(), MSG_NOSIGNAL) < 0) ::_exit(2);
        while (true) ::pause();
    }

private Q_SLOTS:
    void init() {
        m_folder = std::make_unique<QTemporaryDir>();
        m_told.clear();
        make(1);
        qputenv("LATHE_PROGRAMS", m_folder->path().toUtf8());
    }
    void cleanup() { m_session.reset(); }

    void whatCouldNotBeStartedHasNeitherProcessesNorEnd() {
        launch::RunningWorkers workers(order());
        hasNothing(workers);
        QVERIFY(!workers.start());   // there is no such program
        hasNothing(workers);
        QCOMPARE(workers.decidingRank(m_session->recorder->book(), true), 0);

        m_session->config.command = {.line = "/nowhere/to/be/found", .folder = m_folder->path().toStdString()};
        launch::RunningCommand command(order());
        QVERIFY(!command.start());
        hasNothing(command);

        launch::RunningScript script(order(), {.pid = 1, .token = "0123456789abcdef0123456789abcdef"});   // not ours
        QVERIFY(::geteuid() == 0 || !script.start());
        launch::RunningScript none(order(), {.pid = 0x7ffffff0, .token = "0123456789abcdef0123456789abcdef"});
        QVERIFY(!none.start());
        hasNothing(none);
    }

    void workersRunUntilAllOfThemAreGone() {
        make(2);
        putWorker("#!/bin/sh\nexec sleep 1000\n");
        launch::RunningWorkers workers(order());
        QVERIFY(workers.start().ok());
        QVERIFY(!workers.isProgram() && workers.frames() == nullptr && !workers.workedSeconds(now()));
        QVERIFY(workers.identities().size() == 2 && workers.pollFds().size() == 2);
        QVERIFY(!workers.turn(now()) && !workers.end(0) && workers.takeNews().empty());
        workers.signal(SIGTERM, now());
        QVERIFY(isGone(workers));
        for (const int rank : {0, 1}) QCOMPARE(workers.end(rank)->signal, std::optional<int>(SIGTERM));
        QVERIFY(workers.pollFds().empty());
    }
    void theRankThatWasSilentWhenTheyHadToLeaveExplainsTheEnd() {
        make(2);
        putWorker("#!/bin/sh\nexec sleep 1000\n");
        launch::RunningWorkers workers(order());
        QVERIFY(workers.start().ok());
        const std::int64_t later = now() + 60 * kSecond;
        QVERIFY(workers.silence(later).second > 50);   // nothing was heard since it was started
        live::Heartbeat beat;
        beat.phase = live::Phase::Saving;
        beat.monotonicNs = later;
        m_session->recorder->memory().beat(0, beat);
        m_session->recorder->memory().beat(1, {.monotonicNs = now()});
        workers.look({}, later);
        QCOMPARE(workers.beat().monotonicNs, later);
        const auto [rank, seconds] = workers.silence(later);
        QVERIFY(rank == 1 && seconds > 50);
        QVERIFY(!workers.isSaving(later));             // nobody saves while one of them is stopped
        workers.signal(SIGTERM, later);
        QVERIFY(isGone(workers));
        QCOMPARE(workers.decidingRank(m_session->recorder->book(), true), 1);
    }

    void aCommandBeatsAsLongAsItLivesAndIsHeldOutOfItsTime() {
        m_session->config.command = {.line = "sleep 1000", .folder = m_folder->path().toStdString()};
        launch::RunningCommand command(order());
        const auto started = command.start();
        QVERIFY2(started.ok(), started ? "" : started.error().text().c_str());
        QVERIFY(m_told.size() == 1 && m_told.front().starts_with("environment: Runs sleep 1000 in "));
        QVERIFY(command.isProgram() && command.frames() != nullptr && command.identities().size() == 2 && !command.turn(now()));
        const std::int64_t then = now();
        const double before = *command.workedSeconds(then);
        QVERIFY(before >= 0);
        command.hold(true, then);
        QCOMPARE(*command.workedSeconds(then + 10 * kSecond), before);
        command.hold(false, then + 10 * kSecond);
        QVERIFY(qAbs(*command.workedSeconds(then + 15 * kSecond) - before - 5) < 1e-6);

        const auto shown = [&](const Running::Standing& standing) {
            command.look(standing, then);
            return *m_session->recorder->memory().heartbeat(0);
        };
        const live::Heartbeat beat = shown({.attempt = 7, .step = 6, .wish = 3});
        QVERIFY(beat.phase == live::Phase::Training && beat.attempt == 7 && beat.step == 6 && beat.acknowledged == 3 && beat.monotonicNs == then);
        QCOMPARE(std::int64_t(beat.pid), command.identities().back().pid);
        QVERIFY(shown({.isPaused = true}).phase == live::Phase::Paused && shown({.isStopping = true, .isPaused = true}).phase == live::Phase::Finishing);

        command.signal(SIGKILL, now());
        QVERIFY(isGone(command));
        QCOMPARE(command.end(0)->signal, std::optional<int>(SIGKILL));
    }

    void aScriptIsWatchedAndEndsWithoutACode() {
        QProcess sleeps;
        sleeps.start(QStringLiteral("sleep"), {QStringLiteral("1000")});
        QVERIFY(sleeps.waitForStarted());
        launch::RunningScript script(order(), {.pid = sleeps.processId(), .token = "0123456789abcdef0123456789abcdef"});
        QVERIFY(script.start().ok());
        QVERIFY(m_told.size() == 1 && m_told.front().starts_with("environment: Records process "));
        QVERIFY(!script.turn(now()) && script.identities().back().pid == sleeps.processId());
        script.signal(SIGTERM, now());
        QVERIFY(sleeps.waitForFinished());
        QVERIFY(isGone(script) && !script.end(0)->code && !script.end(0)->signal);
        script.stopListening();
        QVERIFY(script.frames() == nullptr && script.end(0));
    }
    void aScriptThatLeftItsWorkToAnotherGoesOnAndThatOneIsMeant() {
        QProcess sleeps;
        sleeps.start(QStringLiteral("sleep"), {QStringLiteral("1000")});
        QVERIFY(sleeps.waitForStarted());
        launch::RunningScript script(order(), {.pid = sleeps.processId(), .token = "0123456789abcdef0123456789abcdef"});
        QVERIFY(script.start().ok());
        const pid_t other = logs(*script.frames());
        QVERIFY(QTest::qWaitFor([&] { script.frames()->poll(); return script.frames()->connections() == 1; }, 20'000));
        sleeps.kill();
        QVERIFY(sleeps.waitForFinished());
        QVERIFY(!script.turn(now()));
        script.signal(SIGTERM, now());
        int status = 0;
        QCOMPARE(::waitpid(other, &status, 0), other);
        QVERIFY(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM);
        QVERIFY(QTest::qWaitFor([&] { script.frames()->poll(); return script.turn(now()); }, 20'000));
    }
};

/// A command's keeper is the very program that starts it.
int main(int count, char** words) {
    if (count > 2 && std::string(words[1]) == "keep") return launch::runKeeper({words + 2, words + count});
    QCoreApplication application(count, words);
    TestRunning test;
    return QTest::qExec(&test, count, words);
}
#include "tst_running.moc"
