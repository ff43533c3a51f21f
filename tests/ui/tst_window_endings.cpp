// labels: gui
// What becomes of runs in the real window: how they stop, pause, end, hang, run out of memory or disk, and go to the trash.
#include "window_runs.h"

#include "base/clock.h"
#include "base/file_system.h"
#include "form/form_model.h"
#include "launch/process/identity.h"
#include "launch/run/standing.h"
#include "models/runs_model.h"
#include "pages/new_run_page.h"
#include "pages/runs_page.h"
#include "shell/message_bar.h"
#include "theme/parts.h"

#include <QDialog>
#include <QLabel>
#include <QLocale>
#include <QMenu>
#include <QProcess>
#include <QPushButton>
#include <QStackedWidget>
#include <QTableView>
#include <QToolButton>

#include <csignal>
#include <fcntl.h>
#include <unistd.h>

using namespace lathe;
using shell::Page;
using tests::finishedRun;
using tests::FixtureRun;
using tests::keyOf;
using tests::LiveSession;
using tests::WindowBench;
using tests::yamlOf;

class TestWindowEndings : public QObject {
    Q_OBJECT

    std::unique_ptr<WindowBench> m_bench;

    shell::MainWindow& open(bool restore = false) { return m_bench->open(restore); }
    QTableView* table() const { return m_bench->find<QTableView>("runsTable"); }
    QLabel* label(const char* name) const { return m_bench->find<QLabel>(name); }
    QString message() const { return m_bench->window->messages().text(); }
    /// How the first row of the list stands: its word, and its sentence.
    QString listed() const {
        const QModelIndex state = m_bench->window->runsPage().model().index(0, models::RunsModel::State);
        return state.data(Qt::AccessibleTextRole).toString() + QStringLiteral(": ") + state.data(models::RunsModel::WhyRole).toString();
    }
    /// A run that trains, as far as files tell; `update` of 900 are made.
    std::unique_ptr<FixtureRun> runThatIsUp(std::int64_t update = 120) {
        auto run = std::make_unique<FixtureRun>(m_bench->workspace(), "live", yamlOf());
        run->beginSession(1);
        for (std::int64_t i = 1; i <= update; ++i) run->points(i, {{"train/loss", 1.0}, {"train/samples_per_second", 1000}});
        run->flush();
        run->summary([update](rundir::Summary& summary) {
            summary.state = rundir::State::Running;
            summary.counters.globalStep = GlobalStep(update);
            summary.plannedUpdates = 900;
        });
        return run;
    }
    void waitForRuns(int count) { QTRY_COMPARE(m_bench->window->runsPage().model().rowCount(), count); }

private Q_SLOTS:
    void init() { m_bench = std::make_unique<WindowBench>(); }
    void cleanup() { m_bench.reset(); }

