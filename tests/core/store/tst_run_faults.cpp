// labels: fault
// Run databases that are damaged, foreign, newer, locked, full, gone or on read-only media.
#include "ring_script.h"
#include "store/run_store.h"
#include "store/schema.h"

#include <QtCore/QCoreApplication>
#include <QtCore/QFile>
#include <QtCore/QProcess>
#include <QtCore/QTemporaryDir>
#include <QtTest/QTest>

#include <csignal>
#include <cstring>
#include <random>
#include <sqlite3.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <unistd.h>

using namespace lathe;
using namespace lathe::store;
using tests::RingScript;
namespace stdfs = std::filesystem;

namespace {

SessionRow session(std::int32_t number) {
    SessionRow row;
    row.number = number;
    row.verb = "start";
    return row;
}

/// Something mounted for the life of this object.
class Mount {
public:
    Mount(const stdfs::path& folder, const char* options) : m_folder(folder) {
        stdfs::create_directories(folder);
        m_mounted = ::mount("tmpfs", folder.c_str(), "tmpfs", 0, options) == 0;
    }
    ~Mount() {
        if (m_mounted) ::umount2(m_folder.c_str(), MNT_DETACH);
    }
    Mount(const Mount&) = delete;
    Mount& operator=(const Mount&) = delete;
    bool ok() const { return m_mounted; }
    bool makeReadOnly() { return ::mount(nullptr, m_folder.c_str(), nullptr, MS_REMOUNT | MS_RDONLY, nullptr) == 0; }

private:
    stdfs::path m_folder;
    bool m_mounted = false;
};

/// What this program does when it is started as the one that holds a lock.
int holdLock(const char* file) {
    sqlite3* db = nullptr;
    if (sqlite3_open(file, &db) != SQLITE_OK || sqlite3_exec(db, "BEGIN IMMEDIATE", nullptr, nullptr, nullptr) != SQLITE_OK) return 1;
    char byte = 'x';
    if (::write(STDOUT_FILENO, &byte, 1) != 1 || ::read(STDIN_FILENO, &byte, 1) != 1) return 1;
    sqlite3_exec(db, "ROLLBACK", nullptr, nullptr, nullptr);
    sqlite3_close(db);
    return 0;
}

}  // namespace

class TestRunFaults : public QObject {
    Q_OBJECT

