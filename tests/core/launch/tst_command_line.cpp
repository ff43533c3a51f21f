// labels: process
// timeout: 300
// The forms that scripts rely on, and what the command line says when it is used wrongly.
#include "base/number_text.h"
#include "config/config.h"
#include "rundir/safetensors_header.h"
#include "trainer_process.h"

#include <QtTest/QTest>

#include <set>

using namespace lathe;
using namespace lathe::test;
using nlohmann::json;

static std::set<std::string> keysOf(const json& object) {
    std::set<std::string> out;
    for (const auto& [key, value] : object.items()) out.insert(key);
    return out;
}

/// Every key that is promised is there; more may be added.
static void hasKeys(const json& object, const std::set<std::string>& promised) {
    const auto keys = keysOf(object);
    for (const std::string& key : promised) QVERIFY2(keys.contains(key), (key + " in " + object.dump()).c_str());
}

class TestCommandLine : public QObject {
    Q_OBJECT

    std::unique_ptr<Workspace> m_workspace;

    Answer ask(const QStringList& words) const { return m_workspace->ask(words); }

private Q_SLOTS:
    void init() {
        m_workspace = std::make_unique<Workspace>();
        m_workspace->useFakeWorker(LATHE_BIN_DIR);
        m_workspace->setScript("metric 0.5; points 10; save; end completed, 0");
    }

