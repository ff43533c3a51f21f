// labels: process
// timeout: 300
// Runs as TensorBoard files: written afterwards, written as training goes, and read by TensorBoard itself where it is there.
#include "base/number_text.h"
#include "event_files.h"
#include "launch/import/import.h"
#include "launch/session/live_events.h"
#include "shared_data.h"
#include "tensorboard/event_folder.h"
#include "tensorboard/export_events.h"
#include "trainer_process.h"

#include <QtTest/QTest>

#include <cmath>
#include <map>

using namespace lathe;
using namespace lathe::test;
using nlohmann::json;
namespace stdfs = std::filesystem;
using Line = store::RunReader::Line;

/// "step value wall" lines by name, from every event file of a folder in order.
static std::map<std::string, std::string> eventsIn(const stdfs::path& folder) {
    std::map<std::string, std::string> out;
    const auto names = tensorboard::eventFilesIn(folder);
    for (std::size_t i = 0; names && i < names->size(); ++i) {
        auto reader = tensorboard::RecordReader::open(folder / (*names)[i], 0);
        tensorboard::Event event;
        static_cast<void>(reader->read(UINT64_MAX, [&](std::span<const std::byte> payload) {
            if (!tensorboard::parseEvent(payload, event)) return;
            if (event.isStart) out["START"] += std::to_string(event.step) + "\n";
            for (const auto& value : event.values)
                out[std::string(value.tag)] += std::to_string(event.step) + " " + exactText(value.number) + " " + exactText(event.wallSeconds) + "\n";
        }));
    }
    return out;
}

static std::map<std::string, std::string> pointsOf(const rundir::RunFolder& run, Line line) {
    std::map<std::string, std::string> out;
    const auto reader = store::RunReader::open(run.database());
    for (const auto& series : taken((*reader)->series()))
        for (const auto& point : taken((*reader)->points(series.name, line)))
            out[series.name] += std::to_string(point.step) + " " + exactText(static_cast<float>(point.value)) + " "
                                + exactText(tensorboard::wallSecondsOf(point.wallNs)) + "\n";
    return out;
}

/// What tests/run has fetched is on its path.
static QProcessEnvironment withTestPackages() {
    QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
    if (qEnvironmentVariableIsSet("LATHE_TEST_PACKAGES")) environment.insert(QStringLiteral("PYTHONPATH"), qEnvironmentVariable("LATHE_TEST_PACKAGES"));
    environment.insert(QStringLiteral("PYTHONDONTWRITEBYTECODE"), QStringLiteral("1"));
    return environment;
}

