// Ticks of an axis and their texts: round, of one form, each where it says.
#include "charts/axis_map.h"

#include <QSet>
#include <QtTest>

#include <cmath>
#include <utility>

using namespace lathe::charts;

namespace {

QStringList textsOf(const std::vector<Tick>& ticks) {
    QStringList texts;
    for (const Tick& tick : ticks) texts += tick.text;
    return texts;
}

}  // namespace

class TestAxis : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void ticksOfOneAxisHaveOneForm_data() {
        QTest::addColumn<double>("lo");
        QTest::addColumn<double>("hi");
        QTest::addColumn<QStringList>("texts");
        QTest::newRow("rates") << 0.0 << 3e-4 << QStringList{"0", "5e-5", "1e-4", "1.5e-4", "2e-4", "2.5e-4", "3e-4"};
        QTest::newRow("loss") << 0.0 << 2.1 << QStringList{"0.0", "0.5", "1.0", "1.5", "2.0"};
        QTest::newRow("steps") << 0.0 << 52000.0 << QStringList{"0", "10,000", "20,000", "30,000", "40,000", "50,000"};
        QTest::newRow("millions") << 0.0 << 2.2e6 << QStringList{"0", "0.5M", "1.0M", "1.5M", "2.0M"};
        QTest::newRow("negative") << -1.0 << 1.0 << QStringList{"-1.0", "-0.5", "0.0", "0.5", "1.0"};
    }
    void ticksOfOneAxisHaveOneForm() {
        QFETCH(double, lo);
        QFETCH(double, hi);
        QFETCH(QStringList, texts);
        QCOMPARE(textsOf(ticks({lo, hi, false}, 250, 40)), texts);
    }

    void logAxisAlwaysHasAtLeastTwoTexts_data() {
        QTest::addColumn<double>("lo");
        QTest::addColumn<double>("hi");
        QTest::newRow("less than a decade") << 2.0 << 8.0;
        QTest::newRow("a sliver") << 0.311 << 0.327;
        QTest::newRow("a decade and a half") << 0.07 << 2.0;
        QTest::newRow("four decades") << 1e-3 << 20.0;
        QTest::newRow("the range of float") << 1e-45 << 3e38;
    }
    void logAxisAlwaysHasAtLeastTwoTexts() {
        QFETCH(double, lo);
        QFETCH(double, hi);
        const auto found = ticks({lo, hi, true}, 250, 38);
        QVERIFY2(found.size() >= 2 && found.size() <= 14, qPrintable(textsOf(found).join(' ')));
        for (const Tick& tick : found) QVERIFY(tick.value >= lo * 0.999 && tick.value <= hi * 1.001 && !tick.text.isEmpty());
        const QStringList texts = textsOf(found);
        QCOMPARE(QSet<QString>(texts.begin(), texts.end()).size(), texts.size());
    }

    void textsSayWhereTheirTicksStand_data() {
        QTest::addColumn<double>("lo");
        QTest::addColumn<double>("hi");
        const std::pair<double, double> ranges[] = {{2.973e-4, 2.9999e-4}, {2.9731e-4, 2.9732e-4}, {2.97e-4, 2.97000001e-4}, {1e-8, 3e-6}, {1e-12, 1.00001e-12}, {0.5, 0.500001},
                                                    {0.00105, 0.00106}, {2.3012345, 2.3012346}, {9.9995e4, 1.00001e5}, {123456789.1, 123456789.2}, {1e15, 1.0000001e15}, {3e-300, 3.001e-300}};
        for (const auto& [lo, hi] : ranges) {
            QTest::addRow("%g to %g", lo, hi) << lo << hi;
            QTest::addRow("%g to %g", -hi, -lo) << -hi << -lo;
        }
    }
    void textsSayWhereTheirTicksStand() {
        QFETCH(double, lo);
        QFETCH(double, hi);
        for (const bool log : {false, true})
            for (const double pixels : {45.0, 60.0, 250.0, 900.0}) {
                if (log && lo <= 0) continue;
                const auto found = ticks({lo, hi, log}, pixels, 38);
                const QString all = textsOf(found).join(QLatin1Char(' '));
                QVERIFY2(found.size() >= 2, qPrintable(QStringLiteral("%1 pixels: %2").arg(pixels).arg(all)));
                for (std::size_t i = 0; i < found.size(); ++i) {
                    const double gap = i > 0 ? found[i].value - found[i - 1].value : found[1].value - found[0].value;
                    QString text = found[i].text;
                    const double unit = text.endsWith(QLatin1Char('M')) ? 1e6 : text.endsWith(QLatin1Char('G')) ? 1e9 : 1;
                    if (unit > 1) text.chop(1);
                    bool isNumber = false;
                    const double told = text.remove(QLatin1Char(',')).toDouble(&isNumber) * unit;
                    QVERIFY2(isNumber && std::abs(told - found[i].value) < 0.05 * gap, qPrintable(QStringLiteral("%1 at %2").arg(all).arg(found[i].value, 0, 'g', 15)));
                }
            }
    }

    void ticksAreSaneForExtremeRanges_data() {
        QTest::addColumn<double>("lo");
        QTest::addColumn<double>("hi");
        QTest::newRow("1e-12 at 0") << 0.0 << 1e-12;
        QTest::newRow("1e-12 at 1") << 1.0 << 1.0 + 1e-12;
        QTest::newRow("1e300") << -1e300 << 1e300;
        QTest::newRow("largest") << -1.7e308 << 1.7e308;
        QTest::newRow("denormal") << 0.0 << 1e-310;
    }
    void ticksAreSaneForExtremeRanges() {
        QFETCH(double, lo);
        QFETCH(double, hi);
        const auto found = ticks({lo, hi, false}, 300, 40);
        QVERIFY(found.size() <= 60);
        const AxisMap axis{lo, hi, false};
        for (const double unit : {0.0, 0.25, 1.0}) QVERIFY(std::abs(axis.unit(axis.value(unit)) - unit) < 0.51);
    }

    void timeIsToldInOneUnit() {
        QCOMPARE(textsOf(timeTicks({0, 100, false}, 500, 90)), (QStringList{"0 s", "30 s", "60 s", "90 s"}));
        QCOMPARE(textsOf(timeTicks({0, 3700, false}, 500, 90)), (QStringList{"0 min", "15 min", "30 min", "45 min", "60 min"}));
        QCOMPARE(textsOf(timeTicks({0, 9 * 3600, false}, 500, 90)), (QStringList{"0 h", "2 h", "4 h", "6 h", "8 h"}));
    }
};

QTEST_GUILESS_MAIN(TestAxis)
#include "tst_axis.moc"