    void wrongUseGivesASentenceAndCodeTwo_data() {
        QTest::addColumn<QStringList>("words");
        QTest::addColumn<QByteArray>("says");
        const auto row = [](const char* name, QStringList words, const char* says) { QTest::newRow(name) << words << QByteArray(says); };
        row("nothing", {}, "subcommand");
        row("unknown verb", {"fly"}, "");
        row("no configuration", {"run"}, "CONFIG");
        row("unknown configuration", {"run", "no-such-preset"}, "no-such-preset");
        row("unknown key", {"run", "digits-mlp", "--set", "optimizer.learnig_rate=1"}, "learning_rate");
        row("wrong type", {"run", "digits-mlp", "--set", "run.epochs=many"}, "run.epochs");
        row("out of range", {"run", "digits-mlp", "--set", "data.batch_size=0"}, "data.batch_size");
        row("not a setting", {"run", "digits-mlp", "--set", "epochs"}, "epochs");
        row("unknown run", {"show", "nowhere"}, "nowhere");
        row("no step", {"roll-back", "latest"}, "RUN@STEP");
        row("not live", {"stop", "latest"}, "");
        row("one run only", {"compare", "latest"}, "RUNS");
    }
    void wrongUseGivesASentenceAndCodeTwo() {
        QFETCH(QStringList, words);
        QFETCH(QByteArray, says);
        const Answer answer = ask(words);
        QCOMPARE(answer.code, 2);
        QVERIFY2((answer.err + answer.out).find(says.toStdString()) != std::string::npos, (answer.out + answer.err).c_str());
        QVERIFY(rundir::listRuns(m_workspace->folder()).empty());
    }
    void helpNamesEveryVerbAndExitCode() {
        const Answer help = ask({"--help"});
        QCOMPARE(help.code, 0);
        for (const char* word : {"roll-back", "start-from-weights", "rebuild-history", "config-reference", "Exit codes", "8 in use"})
            QVERIFY2(help.out.find(word) != std::string::npos, word);
    }
    void runTellsItsResultInTheLastLine() {
        const Answer answer = ask({"run", "digits-mlp", "--json"});
        QCOMPARE(answer.code, 0);
        const json result = answer.json();
        hasKeys(result, {"run", "folder", "state", "exit", "counters", "best", "checkpoints", "name", "session"});
        hasKeys(result["exit"], {"code", "reason"});
        hasKeys(result["counters"], {"global_step", "update_attempts", "skipped_updates", "micro_step", "samples", "tokens", "epoch", "plan_entry"});
        QCOMPARE(result["run"], json(rundir::readManifest(m_workspace->latest())->id));
        QCOMPARE(result["folder"], json(m_workspace->latest().root().string()));
        QCOMPARE(result["checkpoints"].size(), std::size_t{1});
        hasKeys(result["checkpoints"][0], {"step", "folder", "valid", "problem", "metrics", "bytes", "pinned", "best"});
        QCOMPARE(result["checkpoints"][0]["metrics"]["eval/accuracy"], json("0.5"));
    }
    void warningsOfTheWorkerReachTheTerminal() {
        m_workspace->setScript("warn the curve keeps its length; points 3; end completed, 0");
        const Answer answer = ask({"run", "digits-mlp"});
        QVERIFY2(answer.err.find("the curve keeps its length\n") != std::string::npos, answer.err.c_str());
    }
    void aDetachedRunPrintsIdAndFolder() {
        m_workspace->setScript("train");
        const Answer answer = ask({"run", "digits-mlp", "--detach"});
        QCOMPARE(answer.code, 0);
        const auto run = m_workspace->latest();
        QCOMPARE(answer.out, rundir::readManifest(run)->id + " " + run.root().string() + "\n");
        QCOMPARE(ask({"stop", "latest"}).code, 0);
    }
    void showHoldsWhatIsPromised() {
        QCOMPARE(ask({"run", "digits-mlp"}).code, 0);
        const json shown = ask({"show", "latest", "--json"}).json();
        hasKeys(shown, {"id", "name", "state", "why", "parent", "sessions", "branches", "counters", "best", "checkpoints", "series"});
        QVERIFY(shown["parent"].is_null());
        hasKeys(shown["sessions"][0], {"n", "first_step", "last_step", "started", "ended", "end"});
        QCOMPARE(shown["sessions"][0]["last_step"], json(10));
        bool found = false;
        for (const json& series : shown["series"]) {
            hasKeys(series, {"name", "unit", "points", "last", "min", "max", "non_finite"});
            found = found || (series["name"] == "train/loss" && series["points"] == 10 && series["last"] == 0.1 && series["max"] == 1.0);
        }
        QVERIFY2(found, shown["series"].dump().c_str());
        QVERIFY(ask({"show", "latest"}).out.find("s001-000000010") != std::string::npos);
    }
    void seriesPrintsEveryPointExactly() {
        QCOMPARE(ask({"run", "digits-mlp"}).code, 0);
        const Answer csv = ask({"series", "latest", "train/loss", "--csv"});
        QCOMPARE(csv.code, 0);
        const QStringList lines = QString::fromStdString(csv.out).split(QLatin1Char('\n'), Qt::SkipEmptyParts);
        QCOMPARE(lines.size(), 11);
        QCOMPARE(lines.at(0), QStringLiteral("series,session,attempt,step,seconds,wall,value"));
        for (int i = 1; i <= 10; ++i) {
            const QStringList cells = lines.at(i).split(QLatin1Char(','));
            QCOMPARE(cells.size(), 7);
            QCOMPARE(cells.at(3).toInt(), i);
            QCOMPARE(readDouble(cells.at(6).toStdString()), std::optional(1.0 / i));
        }
        const json list = ask({"series", "latest", "train/loss", "train/lr", "--json"}).json();
        QCOMPARE(list.size(), std::size_t{20});
        QCOMPARE(list[2]["value"].get<double>(), 1.0 / 3);
        const Answer unknown = ask({"series", "latest", "train/los"});
        QCOMPARE(unknown.code, 2);
        QVERIFY(unknown.err.find("train/loss") != std::string::npos);
    }
    void abandonedBranchesArePrintedWhenAskedFor() {
        m_workspace->setScript("points 5; save; points 5; end stopped, 4");
        QCOMPARE(ask({"run", "digits-mlp"}).code, 4);
        QCOMPARE(ask({"roll-back", "latest@5"}).code, 4);
        QCOMPARE(ask({"series", "latest", "train/loss", "--json"}).json().size(), std::size_t{15});
        QCOMPARE(ask({"series", "latest", "train/loss", "--json", "--all-branches"}).json().size(), std::size_t{20});
    }
    void checkListsEveryProblem() {
        const Answer good = ask({"check", "digits-mlp", "--json"});
        QVERIFY2(good.code == 0, (good.out + good.err).c_str());
        QVERIFY(good.json().is_array());
        const Answer bad = ask({"check", "digits-mlp", "--json", "--set", "run.epochs=0", "--set", "optimizer.learning_rate=fast", "--set", "data.train=/nowhere"});
        QCOMPARE(bad.code, 2);
        std::set<std::string> keys;
        for (const json& problem : bad.json()) {
            hasKeys(problem, {"key", "severity", "sentence"});
            if (problem["severity"] == "error") keys.insert(problem["key"].get<std::string>());
        }
        const std::set<std::string> expected = {"run.epochs", "optimizer.learning_rate", "data.train"};
        QVERIFY2(keys == expected, bad.out.c_str());
        QVERIFY(ask({"check", "digits-mlp"}).out.find("900 in all") != std::string::npos);
        const auto broken = m_workspace->scratch() / "broken.yaml";
        QVERIFY(replaceFile(FileSystem::real(), broken, "data: [1, 2").ok());
        QCOMPARE(ask({"check", QString::fromStdString(broken.string()), "--json"}).json().size(), std::size_t{1});  // and nothing about data
    }
    void compareShowsOnlyWhatDiffers() {
        QCOMPARE(ask({"run", "digits-mlp", "--set", "run.name=one"}).code, 0);
        QCOMPARE(ask({"again", "one", "--set", "run.name=two", "--set", "optimizer.learning_rate=0.5"}).code, 0);
        const json same = ask({"compare", "one", "one", "--json"}).json();
        QVERIFY(same["settings"].empty() && same["results"].empty() && same["environment"].empty());
        const json differ = ask({"compare", "one", "two", "--json"}).json();
        QCOMPARE(differ["settings"].size(), std::size_t{1});
        QCOMPARE(differ["settings"][0]["key"], json("optimizer.learning_rate"));
        QCOMPARE(differ["settings"][0]["values"], json({"0.003", "0.5"}));
        const json two = ask({"show", "two", "--json"}).json();
        QCOMPARE(two["parent"]["verb"], json("again"));
    }
    void namesComeFromWhatWasChanged() {
        QCOMPARE(ask({"run", "digits-mlp"}).code, 0);
        QCOMPARE(ask({"again", "latest", "--set", "optimizer.learning_rate=6e-4"}).code, 0);
        QCOMPARE(rundir::readManifest(m_workspace->latest())->name, std::string("digits-mlp-lr6e-4"));
        // What a later session changed does not make the name look chosen.
        QCOMPARE(ask({"continue", "latest", "--set", "run.epochs=30"}).code, 0);
        QCOMPARE(ask({"again", "latest", "--set", "optimizer.learning_rate=1e-3"}).code, 0);
        const std::string name = rundir::readManifest(m_workspace->latest())->name;
        QVERIFY2(name.find("lr0.001") != std::string::npos && name.find("6e-4") == std::string::npos, name.c_str());
    }
    void deletedRunsComeBackWhole() {
        QCOMPARE(ask({"run", "digits-mlp"}).code, 0);
        const std::string id = rundir::readManifest(m_workspace->latest())->id;
        QCOMPARE(ask({"delete", QString::fromStdString(id)}).code, 0);
        QVERIFY(rundir::listRuns(m_workspace->folder()).empty());
        QCOMPARE(ask({"trash", "--json"}).json()[0]["id"], json(id));
        QCOMPARE(ask({"restore", QString::fromStdString(id)}).code, 0);
        QCOMPARE(ask({"verify", "latest@10"}).code, 0);
        QCOMPARE(ask({"restore", QString::fromStdString(id)}).code, 2);
    }
    void aLiveRunIsNotDeleted() {
        m_workspace->setScript("train");
        QCOMPARE(ask({"run", "digits-mlp", "--detach"}).code, 0);
        const Answer refused = ask({"delete", "latest"});
        QCOMPARE(refused.code, 8);
        QVERIFY(refused.err.find("stop it first") != std::string::npos);
        QCOMPARE(ask({"stop", "latest"}).code, 0);
    }
    void theIndexIsRebuiltFromTheFolders() {
        QCOMPARE(ask({"run", "digits-mlp"}).code, 0);
        QCOMPARE(ask({"run", "digits-mlp"}).code, 0);
        std::filesystem::remove(m_workspace->folder() / "history-v1.sqlite");
        QCOMPARE(ask({"rebuild-history", "--json"}).json()["runs"], json(2));
        QVERIFY(replaceFile(FileSystem::real(), m_workspace->folder() / "history-v1.sqlite", std::string(5000, 'x')).ok());
        QCOMPARE(ask({"rebuild-history", "--json"}).json()["runs"], json(2));
        QCOMPARE(ask({"runs", "--json"}).json().size(), std::size_t{2});
    }
    void selftestLeavesNothing() {
        const Answer answer = ask({"selftest", "--json"});
        QVERIFY2(answer.code == 0, answer.out.c_str());
        for (const json& test : answer.json()) QVERIFY2(test["ok"].get<bool>(), test.dump().c_str());
        QVERIFY(listFolder(m_workspace->folder())->empty());
    }
    void everySettingIsInTheReference() {
        std::size_t fields = 0;
        const Answer text = ask({"config-reference"});
        for (const auto& section : config::Schema::builtin().sections()) {
            for (const auto& field : section.fields) {
                ++fields;
                QVERIFY2(text.out.find(field.name) != std::string::npos, field.key().c_str());
            }
        }
        QCOMPARE(ask({"config-reference", "--json"}).json().size(), fields);
    }
    void exportWritesWhatOthersNeed() {
        QCOMPARE(ask({"run", "digits-mlp"}).code, 0);
        const Answer answer = ask({"export", "latest", "--json"});
        QVERIFY2(answer.code == 0, answer.err.c_str());
        const auto run = m_workspace->latest();
        const std::vector<std::string> expected = {"classes.json", "load.py", "model.json", "model.safetensors", "preprocessing.json"};
        QVERIFY(*listFolder(run.exportFolder()) == expected);
        const auto header = rundir::readSafetensorsHeader((run.exportFolder() / "model.safetensors").string());
        QVERIFY(header.ok() && header->tensors.size() == 1 && header->tensors.contains("weight"));
        QCOMPARE(json::parse(*readFile(run.exportFolder() / "classes.json", 1000)), json({"a", "b"}));
        // Again takes the place of the first one.
        QCOMPARE(ask({"export", "latest@10"}).code, 0);
        QVERIFY(*listFolder(run.exportFolder()) == expected);
        QCOMPARE(ask({"export", "latest@11"}).code, 2);
    }
    void evalAsksTheEngine() {
        QCOMPARE(ask({"run", "digits-mlp"}).code, 0);
        QCOMPARE(ask({"eval", "latest@best", "--json"}).json()["metrics"]["eval/loss"], json("0.5"));
    }
    void attachEndsWithTheRun() {
        m_workspace->setScript("points 10; save; end stopped, 4");
        QCOMPARE(ask({"run", "digits-mlp"}).code, 4);
        const Answer attached = ask({"attach", "latest"});
        QCOMPARE(attached.code, 4);
        QVERIFY(attached.out.find("loss ") != std::string::npos && attached.out.find("stopped") != std::string::npos);
    }
    void aReaderThatLeavesDoesNotBreakARun() {
        m_workspace->setScript("train");
        QCOMPARE(ask({"run", "digits-mlp", "--detach"}).code, 0);
        const auto watching = m_workspace->start({"attach", "latest"});
        QVERIFY(eventually([&] { return watching->state() == QProcess::Running && !watching->readAllStandardError().isEmpty(); }));
        watching->kill();
        watching->waitForFinished();
        QCOMPARE(ask({"stop", "latest"}).code, 0);
        QCOMPARE(ask({"show", "latest", "--json"}).json()["state"], json("stopped"));
    }
};

QTEST_GUILESS_MAIN(TestCommandLine)
#include "tst_command_line.moc"
