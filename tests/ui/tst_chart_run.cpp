// labels: gui
// The charts of a run and of several, fed by live handles: what arrives is drawn, branches and events are told apart.
#include "fixture_run.h"

#include "charts/compare_chart.h"
#include "charts/run_charts.h"
#include "session/run_session.h"

#include <QAccessible>
#include <QMap>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QtTest>

using namespace lathe;
using charts::CompareChart;
using charts::LineChart;
using charts::RunCharts;
using session::RunSession;
using tests::FixtureRun;
using tests::LiveSession;

namespace {

constexpr int kPatience = 60000;  // ms: far more than ever needed, also on a busy machine

enum { Loss, Rate, Norm, Speed };

tests::Values rowAt(int i) {
    return {{"train/loss", 1.0 + 10.0 / i}, {"train/lr", 3e-4 * i / 1000}, {"train/grad_norm", 0.5 + 0.1 * (i % 7)}, {"train/samples_per_second", 1000.0}};
}

QStringList namesOf(const LineChart& chart) {
    QStringList names;
    for (const charts::Curve& curve : chart.curves()) names += curve.name;
    return names;
}

std::size_t pointsIn(const LineChart& chart) {
    std::size_t points = 0;
    for (const charts::Curve& curve : chart.curves())
        for (const auto& piece : curve.pieces) points += std::min(piece.piece.end, piece.piece.series->size()) - piece.piece.begin;
    return points;
}

}  // namespace

class tst_chart_run : public QObject {
    Q_OBJECT

    std::unique_ptr<QTemporaryDir> m_folder;
    std::filesystem::path workspace() const { return m_folder->path().toStdString(); }

    std::unique_ptr<RunCharts> shown(std::shared_ptr<RunSession> session) {
        auto charts = std::make_unique<RunCharts>();
        charts->resize(1000, 600);
        charts->setSession(std::move(session));
        charts->show();
        if (!QTest::qWaitForWindowExposed(charts.get())) qFatal("the window did not show");
        return charts;
    }

private Q_SLOTS:
    void init() { m_folder = std::make_unique<QTemporaryDir>(); }

    void fourChartsShowTheWholeRunAndFollowIt() {
        FixtureRun run(workspace());
        run.beginSession(1);
        LiveSession live(run.folder(), 1);
        live.beat(live::Phase::Training);
        for (int i = 1; i <= 1000; ++i) live.points(i, rowAt(i));
        live.record(run.writer());
        auto session = std::make_shared<RunSession>(run.folder());
        const auto charts = shown(session);
        QTRY_COMPARE_WITH_TIMEOUT(pointsIn(*charts->charts()[Loss]), std::size_t(1000), kPatience);
        for (const LineChart* chart : charts->charts()) QCOMPARE(pointsIn(*chart), std::size_t(1000));
        QCOMPARE(namesOf(*charts->charts()[Loss]), QStringList{QStringLiteral("train")});
        live.points(1000 + 1, {{"eval/loss", 1.2}});  // a series that begins later
        for (int i = 1002; i <= 1100; ++i) live.points(i, rowAt(i));
        QTRY_COMPARE_WITH_TIMEOUT(namesOf(*charts->charts()[Loss]), (QStringList{"train", "evaluation"}), kPatience);
        QTRY_VERIFY_WITH_TIMEOUT(charts->link().hi() >= 1100, kPatience);
        charts->link().setCursor(1100);
        for (const int chart : {Rate, Norm, Speed}) QTRY_VERIFY_WITH_TIMEOUT(charts->charts()[std::size_t(chart)]->readOut().contains(QStringLiteral("step 1,100")), kPatience);
    }

    void phaseIsShownUntilCurvesMove() {
        FixtureRun run(workspace());
        run.beginSession(1);
        LiveSession live(run.folder(), 1);
        live.beat(live::Phase::LoadingData, 210, 300);
        const auto charts = shown(std::make_shared<RunSession>(run.folder()));
        QTRY_COMPARE_WITH_TIMEOUT(charts->charts()[Loss]->placeholder(), QStringLiteral("loading data 210/300"), kPatience);
        live.points(1, rowAt(1));
        QTRY_COMPARE_WITH_TIMEOUT(pointsIn(*charts->charts()[Loss]), std::size_t(1), kPatience);
    }