    QTemporaryDir m_folder;
    int m_serial = 0;
    stdfs::path freshFile() { return m_folder.filePath(QString("run%1.sqlite").arg(++m_serial)).toStdString(); }
    static std::unique_ptr<RunWriter> writer(const stdfs::path& file) {
        auto opened = RunWriter::open(file);
        if (!opened.ok()) qFatal("%s", opened.error().text().c_str());
        return std::move(*opened);
    }
    /// Two series with 3 chunks each and some open rows, ended or not.
    static void fill(const stdfs::path& file, bool ended) {
        auto out = writer(file);
        QVERIFY(out->beginSession(session(1)).ok());
        RingScript ring(*out, 0, 1);
        for (int i = 1; i <= 14000; ++i) {
            ring.points(i, {{"a", std::sin(i)}, {"b", std::cos(i)}});
            if (i % 100 == 0 && i > 13000) QVERIFY(out->flush().ok());
        }
        QVERIFY(ended ? out->endSession(session(1)).ok() : out->flush().ok());
    }
    static void sql(const stdfs::path& file, const std::string& text) {
        sqlite3* db = nullptr;
        QCOMPARE(sqlite3_open(file.c_str(), &db), SQLITE_OK);
        QCOMPARE(sqlite3_exec(db, text.c_str(), nullptr, nullptr, nullptr), SQLITE_OK);
        sqlite3_close(db);
    }
    static std::size_t count(const stdfs::path& file, const std::string& name) {
        auto in = RunReader::open(file);
        if (!in.ok()) return 0;
        const auto points = (*in)->points(name, RunReader::Line::All);
        return points.ok() ? points->size() : 0;
    }

private Q_SLOTS:
    void aNewerVersionIsRefusedByName() {
        const auto file = freshFile();
        fill(file, true);
        sql(file, "PRAGMA user_version=7");
        const auto out = RunWriter::open(file);
        const auto in = RunReader::open(file);
        for (const Error* error : {&out.error(), &in.error()}) {
            QCOMPARE(error->code, ErrorCode::Version);
            QVERIFY(error->sentence.find(file.string()) != std::string::npos);
            QVERIFY(error->sentence.find("version 7") != std::string::npos);
        }
        sql(file, "PRAGMA user_version=2");
        QCOMPARE(count(file, "a"), std::size_t{14000});
    }
    void filesThatAreNotOursAreRefusedAndLeftAlone_data() {
        QTest::addColumn<QByteArray>("content");
        QTest::newRow("text") << QByteArray("train/loss 0.5\n").repeated(500);
        QTest::newRow("only the magic") << QByteArray("SQLite format 3\0", 16);
        QTest::newRow("zeros") << QByteArray(8192, '\0');
    }
    void filesThatAreNotOursAreRefusedAndLeftAlone() {
        QFETCH(QByteArray, content);
        const auto file = freshFile();
        QFile raw(QString::fromStdString(file.string()));
        QVERIFY(raw.open(QIODevice::WriteOnly));
        raw.write(content);
        raw.close();
        const auto out = RunWriter::open(file);
        QVERIFY(!out.ok());
        QCOMPARE(out.error().code, ErrorCode::Corrupt);
        const auto in = RunReader::open(file);
        QVERIFY(!in.ok());
        QCOMPARE(in.error().code, ErrorCode::Corrupt);
        QVERIFY(raw.open(QIODevice::ReadOnly));
        QVERIFY(raw.readAll() == content);
    }
    void anotherProgramsDatabaseIsRefused() {
        const auto file = freshFile();
        sql(file, "CREATE TABLE metrics(a); INSERT INTO metrics VALUES(1)");
        QCOMPARE(RunWriter::open(file).error().code, ErrorCode::Corrupt);
        QCOMPARE(RunReader::open(file).error().code, ErrorCode::Corrupt);
    }
    void anEmptyFileIsAFreshStartForTheWriterAlone() {
        const auto file = freshFile();
        QFile raw(QString::fromStdString(file.string()));
        QVERIFY(raw.open(QIODevice::WriteOnly));
        raw.close();
        QVERIFY(!RunReader::open(file).ok());
        fill(file, true);
        QCOMPARE(count(file, "b"), std::size_t{14000});
    }
    void aMissingFileIsSaidByName() {
        const auto in = RunReader::open("/nowhere/run.sqlite");
        QCOMPARE(in.error().code, ErrorCode::NotFound);
        QVERIFY(in.error().sentence.find("/nowhere/run.sqlite") != std::string::npos);
        QVERIFY(!RunWriter::open("/nowhere/run.sqlite").ok());
    }
    void anOlderVersionIsMigratedStepByStepOrNotAtAll() {
        const auto file = freshFile();
        fill(file, true);
        constexpr int kOld = kRunVersion;  // as a program would see it that is two versions ahead
        const Migration good[] = {{0, "x"}, {kOld, "CREATE TABLE extra(a) STRICT_"}, {kOld + 1, "CREATE TABLE more(a)"}};
        auto db = Database::open(file, Database::Access::ReadWrite, 100);
        QVERIFY(db.ok());
        // The first step cannot work: nothing of it stays.
        QVERIFY(!migrate(*db, file, good, kOld + 2).ok());
        QCOMPARE(db->integer("PRAGMA user_version")->value(), std::int64_t{kOld});
        QCOMPARE(db->integer("SELECT count(*) FROM sqlite_schema WHERE name IN ('extra', 'more')")->value(), std::int64_t{0});
        const Migration mended[] = {{0, "x"}, {kOld, "CREATE TABLE extra(a); INSERT INTO extra SELECT n FROM chunks"}, {kOld + 1, "CREATE TABLE more(a)"}};
        QVERIFY(migrate(*db, file, mended, kOld + 2).ok());
        QCOMPARE(db->integer("PRAGMA user_version")->value(), std::int64_t{kOld + 2});
        QVERIFY(db->integer("SELECT count(*) FROM extra")->value() > 0);
        QVERIFY(migrate(*db, file, mended, kOld + 2).ok());  // already there
        QCOMPARE(checkRunDatabase(*db, file, kOld).error().code, ErrorCode::Version);
        QVERIFY(checkRunDatabase(*db, file, kOld + 2).ok());
    }
    void aRunOfTheFirstVersionIsReadAndGetsRecordsOnceItIsWritten() {
        const auto file = freshFile();
        fill(file, true);
        sql(file, "DROP TABLE records");
        sql(file, "PRAGMA user_version=1");
        auto in = RunReader::open(file);
        QVERIFY(in.ok());
        QVERIFY((*in)->recordNames().ok() && (*in)->recordNames()->empty());
        QVERIFY((*in)->newestRecords(live::FrameType::Summary).ok());
        QCOMPARE(count(file, "a"), std::size_t{14000});
        {
            auto out = RunWriter::open(file);
            QVERIFY(out.ok());
            std::vector<std::byte> payload;
            live::RecordFrame record{live::FrameType::Text, 1, 2, 3, 4, "sample", "", std::string("a\0b", 3), ""};
            live::encode(record, payload);
            (*out)->take(0, 9, 1, record.type, payload);
            QVERIFY((*out)->flush().ok());
        }
        const auto rows = (*in)->records(live::FrameType::Text, "sample");
        QCOMPARE(rows->size(), std::size_t{1});
        QCOMPARE(rows->at(0).record.content, std::string("a\0b", 3));
        QCOMPARE(rows->at(0).record.step, std::int64_t{3});
        QCOMPARE(count(file, "a"), std::size_t{14000});
    }

