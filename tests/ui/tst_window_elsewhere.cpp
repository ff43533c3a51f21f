// labels: gui
// timeout: 240
// What happens to runs and their folders elsewhere while the window is open, and how long the window speaks of it.
#include "window_runs.h"

#include "base/clock.h"
#include "pages/run_verbs.h"
#include "pages/runs_page.h"
#include "shell/message_bar.h"

#include <QLabel>
#include <QPushButton>
#include <QStackedWidget>
#include <QToolButton>

#include <algorithm>

using namespace lathe;
using shell::Page;
using tests::finishedRun;
using tests::FixtureRun;
using tests::keyOf;
using tests::LiveSession;
using tests::WindowBench;
using tests::yamlOf;

class TestWindowElsewhere : public QObject {
    Q_OBJECT

    std::unique_ptr<WindowBench> m_bench;

    shell::MainWindow& open(bool restore = false) { return m_bench->open(restore); }
    QString message() const { return m_bench->window->messages().text(); }
    void waitForRuns(int count) { QTRY_COMPARE(m_bench->window->runsPage().model().rowCount(), count); }

    /// A run that is up for as long as what `alive` holds lives.
    std::unique_ptr<FixtureRun> runThatIsUp(const std::string& name, std::unique_ptr<LiveSession>& alive) {
        auto run = std::make_unique<FixtureRun>(m_bench->workspace(), name, yamlOf());
        run->beginSession(1);
        run->summary([](rundir::Summary& summary) { summary.state = rundir::State::Running; });
        alive = std::make_unique<LiveSession>(run->folder(), 1);
        alive->beat(live::Phase::Training, 0, 0, 1);
        return run;
    }
    static void fails(FixtureRun& run, std::unique_ptr<LiveSession>& alive) {
        run.endSession(rundir::State::Failed, "Cannot read /nowhere");
        run.summary([](rundir::Summary& summary) {
            summary.state = rundir::State::Failed;
            summary.why = "Cannot read /nowhere";
            summary.endedNs = Clock::system().wallNs();
        });
        run.closeWriter();
        alive.reset();
    }
    bool isUp(std::size_t count) const {
        std::size_t up = 0;
        for (const session::RunEntry& entry : m_bench->window->workspace().runs()) up += rundir::isAlive(entry.state) ? 1 : 0;
        return up == count;
    }

private Q_SLOTS:
    void init() { m_bench = std::make_unique<WindowBench>(); }
    void cleanup() { m_bench.reset(); }

