// labels: process
// What becomes of a run in the background at log-out: the decision over what a system can say, and the units that are asked
// for, with stand-ins for systemd's programs.
#include "base/file_system.h"
#include "launch/process/system_tool.h"
#include "launch/queue/overnight.h"
#include "supervised.h"

#include <QtTest/QTest>

using namespace lathe;
using namespace lathe::test;
using launch::LogoutFacts;
namespace stdfs = std::filesystem;

class TestOvernight : public QObject {
    Q_OBJECT

    /// `property`: what busctl says of KillUserProcesses; `linger`: what loginctl says.
    static void standIns(Workspace& workspace, const std::string& property, const std::string& linger) {
        const stdfs::path bin = workspace.scratch() / "bin";
        stdfs::create_directories(bin);
        const std::string log = "echo \"$(basename \"$0\") $*\" >>'" + (workspace.scratch() / "said").string() + "'\n";
        const auto write = [&](const char* name, const std::string& text) {
            if (!replaceFile(FileSystem::real(), bin / name, "#!/bin/sh\n" + log + text)) qFatal("no stand-in");
            stdfs::permissions(bin / name, stdfs::perms::owner_all);
        };
        write("busctl", "case \"$1\" in get-property) echo 'b " + property + "' ;; *) case \"$*\" in *OOMPolicy*) exit 1 ;; esac ;; esac\n");
        write("loginctl", "[ \"$1\" = show-user ] && echo " + linger + "; exit 0\n");
        write("systemctl", "exit 0\n");
        workspace.setEnvironment("PATH", bin.string() + ":" + qgetenv("PATH").toStdString());
    }
    static std::string said(const Workspace& workspace) { return readFile(workspace.scratch() / "said", 1 << 20).value(); }

private Q_SLOTS:
    // what it says is what was tried, not what is hoped for
    void sleepAndNotificationAreTried() {
        Workspace workspace;
        standIns(workspace, "false", "no");
        const stdfs::path inhibit = workspace.scratch() / "bin/systemd-inhibit", settings = workspace.scratch() / "config/lathe/settings.yaml";
        workspace.setEnvironment("XDG_CONFIG_HOME", (workspace.scratch() / "config").string());
        stdfs::create_directories(settings.parent_path());
        for (const bool works : {false, true}) {
            QVERIFY(replaceFile(FileSystem::real(), inhibit, works ? "#!/bin/sh\nexit 0\n" : "#!/bin/sh\nexit 1\n").ok());
            stdfs::permissions(inhibit, stdfs::perms::owner_all);
            QVERIFY(replaceFile(FileSystem::real(), settings, works ? "notify_command: sh -c true\n" : "notify_command: /nowhere/tell-me\n").ok());
            const auto told = workspace.ask({"overnight", "--json"}).json();
            QCOMPARE(told.at("stays_awake").get<bool>(), works);
            const std::string notice = told.at("notification").get<std::string>();
            QVERIFY2(works ? notice == "At its end sh -c true is run" : notice.starts_with("At its end nobody is told: ") && notice.find("/nowhere/tell-me") != std::string::npos, notice.c_str());
        }
    }
    void theOutlookFollowsFromWhatTheSystemSays() {
        int count = 0;
        for (const bool logind : {false, true}) for (const bool manager : {false, true}) for (const bool lingers : {false, true})
            for (const std::optional<bool> ends : {std::optional<bool>(), std::optional(false), std::optional(true)}) {
                const auto outlook = launch::outlookOf({logind, manager, ends, lingers});
                const bool unit = logind && manager && lingers;
                QCOMPARE(outlook.ownUnit, unit);
                QCOMPARE(outlook.survives, !logind || unit || ends == false);
                QVERIFY(!outlook.sentence.empty());
                if (!outlook.survives && !lingers) QVERIFY(outlook.sentence.find("--enable") != std::string::npos);
                ++count;
            }
        QCOMPARE(count, 24);
    }
    void whereItLingersARunGetsAUnitOfItsOwn() {
        const auto workspace = fresh("train");
        standIns(*workspace, "true", "yes");
        const Answer answer = workspace->ask({"run", "digits-mlp", "--detach"});
        QVERIFY2(answer.code == 0 && answer.err.empty(), answer.err.c_str());
        const auto live = *rundir::readLive(workspace->latest());
        const std::string asked = "lathe-" + rundir::readManifest(workspace->latest())->id + ".scope fail";
        QVERIFY2(said(*workspace).find(asked + " 4 PIDs au 1 " + std::to_string(live->supervisor.pid)) != std::string::npos, said(*workspace).c_str());
        QVERIFY(said(*workspace).find(asked + " 3 PIDs") != std::string::npos);   // an older systemd knows no OOMPolicy of a scope
        QCOMPARE(workspace->ask({"stop", "latest", "--discard"}).code, 0);
    }
    void whereItWouldEndThatIsSaidAndOffered() {
        const auto workspace = fresh("train");
        standIns(*workspace, "true", "no");
        const Answer answer = workspace->ask({"run", "digits-mlp", "--detach"});
        QVERIFY2(answer.code == 0 && answer.err.find("lathe-trainer overnight --enable") != std::string::npos, answer.err.c_str());
        QVERIFY(said(*workspace).find(".scope") == std::string::npos);
        QCOMPARE(workspace->ask({"stop", "latest", "--discard"}).code, 0);
        QCOMPARE(workspace->ask({"overnight", "--enable"}).code, 0);
        QVERIFY(said(*workspace).find("loginctl enable-linger") != std::string::npos);
        QCOMPARE(workspace->ask({"overnight", "--json"}).json().value("survives_logout", true), false);
    }
    void aToolThatIsMissingFailsOrHangsIsNoAnswer() {
        QVERIFY(!launch::outputOf({"lathe-no-such-program"}));
        QVERIFY(!launch::outputOf({"false"}));
        QCOMPARE(launch::outputOf({"echo", "one"}).value_or("?"), std::string("one"));
        QCOMPARE(launch::outputOf({"true"}).value_or("?"), std::string());
        QVERIFY(launch::outputOf({"sh", "-c", "yes | head -c 1000000"})->size() < 100'000);
        QVERIFY(!launch::outputOf({"sleep", "1000"}));
    }
};

QTEST_GUILESS_MAIN(TestOvernight)
#include "tst_overnight.moc"
