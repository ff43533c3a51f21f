// Plug-ins in a configuration: under their names in YAML, one setting at a time with --set, and what is no plug-in.
#include "config/config.h"
#include "config/metrics.h"
#include "config/plugin_list.h"

#include <QtTest>

using namespace lathe;
using namespace lathe::config;

namespace {

using Items = std::vector<std::string>;

Loaded withPlugins(const std::string& plugins) { return parse("run: {epochs: 1}\n" + plugins, "/"); }

std::string problemOf(const RunConfig& config, const std::string& key) {
    for (const Problem& problem : validate(config))
        if (problem.key == key) return problem.sentence;
    return {};
}

}  // namespace

class PluginListTest : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void eachStandsUnderItsName() {
        const Loaded loaded = withPlugins("plugins:\n  go_back: {every: 100, metric: \"a b: c\"}\n  other:\n");
        QVERIFY(loaded.problems.empty());
        QCOMPARE(loaded.config.plugins.use, (Items{"go_back", "go_back.every=100", "go_back.metric=a b: c", "other"}));
        const auto choices = pluginsOf(loaded.config.plugins);
        QVERIFY(choices.ok());
        QCOMPARE(choices->size(), std::size_t(2));
        QCOMPARE(choices->at(0).settings.at("metric"), std::string("a b: c"));
        const Loaded again = parse(toYaml(loaded.config), "/");
        QVERIFY(again.problems.empty());
        QCOMPARE(toYaml(again.config), toYaml(loaded.config));
        QCOMPARE(pluginsOf(again.config.plugins)->at(0).settings, choices->at(0).settings);
    }

    void settingsAreSetOneByOne() {
        Loaded loaded = withPlugins("plugins: {go_back: {every: 100}}\n");
        applySettings(loaded, {"plugins.go_back.every=5", "plugins.go_back.worse_by=0.1", "plugins.new.x=y=z"});
        QCOMPARE(loaded.config.plugins.use, (Items{"go_back", "go_back.every=5", "go_back.worse_by=0.1", "new.x=y=z"}));
        applySettings(loaded, {"plugins.use="});
        QVERIFY(loaded.config.plugins.use.empty());
        QVERIFY(toYaml(loaded.config).find("plugins") == std::string::npos);
    }

    void whatIsNoPluginIsSaid_data() {
        QTest::addColumn<QString>("item");
        for (const char* item : {"", "../x", "a/b", "Upper", "a.b", "a.=1", ".b=1", "a.B=1", "a b", "a=1"}) QTest::newRow(item) << item;
        QTest::newRow("long") << QString(41, QLatin1Char('a'));
    }
    void whatIsNoPluginIsSaid() {
        QFETCH(QString, item);
        QVERIFY(!pluginsOf({{item.toStdString()}}).ok());
    }

    void twiceIsSaid() { QVERIFY(!pluginsOf({{"a.x=1", "a.x=2"}}).ok()); }

    void valuesThatAreNoneAreSaid() {
        for (const char* text : {"plugins: {a: 3}\n", "plugins: {a: [x]}\n", "plugins: {a: {b: [1]}}\n", "plugins: [a]\n"}) QVERIFY2(hasErrors(withPlugins(text).problems), text);
    }

    void thingsOfPluginsAreChoicesWhereThePluginIsUsed() {
        RunConfig config;
        config.model.name = "mine/net";
        QVERIFY(problemOf(config, "model.name").find("not used") != std::string::npos);
        config.plugins.use = {"mine"};
        QVERIFY(problemOf(config, "model.name").empty());
        config.model.name = "mine/";
        QVERIFY(!problemOf(config, "model.name").empty());
        config.model.name = "mlp";
        config.optimizer.name = "mine/steps";   // optimizers are not open to plug-ins
        QVERIFY(!problemOf(config, "optimizer.name").empty());
    }

    void directionOfAForeignMetricMustBeSaid() {
        RunConfig config;
        config.plugins.use = {"mine"};
        config.evaluation.bestMetric = "mine/score";
        QVERIFY(problemOf(config, "evaluation.best_direction").find("min or max") != std::string::npos);
        config.evaluation.bestDirection = "max";
        QVERIFY(bestMetric(config)->higherIsBetter);
    }
};

QTEST_GUILESS_MAIN(PluginListTest)
#include "tst_plugin_list.moc"