    void aRunThatFailsWhileAnotherPageIsOpenIsToldUntilSomebodyHasLooked() {
        std::unique_ptr<LiveSession> one, two;
        const auto first = runThatIsUp("one", one), second = runThatIsUp("two", two);
        open();
        waitForRuns(2);
        QTRY_VERIFY(isUp(2));
        fails(*first, one);
        QTRY_COMPARE(message(), QStringLiteral("one: Failed. Cannot read /nowhere"));
        QTRY_COMPARE(m_bench->notifier.said.size(), 1);
        // What is said in between does not take it away.
        m_bench->window->messages().say(QStringLiteral("Done."));
        m_bench->click<QToolButton>("closeMessage");
        QCOMPARE(message(), QStringLiteral("one: Failed. Cannot read /nowhere"));
        m_bench->window->openPage(Page::Devices);
        QCOMPARE(message(), QStringLiteral("one: Failed. Cannot read /nowhere"));
        fails(*second, two);
        QTRY_VERIFY2(message().startsWith(QStringLiteral("2 runs have ended badly: ")), qPrintable(message()));
        m_bench->window->openRun(keyOf(*second));
        QCOMPARE(message(), QStringLiteral("one: Failed. Cannot read /nowhere"));   // the other one was looked at
        // Nobody looked before the window was closed: the next one says so.
        m_bench->close();
        open();
        auto* away = m_bench->find<QFrame>("awayBar");
        QTRY_VERIFY(away->isVisible());
        const auto links = away->findChildren<QPushButton*>();
        QVERIFY(std::any_of(links.begin(), links.end(), [](const QPushButton* link) { return link->accessibleName() == QStringLiteral("one"); }));
        m_bench->close();
        open();
        waitForRuns(2);
        QVERIFY(!m_bench->find<QFrame>("awayBar")->isVisible());
    }
    void theNoticeOfARunThatFailedOpensIt() {
        std::unique_ptr<LiveSession> live;
        const auto run = runThatIsUp("one", live);
        auto& window = open();
        waitForRuns(1);
        QTRY_VERIFY(isUp(1));
        fails(*run, live);
        QTRY_COMPARE(message(), QStringLiteral("one: Failed. Cannot read /nowhere"));
        m_bench->click<QPushButton>("messageAct");
        QVERIFY(window.page() == Page::Run && window.runPage().folder() == keyOf(*run));
        QCOMPARE(message(), QString());
    }
    void aSecondClickOnContinueStartsNothing() {
        const auto run = finishedRun(*m_bench, "one");
        run->summary([](rundir::Summary& summary) { summary.state = rundir::State::Stopped; });
        m_bench->useScript(QStringLiteral("{\"folder\": \"/w/runs/%1\", \"name\": \"one\"}").arg(keyOf(*run)));
        auto& window = open();
        waitForRuns(1);
        window.openRun(keyOf(*run));
        auto* goOn = m_bench->find<QPushButton>("continueRun");
        QTRY_VERIFY(goOn->isVisible() && goOn->isEnabled());
        QTest::mouseClick(goOn, Qt::LeftButton);
        QVERIFY(!goOn->isEnabled());
        window.findChild<pages::RunVerbs*>()->continueRun(keyOf(*run));   // from wherever it is asked for
        window.findChild<pages::RunVerbs*>()->rollBack(keyOf(*run), QStringLiteral("s001-000000030"), 30, 60);
        QTRY_VERIFY(goOn->isEnabled());
        QCOMPARE(m_bench->called().count(QStringLiteral("--detach")), 1);
        QTest::mouseClick(goOn, Qt::LeftButton);   // later it is asked for again
        QTRY_COMPARE(m_bench->called().count(QStringLiteral("continue ")), 2);
    }
    void anErrorNamesItsRunAndGoesWhenThatIsActedOnOrAnotherPageIsOpened() {
        const auto run = finishedRun(*m_bench, "one");
        run->summary([](rundir::Summary& summary) { summary.state = rundir::State::Stopped; });
        m_bench->useScript(QStringLiteral("{\"error\": {\"code\": \"in_use\", \"sentence\": \"It is in use by another process; lathe-trainer runs lists who\"}}"), 8);
        auto& window = open();
        waitForRuns(1);
        window.openRun(keyOf(*run));
        auto* goOn = m_bench->find<QPushButton>("continueRun");
        QTRY_VERIFY(goOn->isVisible() && goOn->isEnabled());
        QTest::mouseClick(goOn, Qt::LeftButton);
        QTRY_COMPARE(message(), QStringLiteral("one: It is in use by another process"));   // and nothing to type
        window.openPage(Page::Runs);
        QCOMPARE(message(), QString());
        window.openRun(keyOf(*run));
        QTest::mouseClick(goOn, Qt::LeftButton);
        QTRY_COMPARE(message(), QStringLiteral("one: It is in use by another process"));
        window.openRun(keyOf(*run));
        QCOMPARE(message(), QStringLiteral("one: It is in use by another process"));   // it is about this page
        m_bench->useScript(QStringLiteral("{\"folder\": \"/w/runs/%1\", \"name\": \"one\"}").arg(keyOf(*run)));
        QTRY_VERIFY(goOn->isEnabled());
        QTest::mouseClick(goOn, Qt::LeftButton);
        QCOMPARE(message(), QString());
    }
    void aRunThatIsMovedToTheTrashElsewhereSaysSoAndComesBack() {
        const auto run = finishedRun(*m_bench, "one");
        const std::filesystem::path place = run->folder().place(), trash = m_bench->workspace() / "trash" / place.filename();
        m_bench->useScript(QStringLiteral("{}"));
        auto& window = open();
        waitForRuns(1);
        window.openRun(keyOf(*run));
        auto* bar = m_bench->find<QFrame>("goneBar");
        auto* goOn = m_bench->find<QPushButton>("continueRun");
        QTRY_VERIFY(goOn->isVisible() && goOn->isEnabled());
        QVERIFY(!bar->isVisible());
        std::filesystem::create_directory(trash.parent_path());
        std::filesystem::rename(place, trash);
        QTRY_VERIFY(bar->isVisible());
        QVERIFY2(m_bench->find<QLabel>("goneText")->text().startsWith(QStringLiteral("one is in the trash.")), qPrintable(m_bench->find<QLabel>("goneText")->text()));
        QVERIFY(!goOn->isEnabled() && goOn->toolTip().contains(QStringLiteral("trash")));
        QVERIFY(!m_bench->find<QPushButton>("runAgain")->isEnabled() && !m_bench->find<QToolButton>("runMore")->isEnabled());
        m_bench->click<QPushButton>("restoreRun");
        QTRY_VERIFY2(m_bench->called().contains(QStringLiteral("restore ") + keyOf(*run)), qPrintable(m_bench->called()));
        std::filesystem::rename(trash, place);
        QTRY_VERIFY(!bar->isVisible() && goOn->isEnabled());
        // Removed for good: what was seen stays, in words for people.
        std::filesystem::remove_all(place);
        QTRY_VERIFY(bar->isVisible());
        QVERIFY2(m_bench->find<QLabel>("goneText")->text().startsWith(QStringLiteral("The folder of one is not there any more.")), qPrintable(m_bench->find<QLabel>("goneText")->text()));
        QVERIFY(!m_bench->find<QPushButton>("restoreRun")->isVisible() && !goOn->isEnabled());
        QCOMPARE(window.runPage().session()->name(), QStringLiteral("one"));
        QVERIFY(window.runPage().session()->standing().state == rundir::State::Completed && window.runPage().session()->problem() == QStringLiteral("The folder of the run is not there."));
    }
    void aLongMessageIsWhole() {
        auto& window = open();
        for (const QSize size : {QSize(960, 600), QSize(1440, 900)}) {
            window.resize(size);
            QTRY_COMPARE(window.width(), size.width());
            for (int words = 4; words < 60; words += 3) {
                window.messages().fail(QStringLiteral("something happened ").repeated(words).trimmed());
                auto* text = m_bench->find<QLabel>("message");
                QVERIFY2(text->height() >= text->heightForWidth(text->width()), qPrintable(QStringLiteral("%1 words: %2 of %3").arg(words).arg(text->height()).arg(text->heightForWidth(text->width()))));
                QVERIFY(m_bench->find<QStackedWidget>("pages")->geometry().contains(m_bench->find<QFrame>("messageBar")->geometry()));
            }
        }
    }
    void aRunThatLeftTheQueueMeanwhileIsSaidToHaveLeft() {
        m_bench->useScript(QStringLiteral("{\"error\": {\"code\": \"not_found\", \"sentence\": \"\\\"abc\\\" is not in the queue; lathe-trainer queue lists what is\"}}"), 2);
        auto& window = open();
        m_bench->prompts.choices = {1};
        window.findChild<pages::RunVerbs*>()->takeOutOfQueue(QStringLiteral("abc"), QStringLiteral("one"));
        QTRY_COMPARE(message(), QStringLiteral("one does not wait any more: it was started, or taken out elsewhere."));
    }
};

QTEST_MAIN(TestWindowElsewhere)
#include "tst_window_elsewhere.moc"
