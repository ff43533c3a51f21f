// What is written from configurations: canonical text, hash, differences, names, the reference.
#include "config/config.h"
#include "config/schema.h"

#include <QtTest/QTest>

#include <cmath>

using namespace lathe;
using namespace lathe::config;

class TestConfigText : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void initTestCase() { qputenv("LATHE_RESOURCES", LATHE_SOURCE_DIR "/resources"); }

    void theHashIsOfTheMeaningNotOfTheText() {
        const Loaded one = parse("data:\n  train: /x\n  batch_size: 64\noptimizer:\n  learning_rate: 3e-4\n", "/");
        const Loaded other = parse("# same\noptimizer: {learning_rate: 0.00030}\ndata: {batch_size: 64, train: /a/../x}\n", "/");
        QCOMPARE(configHash(one.config), configHash(other.config));
        QCOMPARE(configHash(one.config).size(), std::size_t(32));
        Loaded changed = one;
        changed.config.optimizer.learningRate = std::nextafter(3e-4, 1.0);
        QVERIFY(configHash(changed.config) != configHash(one.config));
    }

    void theHashDoesNotDependOnWhereTheResourcesLie() {
        const std::string here = configHash(load("digits-mlp")->config);
        const QByteArray before = qgetenv("LATHE_RESOURCES");
        qputenv("LATHE_RESOURCES", "/opt/elsewhere");
        const Loaded there = parse("data:\n  train: $resources/samples/x\n", "/");
        QCOMPARE(there.config.data.train, std::string("/opt/elsewhere/samples/x"));
        const std::string text = toYaml(there.config);
        qputenv("LATHE_RESOURCES", before);
        QVERIFY(text.find("train: $resources/samples/x\n") != std::string::npos);
        QCOMPARE(configHash(parse(toYaml(load("digits-mlp")->config), "/").config), here);
    }

    void differencesNameKeyAndBothValues() {
        RunConfig left, right;
        QVERIFY(diff(left, right).empty());
        right.run.epochs.reset();
        right.model.hidden = {128};
        right.optimizer.learningRate = 6e-4;
        const auto differences = diff(left, right);
        QCOMPARE(differences.size(), std::size_t(3));
        QCOMPARE(differences[0].key, std::string("run.epochs"));
        QCOMPARE(differences[0].left, std::string("10"));
        QCOMPARE(differences[0].right, std::string("none"));
        QCOMPARE(differences[1].right, std::string("128"));
        QCOMPARE(differences[2].left, std::string("3e-4"));
    }

    void namesSayWhatIsDifferent() {
        const RunConfig base = load("digits-convnet")->config;
        const auto named = [&](const std::vector<std::string>& settings) {
            Loaded changed;
            changed.config = base;
            applySettings(changed, settings);
            if (hasErrors(changed.problems)) qFatal("bad setting");
            return suggestName("digits-convnet", base, changed.config);
        };
        QCOMPARE(named({}), std::string("digits-convnet"));
        QCOMPARE(named({"optimizer.learning_rate=6e-4"}), std::string("digits-convnet-lr6e-4"));
        QCOMPARE(named({"optimizer.learning_rate=6e-4", "data.batch_size=64"}), std::string("digits-convnet-bs64-lr6e-4"));
        QCOMPARE(named({"model.filters=8, 16", "run.seed=1", "run.epochs=3"}), std::string("digits-convnet-seed1-ep3"));
        QCOMPARE(named({"model.filters=8, 16", "data.shuffle=false"}), std::string("digits-convnet-no-shuffle-f8-16"));
        QCOMPARE(named({"optimizer.name=sgd", "optimizer.max_grad_norm=none"}), std::string("digits-convnet-sgd-no-clip"));
        QCOMPARE(named({"run.note=something", "run.name=x", "telemetry.devices_every=5 s"}), std::string("digits-convnet"));
        QCOMPARE(suggestName("", RunConfig{}, RunConfig{}), std::string("mlp"));
        QCOMPARE(suggestName("../Évil name/", RunConfig{}, RunConfig{}), std::string("..-vil-name"));
    }

    void theReferenceIsAValidFileOfTheDefaults() {
        const std::string text = referenceText();
        const Loaded loaded = parse(text, "/");
        QVERIFY(loaded.problems.empty());
        QVERIFY(toValues(loaded.config) == toValues(RunConfig{}));
        for (const Section& section : Schema::builtin().sections()) {
            for (const Field& field : section.fields) {
                QVERIFY2(text.find("\n  " + field.name + ": ") != std::string::npos, field.key().c_str());
                QVERIFY2(text.find(field.help) != std::string::npos, field.key().c_str());
            }
        }
        QVERIFY(text.find("at most 0.95") != std::string::npos);
        QVERIFY(text.find("none: no limit") != std::string::npos);
    }

    void doublesAreWrittenExactly() {
        for (const double value : {0.1, 1.0 / 3, 1e-300, 4.9406564584124654e-324, 0.1 + 0.2, 3e-4, 999.9999999999999}) {
            RunConfig config;
            config.optimizer.learningRate = value;
            QCOMPARE(parse(toYaml(config), "/").config.optimizer.learningRate, value);
        }
    }
};

QTEST_GUILESS_MAIN(TestConfigText)
#include "tst_config_text.moc"
