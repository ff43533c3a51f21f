// labels: process
// timeout: 300
// A text from the command line: the preset trains, writes samples, resumes in mid-epoch, exports, and refuses what is no text.
#include "base/number_text.h"
#include "launch/run/checkpoint_choice.h"
#include "rundir/checkpoint_manifest.h"
#include "store/run_store.h"
#include "trainer_process.h"

#include <QtTest>

#include <bit>

using namespace lathe;
using namespace lathe::test;
using nlohmann::json;

class LanguageProgramTest : public QObject {
    Q_OBJECT

    Workspace m_work;

    static QStringList small(const QStringList& more) {
        QStringList words;
        for (const QString& one : QStringList{"model.width=16", "model.layers=1", "model.heads=2", "model.dropout=0.1", "data.context=32", "data.batch_size=8", "evaluation.every=20 updates",
                                              "evaluation.sample_bytes=40", "parallel.device=cpu", "parallel.threads=1"} + more)
            words << "--set" << one;
        return words;
    }
    Answer ask(const QStringList& words) const { return m_work.ask(words, 120'000); }
    std::vector<std::uint64_t> bitsOf(const rundir::RunFolder& run, const char* series, std::int64_t everySteps = 1) const {
        std::vector<std::uint64_t> bits;
        const auto reader = store::RunReader::open(run.database()).value();
        const std::vector<store::Point> points = reader->points(series, store::RunReader::Line::Surviving).value();
        for (const store::Point& point : points)
            if (point.step % everySteps == 0) bits.push_back(std::bit_cast<std::uint64_t>(point.value));
        return bits;
    }
    std::string file(const char* name, const QByteArray& bytes) const {
        const auto path = m_work.scratch() / name;
        QFile out(QString::fromStdString(path.string()));
        if (!out.open(QIODevice::WriteOnly) || out.write(bytes) != bytes.size()) qFatal("cannot write");
        return path.string();
    }

private Q_SLOTS:
    void thePresetLearnsAndWritesSamples() {
        const Answer answer = ask(QStringList{"run", "shakespeare-char", "--json"} + small({"run.max_updates=60", "optimizer.learning_rate=1e-2"}));
        QVERIFY2(answer.code == 0, answer.err.c_str());
        const auto loss = bitsOf(m_work.latest(), "train/loss");
        QCOMPARE(loss.size(), 60U);
        QVERIFY(std::bit_cast<double>(loss.back()) < std::bit_cast<double>(loss.front()) - 1.5);
        const json shown = ask({"show", "latest", "--json"}).json();
        QCOMPARE(shown["best"]["metric"].get<std::string>(), std::string("eval/loss"));
        const json texts = ask({"records", "latest", "samples", "--json"}).json();
        QCOMPARE(texts.size(), 3U);
        QVERIFY(texts[0]["type"] == "text" && texts[0]["step"] == 20 && !texts[0]["content"].get<std::string>().empty());
        std::vector<std::string> series;
        for (const json& row : shown["series"]) series.push_back(row["name"]);
        for (const char* name : {"eval/perplexity", "eval/bits_per_byte", "eval/accuracy", "train/tokens_per_second"})
            QVERIFY2(std::find(series.begin(), series.end(), name) != series.end(), name);
        const json again = ask({"eval", "latest@latest", "--json"}).json();
        QVERIFY(again["records"][0]["content"] == texts[2]["content"]);
        QCOMPARE(again["metrics"]["eval/loss"].get<double>(), std::bit_cast<double>(bitsOf(m_work.latest(), "eval/loss").back()));
        const double nats = shown["best"]["value"].get<double>();
        QVERIFY(nats > 1 && nats < 4.5);
    }

    void aRunInterruptedInMidEpochContinuesExactly() {
        const QStringList recipe = QStringList{"run", "shakespeare-char", "--json"} + small({"accumulation.rule=weight", "accumulation.weight=600", "data.documents=blank_line", "schedule.name=constant"});
        QCOMPARE(ask(recipe + QStringList{"--set", "run.max_updates=40"}).code, 0);
        const auto straight = m_work.latest();
        QCOMPARE(ask(recipe + QStringList{"--set", "run.max_updates=13"}).code, 0);
        const auto parts = m_work.latest();
        QVERIFY(parts.name() != straight.name());
        for (const char* updates : {"run.max_updates=25", "run.max_updates=40"})
            QCOMPARE(ask({"continue", QString::fromStdString(parts.name()), "--json", "--set", updates}).code, 0);
        for (const char* series : {"train/loss", "train/grad_norm"}) QVERIFY2(bitsOf(parts, series) == bitsOf(straight, series), series);
        QVERIFY(bitsOf(parts, "eval/loss", 20) == bitsOf(straight, "eval/loss", 20));   // each part is evaluated at its end too
        QCOMPARE(bitsOf(parts, "train/loss").size(), 40U);
    }

    void twoProcessesTrainAsOne() {
        const QStringList recipe = QStringList{"run", "shakespeare-char", "--json"} + small({"parallel.reduction=tree", "accumulation.micro_batches=2", "run.max_updates=20", "evaluation.every=10 updates"});
        std::vector<json> samples;
        std::vector<rundir::RunFolder> runs;
        for (const char* ranks : {"parallel.ranks=1", "parallel.ranks=2"}) {
            const Answer answer = ask(recipe + QStringList{"--set", ranks});
            QVERIFY2(answer.code == 0, answer.err.c_str());
            runs.push_back(m_work.latest());
            json texts = json::array();
            for (const json& record : ask({"records", "latest", "samples", "--json"}).json()) texts.push_back(record["content"]);
            samples.push_back(std::move(texts));
        }
        for (const char* series : {"train/loss", "train/grad_norm", "eval/loss", "eval/accuracy", "eval/perplexity"}) QVERIFY2(bitsOf(runs[0], series) == bitsOf(runs[1], series), series);
        QVERIFY(samples[0].size() == 2 && samples[0] == samples[1]);
    }

    void shortFormatsTrainTextsToo_data() {
        QTest::addColumn<QString>("mode");
        QTest::newRow("bf16") << "bf16";
        QTest::newRow("fp16") << "fp16";
    }
    void shortFormatsTrainTextsToo() {
        QFETCH(QString, mode);
        const Answer answer = ask(QStringList{"run", "shakespeare-char", "--json"} + small({"precision.mode=" + mode, "run.max_updates=30", "optimizer.learning_rate=1e-2"}));
        QVERIFY2(answer.code == 0, answer.err.c_str());
        const auto loss = bitsOf(m_work.latest(), "train/loss");
        QVERIFY(std::bit_cast<double>(loss.back()) < std::bit_cast<double>(loss.front()) - 1);
    }

    void theExportedModelForetellsAsTheTrainedOne() {
        const QString program = pythonWithNumpy();
        if (program.isEmpty()) QSKIP("no Python with numpy and safetensors here");
        const QByteArray text = QByteArray("the quick brown fox jumps over the lazy dog, and ").repeated(20);
        for (const QStringList& kind : {QStringList{"model.norm=rmsnorm"}, {"model.norm=layernorm", "model.feed_forward=gelu", "model.tie_embeddings=false"}}) {
            const QStringList settings = QStringList{"data.train=" + QString::fromStdString(file("fox.txt", text)), "data.context=32", "run.max_updates=30", "optimizer.learning_rate=1e-2"} + kind;
            QCOMPARE(ask(QStringList{"run", "shakespeare-char"} + small(settings)).code, 0);
            const auto run = m_work.latest();
            QCOMPARE(ask({"export", "latest@latest"}).code, 0);
            const auto manifest = rundir::readCheckpoint(run.checkpoints() / launch::newestOnLine(run));
            QProcess process;
            process.setWorkingDirectory(QString::fromStdString(run.exportFolder().string()));
            process.start(program, {"-c", QStringLiteral("import sys, numpy as np\n"
                                                          "from load import load\n"
                                                          "m = load()\n"
                                                          "text = open(sys.argv[1], 'rb').read()[-98:]\n"      // the last tenth of 980 bytes
                                                          "total = count = 0\n"
                                                          "for i in range(0, 97, 32):\n"
                                                          "    x, y = text[i:i + 32][:97 - i], text[i + 1:i + 33]\n"
                                                          "    z = m.predict(m.prepare([x]))[0]\n"
                                                          "    z = z - z.max(axis=1, keepdims=True)\n"
                                                          "    p = z - np.log(np.exp(z).sum(axis=1, keepdims=True))\n"
                                                          "    total -= p[np.arange(len(x)), list(y)].sum(); count += len(x)\n"
                                                          "assert m.generate('the ', 5, 0).startswith('the ')\n"
                                                          "print(total / count)\n"), QString::fromStdString(file("fox.txt", text))});
            QVERIFY(process.waitForFinished(60'000));
            const auto loss = readDouble(process.readAllStandardOutput().trimmed().toStdString());
            QVERIFY2(loss.has_value(), process.readAllStandardError().constData());
            const auto reported = readDouble(manifest->metrics.at("eval/loss"));
            QVERIFY2(reported && std::abs(*reported - *loss) < 1e-5, (exactText(*loss) + " is not " + manifest->metrics.at("eval/loss")).c_str());
        }
    }

    void checkShowsTheTextAndItsSplit() {
        const Answer answer = ask({"check", "shakespeare-char"});
        QVERIFY2(answer.code == 0, answer.err.c_str());
        QVERIFY2(answer.out.find("1,115,394 bytes · 1 document") != std::string::npos, answer.out.c_str());
        QVERIFY(answer.out.find("the last 111,539 bytes are held out") != std::string::npos);
    }

    void aTextIsAnsweredWithItsCommand() {
        const Answer answer = ask({"run", QString::fromStdString(file("poem.txt", QByteArray(5000, 'x')))});
        QVERIFY(answer.code == 2 && answer.err.find("lathe-trainer run shakespeare-char --set") != std::string::npos);
    }

    void whatIsNoUsableTextIsRefusedBeforeTheStart_data() {
        QTest::addColumn<QString>("train");
        QTest::addColumn<QString>("part");
        QTest::newRow("empty") << QString::fromStdString(file("empty.txt", "")) << "is empty";
        QTest::newRow("too short") << QString::fromStdString(file("short.txt", "abc")) << "lower data.context";
        QTest::newRow("folder") << QString::fromStdString(m_work.scratch().string()) << "is a folder";
        QTest::newRow("missing") << "/nowhere/at/all.txt" << "does not exist";
    }
    void whatIsNoUsableTextIsRefusedBeforeTheStart() {
        QFETCH(QString, train);
        QFETCH(QString, part);
        const Answer answer = ask(QStringList{"run", "shakespeare-char"} + small({"data.train=" + train, "run.max_updates=2"}));
        QCOMPARE(answer.code, 2);
        QVERIFY2(QString::fromStdString(answer.out + answer.err).contains(part), answer.err.c_str());
    }

private:
    static QString pythonWithNumpy() {
        for (const QString& candidate : {qEnvironmentVariable("LATHE_PYTHON"), QStringLiteral(LATHE_SOURCE_DIR "/../venv-torch/bin/python"), QStringLiteral("python3")}) {
            QProcess process;
            if (candidate.isEmpty()) continue;
            process.start(candidate, {"-c", "import numpy, safetensors.numpy"});
            if (process.waitForFinished() && process.exitStatus() == QProcess::NormalExit && process.exitCode() == 0) return candidate;
        }
        return {};
    }
};

QTEST_GUILESS_MAIN(LanguageProgramTest)
#include "tst_language_program.moc"
