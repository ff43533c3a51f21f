// labels: fast
// Min/max pyramid, smoothing and the surviving line, against brute force and the vectors of TensorBoard's rule.
#include "session/run_data.h"
#include "session/series.h"
#include "session/smoothing.h"

#include <QtTest>

#include <cmath>
#include <limits>
#include <random>

using namespace lathe;
using session::Extent;
using session::Grid;
using session::PixelColumn;
using session::Series;
using session::Smoothing;
using session::XAxis;

namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

struct Random {
    std::mt19937 engine;
    double uniform() { return double(engine()) / 4294967296.0; }
    std::size_t below(std::size_t n) { return std::size_t(engine()) % n; }
};

/// Steps with or without gaps; values with zeros, negatives and non-finite ones where asked.
Series randomSeries(Random& random, std::size_t n, bool gaps, bool odd) {
    auto grid = std::make_shared<Grid>();
    Series series(grid);
    std::int64_t step = 0;
    double seconds = 0;
    for (std::size_t i = 0; i < n; ++i) {
        step += gaps ? 1 + std::int64_t(random.below(5)) : 1;
        seconds += 0.01 + random.uniform() * 0.01;
        grid->append(std::int64_t(i) + 1, step, seconds);
        double value = random.uniform() * 10;
        if (odd) {
            const std::size_t kind = random.below(40);
            if (kind == 0) value = kNaN;
            else if (kind == 1) value = double(kInfinity);
            else if (kind == 2) value = 0;
            else if (kind == 3) value = -value;
        }
        series.append(value);
    }
    return series;
}

Extent bruteForce(const Series& series, std::size_t begin, std::size_t end) {
    Extent extent;
    for (std::size_t i = begin; i < std::min(end, series.size()); ++i) {
        const float y = series.at(i);
        if (!std::isfinite(y)) {
            ++extent.nonFinite;
            continue;
        }
        extent.min = std::min(extent.min, y);
        extent.max = std::max(extent.max, y);
        if (y > 0) extent.minPositive = std::min(extent.minPositive, y);
    }
    return extent;
}

bool same(const Extent& a, const Extent& b) {
    return a.min == b.min && a.max == b.max && a.minPositive == b.minPositive && a.nonFinite == b.nonFinite;
}

store::SessionRow sessionRow(std::int32_t number, std::int32_t parent, std::int64_t parentAttempt, const char* verb) {
    store::SessionRow row;
    row.number = number;
    row.parentSession = parent;
    row.parentAttempt = parentAttempt;
    row.verb = verb;
    return row;
}

store::Point point(std::int32_t session, std::int64_t attempt, double value) {
    return {session, attempt, attempt, attempt * 1'000'000'000, 0, value};
}

}  // namespace

