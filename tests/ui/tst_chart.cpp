// labels: gui
// Axes, painting and navigation of a chart: pixels of the real widget, real mouse, wheel and key events.
#include "charts/axis_map.h"
#include "charts/curve_builder.h"
#include "charts/curve_painter.h"
#include "charts/fonts.h"
#include "charts/line_chart.h"

#include <QPainter>
#include <QSignalSpy>
#include <QWheelEvent>
#include <QtTest>

#include <cmath>
#include <algorithm>
#include <limits>
#include <random>

using namespace lathe;
using namespace lathe::charts;
using session::RunData;

namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

store::SessionRow sessionRow(std::int32_t number, std::int32_t parent, std::int64_t parentAttempt, const char* verb) {
    store::SessionRow row;
    row.number = number;
    row.parentSession = parent;
    row.parentAttempt = parentAttempt;
    row.verb = verb;
    return row;
}

RunData dataOf(const std::vector<double>& values) {
    RunData data;
    data.setSessions({sessionRow(1, 0, 0, "start")});
    for (std::size_t i = 0; i < values.size(); ++i) data.append("y", {1, std::int64_t(i), std::int64_t(i), std::int64_t(i) * 500'000'000, 0, values[i]});
    return data;
}

std::vector<Curve> curvesOf(const RunData& data, double smoothing = 0, bool abandoned = true) {
    static CurveBuilder builder;
    builder.clear();
    builder.setSmoothing(smoothing);
    std::vector<Curve> curves;
    builder.add(data, "y", {QStringLiteral("y"), 0, false, smoothing > 0}, Palette::light(), abandoned, curves);
    return curves;
}

/// A shown chart over data.
struct Bench {
    ChartLink link;
    LineChart chart{QStringLiteral("Loss"), &link};
    RunData data;

    explicit Bench(RunData given, double smoothing = 0) : data(std::move(given)) {
        chart.resize(640, 360);
        chart.show();
        if (!QTest::qWaitForWindowExposed(&chart)) qFatal("the window did not show");
        chart.setCurves(curvesOf(data, smoothing));
        showAll();
    }
    void showAll() {
        const XRange range = xRangeOf({&chart.curves()}, link.axis());
        link.setDataRange(range.lo, range.hi);
    }
    QImage picture() { return chart.canvas()->grab().toImage(); }
    QPoint at(double unitX, double unitY) const {
        const QRectF area = chart.plotArea();
        return {int(area.left() + unitX * area.width()), int(area.bottom() - unitY * area.height())};
    }
    double plotX(double x) const { return chart.plotArea().left() + (x - link.lo()) / (link.hi() - link.lo()) * chart.plotArea().width(); }
    int plotY(double y) const { return int(chart.plotArea().bottom() - chart.yAxis().unit(y) * chart.plotArea().height()); }
    void mouse(QEvent::Type type, QPoint place, Qt::MouseButton button, Qt::MouseButtons buttons, Qt::KeyboardModifiers keys = {}) {
        QMouseEvent event(type, place, chart.canvas()->mapToGlobal(QPointF(place)), button, buttons, keys);
        QCoreApplication::sendEvent(chart.canvas(), &event);
    }
    void drag(QPoint from, QPoint to, Qt::MouseButton button = Qt::LeftButton, Qt::KeyboardModifiers keys = {}) {
        mouse(QEvent::MouseButtonPress, from, button, button, keys);
        mouse(QEvent::MouseMove, (from + to) / 2, Qt::NoButton, button, keys);
        mouse(QEvent::MouseMove, to, Qt::NoButton, button, keys);
        mouse(QEvent::MouseButtonRelease, to, button, Qt::NoButton, keys);
    }
    void wheel(QPoint place, int notches, Qt::KeyboardModifiers keys = {}) {
        QWheelEvent event(place, chart.canvas()->mapToGlobal(QPointF(place)), {}, {0, notches * 120}, Qt::NoButton, keys, Qt::NoScrollPhase, false);
        QCoreApplication::sendEvent(chart.canvas(), &event);
    }
    bool has(const QImage& image, const QColor& color, QRect where) const {
        const QRect inside = where.intersected(image.rect());
        for (int y = inside.top(); y <= inside.bottom(); ++y)
            for (int x = inside.left(); x <= inside.right(); ++x)
                if (qAbs(qRed(image.pixel(x, y)) - color.red()) + qAbs(qGreen(image.pixel(x, y)) - color.green()) + qAbs(qBlue(image.pixel(x, y)) - color.blue()) < 60) return true;
        return false;
    }
};