    void rolledBackRunShowsBothBranchesAndEventsAreClickable() {
        FixtureRun run(workspace());
        run.beginSession(1);
        for (int i = 1; i <= 300; ++i) run.points(i, rowAt(i));
        run.event("warning", "Loss is not finite", 250);
        run.event("evaluation", "Evaluation at update 150", 150);
        run.endSession(rundir::State::Stopped);
        run.checkpoint(1, 100);
        run.checkpoint(1, 200);
        run.beginSession(2, "roll-back", 1, 200);
        for (int i = 201; i <= 280; ++i) run.points(i, rowAt(i));
        run.endSession();
        const auto charts = shown(std::make_shared<RunSession>(run.folder()));
        LineChart* loss = charts->charts()[Loss];
        QTRY_COMPARE_WITH_TIMEOUT(namesOf(*loss).size(), qsizetype(3), kPatience);
        QVERIFY(namesOf(*loss)[2].contains(QStringLiteral("abandoned")));
        // Clicks on the diamonds of a checkpoint; the warning lies on the abandoned part.
        QSignalSpy checkpoints(charts.get(), &RunCharts::checkpointClicked), events(charts.get(), &RunCharts::eventClicked);
        const auto click = [&](double step) {
            const QRectF area = loss->plotArea();
            const double x = area.left() + (step - charts->link().lo()) / (charts->link().hi() - charts->link().lo()) * area.width();
            QTest::mouseClick(loss->canvas(), Qt::LeftButton, {}, QPoint(int(x), int(area.top()) + 4));
        };
        QTRY_VERIFY_WITH_TIMEOUT((click(100), checkpoints.count() >= 1), kPatience);
        QCOMPARE(checkpoints[0][0].toString().toStdString(), rundir::checkpointName(1, GlobalStep(100)));
        click(250);
        QCOMPARE(events.count(), 1);
        charts->setShowAbandoned(false);
        QCOMPARE(namesOf(*loss).size(), qsizetype(2));
        click(250);
        QCOMPARE(events.count(), 1);
        click(150);
        QCOMPARE(events.count(), 2);
    }

    void activeTimeIsAnAxisToo() {
        FixtureRun run(workspace());
        run.beginSession(1);
        for (int i = 1; i <= 1000; ++i) run.points(i, rowAt(i));
        run.endSession();
        const auto charts = shown(std::make_shared<RunSession>(run.folder()));
        QTRY_COMPARE_WITH_TIMEOUT(pointsIn(*charts->charts()[Loss]), std::size_t(1000), kPatience);
        charts->setAxis(session::XAxis::ActiveTime);
        QVERIFY(charts->link().hi() >= 10 && charts->link().hi() < 11);  // 10 ms an update
        charts->link().setCursor(5);
        QVERIFY2(charts->charts()[Loss]->readOut().startsWith(QStringLiteral("5 s")), qPrintable(charts->charts()[Loss]->readOut()));
        charts->setAxis(session::XAxis::Step);
        QVERIFY(charts->link().hi() >= 1000);
    }

    void smoothingChangesWhatIsToldAndCanBeSwitchedOff() {
        FixtureRun run(workspace());
        run.beginSession(1);
        for (int i = 1; i <= 100; ++i) run.points(i, rowAt(i));
        run.endSession();
        const auto charts = shown(std::make_shared<RunSession>(run.folder()));
        QTRY_COMPARE_WITH_TIMEOUT(pointsIn(*charts->charts()[Loss]), std::size_t(100), kPatience);
        charts->link().setCursor(50);
        QVERIFY(charts->charts()[Loss]->readOut().contains(QLatin1Char('(')));
        charts->setSmoothing(0);
        QTRY_VERIFY_WITH_TIMEOUT(!charts->charts()[Loss]->readOut().contains(QLatin1Char('(')), kPatience);
        charts->setSmoothing(7);
        QCOMPARE(charts->smoothing(), 0.999);
    }

