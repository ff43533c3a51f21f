// What may go on from a checkpoint, and what may not.
#include "launch/going_on.h"

#include <QtTest>

using namespace lathe;

class GoingOnTest : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void aRunAtItsEndGoesOnOnlyForAnEvaluationThatItOwes_data() {
        QTest::addColumn<bool>("inEpochs");
        QTest::newRow("updates") << false;
        QTest::newRow("epochs") << true;
    }
    void aRunAtItsEndGoesOnOnlyForAnEvaluationThatItOwes() {
        QFETCH(bool, inEpochs);
        config::RunConfig config;
        config.run.epochs.reset();
        config.run.maxUpdates.reset();
        (inEpochs ? config.run.epochs : config.run.maxUpdates) = 5;
        rundir::CheckpointManifest checkpoint;
        checkpoint.counters.globalStep = GlobalStep(inEpochs ? 100 : 4);
        checkpoint.counters.epoch = Epoch(inEpochs ? 4 : 100);
        QVERIFY(launch::refuseReached(config, checkpoint).ok());
        (inEpochs ? config.run.epochs : config.run.maxUpdates) = 4;
        const auto refused = launch::refuseReached(config, checkpoint);
        QVERIFY(!refused.ok());
        QCOMPARE(refused.error().key, std::string(inEpochs ? "run.epochs" : "run.max_updates"));
        checkpoint.evaluationPending = true;
        QVERIFY(launch::refuseReached(config, checkpoint).ok());
    }
};

QTEST_GUILESS_MAIN(GoingOnTest)
#include "tst_going_on.moc"
