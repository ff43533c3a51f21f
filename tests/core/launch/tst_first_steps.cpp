// labels: process
// timeout: 300
// What a person meets on the first day: sentences before a start, names that stay apart, which checkpoint is the best.
#include "rundir/checkpoint_manifest.h"
#include "trainer_process.h"

#include <QtCore/QRegularExpression>
#include <QtCore/QStandardPaths>
#include <QtTest/QTest>

using namespace lathe;
using namespace lathe::test;
using nlohmann::json;

class TestFirstSteps : public QObject {
    Q_OBJECT

    std::unique_ptr<Workspace> m_workspace;

    Answer ask(const QStringList& words) const { return m_workspace->ask(words); }
    QString write(const char* name, const std::string& text) const {
        const auto file = m_workspace->scratch() / name;
        if (!replaceFile(FileSystem::real(), file, text).ok()) qFatal("cannot write %s", name);
        return QString::fromStdString(file.string());
    }
    bool noRuns() const { return rundir::listRuns(m_workspace->folder()).empty(); }
    std::string nameOfLatest() const { return rundir::readManifest(m_workspace->latest())->name; }
    static bool says(const Answer& answer, const std::string& part) { return (answer.out + answer.err).find(part) != std::string::npos; }
    QString tableConfig(const QString& table, const char* more = "") const {
        return write("table.yaml", "data:\n  train: " + table.toStdString() + "\n  target: [price]\n" + more);
    }
    QString prices() const {
        std::string text = "size,price\n";
        for (int i = 0; i < 400; ++i) text += std::to_string(i) + "," + std::to_string(i * 2.5) + "\n";
        return write("prices.csv", text);
    }

private Q_SLOTS:
    void init() {
        m_workspace = std::make_unique<Workspace>();
        m_workspace->useFakeWorker(LATHE_BIN_DIR);
        m_workspace->setEnvironment("LATHE_NVML", "/nowhere/libnvidia-ml.so");
        m_workspace->setScript("metric 0.5; points 10; save; end completed, 0");
    }

    // ---- before a start

