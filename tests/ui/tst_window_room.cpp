// labels: gui
// That what matters has room: in the smallest window, in the first one, in cards and charts.
#include "window_runs.h"

#include "charts/line_chart.h"
#include "charts/run_charts.h"
#include "form/schema_form.h"
#include "models/checkpoints_model.h"
#include "pages/new_run_page.h"
#include "pages/runs_page.h"

#include <QFile>
#include <QGraphicsScene>
#include <QGraphicsTextItem>
#include <QGraphicsView>
#include <QPushButton>
#include <QScreen>
#include <QScrollArea>
#include <QTableView>
#include <QTreeView>

using namespace lathe;
using models::RunsModel;
using shell::Page;
using tests::finishedRun;
using tests::keyOf;
using tests::WindowBench;

class TestWindowRoom : public QObject {
    Q_OBJECT

    std::unique_ptr<WindowBench> m_bench;

    shell::MainWindow& open(bool restore = false) { return m_bench->open(restore); }
    QTableView* table() const { return m_bench->find<QTableView>("runsTable"); }
    void waitForRuns(int count) { QTRY_COMPARE(m_bench->window->runsPage().model().rowCount(), count); }

private Q_SLOTS:
    void init() { m_bench = std::make_unique<WindowBench>(); }
    void cleanup() { m_bench.reset(); }

    void whatIsRunAgainIsNamedAndStaysInItsCardAfterARestart() {
        const auto run = finishedRun(*m_bench, "a-name-" + std::string(60, 'x'), 60);
        auto& window = open();
        waitForRuns(1);
        window.openRun(keyOf(*run));
        QTRY_VERIFY(m_bench->find<QPushButton>("runAgain")->isVisible());
        m_bench->click<QPushButton>("runAgain");
        QTRY_VERIFY(window.newRunPage().subtitle().contains(QStringLiteral("a-name-")));
        m_bench->close();
        auto& again = open(true);
        waitForRuns(1);
        QTRY_VERIFY(again.newRunPage().subtitle().contains(QStringLiteral("a-name-")) && !again.newRunPage().subtitle().contains(keyOf(*run)));
        again.openPage(Page::NewRun);
        auto* body = m_bench->find<QFrame>("planCard")->findChild<QScrollArea*>();
        QTRY_COMPARE(body->widget()->width(), body->viewport()->width());
    }
    void inTheSmallestWindowWhatMattersIsInSight() {
        auto run = finishedRun(*m_bench, "one");
        for (int step = 31; step < 36; ++step) run->checkpoint(1, step, {{"eval/loss", "0.4"}});
        auto& window = open();
        waitForRuns(1);
        window.resize(window.minimumSize());
        QTRY_COMPARE(window.centralWidget()->size(), window.minimumSize());
        window.openPage(Page::NewRun);
        auto* form = m_bench->find<QScrollArea>("formScroll");
        QTRY_VERIFY(form->widget()->width() <= form->viewport()->width());   // nothing to scroll sideways
        QWidget* rate = window.newRunPage().form().input(QStringLiteral("optimizer.learning_rate"));
        QVERIFY(rate->width() >= 100);
        window.openPage(Page::Runs);
        for (const int column : {RunsModel::Name, RunsModel::State, RunsModel::Progress, RunsModel::Metric, RunsModel::Duration, RunsModel::Started})
            QTRY_VERIFY2(!table()->isColumnHidden(column) && table()->columnViewportPosition(column) + table()->columnWidth(column) <= table()->viewport()->width() + 1, qPrintable(QString::number(column)));
        window.openRun(keyOf(*run));
        window.runPage().openTab(pages::RunPage::Checkpoints);
        auto* tree = m_bench->find<QTreeView>("checkpointsTree");
        QTRY_VERIFY(tree->viewport()->height() >= 5 * 34);
        const int kept = models::CheckpointsModel::Kept;
        QTRY_VERIFY(tree->columnViewportPosition(kept) + 150 <= tree->viewport()->width());
        QVERIFY(!m_bench->find<QWidget>("checkpointsChart")->isVisible());
        window.resize(1440, 900);
        QTRY_VERIFY(m_bench->find<QWidget>("checkpointsChart")->isVisible() && !tree->isColumnHidden(models::CheckpointsModel::Verified));
        window.openPage(Page::Runs);
        QTRY_VERIFY(!table()->isColumnHidden(RunsModel::Sparkline) && !table()->isColumnHidden(RunsModel::Tags));
    }
    void theFirstWindowHasRoomForItsFrame() {
        auto& window = open();
        QVERIFY(window.height() + 30 <= std::max(window.minimumHeight() + 30, window.screen()->availableSize().height()));
        QVERIFY(window.width() <= 1440 && window.height() <= 900);
    }
    void whyAHistoryCannotBeReadIsWrappedInTheCharts() {
        const auto run = finishedRun(*m_bench, "broken");
        QFile database(QString::fromStdString(run->folder().database().string()));
        QVERIFY(database.open(QIODevice::WriteOnly | QIODevice::Truncate));
        database.write(QByteArray(8192, 'x'));
        database.close();
        auto& window = open();
        waitForRuns(1);
        window.openRun(keyOf(*run));
        charts::LineChart* chart = m_bench->find<charts::RunCharts>("runCharts")->charts().front();
        QTRY_VERIFY2(chart->placeholder().size() > 80, qPrintable(chart->placeholder()));
        const auto* view = chart->findChild<QGraphicsView*>();
        QGraphicsTextItem* text = nullptr;
        for (QGraphicsItem* item : view->scene()->items())
            if (auto* words = dynamic_cast<QGraphicsTextItem*>(item); words != nullptr && words->toPlainText() == chart->placeholder()) text = words;
        QVERIFY(text != nullptr);
        QTRY_VERIFY(view->sceneRect().contains(text->sceneBoundingRect()));
    }
};

QTEST_MAIN(TestWindowRoom)
#include "tst_window_room.moc"
