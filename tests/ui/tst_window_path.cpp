// labels: gui process slow
// timeout: 400
// The whole way of a new user through the real window with the real trainer and worker.
#include "window_bench.h"

#include "models/checkpoints_model.h"
#include "pages/compare_page.h"
#include "pages/new_run_page.h"
#include "pages/runs_delegate.h"
#include "pages/runs_page.h"
#include "shell/message_bar.h"
#include "theme/parts.h"

#include <QFileInfo>
#include <QLabel>
#include <QPushButton>
#include <QTableView>
#include <QTreeView>

using namespace lathe;
using models::RunsModel;
using rundir::State;
using shell::Page;
using tests::WindowBench;

class TestWindowPath : public QObject {
    Q_OBJECT

    WindowBench m_bench;

    session::RunSession& run() const { return *m_bench.window->runPage().session(); }
    std::int64_t step() const { return run().counters().globalStep.value(); }
    QString complaint() const { return m_bench.window->messages().text() + QLatin1Char(' ') + (m_bench.window->runPage().session() ? run().standing().why : QString()); }

    /// Steps of a series on the surviving line, in order.
    static std::vector<double> lineSteps(const session::RunSession& session) {
        std::vector<double> steps;
        for (const session::Piece& piece : session.data().pieces("train/loss")) {
            if (piece.abandoned) continue;
            for (std::size_t i = piece.begin; i < std::min(piece.end, piece.series->size()); ++i) steps.push_back(piece.series->xAt(i, session::XAxis::Step));
        }
        return steps;
    }
    bool lineIsWhole() const {
        const std::vector<double> steps = lineSteps(run());
        for (std::size_t i = 0; i < steps.size(); ++i)
            if (steps[i] != double(i + 1)) return false;
        return !steps.empty();
    }
    void startRun(const QStringList& settings) {
        m_bench.window->openPage(Page::NewRun);
        for (const QString& setting : settings) m_bench.window->newRunPage().model().setText(setting.section(QLatin1Char('='), 0, 0), setting.section(QLatin1Char('='), 1));
        QTRY_VERIFY(m_bench.find<QPushButton>("start")->isEnabled());
        m_bench.click<QPushButton>("start");
        QTRY_VERIFY2(m_bench.window->page() == Page::Run, qPrintable(complaint()));
    }
    void stopAndSave() {
        m_bench.prompts.choices = {2};
        QTRY_VERIFY(m_bench.find<QPushButton>("stopRun")->isEnabled());
        m_bench.click<QPushButton>("stopRun");
        QTRY_VERIFY2(run().standing().state == State::Stopped, qPrintable(complaint()));
    }

private Q_SLOTS:
    void initTestCase() {
        const QString programs = qEnvironmentVariable("LATHE_PROGRAMS", QStringLiteral(LATHE_BIN_DIR));
        for (const char* name : {"lathe-trainer", "lathe-worker"})
            if (!QFile::exists(programs + QLatin1Char('/') + QLatin1String(name))) QSKIP("lathe-trainer and lathe-worker are not built (preset without LibTorch)");
        qputenv("LATHE_PROGRAMS", programs.toUtf8());
        m_bench.open();
    }
    void cleanupTestCase() {
        if (!m_bench.window) return;
        // No run outlives the test.
        for (const session::RunEntry& entry : m_bench.window->workspace().runs())
            if (rundir::isAlive(entry.state)) m_bench.window->workspace().session(entry.folder)->request(session::RunSession::Request::Discard);
        QTRY_VERIFY(std::none_of(m_bench.window->workspace().runs().begin(), m_bench.window->workspace().runs().end(),
                                 [](const session::RunEntry& entry) { return rundir::isAlive(entry.state); }));
    }