    void aFlippedByteInAChunkIsNamedAndTheRestIsRead() {
        for (const char* table : {"chunk_data", "chunk_levels", "axis_data"}) {
            const auto file = freshFile();
            fill(file, true);
            QVERIFY((*RunReader::open(file))->verify().ok());
            // Chunks were written a, b, a, b …: number 3 is a's second, axis 2 the one of its rows.
            const std::string id = std::strcmp(table, "axis_data") == 0 ? "2" : "3";
            sql(file, "UPDATE " + std::string(table) + " SET data=CAST(substr(data,1,20)||x'5a5b'||substr(data,23) AS BLOB) WHERE id=" + id);
            auto in = std::move(*RunReader::open(file));
            const auto verdict = in->verify();
            QVERIFY(!verdict.ok());
            QCOMPARE(verdict.error().code, ErrorCode::Corrupt);
            QVERIFY2(verdict.error().sentence.find("chunk of a ") != std::string::npos, verdict.error().sentence.c_str());
            QVERIFY(verdict.error().sentence.find("attempts 4097 to 8192") != std::string::npos);
            QVERIFY(verdict.error().sentence.find(file.string()) != std::string::npos);
            const bool data = std::strcmp(table, "chunk_levels") != 0;
            QVERIFY(in->points("a", RunReader::Line::All).ok() == false);
            if (data && id == "3") QCOMPARE(in->points("b", RunReader::Line::All)->size(), std::size_t{14000});
            QCOMPARE(in->points("a", RunReader::Line::All, 1, 8192)->size(), std::size_t{14000 - 8192});
        }
    }
    void aWrongHeaderIsNamed() {
        const auto file = freshFile();
        fill(file, true);
        sql(file, "UPDATE chunks SET maximum=maximum+1 WHERE blob=4");
        const auto verdict = (*RunReader::open(file))->verify();
        QVERIFY(!verdict.ok());
        QVERIFY2(verdict.error().sentence.find("header of a chunk of b") != std::string::npos, verdict.error().sentence.c_str());
    }
    void aDamagedTailCostsOnlyItsOwnPoints() {
        const auto file = freshFile();
        fill(file, false);
        sql(file, "UPDATE tails SET data=CAST(x'00'||substr(data,2) AS BLOB) WHERE id=(SELECT max(id) FROM tails)-3");
        const auto verdict = (*RunReader::open(file))->verify();
        QVERIFY(verdict.error().sentence.find("tail") != std::string::npos);
        QCOMPARE(count(file, "a"), std::size_t{13900});
        {
            auto out = writer(file);  // goes on, and throws nothing away
            QVERIFY(out->beginSession(session(2)).ok());
            RingScript(*out, 0, 2).points(14001, {{"a", 7}});
            QVERIFY(out->endSession(session(2)).ok());
        }
        QCOMPARE(count(file, "a"), std::size_t{13901});
        auto in = std::move(*RunReader::open(file));
        const auto points = in->points("a", RunReader::Line::All);
        QCOMPARE(points->back().value, 7.0);
        QCOMPARE(points->at(13899).attempt, std::int64_t{14000});
    }
    void anyDamageGivesAnErrorAndNeverACrash() {
        const auto good = freshFile();
        fill(good, true);
        QFile raw(QString::fromStdString(good.string()));
        QVERIFY(raw.open(QIODevice::ReadOnly));
        const QByteArray content = raw.readAll();
        const unsigned seed = std::random_device{}();
        qInfo("seed %u", seed);
        std::mt19937 random(seed);
        const auto file = freshFile();
        for (int round = 0; round < 150; ++round) {
            QByteArray bytes = content;
            if (round % 5 == 0) bytes.truncate(static_cast<qsizetype>(random() % static_cast<unsigned>(bytes.size())));
            for (int flips = 1 << (round % 9); flips > 0 && !bytes.isEmpty(); --flips)
                bytes[static_cast<qsizetype>(random() % static_cast<unsigned>(bytes.size()))] = static_cast<char>(random());
            QFile out(QString::fromStdString(file.string()));
            QVERIFY(out.open(QIODevice::WriteOnly | QIODevice::Truncate));
            out.write(bytes);
            out.close();
            auto in = RunReader::open(file);
            if (in.ok()) {
                static_cast<void>((*in)->series());
                static_cast<void>((*in)->points("a", RunReader::Line::All));
                static_cast<void>((*in)->overview("b", RunReader::Line::Surviving, 100));
                static_cast<void>((*in)->verify());
            }
            if (round % 10 != 0) continue;
            if (auto writes = RunWriter::open(file); writes.ok()) {
                static_cast<void>((*writes)->beginSession(session(2)));
                RingScript(**writes, 0, 2).points(1, {{"a", 1}});
                static_cast<void>((*writes)->flush());
            }
            for (const char* ending : {"-wal", "-shm", "-journal"}) stdfs::remove(file.string() + ending);
        }
    }

