// labels: gui
// Which new points of a dense curve are painted at once, and which change nothing that can be seen.
#include "charts/curve_builder.h"
#include "charts/line_chart.h"

#include <QtTest>

#include <limits>
#include <memory>
#include <random>

using namespace lathe;
using namespace lathe::charts;

class TestChartLive : public QObject {
    Q_OBJECT

    static constexpr int kBefore = 200'000;
    session::RunData m_data;
    int m_points = 0;
    ChartLink m_link;
    CurveBuilder m_builder;
    std::unique_ptr<LineChart> m_chart;

    void append(double value) {
        m_data.append("y", {1, m_points, m_points, m_points * std::int64_t(1'000'000), 0, value});
        ++m_points;
    }
    /// As the charts of a run do it for new points; what waits to be painted is.
    void showNew() {
        m_link.setDataRange(0, m_points);
        m_chart->canvas()->grab();
    }

private Q_SLOTS:
    void initTestCase() {
        store::SessionRow row;
        row.number = 1;
        m_data.setSessions({row});
        std::mt19937 random(3);
        std::uniform_real_distribution<double> noise(0, 1);
        for (int i = 0; i < kBefore; ++i) append(noise(random));
        m_chart = std::make_unique<LineChart>(QStringLiteral("Loss"), &m_link);
        m_chart->resize(640, 360);
        m_chart->show();
        QVERIFY(QTest::qWaitForWindowExposed(m_chart.get()));
        std::vector<Curve> curves;
        m_builder.add(m_data, "y", {QStringLiteral("y"), 0, false, false}, Palette::light(), true, curves);
        m_chart->setCurves(curves);
        showNew();
        showNew();
        QCOMPARE(m_chart->shownPoints(), std::size_t(m_points));
    }

    void whatLiesWithinItsColumnIsAlreadyThere() {
        for (int i = 0; i < 20; ++i) {
            append(0.5);
            showNew();
            QCOMPARE(m_chart->shownPoints(), std::size_t(m_points));
        }
    }
    void whatStandsOutIsPaintedAtOnce_data() {
        QTest::addColumn<double>("value");
        QTest::newRow("above") << 1.2;
        QTest::newRow("further above") << 1.5;
        QTest::newRow("below") << -0.3;
        QTest::newRow("NaN") << std::numeric_limits<double>::quiet_NaN();
        QTest::newRow("infinity") << std::numeric_limits<double>::infinity();
    }
    void whatStandsOutIsPaintedAtOnce() {
        QFETCH(double, value);
        append(0.5);
        showNew();
        const int before = m_chart->paints();
        append(value);
        showNew();
        QVERIFY(m_chart->paints() > before);
        QCOMPARE(m_chart->shownPoints(), std::size_t(m_points));
    }
};

QTEST_MAIN(TestChartLive)
#include "tst_chart_live.moc"
