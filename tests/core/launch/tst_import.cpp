// labels: process
// timeout: 300
// TensorBoard logs as runs: every point of the fixtures, what is added later, and every kind of damage.
#include "base/clock.h"
#include "base/number_text.h"
#include "config/series_names.h"
#include "event_files.h"
#include "launch/import.h"
#include "launch/verbs.h"
#include "shared_data.h"
#include "tensorboard/crc32c.h"
#include "tensorboard/export_events.h"
#include "trainer_process.h"

#include <QtTest/QTest>

#include <bit>
#include <cmath>
#include <map>
#include <sys/resource.h>
#include <unistd.h>

using namespace lathe;
using namespace lathe::test;
using nlohmann::json;
namespace stdfs = std::filesystem;
using Line = store::RunReader::Line;

static stdfs::path fixtures() {
    const auto shared = sharedData();
    return shared.empty() ? stdfs::path() : shared / "interop/tensorboard";
}

static double numberFrom(const json& value) {
    if (value.is_number()) return value.get<double>();
    const std::string word = value.get<std::string>();
    return word == "NaN" ? std::nan("") : word == "Infinity" ? INFINITY : -INFINITY;
}

/// "[step, value, wall] …" of one series; what two texts agree on is equal to the bit (but for the payload of a NaN).
static std::string textOf(const std::vector<store::Point>& points) {
    std::string text;
    for (const store::Point& point : points)
        text += std::to_string(point.step) + " " + exactText(point.value) + " " + exactText(tensorboard::wallSecondsOf(point.wallNs)) + "\n";
    return text;
}
static std::string textOf(const json& points) {
    std::string text;
    for (const json& point : points)
        text += std::to_string(point[0].get<std::int64_t>()) + " " + exactText(numberFrom(point[1])) + " " + exactText(point[2].get<double>()) + "\n";
    return text;
}

static std::unique_ptr<store::RunReader> readerOf(const rundir::RunFolder& run) {
    auto reader = store::RunReader::open(run.database());
    return reader ? std::move(*reader) : nullptr;
}

static std::string said(const Result<launch::ImportReport>& report) {
    if (!report) return report.error().text();
    std::string text;
    for (const std::string& sentence : report->problems) text += sentence + "\n";
    for (const auto& folder : report->runs)
        for (const std::string& sentence : folder.count.problems) text += sentence + "\n";
    return text;
}

class TestImport : public QObject {
    Q_OBJECT

    std::unique_ptr<Workspace> m_workspace;

    stdfs::path logs() const { return m_workspace->scratch() / "logs"; }
    stdfs::path file(const std::string& name = "events.out.tfevents.0000000001.h.1.0") const { return logs() / name; }
    Result<launch::ImportReport> import() const {
        launch::ImportOptions options;
        options.workspace = m_workspace->folder();
        options.folder = logs();
        return launch::importFolder(options);
    }
    std::vector<store::Point> points(const std::string& name, Line line = Line::Surviving) const {
        auto found = readerOf(m_workspace->latest())->points(name, line);
        return found ? std::move(*found) : std::vector<store::Point>();
    }
    std::vector<std::int64_t> steps(const std::string& name, Line line = Line::Surviving) const {
        std::vector<std::int64_t> out;
        for (const store::Point& point : points(name, line)) out.push_back(point.step);
        return out;
    }
    static QStringList words(std::initializer_list<std::string> list) {
        QStringList out;
        for (const std::string& word : list) out << QString::fromStdString(word);
        return out;
    }
    std::unique_ptr<QProcess> follow(const std::string& idle = "1000") const { return m_workspace->start(words({"import", logs().string(), "--follow", "--idle", idle})); }
    bool isUp() const {
        const auto runs = rundir::listRuns(m_workspace->folder());
        return !runs.empty() && rundir::readLive(runs[0]).ok() && rundir::readLive(runs[0])->has_value();
    }
    std::size_t recorded(const std::string& name) const {
        if (rundir::listRuns(m_workspace->folder()).empty()) return 0;
        const auto reader = readerOf(m_workspace->latest());
        const auto found = reader ? reader->points(name, Line::All) : Result<std::vector<store::Point>>(std::vector<store::Point>());
        return found ? found->size() : 0;
    }

private Q_SLOTS:
    void init() {
        m_workspace = std::make_unique<Workspace>();
        m_workspace->useFakeWorker(LATHE_BIN_DIR);
    }

