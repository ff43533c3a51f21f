// labels: process
// timeout: 300
// Groups, frozen parameters, the mean of the weights, norms and histograms as a user of lathe-trainer meets them.
#include "trainer_process.h"

#include "rundir/checkpoint_manifest.h"

#include <QtTest>

#include <cmath>
#include <set>
#include <sys/stat.h>

using namespace lathe;
using namespace lathe::test;
using nlohmann::json;

namespace {

QStringList with(QStringList words, const QStringList& settings) {
    for (const QString& setting : settings) words << QStringLiteral("--set") << setting;
    return words;
}

}  // namespace

class OptimizerProgramTest : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void initTestCase() {
        const Answer answer = m_workspace.ask(with({"run", "digits-convnet", "--json"},
            {"run.name=first", "run.epochs=none", "run.max_updates=40", "checkpoint.every=20 updates", "evaluation.every=20 updates", "schedule.name=wsd",
             "optimizer.freeze=conv1.*", "optimizer.groups=fc.* lr_factor=3", "optimizer.layer_decay=0.5", "optimizer.ema=true", "optimizer.ema_decay=0.9",
             "evaluation.weights=ema", "telemetry.norms_every=10 updates", "telemetry.histograms_every=20 updates"}));
        QVERIFY2(answer.code == 0, answer.err.c_str());
        m_show = m_workspace.ask({"show", "first", "--json"}).json();
    }

    void groupsAreShownWithTheirCounts() {
        const json& groups = m_show["groups"];
        QVERIFY2(groups.size() == 5, groups.dump().c_str());
        QCOMPARE(groups[0]["name"].get<std::string>(), std::string("frozen parameters"));
        QCOMPARE(groups[0]["tensors"].get<int>(), 2);
        const std::string text = m_workspace.ask({"show", "first"}).out;
        QVERIFY2(text.find("frozen parameters: 2 tensors") != std::string::npos && text.find("fc.*, block 2: 1 tensor, 1280 parameters: rate · 3, weight decay") != std::string::npos, text.c_str());
        const std::string log = *readFile(m_workspace.latest().logs() / "rank-0.log", 1u << 20);
        QVERIFY(log.find("parameters: frozen parameters, 2 tensors") != std::string::npos);
        const Answer explained = m_workspace.ask(with({"explain", "digits-convnet"}, {"optimizer.freeze=conv1.*", "optimizer.ema=true"}));
        QVERIFY2(explained.out.find("biases and norms: ") != std::string::npos && explained.out.find("mean of the weights = d") != std::string::npos, explained.out.c_str());
        const Answer checked = m_workspace.ask({"check", "digits-convnet"});
        QVERIFY2(checked.out.find("biases and norms: 3 tensors, 58 parameters: full rate, no weight decay") != std::string::npos, checked.out.c_str());
    }
    void ratesAndNormsOfGroupsAreSeries() {
        std::map<std::string, int> points;
        for (const json& series : m_show["series"]) points[series["name"]] = series["points"];
        QCOMPARE(points.at("train/lr"), 40);
        QCOMPARE(points.at("train/lr/fc.*, block 2"), 40);
        QCOMPARE(points.at("train/grad_norm"), 40);
        QCOMPARE(points.at("train/grad_norm/fc.*, block 2"), 4);
        // the norms of the groups make up the norm of all
        double squares = 0, whole = 0;
        for (const json& series : m_show["series"]) {
            const std::string name = series["name"];
            if (name.starts_with("train/grad_norm/")) squares += std::pow(series["last"].get<double>(), 2);
            if (name == "train/grad_norm") whole = series["last"].get<double>();
        }
        QVERIFY(std::abs(std::sqrt(squares) - whole) <= 1e-9 * whole);
    }
    void histogramsAreRecords() {
        std::map<std::string, int> counts;
        for (const json& record : m_show["records"])
            if (record["type"] == "histogram") counts[record["name"]] = record["count"];
        QVERIFY2(counts.contains("gradients/fc.weight") && counts.contains("weights/conv2.weight") && !counts.contains("gradients/conv1.weight"), m_show["records"].dump().c_str());
        for (const auto& [name, count] : counts) QCOMPARE(count, 2);
    }
    void frozenParametersAreOneFileOfAllCheckpoints() {
        std::set<ino_t> files;
        std::size_t checkpoints = 0;
        for (const auto& info : rundir::listCheckpoints(m_workspace.latest().checkpoints())) {
            struct stat facts {};
            QCOMPARE(::stat((m_workspace.latest().checkpoints() / info.folder / "frozen-00000.safetensors").c_str(), &facts), 0);
            files.insert(facts.st_ino);
            ++checkpoints;
        }
        QVERIFY(checkpoints >= 2);
        QCOMPARE(files.size(), std::size_t(1));
    }
    void exportsTakeTheMeanOrTheWeights() {
        std::map<std::string, std::string> contents;
        for (const char* which : {"", "ema", "trained"}) {
            QStringList words{"export", "first", "--json"};
            if (*which) words << "--weights" << which;
            const Answer answer = m_workspace.ask(words);
            QVERIFY2(answer.code == 0, answer.err.c_str());
            contents[which] = *readFile(m_workspace.latest().exportFolder() / "model.safetensors", 1u << 24);
            const json model = json::parse(*readFile(m_workspace.latest().exportFolder() / "model.json", 1u << 20));
            QCOMPARE(model["weights"].get<std::string>(), std::string(*which == 't' ? "trained" : "ema"));
        }
        QVERIFY(contents[""] == contents["ema"] && contents["ema"] != contents["trained"]);
        QCOMPARE(contents["ema"].size(), contents["trained"].size());
        const Answer eval = m_workspace.ask({"eval", "first@40", "--json"});
        QVERIFY2(eval.code == 0, eval.err.c_str());
        const double recorded = m_show["checkpoints"].back()["metrics"]["eval/loss"].get<double>();
        QCOMPARE(eval.json()["metrics"]["eval/loss"].get<double>(), recorded);   // of the mean, both times
    }
    void goesOnExactlyAndRefusesWhatItsStateDoesNotAllow() {
        for (const char* setting : {"optimizer.freeze=", "optimizer.ema=false", "optimizer.name=lion"}) {
            const Answer refused = m_workspace.ask(with({"continue", "first"}, {"run.max_updates=60", "evaluation.weights=trained", setting}));
            QCOMPARE(refused.code, 2);
            const std::string key = std::string(setting).substr(0, std::string(setting).find('='));
            QVERIFY2((refused.out + refused.err).find(key + " cannot change") != std::string::npos, (refused.out + refused.err).c_str());
        }
        const Answer on = m_workspace.ask(with({"continue", "first", "--json"}, {"run.max_updates=60"}));
        QVERIFY2(on.code == 0, on.err.c_str());
        const json sessions = m_workspace.ask({"show", "first", "--json"}).json()["sessions"];
        QCOMPARE(sessions.back()["resume"]["outcome"].get<std::string>(), std::string("continues exactly"));
        QVERIFY(m_workspace.ask({"verify", "first@60"}).code == 0);
    }
    void aPatternThatMatchesNothingEndsTheRunWithItsSentence() {
        const Answer checked = m_workspace.ask(with({"check", "digits-convnet"}, {"optimizer.freeze=cnov1.*"}));
        QCOMPARE(checked.code, 2);
        QVERIFY2((checked.out + checked.err).find("matches no parameter of this model; near it: conv1.*") != std::string::npos, (checked.out + checked.err).c_str());
        Workspace other;
        const Answer run = other.ask(with({"run", "digits-convnet"}, {"optimizer.groups=cnov1.* lr_factor=2"}));
        QVERIFY(run.code != 0);
        QVERIFY2((run.out + run.err).find("near it: conv1.*") != std::string::npos, (run.out + run.err).c_str());
        const Answer mean = other.ask(with({"run", "digits-mlp"}, {"run.name=plain", "run.epochs=none", "run.max_updates=2"}));
        QCOMPARE(mean.code, 0);
        const Answer none = other.ask({"export", "plain", "--weights", "ema"});
        QVERIFY(none.code != 0);
        QVERIFY2(none.err.find("holds no running mean") != std::string::npos, none.err.c_str());
    }

private:
    Workspace m_workspace;
    json m_show;
};

QTEST_GUILESS_MAIN(OptimizerProgramTest)
#include "tst_optimizer_program.moc"
