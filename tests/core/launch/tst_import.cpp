// labels: process
// timeout: 300
// TensorBoard logs as runs: every point of the fixtures, what is added later, restarts, several writers, following.
#include "base/number_text.h"
#include "import_fixture.h"
#include "launch/run/standing.h"
#include "shared_data.h"
#include "store/record_content.h"

#include <QtTest/QTest>

#include <cmath>
#include <map>
#include <optional>

using namespace lathe;
using namespace lathe::test;
using nlohmann::json;

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

class TestImport : public QObject, private ImportFixture {
    Q_OBJECT

    /// 40 points of two writers, steps 0 to 19 in turn: all of them on the line, and said why they are where they are.
    void checkTwoWriters() {
        const auto run = m_workspace->latest();
        std::size_t onLine = 0;
        std::map<std::int64_t, int> ofStep;
        for (const auto& series : taken(readerOf(run)->series())) {
            for (const auto& point : points(series.name)) ++ofStep[point.step], ++onLine;
            const auto line = steps(series.name);
            QVERIFY(std::is_sorted(line.begin(), line.end()));
        }
        QCOMPARE(onLine, std::size_t{40});
        for (int step = 0; step < 20; ++step) QCOMPARE(ofStep[step], 2);
        const Answer shown = m_workspace->ask(words({"show", "latest"}));
        QVERIFY2(shown.out.find("write the same names at the same time") != std::string::npos, shown.out.c_str());
        QVERIFY2(shown.out.find("train/loss (writer 2)") != std::string::npos, shown.out.c_str());
        const Answer exported = m_workspace->ask(words({"export", "latest", "--tensorboard", (m_workspace->scratch() / "out").string(), "--json"}));
        QCOMPARE(exported.json()["points"], json(40));
        QCOMPARE(exported.json()["left_behind"], json(0));
    }

private Q_SLOTS:
    void init() {
        renew();
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
        QCOMPARE(QString::fromStdString(runs["run_restart"]["left_out"].dump()), QStringLiteral("{}"));
        QCOMPARE(runs["run_restart"]["histograms"], json(1));
        QCOMPARE(runs["run_restart"]["images"], json(1));
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
        const auto histograms = *readerOf(restart)->newestRecords(live::FrameType::Histogram);
        QCOMPARE(histograms.at(0).record.name, std::string("weights"));
        const auto histogram = taken(store::parseHistogram(histograms[0].record.content));
        QCOMPARE(histogram.edges.front(), -1.0);
        QCOMPARE(histogram.edges.back(), 1.0);
        std::vector<double> counts(histogram.counts.size());  // its 101 values: -1, -0.98 … 1
        for (int i = 0; i <= 100; ++i) {
            const double value = -1 + 0.02 * i;
            std::size_t bin = 0;
            while (bin + 1 < counts.size() && value >= histogram.edges[bin + 1]) ++bin;
            ++counts[bin];
        }
        QCOMPARE(histogram.counts, counts);
        const auto images = *readerOf(restart)->newestRecords(live::FrameType::Image);
        QCOMPARE(images.at(0).record.name, std::string("image"));
        QCOMPARE(images[0].record.form, std::string("image/png"));
        const std::string picture = taken(store::recordContent(restart, images[0].record));
        QCOMPARE(picture.size(), std::size_t{88});
        QVERIFY(picture.starts_with("\x89PNG"));
        const auto settings = *rundir::readSettings(*rundir::findRun(m_workspace->folder(), runs["run_hparams"]["run"]));
        QVERIFY((settings == std::map<std::string, std::string>{{"lr", "0.1"}, {"bsize", "16"}, {"opt", "adam"}, {"flag", "1"}}));  // PyTorch writes True as the number 1
        const Answer shown = m_workspace->ask(words({"show", runs["run_hparams"]["run"].get<std::string>()}));
        QVERIFY2(shown.out.find("settings, as the logs tell them:\n  bsize: 16\n") != std::string::npos, shown.out.c_str());
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
        for (const char* said : {"Looking for event files in ", "Following ", "1 run is followed · "}) QVERIFY2(ended.err.find(said) != std::string::npos, ended.err.c_str());
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
        QVERIFY2(launch::standingOf(run).why.find("cannot be read any more") != std::string::npos, launch::standingOf(run).why.c_str());
        QCOMPARE(recorded("train/loss"), std::size_t{1});
        process->terminate();
        static_cast<void>(Workspace::finish(*process));
    }
    /// A link is another name of a folder, wherever that lies; only back to where the named folder lies it leads nowhere.
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
        stdfs::create_directory_symlink("../beside", logs() / "side");
        QCOMPARE(import()->runs.size(), std::size_t{2});
        QCOMPARE(rundir::listRuns(m_workspace->folder()).size(), std::size_t{2});
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