    void reopeningTellsWhatEndedMeanwhile() {
        FixtureRun run(m_bench->workspace(), "live", yamlOf());
        run.beginSession(1);
        run.summary([](rundir::Summary& summary) { summary.state = rundir::State::Running; });
        {
            LiveSession live(run.folder(), 1);
            live.beat(live::Phase::Training, 0, 0, 1);
            open();
            waitForRuns(1);
            QTRY_VERIFY(rundir::isAlive(m_bench->window->workspace().runs().front().state));
            m_bench->close();
        }
        run.endSession(rundir::State::Failed, "Cannot read /nowhere");
        run.summary([](rundir::Summary& summary) {
            summary.state = rundir::State::Failed;
            summary.why = "Cannot read /nowhere";
            summary.endedNs = Clock::system().wallNs();
        });
        run.closeWriter();
        auto& window = open(true);
        auto* bar = m_bench->find<QFrame>("awayBar");
        QTRY_VERIFY(bar->isVisible());
        QVERIFY2(label("awayText")->text().startsWith(QStringLiteral("While you were away: 1 failed at ")), qPrintable(label("awayText")->text()));
        auto* link = m_bench->find<QPushButton>("awayRun0");
        QCOMPARE(link->text(), QStringLiteral("live"));
        QCOMPARE(link->accessibleDescription(), QStringLiteral("Failed: Cannot read /nowhere"));
        link->setFocus();
        QTest::keyClick(link, Qt::Key_Space);
        QTRY_VERIFY(window.page() == Page::Run);
        QCOMPARE(window.runPage().folder(), keyOf(run));
        // The ending is told on every tab: a chip and its sentence.
        QTRY_COMPARE(m_bench->find<theme::Pill>("statePill")->word(), QStringLiteral("Failed"));
        QCOMPARE(m_bench->find<theme::ElidedLabel>("subtitle")->fullText(), QStringLiteral("Cannot read /nowhere"));
        m_bench->click<QToolButton>("closeAway");
        QVERIFY(!bar->isVisible());
        m_bench->close();
        open(true);  // told once
        waitForRuns(1);
        QTest::qWait(50);
        QVERIFY(!m_bench->find<QFrame>("awayBar")->isVisible());
    }
    void whatEndsBeforeAWindowIsKilledIsNotToldAgain() {
        const auto run = finishedRun(*m_bench, "old");
        open();
        waitForRuns(1);
        m_bench->window.reset();   // without closing: nothing is saved then
        open(true);
        waitForRuns(1);
        QTest::qWait(50);
        QVERIFY(!m_bench->find<QFrame>("awayBar")->isVisible());
    }
    void aFolderThatIsRemovedIsSaidAndWhatWasSeenStays() {
        const auto run = finishedRun(*m_bench, "one");
        auto& window = open();
        window.openPage(Page::Runs);
        waitForRuns(1);
        auto* bar = m_bench->find<QFrame>("diskBar");
        QVERIFY(!bar->isVisible());
        const std::filesystem::path away = m_bench->workspace().string() + "-away";
        std::filesystem::rename(m_bench->workspace(), away);
        window.disk().refresh();
        QTRY_VERIFY(bar->isVisible());
        QVERIFY2(label("diskText")->text().contains(QStringLiteral("is not there any more")), qPrintable(label("diskText")->text()));
        std::filesystem::create_directories(m_bench->workspace());   // whoever brings it back
        std::filesystem::remove_all(m_bench->workspace());
        std::filesystem::rename(away, m_bench->workspace());
        window.disk().refresh();
        QTRY_VERIFY(!bar->isVisible());
        waitForRuns(1);
    }
    void aDiskThatRunsFillIsToldWithTheHoursLeft() {
        FixtureRun run(m_bench->workspace(), "live", yamlOf());
        run.beginSession(1);
        run.summary([](rundir::Summary& summary) {
            summary.state = rundir::State::Running;
            summary.activeSeconds = 60;
        });
        LiveSession live(run.folder(), 1);
        // As much in a minute as fills the disk in ten hours.
        const auto free = std::filesystem::space(m_bench->workspace()).available;
        const auto bytes = off_t(free / 600);
        if (bytes > off_t(1) << 30) QSKIP("the disk has so much room that no test can fill it in a day");
        const int fd = ::open((run.folder().root() / "large").c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
        QVERIFY(fd >= 0 && ::posix_fallocate(fd, 0, bytes) == 0);
        ::close(fd);
        auto& window = open();
        window.disk().refresh();
        QTRY_VERIFY2(label("diskText")->text().contains(QStringLiteral("is full in about")), qPrintable(label("diskText")->text()));
        QVERIFY2(label("diskText")->text().contains(QStringLiteral("h")), qPrintable(label("diskText")->text()));
        QVERIFY(m_bench->find<QFrame>("diskBar")->isVisible());
        m_bench->click<QToolButton>("closeDisk");
        QVERIFY(!m_bench->find<QFrame>("diskBar")->isVisible());
        window.disk().refresh();
        QTest::qWait(50);
        QVERIFY(!m_bench->find<QFrame>("diskBar")->isVisible());   // the same thing is not said again
        run.closeWriter();
    }
    void remediesForMemoryOpenTheFormWithTheOneChangeMarked() {
        const auto run = finishedRun(*m_bench, "big");
        auto record = rundir::readSession(run->folder(), 1);
        QVERIFY(record.ok());
        record->state = rundir::State::OutOfMemory;
        record->why = "Memory ran out";
        record->memory = rundir::MemoryRecord{};
        record->memory->remedies = {{{{"data.batch_size", "32", "16"}, {"accumulation.micro_batches", "1", "2"}}, "the same update but for rounding", true},
                                    {{{"model.name", "mlp", "convnet"}}, "another model", false}};
        QVERIFY(rundir::writeSession(FileSystem::real(), run->folder(), *record).ok());
        run->summary([](rundir::Summary& summary) { summary.state = rundir::State::OutOfMemory; });
        auto& window = open();
        waitForRuns(1);
        window.openRun(keyOf(*run));
        QTRY_VERIFY(m_bench->find<QFrame>("remedies")->isVisible());
        QTRY_VERIFY(window.findChild<QPushButton*>(QStringLiteral("remedy1")) != nullptr);
        QVERIFY(m_bench->find<QPushButton>("continueWithRemedy1")->accessibleName().contains(QStringLiteral("32 → 16")));
        QVERIFY(window.findChild<QPushButton*>(QStringLiteral("continueWithRemedy2")) == nullptr);   // in a new run only
        m_bench->click<QPushButton>("continueWithRemedy1");
        QCOMPARE(m_bench->prompts.questions.size(), 1);
        m_bench->click<QPushButton>("remedy1");
        QTRY_VERIFY(window.page() == Page::NewRun);
        form::FormModel& model = window.newRunPage().model();
        QTRY_COMPARE(model.text(QStringLiteral("data.batch_size")), QStringLiteral("16"));
        QVERIFY(model.isChanged(QStringLiteral("data.batch_size")) && model.isChanged(QStringLiteral("accumulation.micro_batches")));
        QCOMPARE(model.changedKeys().size(), std::size_t(2));
    }
    void aRunWithoutACheckpointSaysWhyItCannotGoOn() {
        FixtureRun run(m_bench->workspace(), "early", yamlOf());
        run.beginSession(1);
        run.endSession(rundir::State::Failed, "No data");
        run.summary([](rundir::Summary& summary) { summary.state = rundir::State::Failed; });
        run.closeWriter();
        auto& window = open();
        waitForRuns(1);
        window.openRun(keyOf(run));
        auto* goOn = m_bench->find<QPushButton>("continueRun");
        QTRY_VERIFY(goOn->isVisible() && !goOn->isEnabled());
        QVERIFY2(goOn->toolTip().contains(QStringLiteral("no checkpoint")), qPrintable(goOn->toolTip()));
        QVERIFY(m_bench->find<QPushButton>("runAgain")->isEnabled());
        run.checkpoint(1, 10);
        window.runPage().session()->refresh();
        QTRY_VERIFY(goOn->isEnabled());
    }
    void aRankThatHangsIsNamedInTheHead() {
        FixtureRun run(m_bench->workspace(), "live", yamlOf());
        run.beginSession(1);
        run.summary([](rundir::Summary& summary) { summary.state = rundir::State::Running; });
        LiveSession live(run.folder(), 1);
        live.beat(live::Phase::Training, 0, 0, 120);
        live.setStatus("{\"hang\": {\"rank\": 1, \"silent\": true, \"seconds\": 12.4, \"place\": \"reduce gradients\", \"update\": 121}}");
        auto& window = open();
        waitForRuns(1);
        window.openRun(keyOf(run));
        auto* subtitle = m_bench->find<theme::ElidedLabel>("subtitle");
        QTRY_COMPARE(subtitle->fullText(), QStringLiteral("rank 1 silent for 12 s in reduce gradients, update 121"));
        live.setStatus("{}");
        QTRY_COMPARE(subtitle->fullText(), QString());
        run.closeWriter();
    }
    void aRunThatHangsIsToldInListAndRailAndPromisesNothing() {
        const auto run = runThatIsUp();
        LiveSession live(run->folder(), 1);
        live.beat(live::Phase::Training, 0, 0, 120);
        auto& window = open();
        waitForRuns(1);
        window.openRun(keyOf(*run));
        const auto* session = window.runPage().session().get();
        QTRY_VERIFY(session->eta().seconds.has_value() && session->eta().updatesPerSecond.has_value());
        const auto hangs = [&](const char* why) {
            run->summary([&](rundir::Summary& summary) {
                summary.state = rundir::State::Running;
                summary.why = why;
                summary.counters.globalStep = GlobalStep(120);
                summary.plannedUpdates = 900;
            });
            live.setStatus(*why == 0 ? "{}" : "{\"hang\": {\"rank\": 0, \"silent\": true, \"seconds\": 12.4, \"place\": \"forward and backward\", \"update\": 121}}");
            live.beat(live::Phase::Training, 0, 0, 120);
        };
        hangs("The worker gives no sign of life in forward and backward, update 121");
        QTRY_COMPARE(listed(), QStringLiteral("Hangs: The worker gives no sign of life in forward and backward, update 121"));
        QTRY_COMPARE(m_bench->find<QToolButton>("railRun")->accessibleDescription(), listed());
        QTRY_COMPARE(m_bench->find<theme::Pill>("statePill")->word(), QStringLiteral("Hangs"));
        QCOMPARE(session->eta().text(), QString());
        QVERIFY(!session->eta().updatesPerSecond);
        hangs("");
        QTRY_COMPARE(listed(), QStringLiteral("Running: "));
        QTRY_COMPARE(m_bench->find<theme::Pill>("statePill")->word(), QStringLiteral("Running"));
        QTRY_VERIFY(session->eta().seconds.has_value());
        run->closeWriter();
    }
    void aLostSupervisorIsToldAsEverywhereAndWhatItLeftIsEnded() {
        const auto run = runThatIsUp();
        LiveSession live(run->folder(), 1);
        live.beat(live::Phase::Training, 0, 0, 120);
        m_bench->useScript(QStringLiteral("{\"ok\": true}"), 7);   // as a run that was interrupted ends
        auto& window = open();
        waitForRuns(1);
        window.openRun(keyOf(*run));
        const auto* session = window.runPage().session().get();
        QTRY_VERIFY(session->eta().seconds.has_value());
        live.loseSupervisor();
        const QString sentence = QString::fromStdString(launch::standingOf(run->folder()).why);
        QVERIFY2(sentence.startsWith(QStringLiteral("Its supervisor was lost")), qPrintable(sentence));
        QTRY_COMPARE(m_bench->find<theme::Pill>("statePill")->word(), QStringLiteral("Stopping"));
        QCOMPARE(m_bench->find<theme::ElidedLabel>("subtitle")->fullText(), sentence);
        QTRY_COMPARE(label("runBannerText")->text(), sentence);
        QVERIFY(session->eta().text().isEmpty() && !m_bench->find<QPushButton>("pauseRun")->isVisible());
        auto* stop = m_bench->find<QPushButton>("stopRun");
        QTRY_VERIFY(stop->isEnabled() && stop->text() == QStringLiteral("Stop…"));
        m_bench->prompts.choices = {1};
        m_bench->click<QPushButton>("stopRun");
        QTRY_VERIFY2(m_bench->called().contains(QStringLiteral("stop ") + keyOf(*run)), qPrintable(m_bench->called()));
        QTRY_COMPARE(message(), QStringLiteral("live has ended."));
        run->closeWriter();
    }
    void aSupervisorThatStandsStillIsTold() {
        const auto run = runThatIsUp();
        LiveSession live(run->folder(), 1);
        live.beat(live::Phase::Training, 0, 0, 120);
        QProcess supervisor;
        supervisor.start(QStringLiteral("sleep"), {QStringLiteral("1000")});
        QVERIFY(supervisor.waitForStarted());
        auto record = rundir::readLive(run->folder());
        QVERIFY(record.ok() && *record);
        (*record)->supervisor = launch::identityOf(supervisor.processId(), "token").value();
        QVERIFY(rundir::writeLive(FileSystem::real(), run->folder(), **record).ok());
        ::kill(pid_t(supervisor.processId()), SIGSTOP);
        auto& window = open();
        waitForRuns(1);
        window.openRun(keyOf(*run));
        const QString begin = QStringLiteral("Nothing is recorded, since its supervisor stands still: process %1 is stopped").arg(supervisor.processId());
        QTRY_VERIFY2(listed().startsWith(QStringLiteral("Not recorded: ") + begin), qPrintable(listed()));
        QTRY_VERIFY2(label("runBannerText")->text().startsWith(begin), qPrintable(label("runBannerText")->text()));
        QCOMPARE(m_bench->find<theme::Pill>("statePill")->word(), QStringLiteral("Not recorded"));
        ::kill(pid_t(supervisor.processId()), SIGCONT);
        QTRY_COMPARE(listed(), QStringLiteral("Running: "));
        QTRY_VERIFY(!m_bench->find<QFrame>("runBanner")->isVisible());
        supervisor.kill();
        supervisor.waitForFinished();
        run->closeWriter();
    }
    void theQuestionWhetherToStopFollowsTheRun() {
        const auto run = runThatIsUp();
        auto live = std::make_unique<LiveSession>(run->folder(), 1);
        live->beat(live::Phase::Training, 0, 0, 120);
        live->setStatus("{\"unsaved\": {\"updates\": 9231, \"seconds\": 17}}");
        auto& window = open();
        waitForRuns(1);
        window.openRun(keyOf(*run));
        QTRY_VERIFY(m_bench->find<QPushButton>("stopRun")->isEnabled() && window.runPage().session()->unsaved());
        m_bench->click<QPushButton>("stopRun");
        QCOMPARE(m_bench->prompts.asked.size(), std::size_t(1));
        std::optional<int> chosen;
        pages::DialogPrompts().ask(&window, m_bench->prompts.asked.back(), [&](int choice) { chosen = choice; });
        auto* dialog = m_bench->find<QDialog>("prompt");
        auto* text = dialog->findChild<QLabel*>(QStringLiteral("promptQuestion"));
        QVERIFY2(text->text().contains(QLocale().toString(9231)), qPrintable(text->text()));
        live->setStatus("{\"unsaved\": {\"updates\": 18765, \"seconds\": 37}}");
        QTRY_VERIFY2(text->text().contains(QLocale().toString(18765)), qPrintable(text->text()));
        QVERIFY(!chosen);
        run->endSession(rundir::State::Completed, "Finished");
        run->summary([](rundir::Summary& summary) { summary.state = rundir::State::Completed; });
        live.reset();
        QTRY_VERIFY(chosen == -1);   // there is nothing to stop any more
        run->closeWriter();
    }
    void beforeThePlanIsKnownNothingIsSaidOfTheEnd() {
        FixtureRun run(m_bench->workspace(), "live", yamlOf());
        run.beginSession(1);
        run.summary([](rundir::Summary& summary) { summary.state = rundir::State::Starting; });
        LiveSession live(run.folder(), 1);
        live.beat(live::Phase::LoadingData, 1, 10);
        auto& window = open();
        waitForRuns(1);
        window.openRun(keyOf(run));
        auto *step = m_bench->find<theme::Metric>("metricStep"), *best = m_bench->find<theme::Metric>("metricBest");
        QTRY_COMPARE(m_bench->find<theme::Pill>("statePill")->word(), QStringLiteral("Starting"));
        QTRY_COMPARE(step->value(), QStringLiteral("0"));
        QCOMPARE(step->below() + best->below(), QString());
        run.summary([](rundir::Summary& summary) { summary.state = rundir::State::Running; });
        live.beat(live::Phase::Training, 0, 0, 1);
        QTRY_COMPARE(step->below(), QStringLiteral("no end planned"));
        QTRY_COMPARE(best->below(), QStringLiteral("none yet"));
        run.closeWriter();
    }
    void whatWentToTheTrashComesBackWithOneClick() {
        const auto run = finishedRun(*m_bench, "one");
        m_bench->useScript(QStringLiteral("{}"));
        auto& window = open();
        waitForRuns(1);
        window.openPage(Page::Runs);
        table()->selectRow(0);
        m_bench->prompts.choices = {1};
        QMetaObject::invokeMethod(table(), "customContextMenuRequested", Q_ARG(QPoint, table()->visualRect(table()->model()->index(0, 0)).center()));
        auto* menu = window.findChild<QMenu*>(QStringLiteral("runMenu"));
        QVERIFY(menu != nullptr);
        menu->actions().back()->trigger();
        menu->close();
        const QRect page = m_bench->find<QStackedWidget>("pages")->geometry();
        QTRY_COMPARE(message(), QStringLiteral("one is in the trash."));
        QCOMPARE(m_bench->find<QStackedWidget>("pages")->geometry(), page);   // nothing jumps for a message
        QVERIFY(page.contains(m_bench->find<QFrame>("messageBar")->geometry()));
        QTRY_VERIFY(m_bench->find<QPushButton>("messageAct")->isVisible());
        m_bench->click<QPushButton>("messageAct");
        QTRY_VERIFY2(m_bench->called().contains(QStringLiteral("restore ") + keyOf(*run)), qPrintable(m_bench->called()));
        QTRY_COMPARE(message(), QStringLiteral("one is back."));
        QVERIFY(!m_bench->find<QPushButton>("messageAct")->isVisible());
    }
    void whatIsInTheTrashIsListedAndComesBack() {
        m_bench->useScript(QStringLiteral("[]"));
        auto& window = open();
        window.openPage(Page::Runs);
        m_bench->click<QToolButton>("showTrash");
        auto* deleted = m_bench->find<QTableView>("trashTable");
        QTRY_VERIFY(m_bench->called().contains(QStringLiteral("trash --json")));
        QTRY_VERIFY(!deleted->isVisible());   // a sentence instead of an empty table
        QVERIFY(!m_bench->find<QPushButton>("emptyTrash")->isEnabled() && !m_bench->find<QPushButton>("restoreDeleted")->isEnabled());
        m_bench->useScript(QStringLiteral("[{\"id\": \"a\", \"name\": \"<b>one</b>\", \"folder\": \"/w/trash/20261129-one-a\", \"state\": \"out of memory\", \"step\": 1204, \"created\": \"2026-11-29T08:00:00Z\"}, "
                                          "{\"run_folder\": \"20261129-two-b\", \"checkpoint\": \"s001-000000010\"}]"));
        m_bench->click<QToolButton>("showTrash");
        m_bench->click<QToolButton>("showTrash");
        QTRY_COMPARE(deleted->model()->rowCount(), 2);
        const auto cell = [&](int row, int column) { return deleted->model()->index(row, column).data().toString(); };
        QCOMPARE(cell(0, 0), QStringLiteral("<b>one</b>"));
        QCOMPARE(cell(0, 1), QStringLiteral("Out of memory"));
        QCOMPARE(cell(0, 2), QLocale().toString(1204));
        QCOMPARE(cell(1, 1), QStringLiteral("Checkpoint"));
        QCOMPARE(cell(1, 2), QStringLiteral("10"));
        m_bench->click<QPushButton>("restoreDeleted");
        QTRY_VERIFY2(m_bench->called().contains(QStringLiteral("restore 20261129-one-a")), qPrintable(m_bench->called()));
        QTRY_COMPARE(message(), QStringLiteral("<b>one</b> is back."));
        deleted->setFocus();
        QTest::keyClick(deleted, Qt::Key_Down);
        QTest::keyClick(deleted, Qt::Key_Return);
        QTRY_VERIFY2(m_bench->called().contains(QStringLiteral("restore 20261129-two-b@s001-000000010")), qPrintable(m_bench->called()));
    }
    void theTrashIsEmptiedOnlyAfterItWasSaidWhatIsInIt() {
        m_bench->useScript(QStringLiteral("[{\"id\": \"a\", \"folder\": \"/w/trash/one-a\"}, {\"id\": \"b\", \"folder\": \"/w/trash/two-b\"}, "
                                          "{\"checkpoint\": \"s001-000000010\", \"folder\": \"/w/trash/three-c@s001-000000010\"}]"));
        auto& window = open();
        window.openPage(Page::Runs);
        m_bench->click<QToolButton>("showTrash");
        QTRY_VERIFY(m_bench->find<QPushButton>("emptyTrash")->isEnabled());
        m_bench->prompts.choices = {0, 1};
        for (int times = 1; times <= 2; ++times) {
            m_bench->click<QPushButton>("emptyTrash");
            QTRY_COMPARE(m_bench->prompts.questions.size(), times);
            QVERIFY2(m_bench->prompts.questions.back().contains(QStringLiteral("2 runs, 1 checkpoint")), qPrintable(m_bench->prompts.questions.back()));
            if (times == 1) QVERIFY(!m_bench->called().contains(QStringLiteral("--empty")));
        }
        // What was counted, and nothing that came into the trash since.
        QTRY_VERIFY2(m_bench->called().contains(QStringLiteral("trash --empty one-a two-b three-c@s001-000000010 ")), qPrintable(m_bench->called()));
        QTRY_COMPARE(message(), QStringLiteral("2 runs, 1 checkpoint removed for good."));
    }
    void theTrashShowsWhatIsDeletedElsewhere() {
        m_bench->useScript(QStringLiteral("[]"));
        auto& window = open();
        window.openPage(Page::Runs);
        m_bench->click<QToolButton>("showTrash");
        auto* deleted = m_bench->find<QTableView>("trashTable");
        QTRY_VERIFY(m_bench->called().contains(QStringLiteral("trash --json")));
        QTRY_VERIFY(!deleted->isVisible());
        m_bench->useScript(QStringLiteral("[{\"id\": \"a\", \"name\": \"one\", \"folder\": \"/w/trash/one-a\", \"state\": \"stopped\", \"step\": 1, \"created\": \"2026-11-29T08:00:00Z\"}]"));
        std::filesystem::create_directories(m_bench->workspace() / "trash/one-a");
        QTRY_COMPARE(deleted->model()->rowCount(), 1);
        QTRY_VERIFY(deleted->isVisible() && m_bench->find<QPushButton>("emptyTrash")->isEnabled());
        m_bench->useScript(QStringLiteral("[]"));
        std::filesystem::remove(m_bench->workspace() / "trash/one-a");
        QTRY_VERIFY(!deleted->isVisible());
    }
    void aPauseHoldsTheMemoryOrReleasesIt() {
        FixtureRun run(m_bench->workspace(), "live", yamlOf());
        run.beginSession(1);
        run.summary([](rundir::Summary& summary) { summary.state = rundir::State::Running; });
        LiveSession live(run.folder(), 1);
        live.beat(live::Phase::Training, 0, 0, 5);
        auto& window = open();
        waitForRuns(1);
        window.openRun(keyOf(run));
        auto* how = m_bench->find<QToolButton>("pauseHow");
        QTRY_VERIFY(how->isVisible() && how->isEnabled());
        for (int choice = 0; choice < 2; ++choice) {
            m_bench->click<QToolButton>("pauseHow");
            auto* menu = window.findChild<QMenu*>(QStringLiteral("pauseMenu"));
            QVERIFY(menu != nullptr && menu->actions().size() == 2);
            menu->actions()[choice]->trigger();
            delete menu;
        }
        QTRY_COMPARE(live.requests(), (std::vector<live::Verb>{live::Verb::Pause, live::Verb::Release}));
        run.closeWriter();
    }
    void aStopTellsItsStageAndCanBeMadeHarder() {
        FixtureRun run(m_bench->workspace(), "live", yamlOf());
        run.beginSession(1);
        run.points(1204, {{"train/loss", 1.0}});
        run.flush();
        run.summary([](rundir::Summary& summary) {
            summary.state = rundir::State::Running;
            summary.counters.globalStep = GlobalStep(1204);
        });
        LiveSession live(run.folder(), 1);
        live.beat(live::Phase::Training, 0, 0, 1204);
        auto& window = open();
        waitForRuns(1);
        window.openRun(keyOf(run));
        auto* stop = m_bench->find<QPushButton>("stopRun");
        QTRY_VERIFY(stop->isEnabled());
        auto* subtitle = m_bench->find<theme::ElidedLabel>("subtitle");
        live.setStatus("{\"stopping\": {\"stage\": \"finishing-update\", \"seconds_left\": 52.2, \"discards\": false}, \"unsaved\": {\"updates\": 1204, \"seconds\": 62}}");
        live.beat(live::Phase::Finishing, 0, 0, 1204);
        QTRY_VERIFY2(subtitle->fullText().startsWith(QStringLiteral("finishing the update after %1 · ").arg(QLocale().toString(1204))), qPrintable(subtitle->fullText()));
        QVERIFY2(subtitle->fullText().endsWith(QStringLiteral("told to leave in 52 s")), qPrintable(subtitle->fullText()));
        QTRY_COMPARE(stop->text(), QStringLiteral("Stop at once…"));
        m_bench->prompts.choices = {0, 1};
        m_bench->click<QPushButton>("stopRun");
        QVERIFY2(m_bench->prompts.questions.back().contains(QStringLiteral("1,204 updates")) || m_bench->prompts.questions.back().contains(QStringLiteral("1204 updates")), qPrintable(m_bench->prompts.questions.back()));
        QVERIFY(live.requests().empty());   // it was let finish
        m_bench->click<QPushButton>("stopRun");
        QTRY_COMPARE(live.requests(), std::vector<live::Verb>{live::Verb::Discard});
        live.setStatus("{\"stopping\": {\"stage\": \"told-to-leave\", \"seconds_left\": 12, \"discards\": true}}");
        QTRY_VERIFY2(subtitle->fullText().endsWith(QStringLiteral("ends by force in 12 s")), qPrintable(subtitle->fullText()));
        QTRY_VERIFY(!stop->isEnabled());
        run.closeWriter();
    }
};

QTEST_MAIN(TestWindowEndings)
#include "tst_window_endings.moc"
