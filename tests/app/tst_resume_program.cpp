// labels: process fault
// timeout: 600
// lathe-trainer with its real worker: stop, kill, go back, fork and continue, and the record that remains.
#include "worker_run.h"

#include "base/file_system.h"
#include "store/run_store.h"

#include <QtTest>

#include <bit>
#include <csignal>

using namespace lathe;
using namespace lathe::tests;

namespace {

namespace stdfs = std::filesystem;

struct Answer {
    int code = -1;
    QString out, err;
    QJsonObject json() const { return QJsonDocument::fromJson(out.trimmed().split('\n').last().toUtf8()).object(); }
};

struct Key {
    std::int64_t attempt = 0, step = 0;
    double number = 0;
    bool operator==(const Key& other) const {
        return attempt == other.attempt && step == other.step && std::bit_cast<quint64>(number) == std::bit_cast<quint64>(other.number);
    }
};

}  // namespace

class ResumeProgramTest : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void initTestCase() {
        QVERIFY(m_folder.isValid());
        qputenv("LATHE_WORKSPACE", m_folder.path().toUtf8());
        config::RunConfig config = digitsConfig();
        config.model.dropout = 0.1;
        config.data.augmentShift = 1;
        config.data.batchSize = 8;
        config.accumulation.microBatches = 3;
        config.run.maxUpdates = 60;
        m_config = m_folder.filePath("config.yaml");
        QVERIFY(replaceFile(FileSystem::real(), m_config.toStdString(), config::toYaml(config)).ok());
        m_straight = start({"--set", "run.name=straight"});
        QVERIFY(!m_straight.isEmpty());
    }

    void continuedRunEqualsTheStraightOne() {
        const QString run = start({"--set", "run.max_updates=20"});
        for (const char* updates : {"run.max_updates=40", "run.max_updates=60"}) {
            const Answer answer = trainer({"continue", run, "--json", "--set", updates});
            QVERIFY2(answer.code == 0, qPrintable(answer.err));
        }
        compareWithStraight(run);
        QCOMPARE(reports(run), (QStringList{"continues exactly", "continues exactly"}));
        const Answer again = trainer({"continue", run, "--json"});
        QCOMPARE(again.code, static_cast<int>(ExitCode::Usage));
        QVERIFY2((again.out + again.err).contains("max_updates"), qPrintable(again.out + again.err));
    }

    void stoppedRunEqualsTheStraightOne() {
        QProcess process;
        const QString run = startInBackground(process, 20);
        ::kill(static_cast<pid_t>(process.processId()), SIGTERM);
        QVERIFY(process.waitForFinished(60'000));
        QCOMPARE(process.exitCode(), static_cast<int>(ExitCode::Stopped));
        finish(run);
        compareWithStraight(run);
    }

    void killedWorkerLosesNothingThatWasSaved() {
        QProcess process;
        const QString run = startInBackground(process, 25);
        const auto live = rundir::readLive(folderOf(run));
        QVERIFY(live.ok() && live->has_value());
        ::kill(static_cast<pid_t>((*live)->workers.at(0).pid), SIGKILL);
        QVERIFY(process.waitForFinished(60'000));
        QCOMPARE(process.exitCode(), static_cast<int>(ExitCode::Interrupted));
        QCOMPARE(show(run)["state"].toString(), QString("killed"));
        finish(run);
        compareWithStraight(run);
        QCOMPARE(reports(run), QStringList{"continues exactly"});
    }

    void killedSupervisorLosesNothingAtAll() {
        QProcess process;
        const QString run = startInBackground(process, 25);
        const auto live = rundir::readLive(folderOf(run));
        QVERIFY(live.ok() && live->has_value());
        process.kill();
        QVERIFY(process.waitForFinished(60'000));
        QTRY_VERIFY_WITH_TIMEOUT(!rundir::RunLock::isHeld(folderOf(run).workersLock()), 60'000);
        finish(run);
        const QJsonObject shown = show(run);
        QCOMPARE(shown["sessions"].toArray().at(0).toObject()["end"].toString(), QString("interrupted"));
        compareWithStraight(run);
        // The worker saved where it left off: nothing was computed twice.
        const auto points = store::RunReader::open(folderOf(run).database()).value()->points("train/loss", store::RunReader::Line::All).value();
        QCOMPARE(points.size(), keys(run, "train/loss").size());
    }

    void rollingBackKeepsTheOldTailAside() {
        const QString run = start({"--set", "checkpoint.every=20", "--set", "checkpoint.keep_last=9"});
        const Answer back = trainer({"roll-back", run + "@20", "--json", "--set", "optimizer.learning_rate=1e-3"});
        QVERIFY2(back.code == 0, qPrintable(back.err));
        const auto reader = store::RunReader::open(folderOf(run).database()).value();
        const auto line = reader->points("train/loss", store::RunReader::Line::Surviving).value();
        const auto all = reader->points("train/loss", store::RunReader::Line::All).value();
        QCOMPARE(line.size(), std::size_t(60));
        QCOMPARE(all.size(), std::size_t(100));
        QCOMPARE(line.at(19).session, 1);
        QCOMPARE(line.at(20).session, 2);
        QCOMPARE(line.at(20).step, 21);
        QCOMPARE(reports(run), QStringList{"not comparable"});
        QVERIFY(rundir::verifyCheckpoint(folderOf(run).checkpoints() / "s001-000000060")->ok());
    }

    void forkGoesOnExactlyInARunOfItsOwn() {
        const QString run = start({"--set", "run.max_updates=30"});
        const Answer fork = trainer({"fork", run + "@latest", "--json", "--set", "run.max_updates=60"});
        QVERIFY2(fork.code == 0, qPrintable(fork.err));
        const QString forked = fork.json()["run"].toString();
        QVERIFY2(!forked.isEmpty() && forked != run, qPrintable(fork.out));
        QCOMPARE(reports(forked), QStringList{"continues exactly"});
        const auto straight = keys(m_straight, "train/loss");
        QVERIFY(keys(forked, "train/loss") == std::vector<Key>(straight.begin() + 30, straight.end()));
        QCOMPARE(weights(forked), weights(m_straight));
    }

    void weightsAloneBeginAtStepZero() {
        const Answer fresh = trainer({"start-from-weights", m_straight + "@latest", "--json", "--set", "run.max_updates=5"});
        QVERIFY2(fresh.code == 0, qPrintable(fresh.err));
        const auto points = keys(fresh.json()["run"].toString(), "train/loss");
        QCOMPARE(points.size(), std::size_t(5));
        QCOMPARE(points.front().step, 1);
        QVERIFY(points.front().number < keys(m_straight, "train/loss").front().number);
    }

    /// SEMANTICS G2, by the supervisor
    void retentionKeepsTheLastAndTheBest() {
        // Evaluated and saved every 10 updates; the rate of 0 after update 20 makes later ones no better.
        const QString run = start({"--set", "checkpoint.every=10", "--set", "checkpoint.keep_last=2", "--set", "evaluation.every=10",
                                   "--set", "schedule.total_updates=20", "--set", "schedule.name=linear"});
        QStringList kept;
        for (const auto& value : show(run)["checkpoints"].toArray()) kept << value.toObject()["folder"].toString();
        QVERIFY2(kept.contains("s001-000000060") && kept.contains("s001-000000050"), qPrintable(kept.join(' ')));
        QVERIFY2(kept.size() == 3, qPrintable(kept.join(' ')));
        const auto best = show(run)["best"].toObject()["step"].toInt();
        QVERIFY2(kept.contains(QString("s001-%1").arg(best, 9, 10, QChar('0'))), qPrintable(kept.join(' ')));
    }

    void damagedNewestCheckpointIsNamedAndTheOlderOneOffered() {
        const QString run = start({"--set", "checkpoint.every=20"});
        const stdfs::path file = folderOf(run).checkpoints() / "s001-000000060" / "model-00000.safetensors";
        std::string content = readFile(file, 1u << 26).value();
        content[content.size() / 2] = static_cast<char>(content[content.size() / 2] ^ 4);
        stdfs::remove(file);
        QVERIFY(replaceFile(FileSystem::real(), file, content).ok());
        const Answer verified = trainer({"verify", run + "@60", "--json"});
        QVERIFY(verified.code != 0);
        QVERIFY(verified.out.contains("model-00000.safetensors"));
        const Answer on = trainer({"continue", run, "--json", "--set", "run.max_updates=70"});
        // Either the older one is taken, or the refusal names the file; nothing is lost in any case.
        if (on.code != 0) QVERIFY2((on.out + on.err).contains("model-00000.safetensors"), qPrintable(on.out + on.err));
        const Answer back = trainer({"roll-back", run + "@40", "--json"});
        QVERIFY2(back.code == 0, qPrintable(back.err));
        QCOMPARE(weights(run), weights(m_straight));
    }

private:
    Answer trainer(const QStringList& arguments) {
        QProcess process;
        process.start(LATHE_BIN_DIR "/lathe-trainer", arguments);
        process.waitForFinished(120'000);
        return {process.exitStatus() == QProcess::NormalExit ? process.exitCode() : -1, QString::fromUtf8(process.readAllStandardOutput()),
                QString::fromUtf8(process.readAllStandardError())};
    }
    /// A whole run; its id.
    QString start(const QStringList& settings) {
        const Answer answer = trainer(QStringList{"run", m_config, "--json"} + settings);
        if (answer.code != 0 || answer.json().isEmpty()) qWarning("%s%s", qPrintable(answer.out), qPrintable(answer.err));
        return answer.json()["run"].toString();
    }
    /// An endless run, saved every 10 updates, once it has recorded `updates`.
    QString startInBackground(QProcess& process, std::size_t updates) {
        const QString name = QString("background%1").arg(++m_background);
        process.start(LATHE_BIN_DIR "/lathe-trainer", {"run", m_config, "--json", "--set", "run.max_updates=1000000", "--set", "run.restarts_per_hour=0", "--set", "checkpoint.every=10",
                                                       "--set", "run.name=" + name});
        QString id;
        QElapsedTimer timer;
        timer.start();
        while (timer.elapsed() < 60'000) {
            const auto run = rundir::findRun(m_folder.path().toStdString(), name.toStdString());
            if (run.ok()) {
                const auto manifest = rundir::readManifest(*run);
                const auto reader = store::RunReader::open(run->database());
                const auto points = reader.ok() ? (*reader)->points("train/loss", store::RunReader::Line::All) : Result<std::vector<store::Point>>(std::vector<store::Point>());
                if (manifest.ok() && points.ok() && points->size() >= updates) return QString::fromStdString(manifest->id);
            }
            QTest::qWait(5);
        }
        return {};
    }
    /// Goes on to update 60, or a little beyond where the run is already.
    void finish(const QString& run) {
        const auto done = static_cast<qsizetype>(keys(run, "train/loss").size());
        QVERIFY(done > 0);
        const Answer answer = trainer({"continue", run, "--json", "--set", "run.max_updates=" + QString::number(std::max<qsizetype>(60, done + 10))});
        QVERIFY2(answer.code == 0, qPrintable(answer.out + answer.err));
    }
    rundir::RunFolder folderOf(const QString& run) const { return rundir::findRun(m_folder.path().toStdString(), run.toStdString()).value(); }
    QJsonObject show(const QString& run) { return trainer({"show", run, "--json"}).json(); }
    std::vector<Key> keys(const QString& run, const std::string& series) const {
        std::vector<Key> all;
        const auto reader = store::RunReader::open(folderOf(run).database()).value();
        const std::vector<store::Point> points = reader->points(series, store::RunReader::Line::Surviving).value();
        for (const store::Point& point : points)
            all.push_back({point.attempt, point.step, point.value});
        return all;
    }
    QByteArray weights(const QString& run) const {
        std::string newest;
        for (const auto& info : rundir::listCheckpoints(folderOf(run).checkpoints()))
            if (info.problem.empty()) newest = info.folder;
        return QByteArray::fromStdString(readFile(folderOf(run).checkpoints() / newest / "model-00000.safetensors", 1u << 26).value());
    }
    QStringList reports(const QString& run) const {
        QStringList all;
        const auto reader = store::RunReader::open(folderOf(run).database()).value();
        const std::vector<store::EventRow> events = reader->events().value();
        for (const store::EventRow& row : events)
            if (row.event.kind == "resume_report")
                all << QJsonDocument::fromJson(QByteArray::fromStdString(row.event.json)).object()["outcome"].toString();
        return all;
    }
    void compareWithStraight(const QString& run) {
        for (const char* series : {"train/loss", "train/lr", "train/grad_norm"}) {
            std::vector<Key> straight = keys(m_straight, series), found = keys(run, series);
            QVERIFY(found.size() >= straight.size());
            found.resize(straight.size());
            QVERIFY2(found == straight, series);
        }
        if (keys(run, "train/loss").size() == 60) QCOMPARE(weights(run), weights(m_straight));
    }

    QTemporaryDir m_folder;
    QString m_config, m_straight;
    int m_background = 0;
};

QTEST_GUILESS_MAIN(ResumeProgramTest)
#include "tst_resume_program.moc"
