// labels: gui process
// timeout: 300
// The queue in the real window with the real trainer: what waits, in which order, what a person changes in it.
#include "base/file_system.h"
#include "keeper_pid.h"
#include "launch/queue/device_lock.h"
#include "window_bench.h"

#include "pages/new_run_page.h"
#include "pages/queue_page.h"
#include "pages/runs_page.h"
#include "shell/message_bar.h"
#include "theme/parts.h"

#include <QComboBox>
#include <QLabel>
#include <QMenu>
#include <QMimeData>
#include <QProcess>
#include <QPushButton>
#include <QTableView>
#include <QToolButton>

#include <csignal>

using namespace lathe;
using models::QueueModel;
using models::RunsModel;
using rundir::State;
using shell::Page;
using tests::WindowBench;

class TestQueuePage : public QObject {
    Q_OBJECT

    std::unique_ptr<WindowBench> m_bench;
    std::optional<launch::DeviceLock> m_busy;   ///< keeps the processor from the queue

    launch::Queue queue() const { return launch::Queue::ofThisUser(); }
    shell::MainWindow& window() const { return *m_bench->window; }
    QueueModel& model() const { return window().queuePage().model(); }
    QTableView* table() const { return m_bench->find<QTableView>("queueTable"); }
    QStringList names() const {
        QStringList names;
        for (int row = 0; row < model().rowCount(); ++row) names << cell(row, QueueModel::Name);
        return names;
    }
    QString cell(int row, QueueModel::Column column) const { return model().index(row, column).data().toString(); }
    void put(const QString& name) {
        window().openPage(Page::NewRun);
        window().newRunPage().model().setText(QStringLiteral("run.name"), name);
        QTRY_VERIFY(m_bench->find<QPushButton>("startQueued")->isEnabled());
        const int before = model().rowCount();
        m_bench->click<QPushButton>("startQueued");
        QTRY_VERIFY2(model().rowCount() == before + 1, qPrintable(window().messages().text()));
    }
    void select(int row) {
        window().openPage(Page::Queue);
        table()->setFocus();
        table()->selectRow(row);
    }
    int trainer(const QStringList& words) const {
        QProcess process;
        process.start(QStringLiteral(LATHE_BIN_DIR "/lathe-trainer"), words);
        return process.waitForFinished() ? process.exitCode() : -1;
    }
    State stateOf(const QString& name) const {
        for (const session::RunEntry& entry : window().workspace().runs())
            if (entry.name() == name) return entry.state;
        return State::Lost;
    }

private Q_SLOTS:
    void init() {
        m_bench = std::make_unique<WindowBench>();
        qputenv("LATHE_PROGRAMS", LATHE_BIN_DIR "/../tests/fake");
        qputenv("LATHE_FAKE_SCRIPT", "points 3; end completed, 3");
        qputenv("XDG_CONFIG_HOME", m_bench->folder.filePath(QStringLiteral("config")).toUtf8());
        m_bench->script = QStringLiteral(LATHE_BIN_DIR "/lathe-trainer");
        m_busy = std::move(*launch::DeviceLock::take("cpu", launch::DeviceLock::Use::Shared));
        m_bench->open();
    }
    void cleanup() {
        if (const auto state = queue().read(); state.ok())
            for (const auto& entry : state->entries) trainer({QStringLiteral("queue"), QStringLiteral("remove"), QString::fromStdString(entry.run)});
        m_busy.reset();
        QTRY_VERIFY(!queue().keeperIsUp());
        m_bench.reset();
    }

