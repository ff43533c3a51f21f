// Presets that come with the program: each loads without a remark and may be started as it is.
#include "config/config.h"

#include <QtTest/QTest>

#include <algorithm>

using namespace lathe;
using namespace lathe::config;

class TestPresets : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void initTestCase() { qputenv("LATHE_RESOURCES", LATHE_SOURCE_DIR "/resources"); }

    void theFivePresetsAreThere() {
        QStringList names;
        for (const Preset& preset : presets()) names << QString::fromStdString(preset.name);
        QCOMPARE(names, (QStringList{"csv-regression", "digits-convnet", "digits-mlp", "digits-resnet", "image-folder", "shakespeare-char"}));
    }

    void everyPresetIsValid_data() {
        QTest::addColumn<QString>("name");
        for (const Preset& preset : presets()) QTest::newRow(preset.name.c_str()) << QString::fromStdString(preset.name);
    }
    void everyPresetIsValid() {
        QFETCH(QString, name);
        const auto loaded = load(name.toStdString());
        QVERIFY(loaded.ok());
        QCOMPARE(loaded->preset, name.toStdString());
        std::vector<Problem> problems = check(*loaded);
        if (name == "image-folder") {  // the one thing it leaves to the person
            QCOMPARE(problems.size(), std::size_t(1));
            QCOMPARE(problems.front().key, std::string("data.train"));
            return;
        }
        for (const Problem& problem : problems) qWarning("%s: %s", problem.key.c_str(), problem.sentence.c_str());
        QVERIFY(problems.empty());
    }

    void everyPresetHasATitle() {
        for (const Preset& preset : presets()) {
            QVERIFY2(preset.title != preset.name, preset.name.c_str());
            QVERIFY(!preset.title.starts_with("#") && !preset.title.starts_with(" "));
        }
    }

    void pathsOfPresetsPointBelowTheResourceFolder() {
        const auto loaded = load("digits-mlp");
        QVERIFY(loaded.ok());
        QCOMPARE(loaded->config.data.train, std::string(LATHE_SOURCE_DIR "/resources/samples/digits/images.idx3-ubyte"));
        QVERIFY(toYaml(loaded->config).find("train: $resources/samples/digits/images.idx3-ubyte\n") != std::string::npos);
    }

    void aMistypedPresetIsAnsweredWithTheNearest() {
        const auto loaded = load("digits-convnett");
        QVERIFY(!loaded.ok());
        QVERIFY(loaded.error().code == ErrorCode::NotFound);
        QVERIFY(loaded.error().sentence.find("did you mean digits-convnet?") != std::string::npos);
        const auto nothingLikeIt = load("quark");
        QVERIFY(!nothingLikeIt.ok());
        QVERIFY(nothingLikeIt.error().sentence.find("digits-mlp") != std::string::npos);
    }
};

QTEST_GUILESS_MAIN(TestPresets)
#include "tst_presets.moc"
