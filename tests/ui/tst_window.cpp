// labels: gui
// The real window by mouse and keyboard, on run folders as a trainer leaves them.
#include "stand_in_worker.h"
#include "window_runs.h"

#include "charts/run_charts.h"
#include "pages/charts_tab.h"
#include "pages/compare_page.h"
#include "pages/devices_page.h"
#include "pages/new_run_page.h"
#include "pages/runs_delegate.h"
#include "pages/runs_page.h"
#include "pages/schedule_preview.h"
#include "form/schema_form.h"
#include "models/checkpoints_model.h"
#include "shell/message_bar.h"
#include "theme/parts.h"

#include <QDropEvent>
#include <QHeaderView>
#include <QLabel>
#include <QLineEdit>
#include <QListWidget>
#include <QMenu>
#include <QMimeData>
#include <QPlainTextEdit>
#include <QTabBar>
#include <QTableView>
#include <QTreeView>
#include <QUrl>

using namespace lathe;
using models::RunsModel;
using shell::Page;
using tests::finishedRun;
using tests::FixtureRun;
using tests::keyOf;
using tests::LiveSession;
using tests::WindowBench;
using tests::yamlOf;

class TestWindow : public QObject {
    Q_OBJECT

    std::unique_ptr<WindowBench> m_bench;

    shell::MainWindow& open(bool restore = false) { return m_bench->open(restore); }
    QTableView* table() const { return m_bench->find<QTableView>("runsTable"); }
    QLabel* label(const char* name) const { return m_bench->find<QLabel>(name); }
    QString message() const { return m_bench->window->messages().text(); }
    void waitForRuns(int count) { QTRY_COMPARE(m_bench->window->runsPage().model().rowCount(), count); }

