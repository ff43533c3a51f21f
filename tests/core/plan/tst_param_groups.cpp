#include "config/param_rules.h"
#include "plan/param_groups.h"

#include <QtTest/QTest>

#include <cmath>

using namespace lathe;
using namespace lathe::plan;

namespace {

/// A small model: a stem with a norm, two layers, a head whose weight is the embedding's too.
const std::vector<ParamFacts>& model() {
    static const std::vector<ParamFacts> all{
        {"embed.weight", {"head.weight"}, 2, 640, 0}, {"layer1.0.conv1.weight", {}, 4, 144, 1}, {"layer1.0.bn1.weight", {}, 1, 4, 1}, {"layer1.0.bn1.bias", {}, 1, 4, 1},
        {"layer2.0.conv1.weight", {}, 4, 288, 2},     {"layer2.0.bn1.weight", {}, 1, 8, 2},     {"layer2.0.bn1.bias", {}, 1, 8, 2},   {"head.bias", {}, 1, 10, 3}};
    return all;
}

ParamGroups groupsOf(const config::OptimizerSection& section) {
    const auto groups = groupParams(section, model());
    if (!groups.ok()) qFatal("%s", groups.error().sentence.c_str());
    return *groups;
}

config::OptimizerSection decaying(double decay = 0.1) {
    config::OptimizerSection section;
    section.weightDecay = decay;
    return section;
}

}  // namespace

class TestParamGroups : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void biasesAndNormsDoNotDecayUnlessAskedTo() {
        config::OptimizerSection section = decaying();
        ParamGroups groups = groupsOf(section);
        QCOMPARE(groups.groups.size(), std::size_t(2));
        QCOMPARE(groups.groups[0].name, std::string("all weights"));
        QCOMPARE(groups.groups[0].weightDecay, 0.1);
        QCOMPARE(groups.groups[0].tensors, 3);
        QCOMPARE(groups.groups[0].elements, 640 + 144 + 288);
        QCOMPARE(groups.groups[1].name, std::string("biases and norms"));
        QCOMPARE(groups.groups[1].weightDecay, 0.0);
        QCOMPARE(groups.groups[1].elements, 4 + 4 + 8 + 8 + 10);
        QCOMPARE(groups.of, (std::vector<std::size_t>{0, 0, 1, 1, 0, 1, 1, 1}));
        QCOMPARE(groupText(groups.groups[1]), std::string("5 tensors, 34 parameters: full rate, no weight decay"));
        section.decayOn = "all";
        groups = groupsOf(section);
        QCOMPARE(groups.groups.size(), std::size_t(1));
        QCOMPARE(groups.groups[0].weightDecay, 0.1);
        QCOMPARE(groupsOf(decaying(0)).groups.size(), std::size_t(1));   // nothing to tell apart
    }
    void theFirstPatternThatFitsCounts() {
        config::OptimizerSection section = decaying();
        section.groups = {"layer2.* lr_factor=0.5", "*.bn1.* lr_factor=2 weight_decay=0.3", "head.* lr_factor=10"};
        const ParamGroups groups = groupsOf(section);
        const auto of = [&](std::size_t i) { return groups.groups[groups.of[i]]; };
        QCOMPARE(of(0).rateFactor, 10.0);     // by its alias
        QCOMPARE(of(0).weightDecay, 0.1);
        QCOMPARE(of(1).rateFactor, 1.0);
        QCOMPARE(of(2).rateFactor, 2.0);
        QCOMPARE(of(2).weightDecay, 0.3);     // asked for by name
        QCOMPARE(of(4).rateFactor, 0.5);
        QCOMPARE(of(5).rateFactor, 0.5);      // layer2 comes first
        QCOMPARE(of(5).weightDecay, 0.0);
        QCOMPARE(of(5).name, std::string("layer2.* (biases and norms)"));
    }
    void ratesFallFromTheHeadDown() {
        config::OptimizerSection section = decaying(0);
        section.layerDecay = 0.5;
        section.groups = {"layer1.* lr_factor=3"};
        const ParamGroups groups = groupsOf(section);
        const auto rate = [&](std::size_t i) { return groups.groups[groups.of[i]].rateFactor; };
        QCOMPARE(rate(7), 1.0);
        QCOMPARE(rate(4), 0.5);
        QCOMPARE(rate(1), 3 * 0.25);
        QCOMPARE(rate(0), 0.125);
    }
    void frozenOnesAreInAGroupOfTheirOwn() {
        config::OptimizerSection section = decaying();
        section.freeze = {"layer?.0.*", "embed.*"};
        const ParamGroups groups = groupsOf(section);
        for (std::size_t i = 0; i + 1 < model().size(); ++i) QVERIFY(groups.groups[groups.of[i]].frozen);
        QVERIFY(!groups.groups[groups.of[7]].frozen);
        QCOMPARE(groupText(groups.groups[0]), std::string("7 tensors, 1096 parameters: stays as it is"));
    }
    void patternsThatDoNothingAreToldWithNearNames_data() {
        QTest::addColumn<QStringList>("groups");
        QTest::addColumn<QStringList>("freeze");
        QTest::addColumn<QString>("key");
        QTest::addColumn<QString>("part");
        const QString group = "optimizer.groups", freeze = "optimizer.freeze";
        QTest::newRow("mistyped layer") << QStringList{} << QStringList{"lyer1.*"} << freeze << "near it: layer1.*";
        QTest::newRow("mistyped name") << QStringList{"head.bais lr_factor=2"} << QStringList{} << group << "head.bias";
        QTest::newRow("nothing near") << QStringList{} << QStringList{"transformer.h.11.attn.*"} << freeze << "there are embed.weight, layer1";
        QTest::newRow("taken by an earlier one") << QStringList{"head.* lr_factor=2", "head.bias lr_factor=3"} << QStringList{} << group << "nothing left";
        QTest::newRow("taken by freeze") << QStringList{"head.bias lr_factor=2"} << QStringList{"head.*"} << group << "nothing left";
        QTest::newRow("everything frozen") << QStringList{} << QStringList{"*"} << freeze << "nothing to train";
        QTest::newRow("empty pattern") << QStringList{} << QStringList{""} << freeze << "matches no parameter";
    }
    void patternsThatDoNothingAreToldWithNearNames() {
        QFETCH(QStringList, groups);
        QFETCH(QStringList, freeze);
        QFETCH(QString, key);
        QFETCH(QString, part);
        config::OptimizerSection section = decaying();
        for (const QString& text : groups) section.groups.push_back(text.toStdString());
        for (const QString& text : freeze) section.freeze.push_back(text.toStdString());
        const auto refused = groupParams(section, model());
        QVERIFY(!refused.ok());
        QCOMPARE(QString::fromStdString(refused.error().key), key);
        QVERIFY2(QString::fromStdString(refused.error().sentence).contains(part), refused.error().sentence.c_str());
    }
    void starsAndQuestionMarksStandForText() {
        using config::matchesPattern;
        QVERIFY(matchesPattern("*", "") && matchesPattern("*", "a.b") && matchesPattern("a*b*c", "a.b.b.c") && matchesPattern("a?c", "abc") && matchesPattern("abc", "abc"));
        QVERIFY(!matchesPattern("a?c", "ac") && !matchesPattern("a*b", "abc") && !matchesPattern("", "a") && !matchesPattern("abc", "abcd") && !matchesPattern("ab.c", "abxc"));
        QVERIFY(!matchesPattern(std::string(40, '*') + "x", std::string(20000, 'a')));   // no matter of patience
    }
};

QTEST_GUILESS_MAIN(TestParamGroups)
#include "tst_param_groups.moc"