    void aLockHeldElsewhereDelaysButLosesNothing() {
        const auto file = freshFile();
        auto out = writer(file);
        QVERIFY(out->beginSession(session(1)).ok());
        RingScript ring(*out, 0, 1);
        ring.points(1, {{"a", 1}});
        QVERIFY(out->flush().ok());
        QProcess holder;
        holder.start(QCoreApplication::applicationFilePath(), {"--hold-lock", QString::fromStdString(file.string())});
        QVERIFY(holder.waitForReadyRead());
        for (int i = 2; i <= 9000; ++i) ring.points(i, {{"a", i}});
        ring.event("phase", "while locked");
        const auto refused = out->flush();
        QVERIFY(!refused.ok());
        QCOMPARE(refused.error().code, ErrorCode::Busy);
        QVERIFY(out->pendingBytes() > 0);
        QCOMPARE(out->recordedSequence(0, 1), std::uint64_t{2});
        QCOMPARE(count(file, "a"), std::size_t{1});  // readers go on meanwhile
        holder.write("x");
        QVERIFY(holder.waitForFinished());
        QCOMPARE(holder.exitCode(), 0);
        QVERIFY(out->flush().ok());
        QCOMPARE(out->pendingBytes(), std::size_t{0});
        QCOMPARE(out->recordedSequence(0, 1), ring.sequence());
        QCOMPARE(count(file, "a"), std::size_t{9000});
        QCOMPARE((*RunReader::open(file))->events()->size(), std::size_t{1});
    }
    void aFullDiskLosesNothing() {
        const stdfs::path folder = m_folder.filePath("small").toStdString();
        Mount small(folder, "size=2m");
        if (!small.ok()) QSKIP("mounting a small tmpfs needs root");
        const auto file = folder / "run.sqlite";
        std::mt19937_64 random(5);
        const stdfs::path ballast = folder / "ballast";
        auto out = writer(file);
        QVERIFY(out->beginSession(session(1)).ok());
        RingScript ring(*out, 0, 1);
        QFile filler(QString::fromStdString(ballast.string()));
        QVERIFY(filler.open(QIODevice::WriteOnly | QIODevice::Unbuffered));
        while (filler.write(QByteArray(4096, 'x')) == 4096) {}
        int taken = 0, refusals = 0;
        for (; refusals < 5; ++taken) {
            ring.points(taken + 1, {{"a", static_cast<double>(random())}});
            if (taken % 1000 != 999) continue;
            if (const auto flushed = out->flush(); !flushed.ok()) {
                QCOMPARE(flushed.error().code, ErrorCode::NoSpace);
                QVERIFY(flushed.error().sentence.find(file.string()) != std::string::npos);
                ++refusals;
            }
        }
        QVERIFY((*RunReader::open(file))->verify().ok());
        QVERIFY(!out->endSession(session(1)).ok());
        filler.close();
        QVERIFY(stdfs::remove(ballast));
        QVERIFY(out->endSession(session(1)).ok());
        QCOMPARE(count(file, "a"), static_cast<std::size_t>(taken));
        QVERIFY((*RunReader::open(file))->verify().ok());
    }
    void aFileSizeLimitLosesNothing() {
        const auto file = freshFile();
        auto out = writer(file);
        QVERIFY(out->beginSession(session(1)).ok());
        RingScript ring(*out, 0, 1);
        std::signal(SIGXFSZ, SIG_IGN);
        rlimit before{};
        ::getrlimit(RLIMIT_FSIZE, &before);
        const rlimit small{150'000, before.rlim_max};
        std::mt19937_64 random(6);
        int taken = 0;
        bool refused = false;
        while (!refused) {
            for (int i = 0; i < 1000; ++i) ring.points(++taken, {{"a", static_cast<double>(random())}});
            ::setrlimit(RLIMIT_FSIZE, &small);
            const auto flushed = out->flush();
            ::setrlimit(RLIMIT_FSIZE, &before);
            refused = !flushed.ok();
            QVERIFY(taken < 1'000'000);
        }
        QVERIFY(out->pendingBytes() > 0);
        QVERIFY(out->flush().ok());
        QCOMPARE(count(file, "a"), static_cast<std::size_t>(taken));
        QVERIFY((*RunReader::open(file))->verify().ok());
    }
    void aFileThatWasMovedAwayIsTakenUpWhenItComesBack() {
        const auto file = freshFile(), away = freshFile();
        auto out = std::move(*RunWriter::open(file, true));
        QVERIFY(out->beginSession(session(1)).ok());
        RingScript ring(*out, 0, 1);
        ring.points(1, {{"a", 1}});
        QVERIFY(out->flush().ok());
        stdfs::rename(file, away);
        ring.points(2, {{"a", 2}});
        QVERIFY(!out->flush().ok());
        const auto gone = out->flush();
        QVERIFY(!gone.ok());
        QCOMPARE(gone.error().code, ErrorCode::NotFound);
        QVERIFY(!stdfs::exists(file));
        stdfs::rename(away, file);
        QVERIFY(out->flush().ok());
        QCOMPARE(count(file, "a"), std::size_t{2});
    }

    void readOnlyMediaAreRead_data() {
        QTest::addColumn<bool>("ended");
        QTest::newRow("ended") << true;
        QTest::newRow("killed with a write-ahead log") << false;
    }
    void readOnlyMediaAreRead() {
        QFETCH(bool, ended);
        const stdfs::path folder = m_folder.filePath(QString("media%1").arg(ended)).toStdString();
        Mount media(folder, "size=16m");
        if (!media.ok()) QSKIP("mounting needs root");
        const auto file = folder / "run.sqlite";
        if (ended) {
            fill(file, true);
        } else {
            // Copied while it was being written: as a killed writer would leave it.
            const auto live = freshFile();
            auto out = writer(live);
            QVERIFY(out->beginSession(session(1)).ok());
            RingScript ring(*out, 0, 1);
            for (int i = 1; i <= 14000; ++i) ring.points(i, {{"a", i}, {"b", i}});
            QVERIFY(out->flush().ok());
            stdfs::copy_file(live, file);
            stdfs::copy_file(live.string() + "-wal", file.string() + "-wal");
        }
        QVERIFY(media.makeReadOnly());
        auto in = RunReader::open(file);
        QVERIFY2(in.ok(), in.ok() ? "" : in.error().text().c_str());
        QCOMPARE((*in)->points("a", RunReader::Line::All)->size(), std::size_t{14000});
        QVERIFY((*in)->verify().ok());
        QVERIFY(!RunWriter::open(file).ok());
    }
    void aWriteAheadHeaderWithoutALogIsReadOnReadOnlyMedia() {
        const stdfs::path folder = m_folder.filePath("walheader").toStdString();
        Mount media(folder, "size=16m");
        if (!media.ok()) QSKIP("mounting needs root");
        const auto file = folder / "run.sqlite";
        const auto other = freshFile();
        fill(other, true);
        sql(other, "PRAGMA journal_mode=WAL");
        stdfs::copy_file(other, file);
        QVERIFY(media.makeReadOnly());
        QCOMPARE(count(file, "a"), std::size_t{14000});
    }
    void aWriteAheadHeaderWithoutALogIsReadAndWritten() {
        const auto file = freshFile();
        fill(file, true);
        sql(file, "PRAGMA journal_mode=WAL");
        QVERIFY(!stdfs::exists(file.string() + "-wal"));
        QCOMPARE(count(file, "a"), std::size_t{14000});
        auto out = writer(file);
        QVERIFY(out->markBest("none").ok());
        out.reset();
        QVERIFY(!stdfs::exists(file.string() + "-wal"));
        QCOMPARE(count(file, "a"), std::size_t{14000});
    }
    void anyFileNameWillDo() {
        const stdfs::path folder = stdfs::path(m_folder.path().toStdString()) / "50% loss? #1 'é\xff";
        stdfs::create_directories(folder);
        const auto file = folder / "run.sqlite";
        fill(file, true);
        QVERIFY(stdfs::exists(file));
        QCOMPARE(count(file, "a"), std::size_t{14000});
    }
    void aKilledWritersFileIsReadWhereItLies() {
        const auto live = freshFile(), file = freshFile();
        auto out = writer(live);
        QVERIFY(out->beginSession(session(1)).ok());
        RingScript ring(*out, 0, 1);
        for (int i = 1; i <= 5000; ++i) ring.points(i, {{"a", i}});
        QVERIFY(out->flush().ok());
        stdfs::copy_file(live, file);
        stdfs::copy_file(live.string() + "-wal", file.string() + "-wal");
        QCOMPARE(count(file, "a"), std::size_t{5000});
        QVERIFY(stdfs::exists(file.string() + "-wal"));  // a reader does not take the log away
        QCOMPARE(count(file, "a"), std::size_t{5000});
    }
};

int main(int argc, char** argv) {
    if (argc == 3 && std::strcmp(argv[1], "--hold-lock") == 0) return holdLock(argv[2]);
    QCoreApplication application(argc, argv);
    TestRunFaults test;
    return QTest::qExec(&test, argc, argv);
}
#include "tst_run_faults.moc"
