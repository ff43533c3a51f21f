// labels: process fault
// timeout: 3600
// RELIABILITY F1, F2, F3, F5, F6, F9: forks, the trash, the queue: every call to the system killed and failed, and the power
// lost at any moment.
#include "checkpoint_operations.h"
#include "power_sweep.h"
#include "whole_form.h"

#include <QtTest/QTest>

using namespace lathe::test;

class TestFaultCheckpoints : public QObject {
    Q_OBJECT
    void addOperations() {
        QTest::addColumn<std::size_t>("index");
        for (std::size_t i = 0; i < checkpointOperations().size(); ++i) QTest::newRow(checkpointOperations()[i].name.c_str()) << i;
    }
    static void tell(const std::vector<std::string>& bad) {
        for (std::size_t i = 0; i < bad.size() && i < 20; ++i) qWarning("%s", bad[i].c_str());
    }

private Q_SLOTS:
    void initTestCase() { qInfo("seed %llu", static_cast<unsigned long long>(faultSeed())); }

    void everyCallKilledAndFailed_data() { addOperations(); }
    void everyCallKilledAndFailed() {
        QFETCH(std::size_t, index);
        const SweepCount count = sweep(checkpointOperations()[index], 15);
        if (!count.works) QSKIP(count.why.c_str());
        qInfo("%zu calls, %zu of %zu points, %zu bad states", count.calls, count.points, count.possible, count.bad.size());
        tell(count.bad);
        QVERIFY(count.calls > 5);
        QVERIFY(count.bad.empty());
    }

    void afterPowerLossTheStateIsTheOldOrTheNew_data() { addOperations(); }
    void afterPowerLossTheStateIsTheOldOrTheNew() {
        QFETCH(std::size_t, index);
        const PowerCount count = losePower(checkpointOperations()[index], isWhole() ? 1000 : 40);
        if (!count.works) QSKIP(count.why.c_str());
        qInfo("%zu changes, %zu states, %zu bad", count.changes, count.states, count.bad.size());
        tell(count.bad);
        QVERIFY(count.changes > 2);
        QVERIFY(count.bad.empty());
    }
};

QTEST_GUILESS_MAIN(TestFaultCheckpoints)
#include "tst_fault_checkpoints.moc"
