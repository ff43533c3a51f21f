// labels: process fault
// timeout: 3600
// RELIABILITY F5, F6, R3: the power is lost at any moment of what changes a run folder or the index.
#include "operations.h"
#include "power_sweep.h"
#include "whole_form.h"

#include <QtTest/QTest>

using namespace lathe::test;

class TestPowerLoss : public QObject {
    Q_OBJECT
    std::size_t m_states = 0, m_bad = 0;

private Q_SLOTS:
    void initTestCase() { qInfo("seed %llu", static_cast<unsigned long long>(faultSeed())); }
    void afterPowerLossTheStateIsTheOldOrTheNew_data() {
        QTest::addColumn<std::size_t>("index");
        for (std::size_t i = 0; i < operations().size(); ++i) QTest::newRow(operations()[i].name.c_str()) << i;
    }
    void afterPowerLossTheStateIsTheOldOrTheNew() {
        QFETCH(std::size_t, index);
        const PowerCount count = losePower(operations()[index], isWhole() ? 1000 : 100);
        if (!count.works) QSKIP(count.why.c_str());
        m_states += count.states;
        m_bad += count.bad.size();
        qInfo("%zu changes, %zu states, %zu bad", count.changes, count.states, count.bad.size());
        for (std::size_t i = 0; i < count.bad.size() && i < 10; ++i) qWarning("%s", count.bad[i].c_str());
        QVERIFY(count.changes > 2);
        QVERIFY(count.bad.empty());
    }
    void cleanupTestCase() { qInfo("power loss of runs and index: %zu states, %zu bad", m_states, m_bad); }
};

QTEST_GUILESS_MAIN(TestPowerLoss)
#include "tst_power_loss.moc"