class tst_series : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void extentEqualsBruteForce_data() {
        QTest::addColumn<int>("points");
        QTest::addColumn<bool>("odd");
        for (const int n : {1, 15, 16, 17, 127, 128, 4095, 4096, 4097, 70000})
            for (const bool odd : {false, true}) QTest::addRow("%d %s", n, odd ? "odd" : "plain") << n << odd;
    }
    void extentEqualsBruteForce() {
        QFETCH(int, points);
        QFETCH(bool, odd);
        Random random{std::mt19937(unsigned(points))};
        const Series series = randomSeries(random, std::size_t(points), false, odd);
        for (int round = 0; round < 300; ++round) {
            const std::size_t a = random.below(std::size_t(points) + 1), b = a + random.below(std::size_t(points) - a + 2);
            QVERIFY2(same(series.extent(a, b), bruteForce(series, a, b)), qPrintable(QStringLiteral("[%1, %2)").arg(a).arg(b)));
        }
    }

    void columnsLoseNoPointAndMoveNoneFar() {
        Random random{std::mt19937(3)};
        for (int round = 0; round < 60; ++round) {
            const std::size_t n = 1 + random.below(60000);
            const Series series = randomSeries(random, n, random.below(2) == 0, random.below(2) == 0);
            const XAxis axis = random.below(2) ? XAxis::Step : XAxis::ActiveTime;
            const double last = series.xAt(n - 1, axis), x0 = random.uniform() * last * 0.5, x1 = x0 + (last - x0) * (0.01 + random.uniform()) + 1e-3;
            const int width = 1 + int(random.below(1500));
            std::vector<PixelColumn> columns;
            series.columns(axis, x0, x1, width, columns);
            QCOMPARE(columns.size(), std::size_t(width));
            const std::size_t begin = series.lowerBound(axis, x0), end = series.lowerBound(axis, x1);
            std::size_t counted = 0;
            Extent all;
            for (const PixelColumn& column : columns) {
                counted += column.count;
                all.add(column.extent);
            }
            QVERIFY(counted >= end - begin && counted <= end - begin + 16);  // whole buckets at the left edge
            const Extent exact = bruteForce(series, begin, end);
            QVERIFY(all.min <= exact.min && all.max >= exact.max && all.nonFinite >= exact.nonFinite);
        }
    }

    void oneSpikeShowsInItsColumnAtEveryZoom() {
        Random random{std::mt19937(5)};
        auto grid = std::make_shared<Grid>();
        Series series(grid);
        constexpr std::size_t kPoints = 1'000'000, kSpike = 654'321;
        for (std::size_t i = 0; i < kPoints; ++i) {
            grid->append(std::int64_t(i), std::int64_t(i), double(i));
            series.append(i == kSpike ? 50.0 : 1.0 + 0.1 * random.uniform());
        }
        std::vector<PixelColumn> columns;
        for (double width = double(kPoints); width > 2; width *= 0.61) {
            const double x0 = double(kSpike) - width * 0.37, x1 = x0 + width;
            series.columns(XAxis::Step, x0, x1, 1200, columns);
            const int expected = int((double(kSpike) - x0) / width * 1200);
            int found = -1;
            for (int k = 0; k < 1200; ++k)
                if (columns[std::size_t(k)].extent.max == 50) found = k;
            QVERIFY2(std::abs(found - expected) <= 1, qPrintable(QStringLiteral("width %1: column %2, not %3").arg(width).arg(found).arg(expected)));
        }
    }

    void numbersBeyondFloatStayFiniteAndKeepTheirSign() {
        auto grid = std::make_shared<Grid>();
        Series series(grid);
        for (const double value : {1e300, -1e300, 1e-300, -1e-300, 0.0, -0.0}) {
            grid->append(std::int64_t(series.size()), std::int64_t(series.size()), 0);
            series.append(value);
        }
        for (std::size_t i = 0; i < 6; ++i) QVERIFY(std::isfinite(series.at(i)));
        QVERIFY(series.at(0) > 1e38f && series.at(1) < -1e38f && series.at(2) > 0 && series.at(3) < 0 && series.at(4) == 0);
        QCOMPARE(series.extent(0, 6).nonFinite, 0u);
        QCOMPARE(series.countNonPositive(0, 6), std::size_t(4));
    }

    void smoothingEqualsTensorBoardsVector() {
        auto grid = std::make_shared<Grid>();
        Series series(grid);
        for (const double value : {1.0, 2.0, kNaN, 3.0, 4.0}) {
            grid->append(std::int64_t(series.size()), std::int64_t(series.size()), 0);
            series.append(value);
        }
        const Smoothing smoothing(&series, 0.6);
        const double expected[] = {1, 1.625, kNaN, 2.326530612, 3.095588235};
        for (std::size_t i = 0; i < 5; ++i) {
            if (std::isnan(expected[i])) QVERIFY(std::isnan(smoothing.at(i)));
            else QVERIFY2(std::abs(smoothing.at(i) - expected[i]) < 3e-7, qPrintable(QString::number(smoothing.at(i), 'g', 12)));
        }
    }

    void smoothingLeavesConstantsAndWeightZeroAlone() {
        auto grid = std::make_shared<Grid>();
        Series constant(grid), other(grid);
        Random random{std::mt19937(8)};
        for (int i = 0; i < 5000; ++i) {
            grid->append(i, i, 0);
            constant.append(0.37);
            other.append(random.uniform());
        }
        const Smoothing flat(&constant, 0.99), identity(&other, 0), clamped(&other, 5);
        for (std::size_t i = 0; i < 5000; i += 7) {
            QVERIFY(std::abs(flat.at(i) - double(constant.at(i))) < 1e-6);
            QCOMPARE(float(identity.at(i)), other.at(i));
        }
        QCOMPARE(clamped.weight(), 0.999);
    }

    void smoothedValuesDoNotDependOnLengthOrWayOfAppending() {
        Random random{std::mt19937(9)};
        auto grid = std::make_shared<Grid>();
        Series series(grid);
        Smoothing growing(&series, 0.9);
        double last = 0, power = 1;
        std::vector<double> exact;
        for (int i = 0; i < 3000; ++i) {
            grid->append(i, i, 0);
            const double value = i % 100 == 50 ? kNaN : random.uniform();
            series.append(value);
            if (i % 37 == 0) growing.update();
            const double y = double(series.at(std::size_t(i)));
            if (std::isfinite(y)) {
                last = 0.9 * last + 0.1 * y;
                power *= 0.9;
                exact.push_back(last / (1 - power));
            } else {
                exact.push_back(kNaN);
            }
        }
        growing.update();
        const Smoothing atOnce(&series, 0.9);
        for (std::size_t i = 0; i < 3000; ++i) {
            if (std::isnan(exact[i])) {
                QVERIFY(std::isnan(growing.at(i)));
                continue;
            }
            QVERIFY(std::abs(growing.at(i) - exact[i]) < 1e-6);
            QCOMPARE(growing.at(i), atOnce.at(i));
        }
        const Extent part = growing.extent(33, 2017);
        double lowest = 1e9;
        for (std::size_t i = 33; i < 2017; ++i)
            if (!std::isnan(exact[i])) lowest = std::min(lowest, exact[i]);
        QVERIFY(std::abs(double(part.min) - lowest) < 1e-6);
    }

    void branchContinuesItsParentsFilter() {
        auto first = std::make_shared<Grid>(), second = std::make_shared<Grid>(), straight = std::make_shared<Grid>();
        Series parent(first), child(second), whole(straight);
        Random random{std::mt19937(10)};
        for (int i = 0; i < 150; ++i) {
            const double value = 5 + random.uniform();
            first->append(i, i, 0);
            parent.append(i < 100 ? value : 99);  // what was abandoned must not leak into the branch
            straight->append(i, i, 0);
            whole.append(value);
            if (i < 100) continue;
            second->append(i, i, 0);
            child.append(value);
        }
        const Smoothing parents(&parent, 0.95), branch(&child, 0.95, &parents, 100), expected(&whole, 0.95);
        for (std::size_t i = 0; i < 50; ++i) QVERIFY(std::abs(branch.at(i) - expected.at(100 + i)) < 1e-6);
    }

    // Log 0..150, roll back to 100, log 101..200 with other values.
    void rollBackGivesOneLineAndOneAbandonedPiece() {
        session::RunData data;
        data.setSessions({sessionRow(1, 0, 0, "start"), sessionRow(2, 1, 100, "roll-back")});
        for (int i = 0; i <= 150; ++i) QVERIFY(data.append("train/loss", point(1, i, 1)));
        for (int i = 101; i <= 200; ++i) QVERIFY(data.append("train/loss", point(2, i, 2)));
        const auto pieces = data.pieces("train/loss");
        QCOMPARE(pieces.size(), std::size_t(3));
        QVERIFY(!pieces[0].abandoned && pieces[0].begin == 0 && pieces[0].end == 101);
        QVERIFY(pieces[1].abandoned && pieces[1].begin == 101 && pieces[1].session == 1);
        QVERIFY(!pieces[2].abandoned && pieces[2].session == 2 && pieces[2].branch == 1);
        QVERIFY(!pieces[2].joined);  // a roll-back is never joined to what it left
        QCOMPARE(pieces[2].parentPoints, std::size_t(101));
        // One monotonic line.
        double before = -1;
        for (const auto& piece : pieces) {
            if (piece.abandoned) continue;
            for (std::size_t i = piece.begin; i < std::min(piece.end, piece.series->size()); ++i) {
                QVERIFY(piece.series->xAt(i, XAxis::Step) > before);
                before = piece.series->xAt(i, XAxis::Step);
            }
        }
        QCOMPARE(before, 200.0);
        QCOMPARE(data.latest("train/loss")->value, 2.0);
        QVERIFY(data.onSurvivingLine(1, 100) && !data.onSurvivingLine(1, 101) && data.onSurvivingLine(2, 120));
        // Active time goes on where the parent was at step 100, and the down time is not in it.
        QCOMPARE(pieces[2].series->xAt(0, XAxis::ActiveTime), 100.0 + 101.0);
    }

    void continuedSessionIsJoinedToItsParent() {
        session::RunData data;
        data.setSessions({sessionRow(1, 0, 0, "start"), sessionRow(2, 1, 50, "continue")});
        for (int i = 1; i <= 50; ++i) data.append("train/loss", point(1, i, 1));
        for (int i = 51; i <= 80; ++i) data.append("train/loss", point(2, i, 1));
        const auto pieces = data.pieces("train/loss");
        QCOMPARE(pieces.size(), std::size_t(2));
        QVERIFY(pieces[1].joined && pieces[1].branch == 0);
    }

    void doublesAreIgnoredAndCompanionsMayPart() {
        session::RunData data;
        data.setSessions({sessionRow(1, 0, 0, "start")});
        for (int i = 1; i <= 100; ++i) {
            data.append("train/loss", point(1, i, i));
            data.append("train/lr", point(1, i, -i));
        }
        QVERIFY(data.find("train/loss", 1)->grid() == data.find("train/lr", 1)->grid());
        QVERIFY(!data.append("train/loss", point(1, 100, 7)));
        QVERIFY(!data.append("train/loss", point(1, 3, 7)));
        data.append("train/loss", point(1, 101, 101));
        data.append("train/lr", point(1, 102, -102));  // 101 is missing here
        data.append("train/loss", point(1, 102, 102));
        const Series &loss = *data.find("train/loss", 1), &lr = *data.find("train/lr", 1);
        QCOMPARE(loss.size(), std::size_t(102));
        QCOMPARE(lr.size(), std::size_t(101));
        for (std::size_t i = 0; i < loss.size(); ++i) QCOMPARE(float(loss.attemptAt(i)), loss.at(i));
        for (std::size_t i = 0; i < lr.size(); ++i) QCOMPARE(-float(lr.attemptAt(i)), lr.at(i));
    }
};

QTEST_APPLESS_MAIN(tst_series)
#include "tst_series.moc"
