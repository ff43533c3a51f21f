// What may go on from a checkpoint, and what may not.
#include "launch/verbs/going_on.h"

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

    // in the middle of its curve nothing has come to an end
    void whatIsSaidOfTheCurveIsWhereItStands() {
        config::RunConfig config;
        config.run.epochs.reset();
        config.run.maxUpdates = 50;
        config.schedule.name = "linear";
        config.optimizer.learningRate = 1;
        rundir::CheckpointManifest checkpoint;
        checkpoint.counters.globalStep = GlobalStep(50);
        const auto said = [&](std::optional<std::int64_t> length) { return launch::refuseReached(config, checkpoint, length).error().sentence; };
        QVERIFY2(said({}).find("at its end of 0: nothing would be learned; --new-curve makes") != std::string::npos, said({}).c_str());
        QVERIFY2(said(50).find("nothing would be learned") != std::string::npos, said(50).c_str());
        QVERIFY2(said(200).find("goes on as it was stored, at 0.75, and ends after 200 updates; --new-curve makes") != std::string::npos, said(200).c_str());
        QVERIFY(said(200).find("nothing would be learned") == std::string::npos);
        config.schedule.totalUpdates = 100;   // what the configuration says goes before what was stored
        QVERIFY2(said(50).find("at 0.5, and ends after 100 updates; --set schedule.total_updates=200 makes") != std::string::npos, said(50).c_str());
        config.schedule.name = "constant";
        QVERIFY(said({}).find("curve") == std::string::npos);
    }
};

QTEST_GUILESS_MAIN(GoingOnTest)
#include "tst_going_on.moc"