    void whatWouldFailIsRefusedBeforeAnythingIsMade_data() {
        QTest::addColumn<QStringList>("settings");
        QTest::addColumn<QByteArray>("key");
        QTest::addColumn<QByteArray>("part");
        const auto row = [](const char* name, QStringList settings, const char* key, const char* part) { QTest::newRow(name) << settings << QByteArray(key) << QByteArray(part); };
        row("no GPU", {"--set", "parallel.device=cuda"}, "parallel.device", "choose device cpu");
        row("another GPU", {"--set", "parallel.device=GPU-12345"}, "parallel.device", "no GPU GPU-12345");
        row("no weights", {"--set", "model.weights=nix.safetensors"}, "model.weights", "nix.safetensors");
        row("no such column", {"--set", "data.target=prize"}, "data.target", "Did you mean 'price'?");
        row("no data", {"--set", "data.train=/nowhere.csv"}, "data.train", "does not exist");
    }
    void whatWouldFailIsRefusedBeforeAnythingIsMade() {
        QFETCH(QStringList, settings);
        QFETCH(QByteArray, key);
        QFETCH(QByteArray, part);
        const QString file = tableConfig(prices(), "task:\n  name: regression\n");
        for (const char* verb : {"check", "run"}) {
            const Answer answer = ask(QStringList{QLatin1String(verb), file} + settings);
            QCOMPARE(answer.code, 2);
            QVERIFY2(says(answer, "error: " + key.toStdString()) && says(answer, part.toStdString()), (answer.out + answer.err).c_str());
        }
        QVERIFY(noRuns());
    }
    void amountsTakenForClassesAreDoubted() {
        const Answer doubted = ask({"check", tableConfig(prices())});
        QVERIFY2(doubted.code == 0 && says(doubted, "400 different numbers") && says(doubted, "task.name to regression"), (doubted.out + doubted.err).c_str());
        QVERIFY(!says(ask({"check", tableConfig(prices()), "--set", "task.name=regression"}), "different numbers"));
    }
    void warmUpBeyondTheRunIsDoubtedInAnyForm() {
        const Answer sections = ask({"check", tableConfig(prices(), "task:\n  name: regression\nschedule:\n  warmup_updates: 500\n"), "--set", "run.epochs=4"});
        QVERIFY2(says(sections, "Warm-up takes 500 updates and the run has 40") && says(sections, "schedule.warmup_updates"), (sections.out + sections.err).c_str());
        const QString flat = write("flat.yaml", "model_name: mlp\npretrained: false\nuse_amp: false\nepochs: 4\ndata.train: " + prices().toStdString() + "\ndata.target: price\ntask.name: regression\n");
        const Answer answer = ask({"check", flat});
        QVERIFY2(answer.code == 0 && says(answer, "Warm-up takes 500 updates and the run has 40"), (answer.out + answer.err).c_str());
        QVERIFY(!says(ask({"check", "digits-mlp"}), "Warm-up takes"));
    }
    void dataInPlaceOfAConfigurationGetTheWholeCommand() {
        const QString table = prices();
        const Answer answer = ask({"run", table});
        QCOMPARE(answer.code, 2);
        QVERIFY2(says(answer, "is data, not a configuration") && says(answer, "lathe-trainer run csv-regression --set"), answer.err.c_str());
        QVERIFY2(says(answer, "The last column, price, is what is learned, as an amount."), answer.err.c_str());
        // The command works as it is printed.
        const std::string command = answer.err.substr(answer.err.find("--set"));
        QStringList words{QStringLiteral("run"), QStringLiteral("csv-regression")};
        for (const QString& part : QString::fromStdString(command).trimmed().split(QStringLiteral("--set '"), Qt::SkipEmptyParts))
            words << QStringLiteral("--set") << part.left(part.indexOf(QLatin1Char('\'')));
        const Answer run = ask(words);
        QVERIFY2(run.code == 0, run.err.c_str());
    }

    // ---- where runs go

    void workspacesAreChosenInOneOrder() {
        const QString flat = write("flat.yaml", "model_name: mlp\npretrained: false\nuse_amp: false\noutput_dir: mine\ndata.train: " + prices().toStdString() + "\ndata.target: price\ntask.name: regression\n");
        const auto mine = m_workspace->scratch() / "mine", given = m_workspace->scratch() / "given";
        Answer answer = ask({"run", flat, "--workspace", QString::fromStdString(given.string())});
        QVERIFY2(answer.code == 0 && says(answer, "the run goes to the workspace " + given.string()), answer.err.c_str());
        QCOMPARE(rundir::listRuns(given).size(), std::size_t(1));
        answer = ask({"run", flat});  // the variable is set
        QVERIFY2(answer.code == 0 && says(answer, "the run goes to the workspace " + m_workspace->folder().string()), answer.err.c_str());
        QCOMPARE(rundir::listRuns(m_workspace->folder()).size(), std::size_t(1));
        QVERIFY(rundir::listRuns(mine).empty());
        m_workspace->setEnvironment("LATHE_WORKSPACE", "");
        answer = ask({"run", flat});
        QVERIFY2(answer.code == 0 && says(answer, "understood as the workspace " + mine.string()), answer.err.c_str());
        QCOMPARE(rundir::listRuns(mine).size(), std::size_t(1));
    }

    // ---- watching

