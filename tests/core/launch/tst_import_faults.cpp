// labels: process
// timeout: 300
// TensorBoard logs that are damaged, unreadable, hostile or huge, and disks that fill up while they are read.
#include "fixture_run.h"
#include "import_fixture.h"
#include "launch/import/import_sources.h"
#include "launch/run/standing.h"
#include "sanitized.h"
#include "tensorboard/crc32c.h"
#include "without_override.h"

#include <QtTest/QTest>

#include <bit>
#include <cmath>
#include <csignal>
#include <limits>
#include <sys/resource.h>
#include <unistd.h>

using namespace lathe;
using namespace lathe::test;
using nlohmann::json;

class TestImportFaults : public QObject, private ImportFixture {
    Q_OBJECT

    /// A file that no write may make larger than this, as a disk that has just become full.
    Answer importWithLittleRoom(rlim_t bytes) const {
        QProcess process;
        process.setChildProcessModifier([bytes] {
            const rlimit most{bytes, bytes};
            ::setrlimit(RLIMIT_FSIZE, &most);
            std::signal(SIGXFSZ, SIG_IGN);
        });
        process.start(QStringLiteral(LATHE_BIN_DIR "/lathe-trainer"), words({"import", logs().string(), "--workspace", m_workspace->folder().string(), "--json"}));
        return Workspace::finish(process, 120'000);
    }
    /// More points than fit, then a new start that goes back: it fails where the session changes.
    void writeMany(int first) {
        constexpr int kMany = 200'000;
        Bytes all;
        std::uint32_t noise = 1;
        for (int i = 0; i < kMany; ++i) {
            noise = noise * 1664525 + 1013904223;
            putBytes(all, scalarRecord(first + i, "loss", std::bit_cast<float>((noise & 0x007fffff) | 0x3f800000), kWall + (first + i) * 1e-3));
        }
        appendTo(file(), all);
        appendTo(file("events.out.tfevents.0000000002.h.1.0"), versionRecord() + scalarRecord(first + 10, "loss", 7, kWall + 10'000) + scalarRecord(first + 11, "loss", 8, kWall + 10'001));
    }
private Q_SLOTS:
    void init() { renew(); }

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
    void aFullDiskFailsANewImportWhole() {
        appendTo(file(), versionRecord());
        writeMany(0);
        const Answer full = importWithLittleRoom(300u << 10);
        QVERIFY2(full.code == 3, (full.out + full.err).c_str());
        QVERIFY2(full.out.find("could not be recorded") != std::string::npos, full.out.c_str());
        QVERIFY(rundir::listRuns(m_workspace->folder()).empty());  // nothing was kept: there is no run
        QVERIFY(import().ok());
        QCOMPARE(recorded("train/loss"), std::size_t{200'002});
    }
    void aFullDiskLosesNothingOfARunThatIsThere() {
        appendTo(file(), versionRecord() + scalarRecord(0, "loss", 1, kWall));
        QVERIFY(import().ok());
        const auto run = m_workspace->latest();
        writeMany(1);
        const Answer full = importWithLittleRoom(300u << 10);
        QVERIFY2(full.code == 3, (full.out + full.err).c_str());
        QCOMPARE(launch::standingOf(run).state, rundir::State::Failed);
        QVERIFY2(launch::standingOf(run).why.find("could not be recorded") != std::string::npos, launch::standingOf(run).why.c_str());
        QCOMPARE(recorded("train/loss"), std::size_t{1});
        const auto rest = import();
        QVERIFY2(rest.ok() && !rest->failed, said(rest).c_str());
        QCOMPARE(recorded("train/loss"), std::size_t{200'003});
        QCOMPARE(steps("train/loss").size(), std::size_t{11 + 2});
        QCOMPARE(rundir::newestSession(run), 2);
        QCOMPARE(launch::standingOf(run).state, rundir::State::Completed);
    }
    void aFolderThatGoesAwayIsNoStop() {
        Bytes record;
        tensorboard::frameRecord(record, Bytes(6u << 20));
        appendTo(file(), versionRecord() + scalarRecord(1, "loss", 1));
        for (int i = 0; i < 4; ++i) appendTo(file(), record);
        launch::ImportOptions options;
        options.workspace = m_workspace->folder();
        options.folder = logs();
        options.progress = [&](std::uint64_t) {
            std::error_code gone;
            stdfs::rename(logs(), m_workspace->scratch() / "moved", gone);
        };
        const auto report = launch::importFolder(options);
        QVERIFY2(report.ok(), said(report).c_str());
        QCOMPARE(report->runs.at(0).state, rundir::State::Interrupted);
        const std::string why = launch::standingOf(m_workspace->latest()).why;
        QVERIFY2(why.find("cannot be read any more") != std::string::npos && why.find("stopped") == std::string::npos, why.c_str());
    }
    void activeTimeCountsFromTheStartOfEachSession() {
        appendTo(file(), versionRecord() + scalarRecord(1, "loss", 1, kWall) + scalarRecord(2, "loss", 1, kWall + 1));
        QVERIFY(import().ok());
        appendTo(file("events.out.tfevents.0000000002.h.1.0"), versionRecord() + scalarRecord(2, "loss", 2, kWall + 1000));
        QVERIFY(import().ok());
        appendTo(file(), scalarRecord(3, "loss", 1, kWall + 2) + scalarRecord(4, "odd", 1, 9.1e9) + scalarRecord(4, "odder", 1, -9.1e9) + scalarRecord(4, "oddest", 1, std::nan("")));
        QVERIFY(import().ok());
        for (const auto& point : points("train/loss", Line::All))
            if (point.step == 3) QCOMPARE(point.activeNs, std::int64_t{2'000'000'000});
        QCOMPARE(points("odder", Line::All).at(0).activeNs, std::int64_t{0});
        QVERIFY(points("odd", Line::All).at(0).activeNs > 0);
    }
    void theWidestTimesDoNotOverflow() {
        appendTo(file(), versionRecord() + scalarRecord(1, "loss", 1, -9.1e9) + scalarRecord(2, "loss", 1, 9.1e9));
        QVERIFY(import().ok());
        QCOMPARE(points("train/loss").at(1).activeNs, std::numeric_limits<std::int64_t>::max());
        QCOMPARE(points("train/loss").at(1).wallNs, tensorboard::wallNsOf(9.1e9));
    }
    void namesBeyondTheLimitAreNoSeries() {
        Bytes all = versionRecord();
        for (int tag = 0; tag < 65'540; ++tag) putBytes(all, scalarRecord(1, "t" + std::to_string(tag), 1));
        appendTo(file(), all);
        const auto report = import();
        QVERIFY(report.ok());
        QCOMPARE(report->runs[0].count.series, std::size_t{65'536});
        QCOMPARE(report->runs[0].count.leftOut.at("values of further names"), std::int64_t{4});
        QVERIFY2(launch::standingOf(m_workspace->latest()).why.find("Not all of it could be read") != std::string::npos, said(report).c_str());
        QVERIFY((*readerOf(m_workspace->latest())->fact("import"))->find("t65536") == std::string::npos);
    }
    void eachRunIsLookedIntoOnce() {
        appendTo(logs() / "one/x.tfevents", versionRecord() + scalarRecord(1, "loss", 1));
        appendTo(logs() / "two/x.tfevents", versionRecord() + scalarRecord(1, "loss", 1));
        QVERIFY(import().ok());
        launch::ImportSources sources(m_workspace->folder());
        const auto one = sources.runOf(stdfs::canonical(logs() / "one"));
        QVERIFY(one.ok() && one->has_value());
        for (const auto& run : rundir::listRuns(m_workspace->folder())) {
            auto manifest = *rundir::readManifest(run);
            manifest.source = "/elsewhere";
            QVERIFY(rundir::writeManifest(FileSystem::real(), run, manifest).ok());
        }
        QVERIFY(sources.runOf(stdfs::canonical(logs() / "two")).value().has_value());
        QVERIFY(!sources.runOf("/elsewhere").value());
        QVERIFY(removeTree(FileSystem::real(), one->value().root()).ok());
        QVERIFY(!sources.runOf(stdfs::canonical(logs() / "one")).value());
    }
    void aNameThatChangesNothingIsToldAndNamesAreOneLine() {
        appendTo(logs() / "a\nb/x.tfevents", versionRecord() + scalarRecord(1, "loss", 1));
        QCOMPARE(m_workspace->ask(words({"import", (logs() / "a\nb").string()})).code, 0);
        QCOMPARE(rundir::readManifest(m_workspace->latest())->name, std::string("a b"));
        const Answer again = m_workspace->ask(words({"import", (logs() / "a\nb").string(), "--name", "other"}));
        QCOMPARE(again.code, 0);
        QVERIFY2(again.err.find("--name changes nothing") != std::string::npos, again.err.c_str());
        QCOMPARE(rundir::readManifest(m_workspace->latest())->name, std::string("a b"));
    }
    void whatIsMissingIsInTheReasonAndTheWarnings_data() {
        QTest::addColumn<QByteArray>("bytes");
        QTest::addColumn<QString>("says");
        const auto text = [](const Bytes& bytes) { return QByteArray(reinterpret_cast<const char*>(bytes.data()), static_cast<qsizetype>(bytes.size())); };
        QTest::newRow("garbage") << QByteArray(500, '?') << QStringLiteral("is damaged at byte 0");
        const Bytes whole = versionRecord() + scalarRecord(1, "loss", 1) + scalarRecord(2, "loss", 1);
        QTest::newRow("half") << text(whole).chopped(5) << QStringLiteral("ends inside a record");
    }
    void whatIsMissingIsInTheReasonAndTheWarnings() {
        QFETCH(QByteArray, bytes);
        QFETCH(QString, says);
        appendTo(file(), std::as_bytes(std::span(bytes.constData(), static_cast<std::size_t>(bytes.size()))));
        QVERIFY(import().ok());
        QVERIFY2(launch::standingOf(m_workspace->latest()).why.find(says.toStdString()) != std::string::npos, launch::standingOf(m_workspace->latest()).why.c_str());
        int warnings = 0;
        for (const auto& row : taken(readerOf(m_workspace->latest())->events())) warnings += row.event.kind == "warning" && row.event.text.find(says.toStdString()) != std::string::npos;
        QCOMPARE(warnings, 1);
        const Answer shown = m_workspace->ask(words({"show", "latest"}));
        QVERIFY2(shown.out.find("warnings:") != std::string::npos && shown.out.find("Not all of it could be read") != std::string::npos, shown.out.c_str());
        QVERIFY(import().ok());  // what an earlier reading has told is not told twice
        QCOMPARE(m_workspace->ask(words({"show", "latest", "--json"})).json()["warnings"].size(), std::size_t{1});
    }
    void aFollowedFileThatIsDamagedOnTheWayIsTheReason() {
        Bytes bad = scalarRecord(2, "loss", 2);
        bad[3] ^= std::byte{1};
        appendTo(file(), versionRecord() + scalarRecord(1, "loss", 1));
        auto process = follow("3");
        QVERIFY(eventually([&] { return recorded("train/loss") == 1; }));
        appendTo(file(), bad + scalarRecord(3, "loss", 3));
        QCOMPARE(Workspace::finish(*process).code, 0);
        const auto standing = launch::standingOf(m_workspace->latest());
        QCOMPARE(standing.state, rundir::State::Interrupted);
        QVERIFY2(standing.why.find("is damaged at byte") != std::string::npos && standing.why.find("nothing new") == std::string::npos, standing.why.c_str());
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
        if (kReservesAddressSpace) QSKIP("A sanitizer reserves more address space than the limit that is set here");
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
    void aRunThatMayNotBeReadIsNotMadeASecondTime() {
        appendTo(file(), versionRecord() + scalarRecord(1, "loss", 1));
        QVERIFY(import().ok());
        const auto run = m_workspace->latest();
        stdfs::permissions(run.runJson(), stdfs::perms::none);
        {
            const WithoutOverride asEverybody;
            if (!asEverybody.works()) QSKIP("root cannot give up reading what it may not read");
            const auto report = import();
            QVERIFY2(said(report).find("run.json: Permission denied") != std::string::npos, said(report).c_str());
            QVERIFY2(said(report).find("cannot be told whether " + run.name() + " was made from ") != std::string::npos, said(report).c_str());
        }
        QCOMPARE(rundir::listRuns(m_workspace->folder()).size(), std::size_t{1});
        stdfs::permissions(run.runJson(), stdfs::perms::owner_read | stdfs::perms::owner_write);
        QVERIFY(import().ok());
        QCOMPARE(rundir::listRuns(m_workspace->folder()).size(), std::size_t{1});
    }
    void aTrainingThatMayNotBeReadKeepsNobodyFromImporting() {
        appendTo(file(), versionRecord() + scalarRecord(1, "loss", 1));
        const tests::FixtureRun trained(m_workspace->folder(), "trained", "");
        rundir::Summary summary;
        summary.task = "classification";
        QVERIFY(rundir::writeSummary(FileSystem::real(), trained.folder(), summary).ok());
        stdfs::permissions(trained.folder().runJson(), stdfs::perms::none);
        {
            const WithoutOverride asEverybody;
            if (!asEverybody.works()) QSKIP("root cannot give up reading what it may not read");
            const auto report = import();
            QVERIFY2(report.ok(), said(report).c_str());
            QCOMPARE(report->runs.size(), std::size_t{1});
        }
        QVERIFY(import().ok());
        QCOMPARE(rundir::listRuns(m_workspace->folder()).size(), std::size_t{2});
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

QTEST_GUILESS_MAIN(TestImportFaults)
#include "tst_import_faults.moc"
