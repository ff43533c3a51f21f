// labels: process fault
// timeout: 3600
// RELIABILITY F1, F2, F3, F9: every call to the system of what changes a run folder or the index, killed and failed.
#include "operations.h"

#include <QtTest/QTest>

using namespace lathe::test;

class TestFaultRuns : public QObject {
    Q_OBJECT
    std::size_t m_points = 0, m_bad = 0;

private Q_SLOTS:
    void initTestCase() { qInfo("seed %llu", static_cast<unsigned long long>(faultSeed())); }
    void everyCallKilledAndFailed_data() {
        QTest::addColumn<std::size_t>("index");
        for (std::size_t i = 0; i < operations().size(); ++i) QTest::newRow(operations()[i].name.c_str()) << i;
    }
    void everyCallKilledAndFailed() {
        QFETCH(std::size_t, index);
        const SweepCount count = sweep(operations()[index], 60);
        if (!count.works) QSKIP(count.why.c_str());
        m_points += count.points;
        m_bad += count.bad.size();
        qInfo("%zu calls, %zu of %zu points, %zu bad states", count.calls, count.points, count.possible, count.bad.size());
        for (std::size_t i = 0; i < count.bad.size() && i < 20; ++i) qWarning("%s", count.bad[i].c_str());
        QVERIFY(count.calls > 5);
        QVERIFY(count.bad.empty());
    }
    void cleanupTestCase() { qInfo("fault sweep of runs and index: %zu points, %zu bad states", m_points, m_bad); }
};

QTEST_GUILESS_MAIN(TestFaultRuns)
#include "tst_fault_runs.moc"
