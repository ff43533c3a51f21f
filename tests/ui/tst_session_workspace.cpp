// labels: process
// The list of runs, the launcher of lathe-trainer, settings, and the estimate of time left.
#include "fixture_run.h"

#include "launch/session/time_left.h"
#include "session/launcher.h"
#include "session/run_session.h"
#include "session/settings.h"
#include "session/workspace.h"

#include <QFile>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QtTest>

#include <algorithm>
#include <cmath>

using namespace lathe;
using tests::FixtureRun;
using tests::LiveSession;

namespace {

constexpr int kPatience = 60000;  // ms: far more than ever needed, also on a busy machine

QString write(const QString& path, const QByteArray& content, bool executable = false) {
    QFile file(path);
    if (!file.open(QIODevice::WriteOnly) || file.write(content) != content.size()) qFatal("cannot write %s", qPrintable(path));
    if (executable) file.setPermissions(QFile::ReadOwner | QFile::WriteOwner | QFile::ExeOwner);
    return path;
}

}  // namespace

class tst_session_workspace : public QObject {
    Q_OBJECT

    std::unique_ptr<QTemporaryDir> m_folder;
    std::filesystem::path workspace() const { return m_folder->path().toStdString(); }

private Q_SLOTS:
    void init() { m_folder = std::make_unique<QTemporaryDir>(); }

    void timeLeftIsOfThisSessionAndSurvivesInterruptions() {
        launch::TimeLeft left;
        left.add(901, 3);  // the first update after a resume at 900 of 1000
        QVERIFY(!left.secondsFor(99));
        double seconds = 3;
        for (int i = 902; i <= 950; ++i) left.add(i, seconds += 0.5);
        QVERIFY(std::abs(*left.secondsFor(50) - 25) < 2.5);
        seconds += 30;  // an evaluation
        left.add(951, seconds += 0.5);
        QVERIFY(std::abs(*left.updatesPerSecond() - 2) < 0.1);
        for (int i = 952; i <= 1500; ++i) left.add(i, seconds += 0.25);  // twice as quick from now on
        QVERIFY(std::abs(*left.updatesPerSecond() - 4) < 0.4);
        left.add(1400, 1);  // out of order
        QVERIFY(std::abs(*left.updatesPerSecond() - 4) < 0.4);
        left.restart();
        QVERIFY(!left.updatesPerSecond());
    }

    void workspaceListsRunsNewestFirstAndFollowsChanges() {
        FixtureRun first(workspace(), "first");
        first.beginSession(1);
        first.endSession();
        first.summary();
        session::Workspace list(workspace());
        QTRY_VERIFY_WITH_TIMEOUT(list.isLoaded(), kPatience);
        QCOMPARE(list.runs().size(), std::size_t(1));
        QCOMPARE(list.runs()[0].name(), QStringLiteral("first"));
        QCOMPARE(list.runs()[0].state, rundir::State::Completed);
        FixtureRun second(workspace(), "second");
        second.beginSession(1);
        second.summary([](rundir::Summary& summary) { summary.state = rundir::State::Running; });
        auto live = std::make_unique<LiveSession>(second.folder(), 1);
        QTRY_COMPARE_WITH_TIMEOUT(list.runs().size(), std::size_t(2), kPatience);
        QTRY_COMPARE_WITH_TIMEOUT(list.runs()[0].name(), QStringLiteral("second"), kPatience);
        QTRY_COMPARE_WITH_TIMEOUT(list.runs()[0].state, rundir::State::Running, kPatience);
        live.reset();  // gone without an exit record: never shown as running or completed
        QTRY_COMPARE_WITH_TIMEOUT(list.runs()[0].state, rundir::State::Interrupted, kPatience);
        list.editUser(first.key(), [](rundir::UserRecord& user) { user.name = "renamed"; });
        QTRY_COMPARE_WITH_TIMEOUT(list.find(first.key())->name(), QStringLiteral("renamed"), kPatience);
        QVERIFY(list.session(first.key()) == list.session(first.key()));
    }