    void startTrainsAndCurvesMove() {
        QTRY_COMPARE(m_bench.find<QLabel>("dataSentence")->text(), QStringLiteral("1,797 images · 10 classes"));
        // Without evaluations nothing is saved but what is asked for.
        startRun({QStringLiteral("run.epochs=100000"), QStringLiteral("data.batch_size=256"), QStringLiteral("evaluation.every=never")});
        QTRY_VERIFY2(step() > 60, qPrintable(complaint()));
        QVERIFY(run().isAlive());
        QTRY_COMPARE(m_bench.find<theme::Pill>("statePill")->word(), QStringLiteral("Running"));
    }
    void saveNowPutsACheckpointIntoTheList() {
        const std::int64_t before = step();
        QVERIFY(run().checkpoints().empty());
        QTRY_VERIFY(m_bench.find<QPushButton>("saveNow")->isEnabled());
        m_bench.click<QPushButton>("saveNow");
        QTRY_VERIFY2(run().checkpoints().size() == 1, qPrintable(complaint()));
        QVERIFY(run().checkpoints().front().info.step.value() >= before);
    }
    void aPausedRunStandsStillAndGoesOn() {
        m_bench.click<QPushButton>("pauseRun");
        QTRY_VERIFY(run().standing().state == State::Paused);
        QTRY_COMPARE(m_bench.find<QPushButton>("pauseRun")->text(), QStringLiteral("Unpause"));
        m_bench.click<QPushButton>("pauseRun");
        QTRY_VERIFY(run().standing().state == State::Running);
        const std::int64_t then = step();
        QTRY_VERIFY(step() > then);
    }
    void closingTheWindowInMidRunLosesNoPoint() {
        const QString folder = m_bench.window->runPage().folder();
        const std::int64_t then = step();
        m_bench.close();
        m_bench.open(true);
        QCOMPARE(m_bench.window->runPage().folder(), folder);
        QTRY_VERIFY2(run().standing().attached && run().standing().state == State::Running, qPrintable(complaint()));
        QTRY_VERIFY(step() > then);
        QVERIFY(lineIsWhole());
    }
    void stopSavesAndEnds() {
        stopAndSave();
        QTRY_VERIFY(!run().checkpoints().empty() && run().checkpoints().back().info.step.value() == step());
        QVERIFY(lineIsWhole());
    }
    void exportWritesWhatOthersNeed() {
        m_bench.window->runPage().openTab(pages::RunPage::Checkpoints);
        QTRY_VERIFY(m_bench.find<QPushButton>("export")->isEnabled());
        m_bench.click<QPushButton>("export");
        const std::filesystem::path folder = run().run().place() / "export";
        QTRY_VERIFY2(m_bench.window->messages().text().contains(QString::fromStdString(folder.string())), qPrintable(complaint()));
        for (const char* file : {"model.safetensors", "preprocessing.json", "load.py"}) {
            const QFileInfo written(QString::fromStdString((folder / file).string()));
            QVERIFY2(written.size() > 0, file);
        }
    }
    void rollBackKeepsTheOldTailApart() {
        m_bench.window->runPage().openTab(pages::RunPage::Checkpoints);
        auto* tree = m_bench.find<QTreeView>("checkpointsTree");
        // The oldest one: there is a tail behind it.
        const QAbstractItemModel* model = tree->model();
        const QModelIndex session = model->index(model->rowCount() - 1, 0);
        const QModelIndex oldest = model->index(model->rowCount(session) - 1, 0, session);
        QTest::mouseClick(tree->viewport(), Qt::LeftButton, {}, tree->visualRect(oldest).center());
        m_bench.prompts.choices = {2};
        m_bench.click<QPushButton>("rollBack");
        QTRY_VERIFY2(run().isAlive(), qPrintable(complaint()));
        QTRY_VERIFY2(run().standing().state == State::Running, qPrintable(complaint()));
        const auto bothBranches = [this] {
            bool abandoned = false, second = false;
            for (const session::Piece& piece : run().data().pieces("train/loss")) {
                abandoned = abandoned || piece.abandoned;
                second = second || (piece.branch == 1 && piece.series->size() > 20);
            }
            return abandoned && second;
        };
        QTRY_VERIFY(bothBranches());
        QVERIFY(lineIsWhole());
        stopAndSave();
    }
    void goingOnWithAnotherRateUsesIt() {
        m_bench.window->runPage().openTab(pages::RunPage::Checkpoints);
        QTRY_VERIFY(m_bench.find<QPushButton>("goOnWithChanges")->isEnabled());
        m_bench.prompts.sheets = {{QStringLiteral("roll-back"), {QStringLiteral("optimizer.learning_rate=0.0005"), QStringLiteral("schedule.name=constant"), QStringLiteral("schedule.warmup_updates=0")}}};
        m_bench.click<QPushButton>("goOnWithChanges");
        QTRY_VERIFY2(run().standing().state == State::Running, qPrintable(complaint()));
        const auto newestRate = [this] {
            const auto latest = run().data().latest("train/lr");
            return latest ? latest->value : 0;
        };
        QTRY_VERIFY2(std::abs(newestRate() - 0.0005) < 1e-9, qPrintable(QString::number(newestRate())));
        stopAndSave();
    }
    void runAgainWithAnotherRateEndsByItself() {
        QTRY_VERIFY(m_bench.find<QPushButton>("runAgain")->isVisible());
        m_bench.click<QPushButton>("runAgain");
        QTRY_COMPARE(m_bench.window->newRunPage().model().text(QStringLiteral("data.batch_size")), QStringLiteral("256"));
        startRun({QStringLiteral("run.epochs=4"), QStringLiteral("optimizer.learning_rate=0.01"), QStringLiteral("evaluation.every=1 epoch")});
        QTRY_VERIFY2(run().standing().state == State::Completed, qPrintable(complaint()));
        QTRY_VERIFY(run().summary().best.has_value());
    }
    void theTwoRunsAreCompared() {
        m_bench.window->openPage(Page::Runs);
        QTRY_COMPARE(m_bench.window->runsPage().model().rowCount(), 2);
        auto* table = m_bench.find<QTableView>("runsTable");
        for (int row = 0; row < 2; ++row)
            QTest::mouseClick(table->viewport(), Qt::LeftButton, {}, pages::RunsDelegate::tickBox(table->visualRect(table->model()->index(row, RunsModel::Name))).center());
        m_bench.click<QPushButton>("compare");
        QTRY_VERIFY(m_bench.window->comparePage().model().commonStep().has_value());
        QStringList rows;
        const auto& model = m_bench.window->comparePage().model();
        for (int row = 0; row < model.rowCount(); ++row) rows << model.index(row, 0).data().toString();
        QVERIFY2(rows.join(QLatin1Char('\n')).contains(QStringLiteral("Learning rate")), qPrintable(rows.join(QLatin1Char('\n'))));
        QVERIFY(!rows.join(QLatin1Char('\n')).contains(QStringLiteral("Seed")));
    }
};

QTEST_MAIN(TestWindowPath)
#include "tst_window_path.moc"