    void everyPointOfTheFixturesIsThere() {
        if (fixtures().empty()) QSKIP("The shared data sets are not there");
        const json expected = json::parse(*readFile(fixtures() / "expected.json", 64u << 20));
        launch::ImportOptions options{m_workspace->folder(), fixtures(), {}, false, 1800, -1, {}};
        const auto report = launch::importFolder(options);
        QVERIFY2(report.ok(), said(report).c_str());
        QCOMPARE(report->runs.size(), expected.size());
        for (const auto& folder : report->runs) {
            const json& wanted = expected.at(folder.source.filename().string());
            const auto reader = readerOf(folder.run);
            const json originals = json::parse((*reader->fact("original_names")).value());
            std::map<std::string, std::string> names;  // original -> ours
            for (const auto& series : taken(reader->series())) names[originals.value(series.name, series.name)] = series.name;
            QCOMPARE(names.size(), wanted["after_purge"].size());
            for (const char* part : {"after_purge", "without_purge"}) {
                const json all = wanted.value(part, json::object());
                for (const auto& [tag, wantedPoints] : all.items()) {
                    QVERIFY2(names.contains(tag), tag.c_str());
                    const auto got = reader->points(names[tag], part == std::string("after_purge") ? Line::Surviving : Line::All);
                    QVERIFY(got.ok());
                    QCOMPARE(textOf(*got), textOf(wantedPoints));
                }
            }
            QVERIFY(reader->verify().ok());
        }
    }
    void whatElseTheFixturesHoldIsShownOrCounted() {
        if (fixtures().empty()) QSKIP("The shared data sets are not there");
        const auto answer = m_workspace->ask(words({"import", fixtures().string(), "--json"}));
        QVERIFY2(answer.code == 0, answer.err.c_str());
        std::map<std::string, json> runs;
        const json told = answer.json();
        for (const json& run : told["runs"]) runs[stdfs::path(run["source"].get<std::string>()).filename()] = run;
        QCOMPARE(QString::fromStdString(runs["run_restart"]["left_out"].dump()), QStringLiteral("{\"histograms\":1,\"images\":1}"));
        QCOMPARE(runs["run_restart"]["sessions"], json(2));
        QCOMPARE(runs["run_two_files"]["sessions"], json(2));
        QVERIFY(runs["run_truncated"]["problems"][0].get<std::string>().find("ends inside a record") != std::string::npos);
        const auto restart = *rundir::findRun(m_workspace->folder(), runs["run_restart"]["run"]);
        const auto sessions = *readerOf(restart)->sessions();
        QCOMPARE(sessions.at(1).parentAttempt, std::int64_t{11});
        QCOMPARE(sessions.at(0).end, std::string("interrupted"));
        QCOMPARE(sessions.at(0).verb, std::string("start"));
        QCOMPARE(sessions.at(0).startedNs, tensorboard::wallNsOf(1700000000.0));
        QCOMPARE(sessions.at(1).verb, std::string("continue"));
        const auto loss = *readerOf(restart)->points("train/loss", Line::Surviving);
        QCOMPARE(loss.at(0).activeNs, std::int64_t{0});
        QCOMPARE(loss.at(3).activeNs, std::int64_t{6'000'000'000});  // since the first point, as its program saw it
        QCOMPARE(sessions.at(1).end, std::string("completed"));
        const auto texts = *readerOf(restart)->newestRecords(live::FrameType::Text);
        QCOMPARE(texts.size(), std::size_t{1});
        QCOMPARE(texts[0].record.name, std::string("notes/text_summary"));
        QVERIFY(!texts[0].record.content.empty());
        const auto settings = *rundir::readSettings(*rundir::findRun(m_workspace->folder(), runs["run_hparams"]["run"]));
        QVERIFY((settings == std::map<std::string, std::string>{{"lr", "0.1"}, {"bsize", "16"}, {"opt", "adam"}, {"flag", "1"}}));  // PyTorch writes True as the number 1
        // They compare like the settings of any run.
        const json compared = m_workspace->ask(words({"compare", runs["run_hparams"]["run"].get<std::string>(), runs["run_long"]["run"].get<std::string>(), "--json"})).json();
        QVERIFY(compared["settings"].dump().find("adam") != std::string::npos);
        QCOMPARE(m_workspace->ask(words({"show", runs["run_long"]["run"].get<std::string>(), "--json"})).json()["kind"], json("imported"));
        QCOMPARE(m_workspace->ask(words({"series", runs["run_long"]["run"].get<std::string>(), "train/loss", "--json"})).json().size(), std::size_t{2000});
    }

    void importingAgainAddsOnlyWhatIsNew() {
        appendTo(file(), versionRecord() + scalarRecord(1, "loss", 1) + scalarRecord(2, "loss", 0.5));
        QVERIFY(import().ok());
        const auto run = m_workspace->latest();
        const std::string before = *readFile(run.summaryJson(), 1 << 20);
        const auto nothing = import();
        QVERIFY(nothing.ok() && nothing->runs.size() == 1 && !nothing->runs[0].isNew && nothing->runs[0].count.points == 0);
        QCOMPARE(*readFile(run.summaryJson(), 1 << 20), before);
        appendTo(file(), scalarRecord(3, "loss", 0.25));
        QCOMPARE(import()->runs.at(0).count.points, std::int64_t{1});
        appendTo(file("events.out.tfevents.0000000002.h.1.0"), versionRecord() + scalarRecord(3, "loss", 7) + scalarRecord(4, "loss", 6));
        QCOMPARE(import()->runs.at(0).count.sessions, 2);
        QCOMPARE(rundir::listRuns(m_workspace->folder()).size(), std::size_t{1});
        QCOMPARE(steps("train/loss"), (std::vector<std::int64_t>{1, 2, 3, 4}));
        QCOMPARE(steps("train/loss", Line::All), (std::vector<std::int64_t>{1, 2, 3, 3, 4}));
        QCOMPARE(points("train/loss").at(2).value, 7.0);
        QCOMPARE(rundir::readSession(run, 2)->state, std::optional(rundir::State::Completed));
        QCOMPARE(rundir::readSummary(run)->last.at("train/loss"), 6.0);
    }
    void aKilledImportGoesOnWithoutDoubles() {
        Bytes all = versionRecord();
        constexpr int kPoints = 1'500'000;
        all.reserve(kPoints * 46);
        for (int i = 0; i < kPoints; ++i) putBytes(all, scalarRecord(i, i % 3 == 0 ? "a" : "b", static_cast<float>(i)));
        appendTo(file(), all);
        auto process = m_workspace->start(words({"import", logs().string()}));
        QVERIFY(eventually([&] { return recorded("a") > 0 || process->state() == QProcess::NotRunning; }));
        process->kill();
        process->waitForFinished();
        const std::size_t before = recorded("a") + recorded("b");
        QVERIFY(before > 0);
        const auto rest = import();
        QVERIFY2(rest.ok(), said(rest).c_str());
        QCOMPARE(rest->runs.at(0).count.points, static_cast<std::int64_t>(kPoints - before));
        QCOMPARE(recorded("a"), std::size_t{kPoints / 3});
        QCOMPARE(recorded("b"), std::size_t{kPoints - kPoints / 3});
        const auto b = points("b");
        QCOMPARE(b.back().step, std::int64_t{kPoints - 1});
        QVERIFY(std::is_sorted(b.begin(), b.end(), [](const auto& x, const auto& y) { return x.step < y.step; }));
        QVERIFY(readerOf(m_workspace->latest())->verify().ok());
    }

    void aGrowingFileIsFollowed() {
        appendTo(file(), versionRecord() + scalarRecord(1, "loss", 1));
        auto process = follow();
        QVERIFY(eventually([&] { return isUp(); }));
        const auto run = m_workspace->latest();
        QVERIFY(rundir::RunLock::isHeld(run.lock()));
        QVERIFY(eventually([&] { return rundir::readSummary(run)->state == rundir::State::Running; }));
        auto client = live::ControlClient::connect(run.socket());
        QVERIFY(client.ok());
        auto segment = live::Segment::open(*(*client)->takeSegmentFd(), false);
        QVERIFY(segment.ok());
        const std::uint64_t before = (*segment)->lastSequence(0);
        const Bytes second = scalarRecord(2, "loss", 0.5);
        appendTo(file(), std::span(second).first(20));  // half a record …
        appendTo(file("events.out.tfevents.0000000001.h.1.0x"), versionRecord() + scalarRecord(1, "eval", 9));
        QVERIFY(eventually([&] { return recorded("eval") == 1; }));
        QCOMPARE(recorded("train/loss"), std::size_t{1});
        appendTo(file(), std::span(second).subspan(20));  // … and its rest
        QVERIFY(eventually([&] { return recorded("train/loss") == 2; }));
        QVERIFY((*segment)->lastSequence(0) > before);  // whoever watches has it from memory
        QCOMPARE(m_workspace->ask(words({"pause", "latest"})).code, 2);
        QCOMPARE(m_workspace->ask(words({"import", logs().string()})).code, 3);  // it is in use
        QCOMPARE(m_workspace->ask(words({"stop", "latest"})).code, 0);
        const auto ended = Workspace::finish(*process);
        QCOMPARE(ended.code, 4);
        QCOMPARE(launch::standingOf(run).state, rundir::State::Stopped);
        QVERIFY(!rundir::RunLock::isHeld(run.lock()) && !isUp());
    }
    void aNewStartWhileFollowedIsASession() {
        appendTo(file(), versionRecord());
        for (int step = 0; step < 20; ++step) appendTo(file(), scalarRecord(step, "loss", 1));
        auto process = follow();
        QVERIFY(eventually([&] { return isUp(); }));
        const auto run = m_workspace->latest();
        appendTo(file("events.out.tfevents.0000000002.h.1.0"), versionRecord() + startRecord(12) + scalarRecord(12, "loss", 2) + scalarRecord(13, "loss", 2));
        QVERIFY(eventually([&] { return recorded("train/loss") == 22; }));
        QVERIFY(eventually([&] { return rundir::readLive(run)->has_value() && (*rundir::readLive(run))->session == 2; }));
        QCOMPARE(steps("train/loss").size(), std::size_t{14});
        process->terminate();
        QCOMPARE(Workspace::finish(*process).code, 4);
        QCOMPARE(rundir::readSession(run, 1)->state, std::optional(rundir::State::Interrupted));
        QCOMPARE(rundir::readSession(run, 2)->state, std::optional(rundir::State::Stopped));
        QCOMPARE(rundir::readSession(run, 2)->parentAttempt, std::int64_t{11});
    }
    void newFoldersAreFollowedAndSilenceEndsIt() {
        stdfs::create_directories(logs());
        auto process = follow("3");
        QVERIFY(eventually([&] { return process->state() == QProcess::Running; }));
        appendTo(logs() / "one/x.tfevents", versionRecord() + scalarRecord(1, "loss", 1));
        appendTo(logs() / "two/deep/x.tfevents", versionRecord() + scalarRecord(1, "loss", 1));
        const Answer ended = Workspace::finish(*process);
        QCOMPARE(ended.code, 0);
        const auto runs = rundir::listRuns(m_workspace->folder());
        QCOMPARE(runs.size(), std::size_t{2});
        for (const auto& run : runs) {
            QCOMPARE(launch::standingOf(run).state, rundir::State::Completed);
            QVERIFY(launch::standingOf(run).why.find("nothing new for 3 s") != std::string::npos);
        }
    }
    void aFolderThatGoesAwayInterruptsItsRun() {
        appendTo(file(), versionRecord() + scalarRecord(1, "loss", 1));
        auto process = follow();
        QVERIFY(eventually([&] { return isUp(); }));
        const auto run = m_workspace->latest();
        stdfs::rename(logs(), m_workspace->scratch() / "moved");
        QVERIFY(eventually([&] { return launch::standingOf(run).state == rundir::State::Interrupted; }));
        QVERIFY2(launch::standingOf(run).why.find("cannot be followed any more") != std::string::npos, launch::standingOf(run).why.c_str());
        QCOMPARE(recorded("train/loss"), std::size_t{1});
        process->terminate();
        static_cast<void>(Workspace::finish(*process));
    }
    /// A link is another name of a folder, and does not lead out of what was asked for.
    void linksMakeNoSecondRunAndNoCircle() {
        appendTo(logs() / "one/x.tfevents", versionRecord() + scalarRecord(1, "loss", 1));
        appendTo(m_workspace->scratch() / "beside/x.tfevents", versionRecord() + scalarRecord(1, "loss", 1));
        stdfs::create_directory_symlink("..", logs() / "up");
        stdfs::create_directory_symlink("../../logs", logs() / "one/round");
        stdfs::create_directory_symlink("one", logs() / "again");
        QCOMPARE(import()->runs.size(), std::size_t{1});
        stdfs::create_directory_symlink("logs", m_workspace->scratch() / "link");
        QCOMPARE(m_workspace->ask(words({"import", (m_workspace->scratch() / "link/again").string()})).code, 0);
        QCOMPARE(rundir::listRuns(m_workspace->folder()).size(), std::size_t{1});
        QCOMPARE(recorded("train/loss"), std::size_t{1});
    }
    void aFollowerInTheBackgroundSaysWhatItFollows() {
        appendTo(file(), versionRecord() + scalarRecord(1, "loss", 1));
        const Answer started = m_workspace->ask(words({"import", logs().string(), "--follow", "--detach", "--json"}));
        QVERIFY2(started.code == 0, started.err.c_str());
        QCOMPARE(started.json()["runs"].size(), std::size_t{1});
        QCOMPARE(started.json()["runs"][0]["following"], json(true));
        appendTo(file(), scalarRecord(2, "loss", 1));
        QVERIFY(eventually([&] { return recorded("train/loss") == 2; }));
        QCOMPARE(m_workspace->ask(words({"stop", "latest"})).code, 0);
        QVERIFY(eventually([&] { return !rundir::RunLock::isHeld(m_workspace->latest().lock()); }));
    }
    void aFollowerThatWasKilledIsTakenUp() {
        appendTo(file(), versionRecord() + scalarRecord(1, "loss", 1));
        auto process = follow();
        QVERIFY(eventually([&] { return isUp() && recorded("train/loss") == 1; }));
        process->kill();
        process->waitForFinished();
        const auto run = m_workspace->latest();
        QCOMPARE(launch::standingOf(run).state, rundir::State::Interrupted);
        appendTo(file(), scalarRecord(2, "loss", 1));
        auto again = follow();
        QVERIFY(eventually([&] { return isUp() && recorded("train/loss") == 2; }));
        // Frames go on where the session had them, so that a window can tell what it has.
        auto client = live::ControlClient::connect(run.socket());
        auto segment = live::Segment::open(*(*client)->takeSegmentFd(), false);
        QVERIFY((*segment)->lastSequence(0) >= 3);
        again->terminate();
        QCOMPARE(Workspace::finish(*again).code, 4);
        QCOMPARE(rundir::newestSession(run), 1);
        QCOMPARE(steps("train/loss"), (std::vector<std::int64_t>{1, 2}));
    }

    void verbsThatNeedCheckpointsAreRefusedWithTheReason_data() {
        QTest::addColumn<QStringList>("verb");
        for (const char* verb : {"continue", "export", "again"}) QTest::newRow(verb) << QStringList{QString::fromLatin1(verb), QStringLiteral("latest")};
        for (const char* verb : {"roll-back", "fork", "start-from-weights", "eval", "verify", "pin"})
            QTest::newRow(verb) << QStringList{QString::fromLatin1(verb), QStringLiteral("latest@1")};
    }
    void verbsThatNeedCheckpointsAreRefusedWithTheReason() {
        QFETCH(QStringList, verb);
        appendTo(file(), versionRecord() + scalarRecord(1, "loss", 1));
        QVERIFY(import().ok());
        const Answer answer = m_workspace->ask(verb);
        QCOMPARE(answer.code, 2);
        QVERIFY2(answer.err.find("is imported") != std::string::npos, answer.err.c_str());
        QCOMPARE(rundir::newestSession(m_workspace->latest()), 1);
    }

    void damageIsToldAndReadAround() {
        Bytes bad = scalarRecord(2, "loss", 2), lost = scalarRecord(5, "loss", 5);
        bad[20] ^= std::byte{1};
        lost[3] ^= std::byte{1};
        appendTo(file(), versionRecord() + scalarRecord(1, "loss", 1) + bad + scalarRecord(3, "loss", 3) + lost + scalarRecord(6, "loss", 6));
        appendTo(file("events.out.tfevents.0000000002.h.1.0"), {});
        appendTo(file("events.out.tfevents.0000000003.h.1.0"), Bytes(500, std::byte{'?'}));
        appendTo(file("events.out.tfevents.0000000004.h.1.0"), versionRecord() + scalarRecord(8, "loss", 8));
        const auto report = import();
        QVERIFY(report.ok());
        QCOMPARE(steps("train/loss", Line::All), (std::vector<std::int64_t>{1, 3, 8}));
        const std::string text = said(report);
        QVERIFY2(text.find("1 record with a wrong checksum") != std::string::npos, text.c_str());
        const std::size_t where = (versionRecord() + scalarRecord(1, "loss", 1) + bad + scalarRecord(3, "loss", 3)).size();
        QVERIFY2(text.find("0000000001.h.1.0 is damaged at byte " + std::to_string(where) + ":") != std::string::npos, text.c_str());
        QVERIFY2(text.find("0000000003.h.1.0 is damaged at byte 0") != std::string::npos, text.c_str());
        int warnings = 0;
        for (const auto& row : taken(readerOf(m_workspace->latest())->events())) warnings += row.event.kind == "warning";
        QCOMPARE(warnings, 3);
    }
    void anotherFileUnderAKnownNameIsReadAsItsOwn() {
        appendTo(file(), versionRecord() + scalarRecord(1, "loss", 1) + scalarRecord(2, "loss", 2));
        QVERIFY(import().ok());
        stdfs::remove(file());
        appendTo(file(), versionRecord(kWall + 500) + scalarRecord(1, "loss", 5) + scalarRecord(2, "loss", 6) + scalarRecord(3, "loss", 7));
        const auto report = import();
        QVERIFY2(said(report).find("is another file") != std::string::npos, said(report).c_str());
        QCOMPARE(points("train/loss").at(0).value, 5.0);
        QCOMPARE(steps("train/loss"), (std::vector<std::int64_t>{1, 2, 3}));
        QCOMPARE(steps("train/loss", Line::All).size(), std::size_t{5});
    }
    void twoWritersInOneFolderAreToldApart() {
        appendTo(file(), versionRecord());
        const auto other = file("events.out.tfevents.0000000001.h.2.0"), eval = file("events.out.tfevents.0000000001.h.3.0");
        for (int step = 0; step < 100; ++step) {
            appendTo(file(), scalarRecord(step, "loss", 1));
            appendTo(other, (step == 0 ? versionRecord() : Bytes()) + scalarRecord(step, "loss", 2));
            appendTo(eval, (step == 0 ? versionRecord() : Bytes()) + scalarRecord(step, "eval/acc", 3));
        }
        QVERIFY(import().ok());
        QCOMPARE(points("train/loss").size(), std::size_t{100});
        for (const auto& point : points("train/loss")) QCOMPARE(point.value, 2.0);
        QCOMPARE(points("train/loss", Line::All).size(), std::size_t{200});
        QCOMPARE(points("eval/accuracy").size(), std::size_t{100});
    }
    void stepsThatGoBackWithoutAMarkLoseNothing() {
        Bytes all = versionRecord();
        for (int epoch = 0; epoch < 3; ++epoch)
            for (int batch = 0; batch < 10; ++batch) all = all + scalarRecord(batch, "loss", static_cast<float>(epoch * 10 + batch), kWall + epoch * 10 + batch);
        appendTo(file(), all);
        const auto report = import();
        const auto got = points("train/loss");
        QCOMPARE(got.size(), std::size_t{30});
        for (std::size_t i = 0; i < got.size(); ++i) QCOMPARE(got[i].value, static_cast<double>(i));
        QVERIFY2(said(report).find("2 points repeat a step of their series or go back without a mark") != std::string::npos, said(report).c_str());
    }
    void tenThousandNamesAreRead() {
        Bytes all = versionRecord();
        for (int step = 0; step < 5; ++step)
            for (int tag = 0; tag < 10'000; ++tag) putBytes(all, scalarRecord(step, "layer" + std::to_string(tag) + "/norm", static_cast<float>(tag)));
        appendTo(file(), all);
        const auto report = import();
        QVERIFY2(report.ok(), said(report).c_str());
        QCOMPARE(report->runs[0].count.points, std::int64_t{50'000});
        QCOMPARE(readerOf(m_workspace->latest())->series()->size(), std::size_t{10'000});
        const auto last = points("layer9999/norm");
        QVERIFY(last.size() == 5 && last.back().value == 9999);
        QCOMPARE(import()->runs[0].count.points, std::int64_t{0});
    }
    void fiveGigabytesNeedLittleMemory() {
        // Records of zeros are holes of the file; one is longer than any that is read into memory.
        constexpr std::uint64_t kHole = 63u << 20, kHuge = std::uint64_t{3} << 30;
        const auto zeros = Bytes(kHole);
        const auto head = [](std::uint64_t length) {
            Bytes out;
            put(out, length);
            put(out, tensorboard::maskedCrc(std::span<const std::byte>(out).first(8)));
            return out;
        };
        Bytes foot;
        put(foot, tensorboard::maskedCrc(zeros));
        appendTo(file(), versionRecord());
        const auto hole = [&](std::uint64_t length, const Bytes& end) {
            appendTo(file(), head(length));
            stdfs::resize_file(file(), stdfs::file_size(file()) + length);
            appendTo(file(), end);
        };
        for (int i = 0; i < 33; ++i) {
            hole(kHole, foot);
            appendTo(file(), scalarRecord(i, "loss", static_cast<float>(i)));
        }
        hole(kHuge, Bytes(4));
        appendTo(file(), scalarRecord(33, "loss", 33));
        QVERIFY(stdfs::file_size(file()) > 5'000'000'000u);
        QProcess process;
        process.setChildProcessModifier([] {
            const rlimit most{400u << 20, 400u << 20};
            ::setrlimit(RLIMIT_AS, &most);
        });
        process.start(QStringLiteral(LATHE_BIN_DIR "/lathe-trainer"), words({"import", logs().string(), "--workspace", m_workspace->folder().string(), "--json"}));
        const Answer answer = Workspace::finish(process, 120'000);
        QVERIFY2(answer.code == 0, answer.err.c_str());
        QCOMPARE(answer.json()["runs"][0]["points"], json(34));
        QCOMPARE(answer.json()["runs"][0]["left_out"]["records over 64 MiB"], json(1));
        QCOMPARE(steps("train/loss").size(), std::size_t{34});
    }
    void whatCannotBeImportedGetsASentence() {
        const auto refused = [&](const stdfs::path& folder, const char* says) {
            const Answer answer = m_workspace->ask(words({"import", folder.string()}));
            return answer.code == 2 && answer.err.find(says) != std::string::npos;
        };
        QVERIFY(refused(logs(), "No such file"));
        stdfs::create_directories(logs() / "sub");
        QVERIFY(refused(logs(), "no event files"));
        appendTo(logs() / "plain.txt", versionRecord());
        QVERIFY(refused(logs() / "plain.txt", "is not a folder"));
        QVERIFY(rundir::listRuns(m_workspace->folder()).empty());
        QCOMPARE(m_workspace->ask(words({"import", logs().string(), "--follow", "--idle", "0"})).code, 2);
        QCOMPARE(m_workspace->ask(words({"import", logs().string(), "--detach"})).code, 2);
        QVERIFY(m_workspace->ask(words({"--help"})).out.find("import") != std::string::npos);
    }
    void aFolderThatMayNotBeReadIsTold() {
        appendTo(logs() / "open/x.tfevents", versionRecord() + scalarRecord(1, "loss", 1));
        appendTo(logs() / "shut/x.tfevents", versionRecord() + scalarRecord(1, "loss", 1));
        appendTo(logs() / "file/x.tfevents", versionRecord() + scalarRecord(1, "loss", 1));
        stdfs::permissions(logs() / "shut", stdfs::perms::none);
        stdfs::permissions(logs() / "file/x.tfevents", stdfs::perms::none);
        const bool isRoot = ::geteuid() == 0;
        constexpr uid_t kNobody = 65534;
        if (isRoot) {
            for (const auto& entry : stdfs::recursive_directory_iterator(m_workspace->scratch())) QVERIFY(::chown(entry.path().c_str(), kNobody, kNobody) == 0);
            QVERIFY(::chown(m_workspace->scratch().c_str(), kNobody, kNobody) == 0 && ::seteuid(kNobody) == 0);
        }
        const auto report = import();
        if (isRoot) QVERIFY(::seteuid(0) == 0);
        stdfs::permissions(logs() / "shut", stdfs::perms::owner_all);
        QVERIFY2(report.ok(), said(report).c_str());
        QCOMPARE(report->runs.size(), std::size_t{1});  // what cannot be read at all makes no run
        QVERIFY2(said(report).find("shut") != std::string::npos && said(report).find("file/x.tfevents") != std::string::npos, said(report).c_str());
    }
};

QTEST_GUILESS_MAIN(TestImport)
#include "tst_import.moc"