    void anotherFileUnderAKnownNameIsReadAsItsOwn() {
        appendTo(file(), versionRecord() + scalarRecord(1, "loss", 1) + scalarRecord(2, "loss", 2));
        QVERIFY(import().ok());
        stdfs::remove(file());
        appendTo(file(), versionRecord(kWall + 500) + scalarRecord(1, "loss", 5, kWall + 501) + scalarRecord(2, "loss", 6, kWall + 502) + scalarRecord(3, "loss", 7, kWall + 503));
        const auto report = import();
        QVERIFY2(said(report).find("is another file") != std::string::npos, said(report).c_str());
        QCOMPARE(points("train/loss").at(0).value, 5.0);
        QCOMPARE(steps("train/loss"), (std::vector<std::int64_t>{1, 2, 3}));
        QCOMPARE(steps("train/loss", Line::All).size(), std::size_t{5});
    }
    void twoWritersAtOnceLoseNothing() {
        const auto other = file("events.out.tfevents.0000000001.h.2.0");
        appendTo(file(), versionRecord());
        appendTo(other, versionRecord());
        for (int step = 0; step < 20; ++step) {
            appendTo(file(), scalarRecord(step, "loss", 1, kWall + step));
            appendTo(other, scalarRecord(step, "loss", 2, kWall + step + 0.5));
        }
        QVERIFY(import().ok());
        checkTwoWriters();
        for (const auto& point : points("train/loss")) QCOMPARE(point.value, 1.0);
        for (const auto& point : points("train/loss (writer 2)")) QCOMPARE(point.value, 2.0);
    }
    void twoWritersAtOnceLoseNothingWhileTheyAreFollowed() {
        const auto other = file("events.out.tfevents.0000000001.h.2.0");
        appendTo(file(), versionRecord());
        appendTo(other, versionRecord());
        auto process = follow();
        for (int step = 0; step < 20; ++step) {
            for (int writer = 0; writer < 2; ++writer) {
                appendTo(writer == 0 ? file() : other, scalarRecord(step, "loss", static_cast<float>(writer), kWall + step + 0.5 * writer));
                QVERIFY(eventually([&] { return recorded("train/loss") + recorded("train/loss (writer 2)") == static_cast<std::size_t>(2 * step + writer + 1); }));
            }
        }
        process->terminate();
        QCOMPARE(Workspace::finish(*process).code, 4);
        checkTwoWriters();
    }
    void aStopOfOneFolderLastsWhileOthersAreFollowed() {
        const auto one = logs() / "one/x.tfevents", two = logs() / "two/x.tfevents";
        appendTo(one, versionRecord() + scalarRecord(1, "loss", 1));
        appendTo(two, versionRecord() + scalarRecord(1, "accuracy", 1));
        auto process = follow();
        const auto runOf = [&](const std::string& source) -> std::optional<rundir::RunFolder> {
            for (const auto& run : rundir::listRuns(m_workspace->folder()))
                if (rundir::readManifest(run)->source.ends_with(source)) return run;
            return std::nullopt;
        };
        QVERIFY(eventually([&] { return runOf("/one") && runOf("/two") && rundir::readLive(*runOf("/one"))->has_value() && rundir::readLive(*runOf("/two"))->has_value(); }));
        QCOMPARE(m_workspace->ask(words({"stop", rundir::readManifest(*runOf("/one"))->id})).code, 0);
        appendTo(one, scalarRecord(2, "loss", 1));
        appendTo(logs() / "two/y.tfevents", versionRecord() + scalarRecord(1, "later", 1));  // makes it look at all folders
        QVERIFY(eventually([&] {
            const auto later = readerOf(*runOf("/two"))->points("later", Line::All);
            return later && later->size() == 1;
        }));
        QCOMPARE(launch::standingOf(*runOf("/one")).state, rundir::State::Stopped);
        QCOMPARE(readerOf(*runOf("/one"))->points("train/loss", Line::All)->size(), std::size_t{1});
        process->terminate();
        static_cast<void>(Workspace::finish(*process));
        QCOMPARE(m_workspace->ask(words({"import", logs().string()})).code, 0);
        QCOMPARE(readerOf(*runOf("/one"))->points("train/loss", Line::All)->size(), std::size_t{2});
    }

    void theBestOfAnImportIsKeptAndNoStepCountsAsSkipped() {
        appendTo(file(), versionRecord());
        for (const int step : {10, 20, 30}) appendTo(file(), scalarRecord(step, "val_acc", step == 20 ? 0.75f : 0.5f));
        QVERIFY(import().ok());
        const auto summary = rundir::readSummary(m_workspace->latest());
        QVERIFY(summary.ok() && summary->best.has_value());
        QCOMPARE(summary->best->metric, std::string("eval/accuracy"));
        QCOMPARE(summary->best->step, std::int64_t{20});
        QCOMPARE(summary->counters.skippedUpdates.value(), std::int64_t{0});
    }
    void anExportWithoutPointsSaysSo() {
        appendTo(file(), versionRecord());
        QVERIFY(import().ok());
        const Answer answer = m_workspace->ask(words({"export", "latest", "--tensorboard"}));
        QVERIFY2(answer.code == 0 && answer.out.find("no point to export") != std::string::npos, answer.out.c_str());
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
};

QTEST_GUILESS_MAIN(TestImport)
#include "tst_import.moc"
