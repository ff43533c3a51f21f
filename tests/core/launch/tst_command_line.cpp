// labels: process
// timeout: 300
// The forms that scripts rely on, and what the command line says when it is used wrongly.
#include "base/file_system.h"
#include "base/number_text.h"
#include "config/config.h"
#include "launch/run/standing.h"
#include "rundir/checkpoint_manifest.h"
#include "rundir/safetensors_header.h"
#include "rundir/summary_text.h"
#include "trainer_process.h"

#include <QtTest/QTest>

#include <algorithm>
#include <cmath>
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
        row("unknown verb", {"fly"}, "There is no verb \"fly\"");
        row("mistyped verb", {"rnu", "digits-mlp"}, "There is no verb \"rnu\"; did you mean run?");
        row("setting as an option", {"run", "digits-mlp", "--lr", "3"}, "--set optimizer.learning_rate=VALUE");
        row("unknown setting to explain", {"config-reference", "optimizer.learnig_rate"}, "did you mean optimizer.learning_rate?");
        row("no configuration", {"run"}, "CONFIG");
        row("unknown configuration", {"run", "no-such-preset"}, "no-such-preset");
        row("unknown key", {"run", "digits-mlp", "--set", "optimizer.learnig_rate=1"}, "learning_rate");
        row("wrong type", {"run", "digits-mlp", "--set", "run.epochs=many"}, "run.epochs");
        row("out of range", {"run", "digits-mlp", "--set", "data.batch_size=0"}, "data.batch_size");
        row("not a setting", {"run", "digits-mlp", "--set", "epochs"}, "epochs");
        row("unknown run", {"show", "nowhere"}, "nowhere");
        row("no step", {"roll-back", "latest"}, "RUN@STEP");
        row("not live", {"stop", "latest"}, "");
        row("one run only", {"compare", "latest"}, "compare takes two RUNS or more");
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
    void aCheckpointInPlaceOfARunSaysWhatTakesOne() {
        QCOMPARE(ask({"run", "digits-mlp"}).code, 0);
        const Answer goOn = ask({"continue", "latest@10"}), look = ask({"show", "latest@best"});
        QVERIFY2(goOn.code == 2 && goOn.err.find("roll-back latest@10") != std::string::npos && goOn.err.find("fork latest@10") != std::string::npos, goOn.err.c_str());
        QVERIFY2(look.code == 2 && look.err.find("names a checkpoint, and a run is asked for here: latest") != std::string::npos, look.err.c_str());
    }
    void oneSettingOrSectionIsExplainedAlone() {
        const Answer one = ask({"config-reference", "optimizer.learning_rate"}), section = ask({"config-reference", "task"});
        QVERIFY2(one.code == 0 && one.out.find("  learning_rate: ") != std::string::npos && one.out.find("weight_decay") == std::string::npos, one.out.c_str());
        QVERIFY2(section.code == 0 && section.out.find("num_classes: ") != std::string::npos && section.out.find("learning_rate") == std::string::npos, section.out.c_str());
        QCOMPARE(ask({"config-reference", "optimizer.learning_rate", "--json"}).json().size(), std::size_t(1));
    }
    void pointsOfAbandonedBranchesAreCounted() {
        QCOMPARE(ask({"run", "digits-mlp"}).code, 0);
        QCOMPARE(ask({"series", "latest", "train/loss"}).err, std::string());
        m_workspace->setScript("points 10; save; points 5; end completed, 0");
        QCOMPARE(ask({"roll-back", "latest@10"}).code, 0);
        m_workspace->setScript("points 2; end completed, 0");
        QCOMPARE(ask({"roll-back", "latest@20"}).code, 0);
        const Answer line = ask({"series", "latest", "train/loss"}), all = ask({"series", "latest", "train/loss", "--all-branches"});
        QVERIFY2(line.err.find("5 points of abandoned branches are not among them (--all-branches)") != std::string::npos, line.err.c_str());
        QCOMPARE(all.err, std::string());
        const auto lines = [](const Answer& answer) { return std::count(answer.out.begin(), answer.out.end(), '\n'); };
        QCOMPARE(lines(all) - lines(line), 5);
    }
    void aRunThatIsUpHasAnEnvironmentToCompare() {
        QCOMPARE(ask({"run", "digits-mlp", "--set", "run.name=ended"}).code, 0);
        m_workspace->setScript("train");
        QCOMPARE(ask({"run", "digits-mlp", "--detach", "--set", "run.name=up"}).code, 0);
        const auto environment = [&] { return ask({"compare", "ended", "up", "--json"}).json()["environment"]; };
        QVERIFY2(eventually([&] { return environment() == json::array(); }), environment().dump().c_str());
        QCOMPARE(ask({"stop", "up"}).code, 0);
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
        QCOMPARE(result["checkpoints"][0]["metrics"]["eval/accuracy"], json(0.5));
    }
    /// Of a run that is up updates tell how many there were; the rest comes with a checkpoint or the end.
    void countersThatAreNotExactAreLeftOut() {
        const auto counters = [&] { return ask({"show", "latest", "--json"}).json()["counters"]; };
        const json onlyExact = {{"global_step", 15}, {"update_attempts", 15}, {"skipped_updates", 0}};
        const std::string file = (m_workspace->scratch() / "on").string();
        m_workspace->setScript("points 10; save; points 5; hold " + file + "; save; hold " + file + "2; points 5; signal 9");
        QCOMPARE(ask({"run", "digits-mlp", "--detach", "--set", "run.restarts_per_hour=0"}).code, 0);
        QVERIFY2(eventually([&] { return counters() == onlyExact; }), counters().dump().c_str());
        QVERIFY(replaceFile(FileSystem::real(), file, "").ok());
        QVERIFY2(eventually([&] { return counters().value("micro_step", 0) == 15; }), counters().dump().c_str());   // saved at its newest update
        hasKeys(counters(), {"samples", "tokens", "epoch", "plan_entry"});
        QVERIFY(replaceFile(FileSystem::real(), file + "2", "").ok());
        QVERIFY(eventually([&] { return !rundir::RunLock::isHeld(m_workspace->latest().lock()); }));
        QCOMPARE(counters(), (json{{"global_step", 20}, {"update_attempts", 20}, {"skipped_updates", 0}}));
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
    void aDryRunTellsWhatGoingOnWouldDo() {
        QCOMPARE(ask({"run", "digits-mlp", "--set", "run.epochs=none", "--set", "run.max_updates=100", "--set", "schedule.name=linear",
                      "--set", "schedule.warmup_updates=0", "--set", "schedule.final_factor=0", "--set", "optimizer.learning_rate=0.01"}).code, 0);
        const auto rowOf = [](const json& sheet, const char* key) {
            for (const json& row : sheet["settings"])
                if (row["key"] == key) return row;
            return json();
        };
        const QStringList asked{"continue", "latest", "--dry-run", "--json", "--set", "optimizer.learning_rate=2e-2", "--set", "optimizer.momentum=0.5",
                                "--set", "schedule.total_updates=40", "--set", "run.max_updates=200"};
        const Answer good = ask(asked);
        QVERIFY2(good.code == 0, good.out.c_str());
        const json sheet = good.json();
        hasKeys(sheet, {"dry_run", "verb", "run", "folder", "checkpoint", "step", "settings", "learning_rate", "updates", "notices", "would_start"});
        QVERIFY(sheet["would_start"].get<bool>() && sheet["step"] == 10);
        const json rate = rowOf(sheet, "optimizer.learning_rate");
        QVERIFY2(rate["checkpoint"] == "0.01" && rate["form"] == "0.02" && rate["used"] == "0.02" && rate["effect"] == "applies from now", rate.dump().c_str());
        QCOMPARE(rowOf(sheet, "optimizer.momentum")["effect"], json("ignored"));  // the optimizer is adamw
        QCOMPARE(rowOf(sheet, "run.max_updates")["effect"], json("applies"));
        QCOMPARE(rowOf(sheet, "model.name")["effect"], json("same"));
        // Linear from 1 to 0: 10 of 100 gone before, 10 of 40 with the new length.
        QVERIFY(std::abs(sheet["learning_rate"]["before"].get<double>() - 0.01 * 0.9) < 1e-12);
        QVERIFY(std::abs(sheet["learning_rate"]["after"].get<double>() - 0.02 * 0.75) < 1e-12);
        QVERIFY(sheet["updates"]["planned_before"] == 100 && sheet["updates"]["planned_after"] == 200 && sheet["updates"]["left"] == 190);

        // A longer run keeps its curve of 100 unless a new one is asked for: then 10 of 200 are gone.
        const QStringList longer{"continue", "latest", "--dry-run", "--json", "--set", "run.max_updates=200"};
        QVERIFY(std::abs(ask(longer).json()["learning_rate"]["after"].get<double>() - 0.01 * 0.9) < 1e-12);
        QVERIFY(std::abs(ask(longer + QStringList{"--new-curve"}).json()["learning_rate"]["after"].get<double>() - 0.01 * 0.95) < 1e-12);

        const Answer refused = ask(asked + QStringList{"--set", "data.batch_size=64"});
        QCOMPARE(refused.code, 2);
        const json why = refused.json();
        QVERIFY(!why["would_start"].get<bool>() && why["error"]["key"] == "data.batch_size");
        const json fixed = rowOf(why, "data.batch_size");
        QVERIFY2(fixed["effect"] == "forbidden" && fixed["form"] == "64" && fixed["used"] == fixed["checkpoint"] && !fixed["why"].get<std::string>().empty(), fixed.dump().c_str());
        const json wrong = ask({"continue", "latest", "--dry-run", "--json", "--set", "optimizer.learning_rate=fast"}).json();
        QVERIFY(rowOf(wrong, "optimizer.learning_rate")["effect"] == "forbidden" && rowOf(wrong, "optimizer.learning_rate")["used"] == "0.01");
        QCOMPARE(ask({"start-from-weights", "latest@10", "--dry-run", "--json", "--set", "data.batch_size=64"}).json()["step"], json(0));
        QCOMPARE(ask({"continue", "latest", "--dry-run", "--json", "--set", "run.max_updates=10"}).json()["error"]["key"], json("run.max_updates"));
        QVERIFY(ask({"roll-back", "latest@10", "--dry-run", "--set", "optimizer.learning_rate=0.02"}).out.find("0.01 -> 0.02") != std::string::npos);
        QCOMPARE(ask({"roll-back", "latest@11", "--dry-run"}).code, 2);
        QCOMPARE(rundir::listRuns(m_workspace->folder()).size(), std::size_t{1});
        QCOMPARE(rundir::newestSession(m_workspace->latest()), 1);  // nothing was started
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
    void whatALinkAmongTheRunsPointsToIsNotDeletedByIt() {
        QCOMPARE(ask({"run", "digits-mlp"}).code, 0);
        const auto run = m_workspace->latest();
        std::filesystem::create_directory_symlink(run.name(), m_workspace->folder() / "runs/by-link");
        for (const char* target : {"by-link", "by-link@latest"}) {
            const Answer refused = ask({"delete", target});
            QVERIFY2(refused.code == 2 && refused.err.find("is a link; ") != std::string::npos, refused.err.c_str());
        }
        QVERIFY(std::filesystem::is_directory(run.checkpoints()));
        QCOMPARE(ask({"delete", QString::fromStdString(run.name())}).code, 0);
        QVERIFY(!std::filesystem::exists(run.root()));
    }
    void copiesOfARunAreToldApartByTheirFolders() {
        QCOMPARE(ask({"run", "digits-mlp", "--name", "one"}).code, 0);
        const auto run = m_workspace->latest();
        const std::string id = rundir::readManifest(run)->id;
        std::filesystem::copy(run.place(), run.place().parent_path() / "copy", std::filesystem::copy_options::recursive);
        for (const std::string& reference : {std::string("one"), id}) {
            const Answer several = ask({"show", QString::fromStdString(reference)});
            QVERIFY2(several.code == 2 && several.err.find("copy)") != std::string::npos && several.err.find("name one by its folder") != std::string::npos, several.err.c_str());
        }
        QCOMPARE(ask({"show", "copy"}).code, 0);
    }
    void aRunWhoseManifestIsMissingIsTold() {
        QCOMPARE(ask({"run", "digits-mlp", "--name", "one"}).code, 0);
        const auto run = m_workspace->latest();
        std::filesystem::remove(run.runJson());
        const Answer listed = ask({"runs"});
        QVERIFY2(listed.err.find(run.name() + " holds a run's record but no run.json") != std::string::npos, listed.err.c_str());
    }
    void aCheckpointIsNotDeletedAgainstItsRule() {
        m_workspace->setScript("points 10; save; points 10; save; end stopped, 4");
        QCOMPARE(ask({"run", "digits-mlp"}).code, 4);
        const auto run = m_workspace->latest();
        for (const QStringList& words : {QStringList{"delete", "latest@11"}, {"delete", "latest@"}, {"delete", "nowhere@10"}, {"delete", "latest@../run.json"}, {"delete", "latest@s001-000000099"}}) {
            const Answer refused = ask(words);
            QVERIFY2(refused.code == 2 && !refused.err.empty(), refused.err.c_str());
        }
        QCOMPARE(ask({"pin", "latest@10"}).code, 0);
        const Answer pinned = ask({"delete", "latest@10"});
        QVERIFY2(pinned.code == 2 && pinned.err.find("unpin") != std::string::npos, pinned.err.c_str());
        // One that is damaged can be named by its folder.
        std::filesystem::remove(run.checkpoints() / "s001-000000020/model-00000.safetensors");
        QCOMPARE(ask({"delete", "latest@s001-000000020"}).code, 0);
        QCOMPARE(rundir::listCheckpoints(run.checkpoints()).size(), std::size_t{1});
        m_workspace->setScript("points 5; train");
        QCOMPARE(ask({"continue", "latest", "--detach"}).code, 0);
        const Answer busy = ask({"delete", "latest@10"});
        QVERIFY2(busy.code == 8 && busy.err.find("stop it first") != std::string::npos, busy.err.c_str());
        QCOMPARE(ask({"unpin", "latest@10"}).code, 0);
        QCOMPARE(ask({"stop", "latest"}).code, 0);
        QCOMPARE(ask({"delete", "latest@10"}).code, 0);
    }
    void theBestCheckpointIsDeletedOnlyWithAWord() {
        m_workspace->setScript("metric 0.5; points 10; save; metric 0.9; points 10; savebest; metric 0.7; points 10; save; end stopped, 4");
        QCOMPARE(ask({"run", "digits-mlp"}).code, 4);
        const Answer deleted = ask({"delete", "latest@best"});
        QVERIFY2(deleted.code == 0 && deleted.out.find("s001-000000020") != std::string::npos && deleted.out.find("the best") != std::string::npos, deleted.out.c_str());
        QCOMPARE(ask({"eval", "latest@best"}).code, 0);  // the next best one
    }
    void exportChecksWhatItTakes() {
        m_workspace->setScript("points 10; save; end completed, 0");
        QCOMPARE(ask({"run", "digits-mlp"}).code, 0);
        const auto folder = m_workspace->latest().checkpoints() / "s001-000000010";
        const auto flip = [&](const char* name) {
            std::string content = *readFile(folder / name, 1 << 20);
            content.back() = static_cast<char>(content.back() ^ 1);
            QVERIFY(replaceFile(FileSystem::real(), folder / name, content).ok());
        };
        flip("optimizer-00000.safetensors");
        const Answer told = ask({"export", "latest", "--json"});
        QVERIFY2(told.code == 0 && told.err.find("optimizer-00000.safetensors") != std::string::npos && told.err.find("weights are whole") != std::string::npos, told.err.c_str());
        QCOMPARE(told.json()["damaged"].size(), std::size_t{1});
        flip("model-00000.safetensors");
        const Answer refused = ask({"export", "latest"});
        QVERIFY2(refused.code == 3 && refused.err.find("model-00000.safetensors") != std::string::npos, refused.err.c_str());
        const auto run = m_workspace->latest();
        QVERIFY(std::filesystem::exists(run.exportFolder() / "model.safetensors"));  // the one before stays
        QVERIFY(!std::filesystem::exists(run.root() / ".export-unfinished"));
    }
    void aLiveRunIsExportedFromACheckpoint() {
        m_workspace->setScript("points 10; save; train");
        QCOMPARE(ask({"run", "digits-mlp", "--detach"}).code, 0);
        const auto run = m_workspace->latest();
        QVERIFY(eventually([&] { return !rundir::listCheckpoints(run.checkpoints()).empty() && rundir::listCheckpoints(run.checkpoints())[0].problem.empty(); }));
        const Answer exported = ask({"export", "latest", "--json"});
        QVERIFY2(exported.code == 0, exported.err.c_str());
        QCOMPARE(exported.json()["checkpoint"], json("s001-000000010"));
        QCOMPARE(ask({"show", "latest", "--json"}).json()["state"], json("running"));
        {
            const auto other = rundir::RunLock::acquire(run.exportLock());
            QCOMPARE(ask({"export", "latest"}).code, 8);  // two at once do not mix
        }
        QCOMPARE(ask({"stop", "latest"}).code, 0);
    }
    void damagedRecordsAreListedWithReasonAndRemedy() {
        QCOMPARE(ask({"run", "digits-mlp", "--set", "run.name=one"}).code, 0);
        const auto one = m_workspace->latest();
        QCOMPARE(ask({"run", "digits-mlp", "--set", "run.name=two"}).code, 0);
        const auto two = m_workspace->latest();
        QVERIFY(replaceFile(FileSystem::real(), one.runJson(), "").ok());
        QVERIFY(replaceFile(FileSystem::real(), two.sessionJson(1), "garbage").ok());
        const Answer listed = ask({"runs"});
        QCOMPARE(listed.code, 0);
        QVERIFY2(listed.err.find("run.json") != std::string::npos && listed.err.find("export " + one.name()) != std::string::npos, listed.err.c_str());
        QVERIFY2(listed.err.find("1.json") != std::string::npos && listed.err.find("fork " + two.name() + "@latest") != std::string::npos, listed.err.c_str());
        QVERIFY2(!listed.out.starts_with(" ") && listed.out.find("\n ") == std::string::npos, listed.out.c_str());  // no empty id
        const QString first = QString::fromStdString(one.name());
        QVERIFY(ask({"show", first}).err.find("run.json") != std::string::npos);
        QCOMPARE(ask({"export", first}).code, 0);  // the remedies that are named work
        const Answer refused = ask({"continue", "two"});
        QVERIFY2(refused.code == 3 && refused.err.find("fork " + two.name() + "@latest") != std::string::npos, refused.err.c_str());
        QCOMPARE(ask({"fork", QString::fromStdString(two.name()) + "@latest", "--set", "run.name=three"}).code, 0);
    }
    void aNewCurveIsAskedForByAFlag() {
        m_workspace->setScript("points 10; save; end completed, 0");
        QCOMPARE(ask({"run", "digits-mlp", "--set", "run.max_updates=10"}).code, 0);
        const auto run = m_workspace->latest();
        QCOMPARE(ask({"continue", "latest", "--set", "run.max_updates=20"}).code, 0);
        QVERIFY(!rundir::readSession(run, 2)->newCurve);
        QCOMPARE(ask({"continue", "latest", "--set", "run.max_updates=40", "--new-curve"}).code, 0);
        QVERIFY(rundir::readSession(run, 3)->newCurve);
        QCOMPARE(ask({"roll-back", "latest@20", "--set", "run.max_updates=40", "--new-curve"}).code, 0);
        QVERIFY(rundir::readSession(run, 4)->newCurve);
        QCOMPARE(ask({"run", "digits-mlp", "--new-curve"}).code, 2);  // a new run has no curve yet
    }
    /// SEMANTICS C5
    void aNewCurveStaysAskedForUntilACheckpointHasIt() {
        m_workspace->setScript("points 10; save; end completed, 0");
        QCOMPARE(ask({"run", "digits-mlp", "--set", "run.max_updates=10", "--set", "run.epochs=none", "--set", "schedule.name=cosine", "--set", "schedule.final_factor=0", "--set",
                      "schedule.warmup_updates=0"}).code, 0);
        const auto run = m_workspace->latest();
        QVERIFY(ask({"continue", "latest", "--dry-run", "--set", "run.max_updates=40"}).out.find("nothing would be learned") != std::string::npos);
        QVERIFY(ask({"continue", "latest", "--dry-run", "--set", "run.max_updates=40", "--new-curve"}).out.find("nothing would be learned") == std::string::npos);
        m_workspace->setScript("points 5; end failed, 1");
        ask({"continue", "latest", "--set", "run.max_updates=40", "--new-curve"});
        QVERIFY(ask({"continue", "latest", "--dry-run"}).out.find("keeps 10") == std::string::npos);
        m_workspace->setScript("points 10; save; end failed, 1");
        ask({"continue", "latest"});
        QVERIFY(rundir::readSession(run, 3)->newCurve);
        ask({"continue", "latest"});
        QVERIFY(!rundir::readSession(run, 4)->newCurve);  // it goes on from a checkpoint that has the new one
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
    void aSummaryThatWasLostIsMadeAgainFromTheRecord() {
        QCOMPARE(ask({"run", "digits-mlp", "--name", "one"}).code, 0);
        QCOMPARE(ask({"run", "digits-mlp", "--name", "two"}).code, 0);
        const auto run = m_workspace->latest();
        const rundir::Summary whole = *rundir::readSummary(run);
        QVERIFY(!whole.last.empty() && !whole.sparkline.empty() && whole.counters.globalStep.value() == 10);
        std::filesystem::remove(run.summaryJson());
        const json shown = ask({"show", "two", "--json"}).json();
        QCOMPARE(shown.at("counters").at("global_step"), json(10));
        QCOMPARE(shown.at("state"), json("completed"));
        QVERIFY(replaceFile(FileSystem::real(), run.summaryJson(), "{").ok());
        const json rebuilt = ask({"rebuild-history", "--json"}).json();
        QCOMPARE(rebuilt.at("runs"), json(2));
        QCOMPARE(rebuilt.at("summaries_mended"), json(1));
        rundir::Summary made = *rundir::readSummary(run);
        made.updatedNs = whole.updatedNs;
        made.activeSeconds = whole.activeSeconds;   // up to the last point
        QCOMPARE(QString::fromStdString(rundir::summaryText(made)), QString::fromStdString(rundir::summaryText(whole)));
        QCOMPARE(ask({"rebuild-history", "--json"}).json().at("summaries_mended"), json(0));
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
        QCOMPARE(ask({"eval", "latest@best", "--json"}).json()["metrics"]["eval/loss"], json(0.5));
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