    void dropOnDataCard(const QString& path) {
        QMimeData data;
        data.setUrls({QUrl::fromLocalFile(path)});
        auto* card = m_bench->find<QFrame>("dataCard");
        QDragEnterEvent enter(QPoint(20, 20), Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
        QApplication::sendEvent(card, &enter);
        QVERIFY(enter.isAccepted());
        QDropEvent drop(QPointF(20, 20), Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
        QApplication::sendEvent(card, &drop);
    }

private Q_SLOTS:
    void init() { m_bench = std::make_unique<WindowBench>(); }
    void cleanup() { m_bench.reset(); }

    void aFirstStartShowsAPresetThatIsReadyToStart() {
        auto& window = open();
        QVERIFY(window.page() == Page::NewRun);
        QVERIFY(m_bench->find<QPushButton>("start")->isEnabled());
        QTRY_COMPARE(label("dataSentence")->text(), QStringLiteral("1,797 images · 10 classes"));
        QTRY_VERIFY(label("plannedUpdates")->text().contains(QStringLiteral("updates an epoch")));
    }
    void theCurveOfAPluginIsDrawnAsItsWorkerSaysOrSaidToBeUnknown() {
        auto& window = open();
        const auto* preview = m_bench->find<pages::SchedulePreview>("schedulePreview");
        QVERIFY(!preview->factors().empty());
        {
            const test::StandInWorker worker(R"(shift 3; printf '{"factors": ['; for step; do printf '0.25,'; done | sed 's/,$//'; printf ']}')");
            window.newRunPage().model().setText(QStringLiteral("plugins.use"), QStringLiteral("mine"));
            window.newRunPage().model().setText(QStringLiteral("schedule.name"), QStringLiteral("mine/flat"));
            QTRY_VERIFY(preview->factors() == std::vector<double>(preview->steps().size(), 0.25));
            QVERIFY(!label("scheduleNote")->isVisible());
        }
        const test::StandInWorker worker("echo 'The plug-in mine is not in your folder' >&2; exit 2");
        window.newRunPage().model().setText(QStringLiteral("schedule.name"), QStringLiteral("mine/steep"));
        QTRY_VERIFY(label("scheduleNote")->text().contains(QStringLiteral("The plug-in mine is not in your folder")));
        QVERIFY(label("scheduleNote")->isVisible() && preview->factors().empty());
        window.newRunPage().model().setText(QStringLiteral("schedule.name"), QStringLiteral("linear"));
        QTRY_VERIFY(!preview->factors().empty());
        QVERIFY(!label("scheduleNote")->isVisible());
    }
    void keysAndRailOpenEachPage() {
        auto& window = open();
        const char* names[] = {"railNewRun", "railRuns", "railQueue", "railCompare", "railDevices"};
        for (int i = shell::kRailPages - 1; i >= 0; --i) {
            QTest::keyClick(&window, Qt::Key(Qt::Key_1 + i), Qt::ControlModifier);
            QCOMPARE(int(window.page()), i);
        }
        for (int i = 0; i < shell::kRailPages; ++i) {
            m_bench->click<QToolButton>(names[i]);
            QCOMPARE(int(window.page()), i);
        }
    }
    void aWrongValueBlocksStartAndItsLinkLeadsToTheField() {
        auto& window = open();
        window.newRunPage().model().setText(QStringLiteral("optimizer.epsilon"), QStringLiteral("x"));
        QVERIFY(!m_bench->find<QPushButton>("start")->isEnabled());
        QCOMPARE(label("formState")->text(), QStringLiteral("1 problem"));
        QTRY_VERIFY(window.findChild<QPushButton*>(QStringLiteral("link.optimizer.epsilon")) != nullptr);
        QTest::mouseClick(window.findChild<QPushButton*>(QStringLiteral("link.optimizer.epsilon")), Qt::LeftButton);
        QCOMPARE(QApplication::focusWidget(), window.newRunPage().form().input(QStringLiteral("optimizer.epsilon")));
    }
    void startCallsTheTrainerWithWhatWasChangedAndOpensTheRun() {
        const auto run = finishedRun(*m_bench, "digits-mlp");
        m_bench->useScript(QStringLiteral("{\"id\": \"abc\", \"folder\": \"%1\"}").arg(QString::fromStdString(run->folder().root().string())));
        auto& window = open();
        window.newRunPage().model().setText(QStringLiteral("optimizer.learning_rate"), QStringLiteral("0.02"));
        m_bench->click<QPushButton>("start");
        QTRY_VERIFY(window.page() == Page::Run);
        QCOMPARE(window.runPage().folder(), keyOf(*run));
        QCOMPARE(window.runPage().tab(), pages::RunPage::Charts);
        QVERIFY2(m_bench->called().contains(QStringLiteral("run digits-mlp --detach --set optimizer.learning_rate=0.02")), qPrintable(m_bench->called()));
    }
    void aTrainerThatRefusesSaysWhyAndTheFormStays() {
        m_bench->useScript(QStringLiteral("{\"error\": {\"code\": \"no space\", \"sentence\": \"The disk is full\"}}"), 3);
        auto& window = open();
        m_bench->click<QPushButton>("start");
        QTRY_COMPARE(message(), QStringLiteral("The disk is full"));
        QVERIFY(window.page() == Page::NewRun);
        QVERIFY(m_bench->find<QPushButton>("start")->isEnabled());
    }
    void droppedDataSetsFormatAndClasses() {
        const QString path = m_bench->folder.filePath(QStringLiteral("flowers.csv"));
        QFile file(path);
        QVERIFY(file.open(QIODevice::WriteOnly));
        file.write("width,height,kind\n");
        for (int i = 0; i < 30; ++i) file.write(QStringLiteral("%1,%2,%3\n").arg(i).arg(i * 0.5).arg(i % 3 == 0 ? QStringLiteral("rose") : QStringLiteral("tulip")).toUtf8());
        file.close();
        auto& window = open();
        QTRY_VERIFY(label("dataSentence")->text().contains(QStringLiteral("classes")));
        dropOnDataCard(path);
        QTRY_VERIFY2(label("dataSentence")->text().contains(QStringLiteral("30")), qPrintable(label("dataSentence")->text()));
        const auto config = config::fromValues(window.newRunPage().model().values());
        QCOMPARE(config.data.format, std::string("csv"));
        QCOMPARE(QString::fromStdString(config.data.train), path);
        QCOMPARE(config.task.numClasses.value_or(0), 2);
        QCOMPARE(config.data.target, std::vector<std::string>{"kind"});
        QVERIFY(config.data.standardize);   // as lathe-trainer proposes for the same file
        window.newRunPage().model().undoStack().undo();
        QCOMPARE(config::fromValues(window.newRunPage().model().values()).data.format, std::string("idx"));
    }
    void unusableDataSaysWhyAndChangesNothing() {
        const QString path = m_bench->folder.filePath(QStringLiteral("notes.txt"));
        QFile file(path);
        QVERIFY(file.open(QIODevice::WriteOnly));
        file.write("nothing to train on");
        file.close();
        auto& window = open();
        dropOnDataCard(path);
        QTRY_VERIFY(!message().isEmpty());
        QVERIFY(window.newRunPage().model().changedKeys().empty());
        QTRY_COMPARE(label("dataSentence")->text(), QStringLiteral("1,797 images · 10 classes"));
        QVERIFY(m_bench->find<QPushButton>("start")->isEnabled());
    }
    void anotherPresetAsksBeforeItReplacesChanges() {
        auto& window = open();
        window.newRunPage().model().setText(QStringLiteral("data.batch_size"), QStringLiteral("7"));
        m_bench->prompts.choices = {0};
        window.newRunPage().choosePreset(QStringLiteral("digits-convnet"));
        QCOMPARE(m_bench->prompts.questions.size(), 1);
        QCOMPARE(window.newRunPage().model().text(QStringLiteral("data.batch_size")), QStringLiteral("7"));
        m_bench->prompts.choices = {1};
        window.newRunPage().choosePreset(QStringLiteral("digits-convnet"));
        QCOMPARE(window.newRunPage().model().text(QStringLiteral("model.name")), QStringLiteral("convnet"));
    }
    void anEmptyWorkspaceHasASentenceAndAWayOn() {
        auto& window = open();
        window.openPage(Page::Runs);
        QTRY_VERIFY(m_bench->find<QPushButton>("firstRun")->isVisible());
        m_bench->click<QPushButton>("firstRun");
        QVERIFY(window.page() == Page::NewRun);
    }
    void aRunIsOpenedFromTheTableByMouseAndKey() {
        const auto run = finishedRun(*m_bench, "first");
        auto& window = open();
        window.openPage(Page::Runs);
        waitForRuns(1);
        const QRect cell = table()->visualRect(table()->model()->index(0, RunsModel::State));
        QTest::mouseClick(table()->viewport(), Qt::LeftButton, {}, cell.center());
        QTest::keyClick(table(), Qt::Key_Return);
        QVERIFY(window.page() == Page::Run);
        QCOMPARE(window.runPage().folder(), keyOf(*run));
        QTRY_COMPARE(m_bench->find<theme::Metric>("metricStep")->value(), QStringLiteral("60"));
        QTRY_VERIFY(window.runPage().session()->isLoaded());
        QTRY_COMPARE(m_bench->find<theme::Pill>("statePill")->word(), QStringLiteral("Completed"));
    }
    void twoTickedRunsAreComparedAtTheirLastCommonStep() {
        finishedRun(*m_bench, "short", 40);
        finishedRun(*m_bench, "long", 60, "optimizer.learning_rate=0.5");
        auto& window = open();
        window.openPage(Page::Runs);
        waitForRuns(2);
        QVERIFY(!m_bench->find<QPushButton>("compare")->isEnabled());
        for (int row = 0; row < 2; ++row) {
            const QRect cell = table()->visualRect(table()->model()->index(row, RunsModel::Name));
            QTest::mouseClick(table()->viewport(), Qt::LeftButton, {}, pages::RunsDelegate::tickBox(cell).center());
        }
        QCOMPARE(m_bench->find<QPushButton>("compare")->text(), QStringLiteral("Compare 2"));
        m_bench->click<QPushButton>("compare");
        QVERIFY(window.page() == Page::Compare);
        QTRY_COMPARE(window.comparePage().model().commonStep().value_or(0), 40);
        QTRY_VERIFY(label("compareNote")->text().contains(QStringLiteral("40")));
        const auto& model = window.comparePage().model();
        const auto rows = [&] {
            QStringList names;
            for (int row = 0; row < model.rowCount(); ++row) names << model.index(row, 0).data().toString();
            return names.join(QLatin1Char('\n'));
        };
        QTRY_VERIFY2(rows().contains(QStringLiteral("Learning rate")), qPrintable(rows()));  // read in the background
        QVERIFY(!rows().contains(QStringLiteral("Batch size")));
        QTest::mouseClick(window.findChild<QToolButton*>(QStringLiteral("removeRun0")), Qt::LeftButton);
        QTRY_COMPARE(window.comparePage().runs().size(), 1);
    }
    void checkpointVerbsActOnTheSelectedRowAndSayWhyNot() {
        const auto run = finishedRun(*m_bench, "one");
        m_bench->useScript(QStringLiteral("{\"id\": \"abc\", \"folder\": \"%1\"}").arg(QString::fromStdString(run->folder().root().string())));
        auto& window = open();
        waitForRuns(1);
        window.openRun(keyOf(*run), pages::RunPage::Checkpoints);
        QTRY_VERIFY2(m_bench->find<QPushButton>("continue")->isEnabled(), qPrintable(m_bench->find<QPushButton>("continue")->toolTip()));
        auto* tree = m_bench->find<QTreeView>("checkpointsTree");
        tree->setFocus();
        QTest::keyClick(tree, Qt::Key_Down);
        QTRY_VERIFY(!m_bench->find<QPushButton>("continue")->isEnabled());
        QVERIFY(m_bench->find<QPushButton>("continue")->toolTip().contains(QStringLiteral("Roll back")));
        m_bench->prompts.choices = {2};
        m_bench->click<QPushButton>("rollBack");
        QVERIFY(m_bench->prompts.questions.front().contains(QStringLiteral("step 30")));
        QVERIFY(m_bench->prompts.questions.front().contains(QStringLiteral("30 updates")));
        QTRY_VERIFY2(m_bench->called().contains(QStringLiteral("roll-back %1@s001-000000030 --detach").arg(keyOf(*run))), qPrintable(m_bench->called()));
        QTRY_VERIFY(window.runPage().tab() == pages::RunPage::Charts);
        window.runPage().openTab(pages::RunPage::Checkpoints);
        m_bench->click<QPushButton>("pin");
        QTRY_COMPARE(m_bench->find<QPushButton>("pin")->text(), QStringLiteral("Unpin"));
        QVERIFY(!m_bench->find<QPushButton>("deleteCheckpoint")->isEnabled());
        QCOMPARE(rundir::readUser(run->folder())->pinned, std::vector<std::string>{"s001-000000030"});
    }
    void theNewestCheckpointOfTheLineIsMarkedAndContinueSaysWhyItIsOff() {
        FixtureRun run(m_bench->workspace(), "rolled-back", yamlOf());
        run.beginSession(1);
        for (int i = 1; i <= 3000; ++i) run.points(i, {{"train/loss", 1}});
        run.endSession(rundir::State::Stopped);
        run.beginSession(2, "roll-back", 1, 1000);
        for (int i = 1001; i <= 1200; ++i) run.points(i, {{"train/loss", 1}});
        run.endSession(rundir::State::Stopped);
        for (const int step : {1000, 3000}) run.checkpoint(1, step);
        run.checkpoint(2, 1200);
        run.summary();
        run.closeWriter();
        auto& window = open();
        waitForRuns(1);
        window.openRun(keyOf(run), pages::RunPage::Checkpoints);
        auto* tree = m_bench->find<QTreeView>("checkpointsTree");
        const auto* button = m_bench->find<QPushButton>("continue");
        const auto marked = [&] { return tree->currentIndex().siblingAtColumn(models::CheckpointsModel::Step).data().toString(); };
        QTRY_VERIFY2(button->isEnabled(), qPrintable(marked() + QLatin1Char(' ') + button->toolTip()));
        QCOMPARE(marked(), QStringLiteral("1,200"));
        tree->setFocus();
        QTest::keyClick(tree, Qt::Key_Down);
        QTest::keyClick(tree, Qt::Key_Down);
        QTRY_COMPARE(marked(), QStringLiteral("3,000"));
        QVERIFY(!button->isEnabled());
        QVERIFY(!button->toolTip().isEmpty());
        QCOMPARE(button->accessibleDescription(), button->toolTip());
        QVERIFY2(m_bench->find<QLabel>("verbHelp")->text().contains(button->toolTip()), qPrintable(m_bench->find<QLabel>("verbHelp")->text()));
    }
    void numbersOfTheTableAreWholeOrSaidToBeShortened() {
        const auto step = [&](const char* name, std::int64_t at) {
            auto run = finishedRun(*m_bench, name);
            run->summary([&](rundir::Summary& summary) {
                summary.state = rundir::State::Stopped;
                summary.counters.globalStep = GlobalStep(at);
                summary.plannedUpdates = 300'000;
                summary.last["train/loss"] = 5.48e-5;
            });
        };
        step("one", 118'234);
        step("two", 18'234);
        auto& window = open();
        window.runsPage().show();
        waitForRuns(2);
        auto* table = m_bench->find<QTableView>("runsTable");
        for (const int column : {int(RunsModel::Progress), int(RunsModel::Metric)}) {
            int widest = 0;
            for (int row = 0; row < 2; ++row) widest = std::max(widest, QFontMetrics(theme::textFont(theme::TextRole::Body)).horizontalAdvance(table->model()->index(row, column).data().toString()));
            QTRY_VERIFY2(table->columnWidth(column) >= widest + 20, qPrintable(QStringLiteral("%1 for %2").arg(table->columnWidth(column)).arg(widest)));
        }
        // A width that a person chose stays, and two numbers do not look the same for it.
        table->horizontalHeader()->resizeSection(RunsModel::Progress, 104);
        QCoreApplication::processEvents();
        table->model()->dataChanged(table->model()->index(0, 0), table->model()->index(1, 0));
        QTest::qWait(0);
        QCOMPARE(table->columnWidth(RunsModel::Progress), 104);
        const auto cell = [&](int row) {
            QRect rect = table->visualRect(table->model()->index(row, RunsModel::Progress));
            return table->viewport()->grab(rect.adjusted(0, 0, 0, -12)).toImage();   // without the bar
        };
        QVERIFY(cell(0) != cell(1));
    }
    void theMenuOfOwnDataNamesAllKinds() {
        open();
        QString all;
        for (const QAction* action : m_bench->find<QToolButton>("ownData")->menu()->actions()) all += action->text();
        for (const char* kind : {"pictures", "CSV", "IDX", "text"}) QVERIFY2(all.contains(QLatin1String(kind)), qPrintable(all));
    }
    void aCompletedRunAsksHowFarItShallGoOn() {
        const auto run = finishedRun(*m_bench, "one");
        m_bench->useScript(QStringLiteral("{}"));
        auto& window = open();
        waitForRuns(1);
        window.openRun(keyOf(*run));
        m_bench->prompts.texts = {QStringLiteral("5")};
        QTRY_VERIFY(m_bench->find<QPushButton>("continueRun")->isVisible());
        m_bench->click<QPushButton>("continueRun");
        QTRY_COMPARE(m_bench->prompts.questions.size(), 1);
        QVERIFY(m_bench->called().isEmpty());  // 5 is below what it has reached
        // Its cosine has ended at 0: a new curve is offered.
        m_bench->prompts.texts = {QStringLiteral("50")};
        m_bench->prompts.choices = {2};
        m_bench->click<QPushButton>("continueRun");
        QTRY_VERIFY2(m_bench->called().contains(QStringLiteral("--new-curve --set run.epochs=50")), qPrintable(m_bench->called()));
        QVERIFY(m_bench->prompts.questions.back().contains(QStringLiteral("nothing would be learned")));
    }
    void aLiveRunIsSteeredFromTheTopBar() {
        FixtureRun run(m_bench->workspace(), "live", yamlOf());
        run.beginSession(1);
        run.summary([](rundir::Summary& summary) {
            summary.state = rundir::State::Running;
            summary.plannedUpdates = 200;
        });
        LiveSession live(run.folder(), 1);
        live.beat(live::Phase::LoadingData, 210, 300);
        auto& window = open();
        waitForRuns(1);
        window.openRun(keyOf(run));
        QTRY_VERIFY(window.runPage().session()->standing().attached);
        QTRY_VERIFY2(label("runBannerText")->isVisible() && label("runBannerText")->text().contains(QStringLiteral("210/300")), qPrintable(label("runBannerText")->text()));
        for (int i = 1; i <= 20; ++i) live.points(i, {{"train/loss", 1.0 / i}, {"train/lr", 1e-3}});
        live.beat(live::Phase::Training, 0, 0, 20);
        QTRY_VERIFY(!m_bench->find<QFrame>("runBanner")->isVisible());
        QTRY_COMPARE(m_bench->find<theme::Metric>("metricStep")->value(), QStringLiteral("20"));
        m_bench->click<QPushButton>("saveNow");
        QTRY_VERIFY(!live.requests().empty() && live.requests().back() == live::Verb::SaveNow);
        m_bench->click<QPushButton>("pauseRun");
        QTRY_VERIFY(live.requests().back() == live::Verb::Pause);
        live.setStatus("{\"unsaved\": {\"updates\": 20, \"seconds\": 3.2}}");
        QTRY_VERIFY(window.runPage().session()->unsaved().has_value());
        m_bench->prompts.choices = {0, 1, 2};
        m_bench->click<QPushButton>("stopRun");
        QVERIFY2(m_bench->prompts.questions.back().contains(QStringLiteral("20 updates")), qPrintable(m_bench->prompts.questions.back()));
        QTest::qWait(0);
        QVERIFY(live.requests().back() == live::Verb::Pause);  // keep training: nothing was asked
        m_bench->click<QPushButton>("stopRun");
        QTRY_VERIFY(live.requests().back() == live::Verb::Discard);
        m_bench->click<QPushButton>("stopRun");
        QTRY_VERIFY(live.requests().back() == live::Verb::StopAndSave);
        window.runPage().openTab(pages::RunPage::Checkpoints);
        QVERIFY(!m_bench->find<QPushButton>("rollBack")->isEnabled());
    }
    void aFailureShowsItsCauseAndTheEndOfTheLog() {
        FixtureRun run(m_bench->workspace(), "broken", yamlOf());
        run.beginSession(1);
        run.endSession(rundir::State::Failed, "Cannot read /nowhere");
        run.summary([](rundir::Summary& summary) {
            summary.state = rundir::State::Failed;
            summary.why = "Cannot read /nowhere";
        });
        run.closeWriter();
        QFile log(QString::fromStdString(run.folder().rankLog(0).string()));
        QVERIFY(log.open(QIODevice::WriteOnly));
        for (int i = 1; i <= 100; ++i) log.write(QStringLiteral("line %1\n").arg(i).toUtf8());
        log.close();
        auto& window = open();
        waitForRuns(1);
        window.openRun(keyOf(run));
        QTRY_VERIFY(label("runBannerText")->isVisible() && label("runBannerText")->text().contains(QStringLiteral("Cannot read /nowhere")));
        m_bench->click<QPushButton>("openLog");
        QCOMPARE(window.runPage().tab(), pages::RunPage::Log);
        QTRY_VERIFY(label("failureCause")->text().contains(QStringLiteral("/nowhere")));
        QTRY_VERIFY(m_bench->find<QPlainTextEdit>("failureLines")->toPlainText().contains(QStringLiteral("line 100")));
        const QString lines = m_bench->find<QPlainTextEdit>("failureLines")->toPlainText();
        QVERIFY(lines.contains(QStringLiteral("line 61")) && !lines.contains(QStringLiteral("line 60\n")));
    }
    void runAgainFillsTheFormWithTheLastChangedFieldFocused() {
        const auto run = finishedRun(*m_bench, "one", 60, "optimizer.learning_rate=0.25");
        m_bench->useScript(QStringLiteral("{}"));
        auto& window = open();
        window.newRunPage().model().setText(QStringLiteral("data.batch_size"), QStringLiteral("16"));
        window.newRunPage().model().undoStack().undo();
        waitForRuns(1);
        window.openRun(keyOf(*run));
        QTRY_VERIFY(m_bench->find<QPushButton>("runAgain")->isVisible());
        m_bench->click<QPushButton>("runAgain");
        QVERIFY(window.page() == Page::NewRun);
        QTRY_COMPARE(window.newRunPage().model().text(QStringLiteral("optimizer.learning_rate")), QStringLiteral("0.25"));
        QVERIFY(window.newRunPage().model().changedKeys().empty());
        QVERIFY2(label("command")->text().startsWith(QStringLiteral("lathe-trainer again ") + keyOf(*run)), qPrintable(label("command")->text()));
        QCOMPARE(QApplication::focusWidget(), window.newRunPage().form().input(QStringLiteral("data.batch_size")));
        QTest::keyClicks(QApplication::focusWidget(), QStringLiteral("64"));
        m_bench->click<QPushButton>("start");
        QTRY_VERIFY2(m_bench->called().contains(QStringLiteral("again %1 --detach --set data.batch_size=64").arg(keyOf(*run))), qPrintable(m_bench->called()));
    }
    void noteTagsStarAndTrashAreReachedFromTheTable() {
        const auto run = finishedRun(*m_bench, "one");
        m_bench->useScript(QStringLiteral("{}"));
        auto& window = open();
        window.openPage(Page::Runs);
        waitForRuns(1);
        table()->selectRow(0);
        const auto choose = [&](const QString& text) {
            Q_EMIT table()->customContextMenuRequested(QPoint(40, 10));
            auto* menu = window.findChild<QMenu*>(QStringLiteral("runMenu"));
            QVERIFY(menu != nullptr);
            for (QAction* action : menu->actions())
                if (action->text() == text) action->trigger();
            menu->close();
            delete menu;
        };
        m_bench->prompts.texts = {QStringLiteral("mine, best,mine")};
        choose(QStringLiteral("Tags…"));
        QTRY_COMPARE(rundir::readUser(run->folder())->tags, (std::vector<std::string>{"mine", "best"}));
        choose(QStringLiteral("Star"));
        QTRY_VERIFY(rundir::readUser(run->folder())->star);
        m_bench->prompts.choices = {1};
        choose(QStringLiteral("Move to trash…"));
        QTRY_VERIFY2(m_bench->called().contains(QStringLiteral("delete ") + keyOf(*run)), qPrintable(m_bench->called()));
    }
    void theSwitcherFindsARunByItsName() {
        finishedRun(*m_bench, "apple");
        const auto pear = finishedRun(*m_bench, "pear");
        finishedRun(*m_bench, "plum");
        auto& window = open();
        waitForRuns(3);
        QTest::keyClick(&window, Qt::Key_P, Qt::ControlModifier);
        QWidget* filter = QApplication::focusWidget();
        QCOMPARE(filter->objectName(), QStringLiteral("switcherFilter"));
        QTest::keyClicks(filter, QStringLiteral("pea"));
        QCOMPARE(m_bench->find<QListWidget>("switcherList")->count(), 1);
        QTest::keyClick(filter, Qt::Key_Return);
        QCOMPARE(window.runPage().folder(), keyOf(*pear));
    }
    void closingNeverAsksAndTellsOnceThatTrainingGoesOn() {
        FixtureRun run(m_bench->workspace(), "live", yamlOf());
        run.beginSession(1);
        run.summary([](rundir::Summary& summary) { summary.state = rundir::State::Running; });
        LiveSession live(run.folder(), 1);
        live.beat(live::Phase::Training, 0, 0, 1);
        open();
        waitForRuns(1);
        QTRY_VERIFY(rundir::isAlive(m_bench->window->workspace().runs().front().state));
        m_bench->close();
        QCOMPARE(m_bench->notifier.said.size(), 1);
        QVERIFY(m_bench->notifier.said.front().contains(QStringLiteral("lathe-trainer stop live")));
        QVERIFY(m_bench->prompts.questions.isEmpty());
        open(true);
        waitForRuns(1);
        QTRY_VERIFY(rundir::isAlive(m_bench->window->workspace().runs().front().state));
        m_bench->close();
        QCOMPARE(m_bench->notifier.said.size(), 1);
    }
    void reopeningBringsBackPageTabAndUnsavedForm() {
        const auto run = finishedRun(*m_bench, "one");
        auto& window = open();
        waitForRuns(1);
        window.newRunPage().model().setText(QStringLiteral("data.batch_size"), QStringLiteral("11"));
        window.openRun(keyOf(*run), pages::RunPage::Config);
        m_bench->close();
        auto& again = open(true);
        QVERIFY(again.page() == Page::Run);
        QCOMPARE(again.runPage().folder(), keyOf(*run));
        QCOMPARE(again.runPage().tab(), pages::RunPage::Config);
        QCOMPARE(again.newRunPage().model().text(QStringLiteral("data.batch_size")), QStringLiteral("11"));
        QVERIFY(again.newRunPage().model().isChanged(QStringLiteral("data.batch_size")));
    }
    void settingsOfAnotherVersionOrOfNonsenseAreLivedWith() {
        auto settings = std::make_unique<session::Settings>(m_bench->folder.filePath(QStringLiteral("window.ini")));
        settings->setValue(QStringLiteral("window/geometry"), QByteArray("nonsense"));
        settings->setValue(QStringLiteral("window/page"), 99);
        settings->setValue(QStringLiteral("window/tab"), -7);
        settings->setValue(QStringLiteral("window/workspace"), m_bench->folder.path());
        settings->setValue(QStringLiteral("window/run"), QStringLiteral("../../etc"));
        settings->setValue(QStringLiteral("form/current"), QStringLiteral("run: [\n"));
        settings->setValue(QStringLiteral("form/baseline"), QStringLiteral("*x"));
        settings.reset();
        auto& window = open(true);
        QVERIFY(window.page() == Page::NewRun);
        QVERIFY(window.runPage().folder().isEmpty());
        QVERIFY(m_bench->find<QPushButton>("start")->isEnabled());
    }
    void theThemeSwitchesWhileTheWindowIsOpen() {
        auto& window = open();
        const QImage light = window.grab().toImage();
        for (QAction* action : m_bench->find<QToolButton>("theme")->menu()->actions())
            if (action->text() == QStringLiteral("Dark")) action->trigger();
        QVERIFY(theme::colors().dark);
        QVERIFY(qGray(window.grab().toImage().pixel(5, 500)) < 80 && qGray(light.pixel(5, 500)) > 200);
        theme::apply(theme::Mode::Light);
    }
    void namesFromRunsAreShownAsTheyAre() {
        const std::string name = "<b>bold</b><img src=x>&amp;";
        const auto run = finishedRun(*m_bench, name);
        auto& window = open();
        waitForRuns(1);
        window.openRun(keyOf(*run));
        QTRY_COMPARE(m_bench->find<theme::ElidedLabel>("title")->fullText(), QString::fromStdString(name));
        QCOMPARE(m_bench->find<theme::ElidedLabel>("title")->textFormat(), Qt::PlainText);
    }
    void devicesAreToldWithAndWithoutAGpu() {
        auto& window = open();
        window.openPage(Page::Devices);
        QTRY_VERIFY(label("cpuName")->text() != QStringLiteral("Processor"));
        QTRY_VERIFY(!m_bench->find<theme::Metric>("memoryMetric")->value().isEmpty());
        pages::DevicesPage page;
        pages::DevicesPage::Reading reading;
        device::Gpu gpu;
        gpu.uuid = "GPU-1234";
        gpu.name = "NVIDIA H200";
        gpu.memoryTotal = 140ull << 30;
        gpu.memoryFree = 40ull << 30;
        gpu.utilization = 94;
        gpu.unusable = "Its driver is too old";
        reading.gpus.list = {gpu};
        page.show(reading);
        QStringList texts;
        for (const QLabel* text : page.findChildren<QLabel*>()) texts << text->text();
        QVERIFY(texts.join(QLatin1Char('\n')).contains(QStringLiteral("GPU-1234")));
        QVERIFY(texts.contains(QStringLiteral("Its driver is too old")));
        QVERIFY(!page.findChild<QLabel*>(QStringLiteral("noGpu"))->isVisibleTo(&page));
    }
    void aFolderThatCannotBeReadIsToldAndOpensNothing() {
        auto& window = open();
        window.openReference(QStringLiteral("no-such-run"));
        QVERIFY(!message().isEmpty());
        QVERIFY(window.page() == Page::NewRun);
    }
};

QTEST_MAIN(TestWindow)
#include "tst_window.moc"