    void anotherRunTakesThePlaceOfTheFirst() {
        FixtureRun first(workspace(), "first"), second(workspace(), "second");
        for (FixtureRun* run : {&first, &second}) {
            run->beginSession(1);
            for (int i = 1; i <= (run == &first ? 500 : 50); ++i) run->points(i, rowAt(i));
            run->endSession();
        }
        auto one = std::make_shared<RunSession>(first.folder());
        const auto charts = shown(one);
        QTRY_COMPARE_WITH_TIMEOUT(pointsIn(*charts->charts()[Loss]), std::size_t(500), kPatience);
        charts->setSession(std::make_shared<RunSession>(second.folder()));
        one.reset();  // its data are gone with it: nothing may point there
        charts->grab();
        QTRY_COMPARE_WITH_TIMEOUT(pointsIn(*charts->charts()[Loss]), std::size_t(50), kPatience);
        QTRY_VERIFY_WITH_TIMEOUT(charts->link().hi() < 60, kPatience);
        charts->setSession(nullptr);
        QCOMPARE(pointsIn(*charts->charts()[Loss]), std::size_t(0));
    }

    void themeRecoloursCurves() {
        FixtureRun run(workspace());
        run.beginSession(1);
        for (int i = 1; i <= 100; ++i) run.points(i, rowAt(i));
        run.endSession();
        const auto charts = shown(std::make_shared<RunSession>(run.folder()));
        QTRY_COMPARE_WITH_TIMEOUT(pointsIn(*charts->charts()[Loss]), std::size_t(100), kPatience);
        charts->setColors(charts::Palette::darkOne());
        QCOMPARE(charts->charts()[Loss]->curves()[0].color, charts::Palette::darkOne().curve(0));
        const QImage image = charts->charts()[Loss]->grab().toImage();
        QCOMPARE(image.pixelColor(image.width() / 2, image.height() - 6), charts::Palette::darkOne().surface);
    }

    void comparedRunsHaveOneStableColourEach() {
        std::vector<std::unique_ptr<FixtureRun>> runs;
        std::vector<std::shared_ptr<RunSession>> sessions;
        for (int k = 0; k < 3; ++k) {
            runs.push_back(std::make_unique<FixtureRun>(workspace(), "run-" + std::to_string(k)));
            runs.back()->beginSession(1);
            for (int i = 1; i <= 100 * (k + 1); ++i) runs.back()->points(i, rowAt(i));
            if (k == 1) {  // its roll-back is no curve of its own here
                runs.back()->endSession(rundir::State::Stopped);
                runs.back()->beginSession(2, "roll-back", 1, 50);
                for (int i = 51; i <= 80; ++i) runs.back()->points(i, rowAt(i));
            }
            runs.back()->endSession();
            sessions.push_back(std::make_shared<RunSession>(runs.back()->folder()));
        }
        CompareChart compare;
        compare.resize(800, 400);
        compare.setSessions(sessions);
        compare.show();
        QVERIFY(QTest::qWaitForWindowExposed(&compare));
        QTRY_COMPARE_WITH_TIMEOUT(namesOf(*compare.chart()), (QStringList{"run-0", "run-1", "run-2"}), kPatience);
        QTRY_COMPARE_WITH_TIMEOUT(pointsIn(*compare.chart()), std::size_t(100 + 80 + 300), kPatience);
        for (int k = 0; k < 3; ++k) QCOMPARE(compare.chart()->curves()[std::size_t(k)].color, charts::Palette::light().curve(CompareChart::colorIndex(k)));
        QVERIFY(compare.availableSeries().contains(QStringLiteral("train/lr")));
        compare.setSeries(QStringLiteral("nothing/here"));
        QCOMPARE(namesOf(*compare.chart()), QStringList());
        QVERIFY(compare.chart()->placeholder().contains(QStringLiteral("nothing/here")));
        compare.setSeries(QStringLiteral("train/lr"));
        QCOMPARE(namesOf(*compare.chart()).size(), qsizetype(3));
    }

    void aComparedRunWithoutTheSeriesIsNamedInTheLegend() {
        FixtureRun full(workspace(), "full"), bare(workspace(), "bare");
        for (FixtureRun* run : {&full, &bare}) run->beginSession(1);
        for (int i = 1; i <= 50; ++i) {
            full.points(i, {{"train/loss", 1.0}, {"train/lr", 1.0}});
            bare.points(i, {{"train/loss", 2.0}});
        }
        for (FixtureRun* run : {&full, &bare}) run->endSession();
        CompareChart compare;
        compare.resize(800, 400);
        compare.setSessions({std::make_shared<RunSession>(full.folder()), std::make_shared<RunSession>(bare.folder())});
        compare.show();
        QVERIFY(QTest::qWaitForWindowExposed(&compare));
        QTRY_COMPARE_WITH_TIMEOUT(namesOf(*compare.chart()), (QStringList{"full", "bare"}), kPatience);
        compare.setSeries(QStringLiteral("train/lr"));
        QTRY_COMPARE_WITH_TIMEOUT(namesOf(*compare.chart()), (QStringList{"full", "bare: not recorded"}), kPatience);
        QVERIFY(!compare.chart()->canvas()->grab().isNull());
        QCOMPARE(pointsIn(*compare.chart()), std::size_t(50));
    }