std::vector<double> ramp(int n, double from = 0, double to = 1) {
    std::vector<double> values;
    for (int i = 0; i < n; ++i) values.push_back(from + (to - from) * i / std::max(1, n - 1));
    return values;
}

}  // namespace

class tst_chart : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void textsOfAShortRangeFarFromZeroAreWhole() {
        Bench bench(dataOf(ramp(100, -2.3012395, -2.3012345)));
        double widest = 0;
        for (const Tick& tick : ticks(bench.chart.yAxis(), bench.chart.plotArea().height(), 38)) widest = std::max(widest, QFontMetricsF(captionFont()).horizontalAdvance(tick.text));
        QVERIFY2(bench.chart.plotArea().left() > widest + 4, qPrintable(QString::number(widest)));
        const double far = bench.chart.plotArea().left();
        bench.chart.setCurves({});
        bench.data = dataOf(ramp(100));
        bench.chart.setCurves(curvesOf(bench.data));
        bench.showAll();
        QVERIFY(bench.chart.plotArea().left() < far);
    }

    // The top of a spike of one step is painted in its own pixel column, however far one has zoomed out.
    void spikeIsPaintedAtEveryZoom() {
        std::vector<double> values(1'000'000, 1.0);
        constexpr int kSpike = 777'777;
        for (std::size_t i = 0; i < values.size(); ++i) values[i] += 0.2 * std::sin(double(i) * 0.7);
        values[kSpike] = 50;
        const RunData data = dataOf(values);
        Scene scene;
        scene.curves = curvesOf(data);
        scene.y = {0, 50, false};
        for (double width = 1e6; width > 30; width *= 0.45) {
            scene.x = {kSpike - 0.4 * width, kSpike + 0.6 * width, false};
            QImage image(800, 300, QImage::Format_ARGB32_Premultiplied);
            image.fill(Qt::transparent);
            CurvePainter(image, scene, 1).paint();
            int painted = 0;
            for (int x = 315; x <= 325; ++x)
                if (qAlpha(image.pixel(x, 0)) > 60) ++painted;
            QVERIFY2(painted >= 1, qPrintable(QStringLiteral("not painted over %1 steps").arg(width)));
        }
    }

    void newPointsLeaveFinishedColumnsAlone() {
        std::vector<double> values;
        for (int i = 0; i < 40'000; ++i) values.push_back(std::sin(i * 0.9) + (i % 977 == 0 ? 3 : 0));
        RunData data = dataOf(values);
        Scene scene;
        scene.curves = curvesOf(data);
        scene.x = {0, 60'000, false};
        scene.y = {-2, 5, false};
        const auto paint = [&] {
            QImage image(600, 200, QImage::Format_ARGB32_Premultiplied);
            image.fill(Qt::transparent);
            CurvePainter(image, scene, 1).paint();
            return image;
        };
        const QImage before = paint();
        for (int i = 40'000; i < 50'000; ++i) data.append("y", {1, i, i, 0, 0, std::sin(i * 0.9)});
        const QImage after = paint();
        QCOMPARE(after.copy(0, 0, 398, 200), before.copy(0, 0, 398, 200));
        QVERIFY(after.copy(410, 0, 60, 200) != before.copy(410, 0, 60, 200));
    }

    void nanIsMarkedAndLeavesTheRangeAlone() {
        std::vector<double> values = ramp(1'000'000, 1, 2);
        values[500'000] = kNaN;
        Bench bench(dataOf(values));
        QVERIFY(bench.chart.yAxis().lo > 0.5 && bench.chart.yAxis().hi < 2.5);
        for (const double zoom : {1.0, 0.01, 0.0001}) {
            bench.link.setRange(5e5 - 5e5 * zoom, 5e5 + 5e5 * zoom);
            const QPoint foot = bench.at(0.5, 0.02);
            QVERIFY2(bench.has(bench.picture(), Palette::light().danger, QRect(foot.x() - 8, foot.y() - 10, 16, 14)), qPrintable(QString::number(zoom)));
            QVERIFY(bench.chart.note().contains(QStringLiteral("1 NaN")));
        }
        bench.link.setCursor(500'000);
        QVERIFY2(bench.chart.readOut().contains(QStringLiteral("NaN")), qPrintable(bench.chart.readOut()));
    }

    void longStretchOfNanIsOneMark() {
        std::vector<double> values = ramp(300'000, 1, 2);
        std::fill(values.begin() + 100'000, values.begin() + 200'000, kNaN);
        values[250'000] = kInfinity;
        values[260'000] = -kInfinity;
        Bench bench(dataOf(values));
        QVERIFY(bench.chart.note().contains(QStringLiteral("100,002 NaN or infinite")));
        const QImage image = bench.picture();
        const QRectF area = bench.chart.plotArea();
        const int y = int(area.bottom()) - 2, from = int(area.left() + area.width() * 0.36), to = int(area.left() + area.width() * 0.60);
        for (int x = from; x < to; x += 5) QVERIFY(bench.has(image, Palette::light().danger, QRect(x, y - 1, 3, 2)));
        QVERIFY(bench.chart.yAxis().hi < 2.5);
    }

    void logAxisBreaksTheLineAndSaysHowManyAreNotShown() {
        Bench bench(dataOf({1, 0, -1, kNaN, 10, 100}));
        bench.chart.setLogY(true);
        QVERIFY2(bench.chart.note().contains(QStringLiteral("2 not shown")), qPrintable(bench.chart.note()));
        QVERIFY(bench.chart.yAxis().lo > 0 && bench.chart.yAxis().lo < 1 && bench.chart.yAxis().hi > 100);
        // Between step 0 and step 4 there is no line.
        const QImage image = bench.picture();
        const QColor curve = Palette::light().curve(0);
        QVERIFY(!bench.has(image, curve, QRect(bench.at(0.3, 0.9), bench.at(0.6, 0.1))));
        QVERIFY(bench.has(image, Palette::light().warning, QRect(bench.at(0.1, 0.03), bench.at(0.5, -0.03))));
    }

    void logAxisWithoutAnyPositiveValueSaysSo() {
        Bench bench(dataOf({-1, 0, -3}));
        bench.chart.setLogY(true);
        QVERIFY2(bench.chart.note().contains(QStringLiteral("No value above 0")), qPrintable(bench.chart.note()));
        QVERIFY(!bench.picture().isNull());
    }

    void constantAndExtremeValuesGiveSaneRanges_data() {
        QTest::addColumn<QVector<double>>("values");
        QTest::addColumn<bool>("log");
        for (const bool log : {false, true}) {
            const char* kind = log ? "log" : "linear";
            QTest::addRow("constant %s", kind) << QVector<double>(100, 3.5) << log;
            QTest::addRow("zero %s", kind) << QVector<double>(100, 0.0) << log;
            QTest::addRow("negative constant %s", kind) << QVector<double>(100, -2.0) << log;
            QTest::addRow("range of 1e-12 %s", kind) << QVector<double>{1, 1 + 1e-12, 1} << log;
            QTest::addRow("1e300 %s", kind) << QVector<double>{1, 1e300, -1e300, 2} << log;
            QTest::addRow("denormal %s", kind) << QVector<double>{1e-310, 2e-310, 5e-324} << log;
            QTest::addRow("1e-38 and 1e30 %s", kind) << QVector<double>{1e-38, 1e30} << log;
            QTest::addRow("one point %s", kind) << QVector<double>{7} << log;
            QTest::addRow("nothing finite %s", kind) << QVector<double>{kNaN, kInfinity, -kInfinity} << log;
        }
    }
    void constantAndExtremeValuesGiveSaneRanges() {
        QFETCH(QVector<double>, values);
        QFETCH(bool, log);
        Bench bench(dataOf({values.begin(), values.end()}));
        bench.chart.setLogY(log);
        const AxisMap y = bench.chart.yAxis();
        QVERIFY2(std::isfinite(y.lo) && std::isfinite(y.hi) && y.lo < y.hi && (!log || y.lo > 0), qPrintable(QStringLiteral("%1 … %2").arg(y.lo).arg(y.hi)));
        QVERIFY(!ticks(y, 300, 38).empty());
        QVERIFY(!bench.picture().isNull());
        for (int i = 0; i < 60; ++i) bench.wheel(bench.at(0.5, 0.5), 1);  // as far in as it goes
        QVERIFY(bench.link.lo() < bench.link.hi());
        QVERIFY(!bench.picture().isNull());
    }

    void ignoringOutliersKeepsTheMiddleNinetyPercent() {
        std::vector<double> values = ramp(101, 0, 100);
        std::shuffle(values.begin(), values.end() - 1, std::mt19937(4));
        std::iter_swap(std::find(values.begin(), values.end(), 50.0), values.end() - 1);  // the newest is an ordinary one
        const RunData data = dataOf(values);
        Bench bench(dataOf(values));
        QVERIFY(bench.chart.yAxis().lo <= 0 && bench.chart.yAxis().hi >= 100);
        bench.chart.setIgnoreOutliers(true);
        const double pad = 0.05 * 90;
        QCOMPARE(bench.chart.yAxis().lo, 5 - pad);
        QCOMPARE(bench.chart.yAxis().hi, 95 + pad);
        QVERIFY(bench.chart.note().contains(QStringLiteral("outliers")));
        QVERIFY(bench.chart.note().contains(QStringLiteral("101 points")));  // the data are all still there
    }

    void firstStepsDoNotFlattenTheRest() {
        std::vector<double> values;
        for (int i = 0; i < 2000; ++i) values.push_back(0.2 + (i < 40 ? 400.0 / (1 + i) : 0.1 * std::sin(i)));
        Bench bench(dataOf(values));
        QVERIFY(bench.chart.yAxis().hi > 100);
        bench.chart.setIgnoreOutliers(true);
        QVERIFY(bench.chart.yAxis().hi < 1);
    }

    void wheelZoomsAtTheCursor() {
        Bench bench(dataOf(ramp(1000)));
        const double under = bench.link.lo() + 0.25 * (bench.link.hi() - bench.link.lo()), width = bench.link.hi() - bench.link.lo();
        const QPoint place = bench.at(0.25, 0.5);
        bench.wheel(place, 3);
        const double now = bench.link.hi() - bench.link.lo();
        QVERIFY(std::abs(now / width - std::pow(0.8, 3)) < 1e-6);
        QVERIFY(std::abs((under - bench.link.lo()) / now - 0.25) < 0.01);
        bench.wheel(place, 1, Qt::ShiftModifier);
        QVERIFY(std::abs(bench.link.hi() - bench.link.lo() - now) < 1e-6);
    }

    void dragDrawsABoxAndAFlatOneZoomsOnlyX() {
        Bench bench(dataOf(ramp(1000)));
        const AxisMap before = bench.chart.yAxis();
        const double width = bench.link.hi() - bench.link.lo();
        bench.drag(bench.at(0.2, 0.5), bench.at(0.4, 0.52));
        QVERIFY(std::abs((bench.link.hi() - bench.link.lo()) / width - 0.2) < 0.01);
        bench.drag(bench.at(0.2, 0.2), bench.at(0.8, 0.8));
        QVERIFY(bench.chart.yAxis() != before);
        QTest::mouseDClick(bench.chart.canvas(), Qt::LeftButton, {}, bench.at(0.5, 0.5));
        QVERIFY(!bench.link.zoomed());
        QCOMPARE(bench.chart.yAxis(), before);
    }

    void panningByKeysAndMouseKeepsTheWidth() {
        Bench bench(dataOf(ramp(1000)));
        bench.link.setRange(200, 400);
        bench.drag(bench.at(0.5, 0.5), bench.at(0.75, 0.5), Qt::LeftButton, Qt::ShiftModifier);
        QVERIFY(std::abs(bench.link.lo() - 150) < 2 && std::abs(bench.link.hi() - 350) < 2);
        bench.drag(bench.at(0.75, 0.5), bench.at(0.5, 0.5), Qt::MiddleButton);
        QVERIFY(std::abs(bench.link.lo() - 200) < 2);
        QTest::keyClick(&bench.chart, Qt::Key_Right);
        QVERIFY(std::abs(bench.link.lo() - 220) < 2 && std::abs(bench.link.hi() - bench.link.lo() - 200) < 1e-6);
        QTest::keyClick(&bench.chart, Qt::Key_Plus);
        QVERIFY(std::abs(bench.link.hi() - bench.link.lo() - 160) < 1e-6);
    }

    void keysToggleLogFollowAndCurves() {
        Bench bench(dataOf(ramp(1000, 1, 2)));
        QTest::keyClick(&bench.chart, Qt::Key_L);
        QVERIFY(bench.chart.logY());
        QTest::keyClick(&bench.chart, Qt::Key_F);
        QVERIFY(bench.link.follow());
        QTest::keyClick(&bench.chart, Qt::Key_Home);
        QVERIFY(!bench.link.follow() && !bench.link.zoomed());
        QTest::keyClick(&bench.chart, Qt::Key_1);
        QVERIFY(!bench.chart.curves()[0].visible);
        QVERIFY(!bench.has(bench.picture(), Palette::light().curve(0), bench.chart.plotArea().toRect()));
    }

    void zoomedViewStaysWhereItIsWhenDataArrive() {
        Bench bench(dataOf(ramp(1000)));
        bench.link.setRange(100, 200);
        for (int i = 1000; i < 3000; ++i) bench.data.append("y", {1, i, i, 0, 0, 1});
        bench.showAll();
        QCOMPARE(bench.link.lo(), 100.0);
        QCOMPARE(bench.link.hi(), 200.0);
        bench.link.setFollow(true);
        bench.showAll();
        QVERIFY(bench.link.hi() >= 2999 && std::abs(bench.link.hi() - bench.link.lo() - 100) < 1e-6);
    }

    void plotDoesNotMoveWithItsTexts() {
        Bench bench(dataOf(ramp(100)));
        const QRectF area = bench.chart.plotArea();
        for (int i = 100; i < 200; ++i) bench.data.append("y", {1, i, i, 0, 0, 12345678912.0});
        bench.showAll();
        QCOMPARE(bench.chart.plotArea(), area);
    }

    void chartsWithOneLinkShareRangeAndCursor() {
        Bench bench(dataOf(ramp(1000)));
        LineChart other(QStringLiteral("Norm"), &bench.link);
        other.resize(500, 300);
        other.show();
        QVERIFY(QTest::qWaitForWindowExposed(&other));
        other.setCurves(curvesOf(bench.data));
        bench.mouse(QEvent::MouseMove, bench.at(0.5, 0.5), Qt::NoButton, Qt::NoButton);
        QVERIFY2(other.readOut().contains(QStringLiteral("step ")), qPrintable(other.readOut()));
        QCOMPARE(other.readOut(), bench.chart.readOut());
        QEvent leave(QEvent::Leave);
        QCoreApplication::sendEvent(bench.chart.canvas(), &leave);
        QVERIFY(other.readOut().isEmpty());
    }

    void readOutStandsInTheHeaderAndCoversNoCurve() {
        Bench bench(dataOf(ramp(1000, 1, 2)));
        bench.link.setCursor(500);
        QVERIFY2(bench.chart.readOut().startsWith(QStringLiteral("step 500 · y 1.5")), qPrintable(bench.chart.readOut()));
        QVERIFY(bench.chart.accessibleDescription().contains(QStringLiteral("step 500")));
        // The curve is as it was, apart from the cross-hair and its dot.
        const QImage with = bench.picture();
        bench.link.setCursor(kNaN);
        const QImage without = bench.picture();
        const QPoint middle = bench.at(0.5, 0.5);
        QCOMPARE(with.copy(0, 0, middle.x() - 30, with.height()), without.copy(0, 0, middle.x() - 30, with.height()));
    }

    void smoothedValueIsToldWithTheRawOne() {
        Bench bench(dataOf({1, 2, 3, 4}), 0.6);
        bench.link.setCursor(1);
        QVERIFY2(bench.chart.readOut().contains(QStringLiteral("1.625 (2)")), qPrintable(bench.chart.readOut()));
    }

    void eventsAreClickable() {
        Bench bench(dataOf(ramp(1000)));
        bench.chart.setEvents({{EventKind::Checkpoint, 250, QStringLiteral("Checkpoint"), -1, QStringLiteral("s001-000000250")},
                               {EventKind::Error, 750, QStringLiteral("Loss is not finite"), 42, {}}});
        QSignalSpy spy(&bench.chart, &LineChart::eventClicked);
        const QRectF area = bench.chart.plotArea();
        const auto top = [&](double x) { return QPoint(int(area.left() + (x - bench.link.lo()) / (bench.link.hi() - bench.link.lo()) * area.width()), int(area.top()) + 4); };
        QVERIFY(bench.has(bench.picture(), Palette::light().danger, QRect(top(750) - QPoint(3, 2), QSize(7, 5))));
        QTest::mouseClick(bench.chart.canvas(), Qt::LeftButton, {}, top(750));
        QTest::mouseClick(bench.chart.canvas(), Qt::LeftButton, {}, top(250));
        QTest::mouseClick(bench.chart.canvas(), Qt::LeftButton, {}, top(500));
        QCOMPARE(spy.count(), 2);
        QCOMPARE(spy[0][0].value<ChartEvent>().id, qint64(42));
        QCOMPARE(spy[1][0].value<ChartEvent>().checkpoint, QStringLiteral("s001-000000250"));
        QVERIFY(!bench.link.zoomed());
    }

    // Log 0..150, roll back to 100, log 101..200 with other values.
    void rollBackShowsANewBranchAndTheOldTailDimmedNeverJoined() {
        RunData data;
        data.setSessions({sessionRow(1, 0, 0, "start"), sessionRow(2, 1, 100, "roll-back")});
        for (int i = 0; i <= 150; ++i) data.append("y", {1, i, i, 0, 0, 1.0});
        for (int i = 101; i <= 200; ++i) data.append("y", {2, i, i, 0, 0, 2.0});
        Bench bench(std::move(data));
        const auto& curves = bench.chart.curves();
        QCOMPARE(curves.size(), std::size_t(3));
        QVERIFY(!curves[0].abandoned && !curves[1].abandoned && curves[2].abandoned);
        QVERIFY(curves[2].name.contains(QStringLiteral("abandoned")) && curves[1].name.contains(QStringLiteral("branch 2")));
        QVERIFY(curves[0].color != curves[1].color);
        const QImage image = bench.picture();
        const auto column = [&](double x) { return int(bench.plotX(x)); };
        // Nothing between the two levels at the place of the roll-back.
        const int high = bench.plotY(1.9), low = bench.plotY(1.1);
        for (const QColor& color : {curves[0].color, curves[1].color}) QVERIFY(!bench.has(image, color, QRect(column(97), high, column(104) - column(97), low - high)));
        const QColor dimmed = mix(curves[2].color, Palette::light().surface, 0.62);
        QVERIFY(bench.has(image, dimmed, QRect(column(130), bench.plotY(1.0) - 3, 10, 6)));
        bench.link.setCursor(120);
        QVERIFY2(bench.chart.readOut().contains(QStringLiteral("branch 2 2")), qPrintable(bench.chart.readOut()));
        QVERIFY(bench.chart.readOut().contains(QStringLiteral("abandoned 1")));
        bench.chart.setCurves(curvesOf(bench.data, 0, false));
        QVERIFY(!bench.has(bench.picture(), dimmed, QRect(column(130), bench.plotY(1.0) - 3, 10, 6)));
        QVERIFY(!bench.chart.readOut().contains(QStringLiteral("abandoned")));
    }

    void anAbandonedBranchThatIsShownLiesWithinTheRange() {
        RunData data;
        data.setSessions({sessionRow(1, 0, 0, "start"), sessionRow(2, 1, 100, "roll-back")});
        for (int i = 0; i <= 150; ++i) data.append("y", {1, i, i, 0, 0, i <= 100 ? 1.0 + i * 0.01 : 9.0});
        for (int i = 101; i <= 200; ++i) data.append("y", {2, i, i, 0, 0, 2.0});
        Bench bench(std::move(data));
        const auto holds = [&](double y) { return bench.chart.yAxis().lo <= y && y <= bench.chart.yAxis().hi; };
        QVERIFY(holds(1) && holds(2) && holds(9));
        bench.chart.setCurves(curvesOf(bench.data, 0, false));
        QVERIFY(holds(1) && holds(2) && !holds(9));
        bench.chart.setCurves(curvesOf(bench.data, 0, true));
        bench.chart.resetY();
        QVERIFY(holds(9));
        bench.chart.setCurveVisible(2, false);
        QVERIFY(!holds(9));
    }

    void hiddenChartPaintsNothingAndIsCurrentOnceShown() {
        Bench bench(dataOf(ramp(1000)));
        bench.picture();
        bench.chart.hide();
        const int paints = bench.chart.paints();
        for (int i = 1000; i < 2000; ++i) {
            bench.data.append("y", {1, i, i, 0, 0, 1});
            bench.showAll();
        }
        QCoreApplication::processEvents();
        QCOMPARE(bench.chart.paints(), paints);
        bench.chart.show();
        QVERIFY(QTest::qWaitForWindowExposed(&bench.chart));
        bench.link.setCursor(1999);
        QVERIFY2(bench.chart.readOut().contains(QStringLiteral("step 1,999")), qPrintable(bench.chart.readOut()));
    }

    void nothingNewPaintsNothing() {
        Bench bench(dataOf(ramp(1000)));
        bench.picture();
        const int paints = bench.chart.paints();
        for (int i = 0; i < 20; ++i) bench.showAll();
        bench.link.setCursor(10);
        bench.picture();
        QCOMPARE(bench.chart.paints(), paints);  // hovering only copies the image
    }

    void legendHidesACurve() {
        Bench bench(dataOf(ramp(100)));
        QSignalSpy spy(&bench.chart, &LineChart::curveVisibilityChanged);
        auto* header = bench.chart.findChild<QWidget*>(QStringLiteral("chartHeader"));
        QVERIFY(header);
        QTest::mouseClick(header, Qt::LeftButton, {}, QPoint(header->width() - 20, header->height() / 2));
        QCOMPARE(spy.count(), 1);
        bench.chart.setCurves(curvesOf(bench.data));
        QVERIFY(!bench.chart.curves()[0].visible);  // what was hidden stays so when the data are set anew
    }

    void emptyChartSaysWhatItWaitsFor() {
        Bench bench(dataOf({}));
        bench.chart.setPlaceholder(QStringLiteral("Waiting for the first update"));
        QVERIFY(!bench.picture().isNull());
        QVERIFY(bench.chart.accessibleName() == QStringLiteral("Loss"));
    }

    void growingCurvesLookAsIfPaintedAtOnce_data() {
        QTest::addColumn<int>("before");
        QTest::addColumn<int>("each");
        QTest::addColumn<double>("smoothing");
        QTest::addColumn<double>("odd");
        QTest::addColumn<double>("ratio");
        QTest::newRow("few") << 1 << 1 << 0.0 << 0.0 << 1.0;
        QTest::newRow("few, smoothed") << 3 << 2 << 0.9 << 0.0 << 1.0;
        QTest::newRow("from segments to columns") << 600 << 20 << 0.9 << 0.0 << 1.0;
        QTest::newRow("columns") << 1500 << 7 << 0.9 << 0.0 << 1.0;
        QTest::newRow("columns at 2x") << 4000 << 7 << 0.9 << 0.0 << 2.0;
        QTest::newRow("whole buckets") << 60'000 << 501 << 0.9 << 0.0 << 1.0;
        QTest::newRow("whole buckets, raw") << 300'000 << 3001 << 0.0 << 0.0 << 1.0;
        QTest::newRow("with NaN") << 400 << 9 << 0.9 << kNaN << 1.0;
        QTest::newRow("with spikes") << 400 << 9 << 0.9 << 40.0 << 1.5;
    }
    void growingCurvesLookAsIfPaintedAtOnce() {
        QFETCH(int, before);
        QFETCH(int, each);
        QFETCH(double, smoothing);
        QFETCH(double, odd);
        QFETCH(double, ratio);
        std::mt19937 random(7);
        std::normal_distribution<double> noise;
        const auto valueAt = [&](int i) { return odd != 0 && i % 97 == 96 ? odd : 3 * std::exp(-i / double(before + 1)) + 0.3 * noise(random); };
        std::vector<double> values;
        for (int i = 0; i < before; ++i) values.push_back(valueAt(i));
        RunData data = dataOf(values);
        constexpr int kRounds = 40;
        Scene scene;
        scene.curves = curvesOf(data, smoothing);
        scene.x = {0, double(before + kRounds * each), false};
        scene.y = {-1, 4, false};
        scene.markClipped = odd > 0;  // strips at the edge
        const auto picture = [&](CurveItem& item) {
            QImage image(int(500 * ratio), int(160 * ratio), QImage::Format_ARGB32_Premultiplied);
            image.setDevicePixelRatio(ratio);
            image.fill(Qt::white);
            QPainter painter(&image);
            item.paint(&painter, nullptr, nullptr);
            return image;
        };
        CurveItem growing(nullptr, &scene);
        growing.setArea({0, 0, 500, 160});
        picture(growing);
        for (int round = 0, n = before; round < kRounds; ++round) {
            for (int k = 0; k < each; ++k, ++n) data.append("y", {1, n, n, 0, 0, valueAt(n)});
            for (const CurvePiece& piece : scene.curves.front().pieces)
                if (piece.smoothing) piece.smoothing->update();
            growing.grow();
            CurveItem whole(nullptr, &scene);
            whole.setArea({0, 0, 500, 160});
            QVERIFY2(picture(growing) == picture(whole), qPrintable(QStringLiteral("round %1").arg(round)));
        }
        if (!std::isnan(odd)) QVERIFY2(growing.strips() > kRounds / 2, qPrintable(QString::number(growing.strips())));
        else QCOMPARE(growing.strips(), 0);  // marks at the edge flow together
    }
};

QTEST_MAIN(tst_chart)
#include "tst_chart.moc"