/// A Python that has TensorBoard, or empty.
static QString python() {
    for (const QString& candidate : {QStringLiteral("python3"), qEnvironmentVariable("LATHE_PYTHON")}) {
        if (candidate.isEmpty()) continue;
        QProcess process;
        process.setProcessEnvironment(withTestPackages());
        process.start(candidate, {QStringLiteral("-c"), QStringLiteral("import tensorboard.backend.event_processing.event_accumulator")});
        if (process.waitForFinished(60'000) && process.exitStatus() == QProcess::NormalExit && process.exitCode() == 0) return candidate;
    }
    return {};
}

class TestEventExport : public QObject {
    Q_OBJECT

    std::unique_ptr<Workspace> m_workspace;

    Answer ask(std::initializer_list<std::string> list) const {
        QStringList words;
        for (const std::string& word : list) words << QString::fromStdString(word);
        return m_workspace->ask(words);
    }
    stdfs::path out() const { return m_workspace->scratch() / "out"; }
    /// Trains 10 updates, goes back to 5 and trains 5 others.
    rundir::RunFolder branchedRun(std::initializer_list<std::string> more = {}) {
        m_workspace->setScript("points 5; save; points 5; end stopped, 4");
        QStringList words{QStringLiteral("run"), QStringLiteral("digits-mlp")};
        for (const std::string& word : more) words << QString::fromStdString(word);
        static_cast<void>(m_workspace->ask(words));
        static_cast<void>(ask({"roll-back", "latest@5"}));
        return m_workspace->latest();
    }

private Q_SLOTS:
    void init() {
        m_workspace = std::make_unique<Workspace>();
        m_workspace->useFakeWorker(LATHE_BIN_DIR);
    }

    void everyPointOfTheLineIsExported() {
        const auto run = branchedRun();
        const Answer answer = ask({"export", "latest", "--tensorboard", out().string(), "--json"});
        QVERIFY2(answer.code == 0, answer.err.c_str());
        QCOMPARE(answer.json()["files"].size(), std::size_t{2});
        auto events = eventsIn(out());
        QCOMPARE(events.extract("START").mapped(), std::string("6\n"));
        QVERIFY(events == pointsOf(run, Line::Surviving));
        QCOMPARE(ask({"export", "latest", "--tensorboard", out().string()}).code, 3);  // they would be mixed
        QVERIFY(events == pointsOf(run, Line::Surviving));
    }
    void theFileIsTheBytesOfTheVectors() {
        const auto run = branchedRun();
        const Answer answer = ask({"export", "latest", "--tensorboard", "--json"});
        QCOMPARE(answer.json()["folder"], json((run.exportFolder() / "tensorboard").string()));
        const auto reader = store::RunReader::open(run.database());
        Bytes wanted = versionRecord(tensorboard::wallSecondsOf((*reader)->sessions()->at(0).startedNs));
        for (const auto& series : taken((*reader)->series()))
            for (const auto& point : taken((*reader)->points(series.name, Line::Surviving)))
                if (point.session == 1) putBytes(wanted, scalarRecord(point.step, series.name, static_cast<float>(point.value), tensorboard::wallSecondsOf(point.wallNs)));
        const std::string got = *readFile(answer.json()["files"][0].get<std::string>(), 1 << 20);
        QVERIFY(std::ranges::equal(std::as_bytes(std::span(got)), wanted));
        QCOMPARE(ask({"export", "latest", "--tensorboard"}).code, 0);  // the run's own folder is made anew
    }
    void twoExportsDoNotMeet() {
        const auto run = branchedRun();
        QCOMPARE(ask({"export", "latest", "--tensorboard"}).code, 0);
        const auto before = *tensorboard::eventFilesIn(run.exportedEvents());
        const auto held = rundir::RunLock::acquire(run.exportLock());
        QCOMPARE(ask({"export", "latest", "--tensorboard"}).code, 8);
        QCOMPARE(*tensorboard::eventFilesIn(run.exportedEvents()), before);
    }
    void whatWasLeftBehindIsCounted() {
        static_cast<void>(branchedRun());
        const Answer answer = ask({"export", "latest", "--tensorboard"});
        QVERIFY2(answer.out.find("of abandoned branches are not among them") != std::string::npos, answer.out.c_str());
        QVERIFY(ask({"export", "latest", "--tensorboard", "--json"}).json()["left_behind"].get<int>() >= 5);
        QCOMPARE(ask({"export", "latest", "--tensorboard", "--all-branches", "--json"}).json()["left_behind"], json(0));
    }
    void branchesAreRunsOfTheirOwn() {
        const auto run = branchedRun();
        QCOMPARE(ask({"export", "latest", "--tensorboard", out().string(), "--all-branches"}).code, 0);
        QCOMPARE(tensorboard::findEventFolders(out())->withEvents, (std::vector<std::string>{".", "branch-1"}));
        auto line = eventsIn(out()), branch = eventsIn(out() / "branch-1");
        line.erase("START");
        for (auto& [name, text] : pointsOf(run, Line::Surviving)) QCOMPARE(line[name], text);
        const auto count = [](const std::string& text) { return std::count(text.begin(), text.end(), '\n'); };
        for (auto& [name, text] : pointsOf(run, Line::All)) QCOMPARE(count(line[name]) + count(branch[name]), count(text));
        QCOMPARE(count(branch["train/loss"]), 5);
    }
    void whatWasImportedGoesOutAgainTheSame() {
        const auto shared = sharedData();
        if (shared.empty()) QSKIP("The shared data sets are not there");
        const auto fixture = shared / "interop/tensorboard/run_restart";
        QCOMPARE(ask({"import", fixture.string()}).code, 0);
        const auto first = m_workspace->latest();
        QCOMPARE(ask({"export", "latest", "--tensorboard", out().string()}).code, 0);
        QCOMPARE(ask({"import", out().string()}).code, 0);
        const auto second = m_workspace->latest();
        QVERIFY(first.root() != second.root());
        QVERIFY(pointsOf(first, Line::Surviving) == pointsOf(second, Line::Surviving));
    }
    void aRunCanBeWrittenAsItGoes() {
        const auto run = branchedRun({"--set", "telemetry.tensorboard=true"});
        const auto folder = run.root() / "tensorboard";
        QCOMPARE(tensorboard::eventFilesIn(folder)->size(), std::size_t{2});
        auto events = eventsIn(folder);
        QCOMPARE(events.extract("START").mapped(), std::string("6\n"));
        QVERIFY(events == pointsOf(run, Line::All));
        // Byte for byte the records of the documents, in the order in which they came.
        Bytes wanted = versionRecord(tensorboard::wallSecondsOf(rundir::readSession(run, 1)->startedNs));
        const std::string got = *readFile(folder / tensorboard::eventFilesIn(folder)->front(), 1 << 20);
        tensorboard::Event event;
        auto reader = tensorboard::RecordReader::open(folder / tensorboard::eventFilesIn(folder)->front(), wanted.size());
        static_cast<void>(reader->read(UINT64_MAX, [&](std::span<const std::byte> payload) {
            QVERIFY(tensorboard::parseEvent(payload, event));
            putBytes(wanted, scalarRecord(event.step, std::string(event.values.at(0).tag), static_cast<float>(event.values[0].number), event.wallSeconds));
        }));
        QVERIFY(std::ranges::equal(std::as_bytes(std::span(got)), wanted));
    }
    void aFolderForAllRunsGetsOneForEach() {
        const auto run = branchedRun({"--set", "telemetry.tensorboard=boards"});
        QVERIFY(eventsIn(m_workspace->folder() / "boards" / run.name()).contains("train/loss"));
        QVERIFY(launch::liveEventFolder(run, "/elsewhere") == stdfs::path("/elsewhere") / run.name());
        QVERIFY(launch::liveEventFolder(run, "").empty());
    }
    void trainingGoesOnWhereNoEventsCanBeWritten() {
        QVERIFY(replaceFile(FileSystem::real(), m_workspace->scratch() / "taken", "a file").ok());
        m_workspace->setScript("points 5; end completed, 0");
        const Answer answer = ask({"run", "digits-mlp", "--set", "telemetry.tensorboard=" + (m_workspace->scratch() / "taken").string()});
        QCOMPARE(answer.code, 0);
        QVERIFY2(answer.err.find("No TensorBoard events are written") != std::string::npos, answer.err.c_str());
        QCOMPARE((*store::RunReader::open(m_workspace->latest().database()))->points("train/loss", Line::All)->size(), std::size_t{5});
    }
    void tensorBoardReadsWhatIsWritten() {
        const QString program = python();
        if (program.isEmpty()) QSKIP("no Python with TensorBoard here (tests/run fetches it; LATHE_PYTHON names one that has it)");
        const auto run = branchedRun({"--set", "telemetry.tensorboard=true"});
        QCOMPARE(ask({"export", "latest", "--tensorboard", out().string()}).code, 0);
        const auto odd = m_workspace->scratch() / "odd/events.out.tfevents.0000000001.h.0.0";
        stdfs::create_directories(odd.parent_path());
        auto writer = tensorboard::EventWriter::create(FileSystem::real(), odd, kWall, std::nullopt);
        for (const double value : {std::nan(""), HUGE_VAL, -HUGE_VAL, 1e300, -0.0}) writer->scalar(kWall, std::int64_t{1} << 40, "größe & co", value);
        QVERIFY(writer->flush().ok());
        const QString script = QStringLiteral(
            "import sys, json\n"
            "from tensorboard.backend.event_processing import event_accumulator as e\n"
            "out = {}\n"
            "for folder in sys.argv[1:]:\n"
            "    a = e.EventAccumulator(folder, size_guidance={'scalars': 0}); a.Reload()\n"
            "    out[folder] = {t: [[s.step, repr(s.value), repr(s.wall_time)] for s in a.Scalars(t)] for t in a.Tags()['scalars']}\n"
            "print(json.dumps(out))\n");
        QProcess process;
        process.setProcessEnvironment(withTestPackages());
        process.start(program, {QStringLiteral("-c"), script, QString::fromStdString(out().string()),
                                QString::fromStdString((run.root() / "tensorboard").string()), QString::fromStdString(odd.parent_path().string())});
        const Answer answer = Workspace::finish(process, 120'000);
        QVERIFY2(answer.code == 0, answer.err.c_str());
        const json read = answer.json();
        for (const stdfs::path& folder : {out(), run.root() / "tensorboard"}) {  // live files: what went back is purged by its mark
            const json& tags = read.at(folder.string());
            for (const auto& [name, text] : pointsOf(run, Line::Surviving)) {
                std::string theirs;
                for (const json& row : tags.at(name))
                    theirs += std::to_string(row[0].get<std::int64_t>()) + " " + exactText(*readDouble(row[1].get<std::string>())) + " "
                              + exactText(*readDouble(row[2].get<std::string>())) + "\n";
                QCOMPARE(theirs, text);
            }
        }
        QCOMPARE(read.at(odd.parent_path().string()).at("größe & co").dump(),
                 std::string("[[1099511627776,\"nan\",\"1700000000.0\"],[1099511627776,\"inf\",\"1700000000.0\"],[1099511627776,\"-inf\",\"1700000000.0\"],"
                             "[1099511627776,\"inf\",\"1700000000.0\"],[1099511627776,\"-0.0\",\"1700000000.0\"]]"));
    }
};

QTEST_GUILESS_MAIN(TestEventExport)
#include "tst_event_export.moc"