    void everyChartHasAName() {
        RunCharts charts;
        for (LineChart* chart : charts.charts()) {
            QAccessibleInterface* face = QAccessible::queryAccessibleInterface(chart);
            QVERIFY(face && !face->text(QAccessible::Name).isEmpty());
        }
    }

    void everySeriesHasAChartAndARunThatIsNotOursShowsOnlyItsOwn() {
        FixtureRun ours(workspace(), "ours"), theirs(workspace(), "theirs");
        for (FixtureRun* run : {&ours, &theirs}) run->beginSession(1);
        for (int i = 1; i <= 50; ++i) {
            ours.points(i, {{"train/loss", 1.0}, {"train/lr", 1.0}, {"eval/accuracy", 0.5}, {"device/cpu/utilization", 3.0}});
            theirs.points(i, {{"loss", 1.0 / i}, {"train/acc", 0.4}, {"val/acc", 0.5}, {"a/b/c", 2.0}});
        }
        for (FixtureRun* run : {&ours, &theirs}) run->endSession();
        const auto charts = shown(std::make_shared<RunSession>(ours.folder()));
        const auto visible = [&] {
            QMap<QString, QStringList> found;
            for (const LineChart* chart : charts->charts())
                if (!chart->isHidden()) found[chart->accessibleName()] = namesOf(*chart);
            return found;
        };
        QTRY_COMPARE_WITH_TIMEOUT(visible().value(QStringLiteral("accuracy")), QStringList{QStringLiteral("evaluation")}, kPatience);
        QCOMPARE(visible().size(), 5);  // the four of a training run stay, also without points
        charts->setSession(std::make_shared<RunSession>(theirs.folder()));
        QTRY_COMPARE_WITH_TIMEOUT(visible().keys(), (QStringList{QStringLiteral("a/b/c"), QStringLiteral("acc"), QStringLiteral("loss")}), kPatience);
        QCOMPARE(visible().value(QStringLiteral("acc")), (QStringList{QStringLiteral("train"), QStringLiteral("evaluation")}));
        charts->setSession(std::make_shared<RunSession>(ours.folder()));
        QTRY_COMPARE_WITH_TIMEOUT(visible().size(), 5, kPatience);
    }

    void gridStandsWhereTheCurvesMeanItAfterEveryResize() {
        FixtureRun run(workspace());
        run.beginSession(1);
        for (int i = 1; i <= 100; ++i) run.points(i, {{"train/samples_per_second", 7.0}});
        run.endSession();
        const auto charts = shown(std::make_shared<RunSession>(run.folder()));
        LineChart* chart = charts->charts()[Speed];
        QTRY_COMPARE_WITH_TIMEOUT(pointsIn(*chart), std::size_t(100), kPatience);
        for (const QSize size : {QSize(1000, 600), QSize(900, 420), QSize(1200, 800), QSize(1200, 801)}) {
            charts->resize(size);
            QTRY_COMPARE_WITH_TIMEOUT(charts->size(), size, kPatience);
            QCoreApplication::processEvents();
            const QImage image = chart->canvas()->grab().toImage();
            const QRectF area = chart->plotArea();
            for (const charts::Tick& tick : charts::ticks(chart->yAxis(), area.height(), 38)) {
                const double unit = chart->yAxis().unit(tick.value);
                if (unit < 0.05 || unit > 0.95 || std::abs(unit - chart->yAxis().unit(7)) < 0.03) continue;
                const int y = int(area.bottom() - unit * area.height()), x = int(area.left()) + 3;
                bool found = false;
                for (int dy = -1; dy <= 1; ++dy) found |= image.pixelColor(x, y + dy) == charts::Palette::light().grid;
                QVERIFY2(found, qPrintable(QStringLiteral("no grid line at %1, height %2").arg(tick.text).arg(size.height())));
            }
        }
    }
};

QTEST_MAIN(tst_chart_run)
#include "tst_chart_run.moc"