    void aRunIsPutInTheQueueAndTheFormStaysOpen() {
        put(QStringLiteral("one"));
        QVERIFY(window().page() == Page::NewRun);
        QVERIFY2(window().messages().text().contains(QStringLiteral("one is in the queue")), qPrintable(window().messages().text()));
        put(QStringLiteral("two"));
        QCOMPARE(names(), (QStringList{QStringLiteral("one"), QStringLiteral("two")}));
        QTRY_COMPARE(m_bench->find<QToolButton>("railQueue")->text().trimmed(), QStringLiteral("Queue · 2"));
        QCOMPARE(cell(0, QueueModel::WaitsFor), QStringLiteral("Waits for the processor"));
        QCOMPARE(cell(1, QueueModel::WaitsFor), QStringLiteral("Waits behind one"));
        window().openPage(Page::Runs);
        RunsModel& runs = window().runsPage().model();
        QTRY_COMPARE(runs.rowCount(), 2);
        for (int row = 0; row < 2; ++row) {
            QTRY_VERIFY(runs.index(row, RunsModel::State).data(RunsModel::StateRole).toInt() == int(State::Queued));
            QCOMPARE(runs.index(row, RunsModel::State).data(RunsModel::PlaceRole).toInt(), runs.index(row, RunsModel::Name).data().toString() == QStringLiteral("one") ? 1 : 2);
        }
    }
    void itsRunPageSaysWhereItStandsAndGoesLiveByItself() {
        put(QStringLiteral("one"));
        window().openRun(QString::fromStdString(window().workspace().runs().empty() ? queue().read()->entries[0].folder.filename().string() : window().workspace().runs()[0].folder));
        QTRY_COMPARE(m_bench->find<theme::Pill>("statePill")->word(), QStringLiteral("Queued"));
        QTRY_COMPARE(m_bench->find<QLabel>("runBannerText")->text(), QStringLiteral("Place 1 in the queue. Waits for the processor"));
        QCOMPARE(m_bench->find<QPushButton>("stopRun")->text(), QStringLiteral("Take out…"));
        QVERIFY(!m_bench->find<QPushButton>("continueRun")->isVisible());
        m_busy.reset();
        QTRY_COMPARE(m_bench->find<theme::Pill>("statePill")->word(), QStringLiteral("Completed"));
        QTRY_VERIFY(model().rowCount() == 0);
        QTRY_COMPARE(m_bench->find<QToolButton>("railQueue")->text().trimmed(), QStringLiteral("Queue"));
    }
    void keysMoveHoldAndTakeOut() {
        for (const char* name : {"one", "two", "three"}) put(QString::fromLatin1(name));
        select(2);
        QTest::keyClick(table(), Qt::Key_Up, Qt::AltModifier);
        QTRY_COMPARE(names(), (QStringList{QStringLiteral("one"), QStringLiteral("three"), QStringLiteral("two")}));
        QCOMPARE(table()->currentIndex().row(), 1);   // the selection goes along
        QTest::keyClick(table(), Qt::Key_Home, Qt::AltModifier);
        QTRY_COMPARE(names().front(), QStringLiteral("three"));
        QTest::keyClick(table(), Qt::Key_End, Qt::AltModifier);
        QTRY_COMPARE(names(), (QStringList{QStringLiteral("one"), QStringLiteral("two"), QStringLiteral("three")}));
        select(0);
        QTest::keyClick(table(), Qt::Key_Space);
        QTRY_COMPARE(cell(0, QueueModel::State), QStringLiteral("Held"));
        QTRY_COMPARE(cell(1, QueueModel::WaitsFor), QStringLiteral("Waits for the processor"));   // it is passed
        QTRY_COMPARE(m_bench->find<QPushButton>("queueHold")->text(), QStringLiteral("Release"));
        m_bench->click<QPushButton>("queueHold");
        QTRY_COMPARE(cell(0, QueueModel::State), QStringLiteral("Next"));
        table()->setFocus();
        m_bench->prompts.choices = {-1, 1};
        QTest::keyClick(table(), Qt::Key_Delete);
        QCOMPARE(m_bench->prompts.questions.size(), 1);
        QTest::keyClick(table(), Qt::Key_Delete);
        QTRY_COMPARE(names(), (QStringList{QStringLiteral("two"), QStringLiteral("three")}));
        QTRY_VERIFY(stateOf(QStringLiteral("one")) == State::Cancelled);
        QVERIFY(stateOf(QStringLiteral("two")) == State::Queued);
    }
    void aDraggedRowMovesWhereItIsDropped() {
        for (const char* name : {"one", "two", "three"}) put(QString::fromLatin1(name));
        window().openPage(Page::Queue);
        QVERIFY(table()->dragDropMode() == QAbstractItemView::InternalMove);
        std::unique_ptr<QMimeData> first(model().mimeData({model().index(0, QueueModel::Name)}));
        QVERIFY(model().dropMimeData(first.get(), Qt::MoveAction, 2, 0, {}));   // between two and three
        QTRY_COMPARE(names(), (QStringList{QStringLiteral("two"), QStringLiteral("one"), QStringLiteral("three")}));
        std::unique_ptr<QMimeData> last(model().mimeData({model().index(2, QueueModel::Name)}));
        QVERIFY(model().dropMimeData(last.get(), Qt::MoveAction, 0, 0, {}));
        QTRY_COMPARE(names(), (QStringList{QStringLiteral("three"), QStringLiteral("two"), QStringLiteral("one")}));
        QMimeData other;
        other.setText(QStringLiteral("three"));
        QVERIFY(!model().dropMimeData(&other, Qt::MoveAction, 0, 0, {}));
    }
    void changesFromTheCommandLineShowUp() {
        for (const char* name : {"one", "two"}) put(QString::fromLatin1(name));
        select(0);
        QCOMPARE(trainer({QStringLiteral("queue"), QStringLiteral("move"), QStringLiteral("two"), QStringLiteral("first")}), 0);
        QTRY_COMPARE(names(), (QStringList{QStringLiteral("two"), QStringLiteral("one")}));
        QCOMPARE(trainer({QStringLiteral("queue"), QStringLiteral("hold"), QStringLiteral("two")}), 0);
        QTRY_COMPARE(cell(0, QueueModel::State), QStringLiteral("Held"));
        auto* policy = m_bench->find<QComboBox>("queuePolicy");
        QCOMPARE(policy->currentIndex(), 0);
        policy->setFocus();
        QTest::keyClick(policy, Qt::Key_Down);
        QTRY_VERIFY(queue().read()->holdAfterFailure);
        QCOMPARE(trainer({QStringLiteral("queue"), QStringLiteral("after-failure"), QStringLiteral("go-on")}), 0);
        QTRY_COMPARE(policy->currentIndex(), 0);
        QCOMPARE(trainer({QStringLiteral("queue"), QStringLiteral("remove"), QStringLiteral("one")}), 0);
        QTRY_COMPARE(names(), QStringList{QStringLiteral("two")});
    }
    void aRunThatEndedGoesOnFromTheQueue() {
        qputenv("LATHE_FAKE_SCRIPT", "points 3; save; end stopped, 4");
        m_busy.reset();
        QCOMPARE(trainer({QStringLiteral("run"), QStringLiteral("digits-mlp"), QStringLiteral("--set"), QStringLiteral("run.name=one"), QStringLiteral("--workspace"), m_bench->folder.path()}), 4);
        m_busy = std::move(*launch::DeviceLock::take("cpu", launch::DeviceLock::Use::Shared));
        window().openPage(Page::Runs);
        auto* runs = m_bench->find<QTableView>("runsTable");
        QTRY_COMPARE(window().runsPage().model().rowCount(), 1);
        runs->selectRow(0);
        QMetaObject::invokeMethod(runs, "customContextMenuRequested", Q_ARG(QPoint, QPoint(20, 10)));
        auto* menu = window().findChild<QMenu*>(QStringLiteral("runMenu"));
        QVERIFY(menu != nullptr);
        for (QAction* action : menu->actions())
            if (action->text() == QStringLiteral("Continue in the queue")) action->trigger();
        menu->close();
        QTRY_COMPARE(names(), QStringList{QStringLiteral("one")});
        QTRY_VERIFY2(window().messages().text().contains(QStringLiteral("one is in the queue and goes on")), qPrintable(window().messages().text()));
        QTRY_VERIFY(stateOf(QStringLiteral("one")) == State::Queued);
    }
    void fromACheckpointEverythingCanWaitThatCanStart() {
        qputenv("LATHE_FAKE_SCRIPT", "points 3; save; end stopped, 4");
        m_busy.reset();
        QCOMPARE(trainer({QStringLiteral("run"), QStringLiteral("digits-mlp"), QStringLiteral("--set"), QStringLiteral("run.name=one"), QStringLiteral("--workspace"), m_bench->folder.path()}), 4);
        m_busy = std::move(*launch::DeviceLock::take("cpu", launch::DeviceLock::Use::Shared));
        window().openPage(Page::Runs);
        QTRY_COMPARE(window().runsPage().model().rowCount(), 1);
        window().openRun(window().runsPage().model().index(0, 0).data(RunsModel::FolderRole).toString(), pages::RunPage::Checkpoints);
        auto* button = m_bench->find<QPushButton>("queueCheckpoint");
        QTRY_VERIFY2(button->isEnabled(), qPrintable(button->toolTip()));
        const auto choose = [&](int entry) {
            m_bench->click<QPushButton>("queueCheckpoint");
            auto* menu = window().findChild<QMenu*>(QStringLiteral("queueCheckpointMenu"));
            if (menu == nullptr) qFatal("no menu");
            menu->actions().at(entry)->trigger();
            delete menu;
        };
        for (const int count : {1, 2}) {   // a fork, then weights: new runs
            choose(count + 1);
            QTRY_VERIFY2(model().rowCount() == count, qPrintable(window().messages().text()));
            QTRY_VERIFY2(window().messages().text().contains(QStringLiteral("starts when its device is free")), qPrintable(window().messages().text()));
        }
        QVERIFY(!names().contains(QStringLiteral("one")));
        m_bench->prompts.sheets = {pages::SheetAnswer{QStringLiteral("fork"), {QStringLiteral("run.name=changed")}, false, session::When::Queued}};
        m_bench->click<QPushButton>("goOnWithChanges");
        QTRY_VERIFY2(model().rowCount() == 3, qPrintable(window().messages().text()));
        QCOMPARE(names().back(), QStringLiteral("changed"));
        QVERIFY(window().page() == Page::Run);
        m_bench->prompts.choices = {2};
        choose(1);
        QTRY_VERIFY2(model().rowCount() == 4, qPrintable(window().messages().text()));
        QCOMPARE(names().back(), QStringLiteral("one"));
        QTRY_VERIFY2(window().messages().text().contains(QStringLiteral("one is in the queue and goes on")), qPrintable(window().messages().text()));
        QTRY_VERIFY(stateOf(QStringLiteral("one")) == State::Queued);
    }
    void aKeeperThatDiedIsSaidAndComesBackOnAWish() {
        put(QStringLiteral("one"));
        window().openPage(Page::Queue);
        QTRY_VERIFY(queue().keeperIsUp());
        auto* notice = m_bench->find<QFrame>("queueNotice");
        QTRY_VERIFY(!notice->isVisible());
        const auto pid = test::keeperPid(queue());
        QVERIFY(pid > 0);
        ::kill(pid_t(pid), SIGKILL);
        QTRY_VERIFY(notice->isVisible());
        QVERIFY(m_bench->find<QLabel>("queueNoticeText")->text().contains(QStringLiteral("not at work")));
        m_bench->click<QPushButton>("wakeKeeper");
        QTRY_VERIFY(!notice->isVisible());
        QVERIFY(queue().keeperIsUp());
    }
    void whatCanNeverFitIsRefusedWithItsSentence() {
        window().newRunPage().model().setText(QStringLiteral("parallel.device"), QStringLiteral("GPU-00000000-0000-0000-0000-000000000000"));
        QTRY_VERIFY(m_bench->find<QPushButton>("startQueued")->isEnabled());
        m_bench->click<QPushButton>("startQueued");
        QTRY_VERIFY2(window().messages().text().contains(QStringLiteral("GPU-00000000-0000-0000-0000-000000000000")), qPrintable(window().messages().text()));
        QCOMPARE(model().rowCount(), 0);
        QVERIFY(window().page() == Page::NewRun);
    }
    void aDamagedQueueIsToldAndNothingIsTouched() {
        put(QStringLiteral("one"));
        window().openPage(Page::Queue);
        QVERIFY(replaceFile(FileSystem::real(), queue().file(), "{not json").ok());
        auto* notice = m_bench->find<QFrame>("queueNotice");
        QTRY_VERIFY(notice->isVisible());
        QTRY_VERIFY2(m_bench->find<QLabel>("queueNoticeText")->text().contains(QStringLiteral("queue.json")), qPrintable(m_bench->find<QLabel>("queueNoticeText")->text()));
        QVERIFY(!m_bench->find<QPushButton>("wakeKeeper")->isVisible());
        QVERIFY(std::filesystem::remove(queue().file()));
        QTRY_VERIFY(!notice->isVisible());
        QTRY_COMPARE(model().rowCount(), 0);
    }
};

QTEST_MAIN(TestQueuePage)
#include "tst_queue_page.moc"