    void attachShowsTheCurveWhileItRuns() {
        if (QStandardPaths::findExecutable(QStringLiteral("script")).isEmpty()) QSKIP("there is no program \"script\" to make a terminal (Debian package bsdutils)");
        m_workspace->setScript("train");
        QCOMPARE(ask({"run", "digits-mlp", "--detach"}).code, 0);
        const auto watching = m_workspace->startOnTerminal(QStringLiteral("attach latest"));
        QString shown;
        QVERIFY(eventually([&] {
            shown += QString::fromUtf8(watching->readAllStandardOutput());
            return shown.contains(QRegularExpression(QStringLiteral("loss [▁▂▃▄▅▆▇█]"))) && shown.contains(QStringLiteral(" · eta"));
        }));
        QCOMPARE(ask({"stop", "latest"}).code, 0);
        QVERIFY(watching->waitForFinished(60'000));
        for (const QString& line : shown.split(QRegularExpression(QStringLiteral("[\\r\\n]|\\x1b\\[[0-9]*[A-Z]")))) QVERIFY2(line.size() < 80, qPrintable(line));
    }

    // ---- names

    void runsThatComeFromAnotherHaveNamesOfTheirOwn() {
        QCOMPARE(ask({"run", "digits-mlp", "--set", "run.name=striche"}).code, 0);
        QCOMPARE(ask({"again", "striche"}).code, 0);
        QCOMPARE(nameOfLatest(), std::string("striche-2"));
        QCOMPARE(ask({"fork", "striche@10", "--set", "run.epochs=200"}).code, 0);
        QCOMPARE(nameOfLatest(), std::string("striche-3"));
        QCOMPARE(ask({"start-from-weights", "striche-2@10"}).code, 0);
        QCOMPARE(nameOfLatest(), std::string("striche-4"));
        QCOMPARE(ask({"again", "striche", "--set", "run.name=other"}).code, 0);
        QCOMPARE(nameOfLatest(), std::string("other"));
        for (const char* name : {"striche", "striche-2", "striche-3"}) QCOMPARE(ask({"show", name}).code, 0);
        // A name made from settings goes on being made from them.
        QCOMPARE(ask({"run", "digits-mlp"}).code, 0);
        QCOMPARE(ask({"again", "digits-mlp"}).code, 0);
        QCOMPARE(ask({"again", "digits-mlp-2", "--set", "optimizer.learning_rate=6e-4"}).code, 0);
        QCOMPARE(nameOfLatest(), std::string("digits-mlp-lr6e-4"));
    }
    void anAmbiguousNameIsToldWithIds() {
        QCOMPARE(ask({"run", "digits-mlp"}).code, 0);
        const std::string id = rundir::readManifest(m_workspace->latest())->id;
        QCOMPARE(ask({"run", "digits-mlp"}).code, 0);
        const Answer answer = ask({"show", "digits-mlp"});
        QCOMPARE(answer.code, 2);
        QVERIFY2(says(answer, id + " (digits-mlp, "), answer.err.c_str());
    }
    void whatWasSetShowsInTheNameOfAFilesRun() {
        const QString plain = tableConfig(prices(), "task:\n  name: regression\n");
        QCOMPARE(ask({"run", plain, "--set", "optimizer.learning_rate=6e-4"}).code, 0);
        QCOMPARE(nameOfLatest(), std::string("table-lr6e-4"));
        QCOMPARE(ask({"run", plain}).code, 0);
        QCOMPARE(nameOfLatest(), std::string("table"));
        const QString named = tableConfig(prices(), "task:\n  name: regression\nrun:\n  name: houses\n");
        QCOMPARE(ask({"run", named, "--set", "optimizer.learning_rate=6e-4"}).code, 0);
        QCOMPARE(nameOfLatest(), std::string("houses-lr6e-4"));
        QCOMPARE(ask({"run", named, "--set", "run.name=x", "--set", "optimizer.learning_rate=6e-4"}).code, 0);
        QCOMPARE(nameOfLatest(), std::string("x"));
    }

    // ---- checkpoints

    void exportSaysWhichCheckpointItTook() {
        m_workspace->setScript("metric 0.9; points 5; save; metric 0.5; points 5; save; end completed, 0");
        QCOMPARE(ask({"run", "digits-mlp"}).code, 0);
        const Answer answer = ask({"export", "latest"});
        QVERIFY2(says(answer, "(best, eval/accuracy 0.9 at step 5; newest is 10)"), answer.out.c_str());
        QVERIFY(!says(ask({"export", "latest@10"}), "best"));
        QVERIFY(says(ask({"export", "--help"}), "best"));
    }
    void theTipOfABranchThatWasLeftStays() {
        m_workspace->setScript("points 5; save; points 5; save; end completed, 0");
        const QStringList one{"--set", "checkpoint.keep_last=1", "--set", "checkpoint.keep_best=0"};
        QCOMPARE(ask(QStringList{"run", "digits-mlp"} + one).code, 0);
        m_workspace->setScript("points 5; save; points 5; save; points 5; save; end completed, 0");
        QCOMPARE(ask({"pin", "latest@10"}).code, 0);  // so that there is an older one to go back to, too
        QCOMPARE(ask(QStringList{"roll-back", "latest@10"} + one).code, 0);
        QCOMPARE(ask({"unpin", "latest@10"}).code, 0);
        const auto folders = [&] {
            QStringList out;
            for (const auto& info : rundir::listCheckpoints(m_workspace->latest().checkpoints())) out += QString::fromStdString(info.folder);
            return out.join(' ');
        };
        // Up until all are re-read: before, older ones stay that are known to be whole.
        const auto leaves = [&](const QStringList& words, const QString& left) {
            const auto flag = m_workspace->scratch() / "flag";
            std::filesystem::remove(flag);
            m_workspace->setScript("points 5; save; points 5; save; points 5; save; hold " + flag.string() + "; end completed, 0");
            const auto process = m_workspace->start(words + one);
            const bool came = eventually([&] { return folders() == left; });
            const bool released = replaceFile(FileSystem::real(), flag, "go").ok();
            const Answer answer = Workspace::finish(*process);
            if (!came || folders() != left) qWarning("%s", qPrintable(folders()));
            return came && released && answer.code == 0 && folders() == left;
        };
        // Gone on from the newest: no branch was left, the rule alone counts.
        QVERIFY(leaves({"roll-back", "latest@25"}, "s002-000000025 s003-000000040"));
        QVERIFY(leaves({"roll-back", "latest@25"}, "s002-000000025 s003-000000040 s004-000000040"));
        QVERIFY(leaves({"continue", "latest"}, "s003-000000040 s004-000000040 s005-000000055"));  // the left one's tip stays
    }
    void aForkTellsThatItsBestIsTheParents() {
        m_workspace->setScript("metric 0.9; points 5; save; best 0.9; metric 0.5; points 5; save; end completed, 0");
        QCOMPARE(ask({"run", "digits-mlp", "--set", "run.name=parent"}).code, 0);
        m_workspace->setScript("best 0.9; metric 0.6; points 5; save; end completed, 0");
        QCOMPARE(ask({"fork", "parent@10"}).code, 0);
        const json best = ask({"show", "latest", "--json"}).json()["best"];
        QVERIFY2(best.contains("checkpoint") && best["checkpoint"]["step"] == 15, best.dump().c_str());
        QVERIFY2(says(ask({"show", "latest"}), "of which there is no checkpoint here; @best means step 15"), ask({"show", "latest"}).out.c_str());
        const json own = ask({"show", "parent", "--json"}).json()["best"];
        QCOMPARE(own["checkpoint"]["step"], own["step"]);
        QVERIFY(!says(ask({"show", "parent"}), "no checkpoint here"));
    }
    void aReachedTargetNamesTheWayToANewCurve() {
        m_workspace->setScript("points 10; save; end completed, 0");
        QCOMPARE(ask({"run", "digits-mlp", "--set", "run.max_updates=10"}).code, 0);
        const Answer answer = ask({"continue", "latest"});
        QCOMPARE(answer.code, 2);
        QVERIFY2(says(answer, "--set run.max_updates=20") && says(answer, "nothing would be learned") && says(answer, "--new-curve"), answer.err.c_str());
        const Answer constant = ask({"continue", "latest", "--set", "schedule.name=constant"});
        QVERIFY2(says(constant, "--set run.max_updates=20") && !says(constant, "--new-curve"), constant.err.c_str());
    }
};

QTEST_GUILESS_MAIN(TestFirstSteps)
#include "tst_first_steps.moc"