    /// Renamed or unmounted: nothing is known of its runs then, least of all that they are gone.
    void whatWasSeenStaysWhileTheWorkspaceIsAway() {
        const std::filesystem::path here = workspace() / "work", away = workspace() / "elsewhere";
        FixtureRun run(here, "up"), other(here, "over");
        other.summary();
        run.beginSession(1);
        run.summary([](rundir::Summary& summary) { summary.state = rundir::State::Running; });
        LiveSession live(run.folder(), 1);
        live.beat(live::Phase::Training, 0, 0, 1);
        session::Workspace seen(here);
        const auto upNow = [&] { return std::any_of(seen.runs().begin(), seen.runs().end(), [](const session::RunEntry& entry) { return rundir::isAlive(entry.state); }); };
        QTRY_VERIFY_WITH_TIMEOUT(seen.runs().size() == 2 && upNow(), kPatience);
        QSignalSpy moved(&seen, &session::Workspace::folderCameOrWent);
        bool forgot = false;
        connect(&seen, &session::Workspace::runsChanged, this, [&] { forgot = forgot || seen.runs().size() < 2 || !upNow(); });
        std::filesystem::rename(here, away);
        seen.refresh();
        QTRY_COMPARE_WITH_TIMEOUT(moved.size(), 1, kPatience);
        QVERIFY(seen.runs().size() == 2 && upNow());
        std::filesystem::rename(away, here);
        QTRY_COMPARE_WITH_TIMEOUT(moved.size(), 2, kPatience);
        FixtureRun third(here, "third");
        third.summary();
        QTRY_VERIFY_WITH_TIMEOUT(seen.runs().size() == 3 && upNow(), kPatience);
        QVERIFY(!forgot);
        disconnect(&seen, nullptr, this, nullptr);
    }
    void launcherTellsTheFolderOfTheNewRun() {
        const QString program = write(m_folder->filePath(QStringLiteral("trainer")), "#!/bin/sh\ncp \"$2\" \"$(dirname \"$0\")/seen.yaml\"\n"
                                      "echo \"$@\" > \"$(dirname \"$0\")/arguments\"\necho 'noise'\necho '{\"run\":\"abc\",\"folder\":\"/w/runs/20260101-x-abc\"}'\n", true);
        session::Launcher launcher(workspace());
        launcher.setProgram(program.toStdString());
        QSignalSpy finished(&launcher, &session::Launcher::finished);
        const quint64 number = launcher.run(QStringLiteral("run:\n  name: x\n"), QStringLiteral("a b"), {QStringLiteral("run.seed=7")});
        QVERIFY(finished.wait(kPatience));
        QCOMPARE(finished[0][0].toULongLong(), number);
        const auto result = finished[0][1].value<session::LaunchResult>();
        QVERIFY2(result.ok, qPrintable(result.sentence));
        QCOMPARE(result.folder, QStringLiteral("20260101-x-abc"));
        QFile seen(m_folder->filePath(QStringLiteral("seen.yaml"))), arguments(m_folder->filePath(QStringLiteral("arguments")));
        QVERIFY(seen.open(QIODevice::ReadOnly) && arguments.open(QIODevice::ReadOnly));
        QCOMPARE(seen.readAll(), QByteArray("run:\n  name: x\n"));
        const QByteArray words = arguments.readAll();
        for (const char* word : {"run ", "--detach", "--json", "--workspace", "--set run.name=a b", "--set run.seed=7"}) QVERIFY2(words.contains(word), words.constData());
        QCOMPARE(launcher.running(), 0);
        QVERIFY(!QFile::exists(QString::fromUtf8(words.split(' ')[1])));  // the temporary configuration
    }

    void launcherTellsWhyItFailed() {
        session::Launcher launcher(workspace());
        QSignalSpy finished(&launcher, &session::Launcher::finished);
        const auto outcome = [&](const QByteArray& script) {
            launcher.setProgram(write(m_folder->filePath(QStringLiteral("trainer")), "#!/bin/sh\n" + script, true).toStdString());
            finished.clear();
            launcher.goOn(QStringLiteral("continue"), QStringLiteral("abc"));
            if (!finished.wait(kPatience)) qFatal("no answer");
            return finished[0][1].value<session::LaunchResult>();
        };
        auto result = outcome("echo 'x is busy' >&2; echo '{\"error\":{\"code\":\"busy\",\"sentence\":\"Another process holds run x\"}}'; exit 8\n");
        QVERIFY(!result.ok);
        QCOMPARE(result.exitCode, 8);
        QCOMPARE(result.sentence, QStringLiteral("Another process holds run x"));
        result = outcome("echo one >&2; echo 'the reason' >&2; exit 3\n");
        QCOMPARE(result.sentence, QStringLiteral("the reason"));
        // What to type in a terminal is left there, also where it says what is missing.
        result = outcome("echo '{\"error\":{\"code\":\"not_found\",\"sentence\":\"r has no checkpoint \\\"7\\\"; name a step, a folder, best or latest\"}}'; exit 2\n");
        QVERIFY(result.isNotFound);
        QCOMPARE(result.sentence, QStringLiteral("r has no checkpoint \"7\""));
        result = outcome("kill -9 $$\n");
        QVERIFY2(result.sentence.contains(QStringLiteral("signal 9")), qPrintable(result.sentence));
        result = outcome("exit 3\n");
        QVERIFY(!result.sentence.isEmpty());
        launcher.setProgram(workspace() / "nothing-here");
        finished.clear();
        launcher.again(QStringLiteral("abc"));
        QVERIFY(finished.wait(kPatience));
        QVERIFY2(finished[0][1].value<session::LaunchResult>().sentence.contains(QStringLiteral("nothing-here")), "names the program");
    }

    void startedProgramOutlivesTheLauncherAndNeverBlocksOnItsOutput() {
        const QString done = m_folder->filePath(QStringLiteral("done"));
        {
            session::Launcher launcher(workspace());
            launcher.setProgram(write(m_folder->filePath(QStringLiteral("trainer")),
                                      "#!/bin/sh\nhead -c 5000000 /dev/zero | tr '\\0' 'x'\necho $$ > \"" + done.toUtf8() + "\"\n", true).toStdString());
            launcher.again(QStringLiteral("abc"));
        }
        QTRY_VERIFY_WITH_TIMEOUT(QFile::exists(done), kPatience);
    }

    void settingsAreKeptWhereTheyAreRedirected() {
        const QString file = m_folder->filePath(QStringLiteral("window.ini"));
        qputenv("LATHE_SETTINGS", file.toUtf8());
        QCOMPARE(session::Settings::defaultFile(), file);
        {
            session::Settings settings;
            settings.setValue(QStringLiteral("charts/smoothing"), 0.9);
        }
        QCOMPARE(session::Settings().value(QStringLiteral("charts/smoothing")).toDouble(), 0.9);
        qunsetenv("LATHE_SETTINGS");
    }
};

QTEST_GUILESS_MAIN(tst_session_workspace)
#include "tst_session_workspace.moc"
