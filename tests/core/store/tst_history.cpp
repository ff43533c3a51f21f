// The history index: an aid that may be lost, damaged, locked or read-only without anybody noticing.
#include "store/history.h"

#include <QtCore/QCoreApplication>
#include <QtCore/QFile>
#include <QtCore/QProcess>
#include <QtCore/QTemporaryDir>
#include <QtTest/QTest>

#include <algorithm>
#include <cstring>
#include <fcntl.h>
#include <fstream>
#include <sqlite3.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace lathe;
using namespace lathe::store;
namespace stdfs = std::filesystem;

namespace {

int holdLock(const char* file) {
    sqlite3* db = nullptr;
    if (sqlite3_open(file, &db) != SQLITE_OK || sqlite3_exec(db, "BEGIN EXCLUSIVE", nullptr, nullptr, nullptr) != SQLITE_OK) return 1;
    char byte = 'x';
    if (::write(STDOUT_FILENO, &byte, 1) != 1 || ::read(STDIN_FILENO, &byte, 1) != 1) return 1;
    sqlite3_close(db);
    return 0;
}

}  // namespace

class TestHistory : public QObject {
    Q_OBJECT

    QTemporaryDir m_folder;
    stdfs::path m_workspace;
    stdfs::path indexFile() const { return m_workspace / "history-v1.sqlite"; }

    void write(const std::string& folder, const char* name, const std::string& text) {
        const stdfs::path run = m_workspace / "runs" / folder;
        stdfs::create_directories(run);
        // As the program does: a new file takes the name.
        const stdfs::path temporary = run / "new";
        std::ofstream(temporary) << text;
        stdfs::rename(temporary, run / name);
    }
    /// Puts the files' time stamps into the past, so that they count as settled.
    void settle() {
        const timespec past[2] = {{1'700'000'000, 0}, {1'700'000'000, 0}};
        for (const auto& entry : stdfs::recursive_directory_iterator(m_workspace / "runs")) ::utimensat(AT_FDCWD, entry.path().c_str(), past, 0);
    }
    static std::string joined(const History& history) {
        std::string text;
        const auto rows = history.rows();
        for (const HistoryRow& row : *rows) text += row.folder + "=" + row.summaryJson + row.userJson + ";";
        return text;
    }

private Q_SLOTS:
    void init() {
        static int serial = 0;
        m_workspace = m_folder.filePath(QString::number(++serial)).toStdString();
        stdfs::create_directories(m_workspace / "runs");
    }

    void rowsFollowTheFoldersNewestFirst() {
        write("20261101-a", "summary.json", "A");
        write("20261103-c", "summary.json", "C");
        write("20261102-b", "summary.json", "B");
        write("20261104-no-summary", "run.json", "x");
        std::ofstream(m_workspace / "runs" / "stray file") << "x";
        const auto history = History::open(m_workspace);
        QVERIFY(history->rows()->empty());
        QVERIFY(history->refresh().ok());
        QCOMPARE(joined(*history), std::string("20261103-c=C;20261102-b=B;20261101-a=A;"));
        // Changes, also within the same tick of the clock, new runs and runs that went.
        write("20261102-b", "summary.json", "B2");
        write("20261103-c", "user.json", "+star");
        write("20261105-e", "summary.json", "E");
        stdfs::remove_all(m_workspace / "runs" / "20261101-a");
        QVERIFY(history->refresh().ok());
        QCOMPARE(joined(*history), std::string("20261105-e=E;20261103-c=C+star;20261102-b=B2;"));
        stdfs::remove(m_workspace / "runs" / "20261103-c" / "user.json");
        QVERIFY(history->refresh().ok());
        QCOMPARE(joined(*history), std::string("20261105-e=E;20261103-c=C;20261102-b=B2;"));
    }
    void theIndexIsThereAtTheNextStart() {
        write("a", "summary.json", "A");
        settle();
        QVERIFY(History::open(m_workspace)->refresh().ok());
        QCOMPARE(static_cast<int>(stdfs::status(indexFile()).permissions()), 0600);
        QCOMPARE(joined(*History::open(m_workspace)), std::string("a=A;"));
    }
    void unchangedRunsAreNotReadAgain() {
        write("a", "summary.json", "A");
        settle();
        const auto history = History::open(m_workspace);
        QVERIFY(history->refresh().ok());
        // The same time stamp: only a second reading could bring this to light.
        std::ofstream(m_workspace / "runs" / "a" / "summary.json") << "changed unseen";
        settle();
        QVERIFY(history->refresh().ok());
        QCOMPARE(joined(*history), std::string("a=A;"));
        QVERIFY(history->update("a").ok());
        QCOMPARE(joined(*history), std::string("a=changed unseen;"));
        QVERIFY(history->rebuild().ok());
        QCOMPARE(joined(*History::open(m_workspace)), std::string("a=changed unseen;"));
    }
    void oneRunIsUpdatedAndForgotten() {
        const auto history = History::open(m_workspace);
        write("a", "summary.json", "A");
        QVERIFY(history->update("a").ok());
        QCOMPARE(joined(*history), std::string("a=A;"));
        QVERIFY(history->update("not there").ok());
        QCOMPARE(joined(*history), std::string("a=A;"));
        QVERIFY(history->forget("a").ok());
        QCOMPARE(joined(*history), std::string());
        QCOMPARE(joined(*History::open(m_workspace)), std::string());
        for (const char* bad : {"", ".", "..", "../runs/a", "/etc"}) QVERIFY(!history->update(bad).ok());
    }
    void aFileThatCannotBeReadIsAnEmptyText() {
        write("big", "summary.json", std::string(3u << 20, 'x'));
        stdfs::create_directories(m_workspace / "runs" / "folder" / "summary.json");
        QVERIFY(History::open(m_workspace)->refresh().ok());
        QCOMPARE(joined(*History::open(m_workspace)), std::string("folder=;big=;"));
    }
    void aWorkspaceWithoutRunsIsEmpty() {
        stdfs::remove_all(m_workspace);
        const auto history = History::open(m_workspace);
        QVERIFY(history->refresh().ok());
        QVERIFY(history->rows()->empty());
    }

    void aDeletedIndexIsMadeAgain() {
        write("a", "summary.json", "A");
        settle();
        auto history = History::open(m_workspace);
        QVERIFY(history->refresh().ok());
        stdfs::remove(indexFile());
        write("b", "summary.json", "B");
        QVERIFY(history->refresh().ok());
        QCOMPARE(joined(*history), std::string("b=B;a=A;"));
        QVERIFY(history->refresh().ok());
        QCOMPARE(joined(*history), std::string("b=B;a=A;"));
        QCOMPARE(joined(*History::open(m_workspace)), std::string("b=B;a=A;"));
    }
    void aDamagedIndexIsSetAsideAndMadeAgain_data() {
        QTest::addColumn<int>("kind");
        QTest::newRow("text") << 0;
        QTest::newRow("cut short") << 1;
        QTest::newRow("another version") << 2;
        QTest::newRow("another program's") << 3;
    }
    void aDamagedIndexIsSetAsideAndMadeAgain() {
        QFETCH(int, kind);
        for (int i = 0; i < 200; ++i) write("run" + std::to_string(i), "summary.json", std::string(500, 'a'));
        settle();
        QVERIFY(History::open(m_workspace)->refresh().ok());
        if (kind == 0) std::ofstream(indexFile()) << std::string(5000, 'x');
        if (kind == 1) stdfs::resize_file(indexFile(), stdfs::file_size(indexFile()) / 2);
        if (kind >= 2) {
            sqlite3* db = nullptr;
            sqlite3_open(indexFile().c_str(), &db);
            QCOMPARE(sqlite3_exec(db, kind == 2 ? "PRAGMA user_version=9" : "PRAGMA application_id=5", nullptr, nullptr, nullptr), SQLITE_OK);
            sqlite3_close(db);
        }
        const auto history = History::open(m_workspace);
        QVERIFY(history->refresh().ok());
        QCOMPARE(history->rows()->size(), std::size_t{200});
        QVERIFY(stdfs::exists(indexFile().string() + ".damaged-1"));
        QCOMPARE(History::open(m_workspace)->rows()->size(), std::size_t{200});
    }
    void aLockedIndexIsNotWaitedFor() {
        write("a", "summary.json", "A");
        settle();
        auto early = History::open(m_workspace);
        QVERIFY(early->refresh().ok());
        QProcess holder;
        holder.start(QCoreApplication::applicationFilePath(), {"--hold-lock", QString::fromStdString(indexFile().string())});
        QVERIFY(holder.waitForReadyRead());
        write("b", "summary.json", "B");
        QVERIFY(early->refresh().ok());
        QCOMPARE(joined(*early), std::string("b=B;a=A;"));
        auto late = History::open(m_workspace);  // cannot even be opened
        QVERIFY(late->refresh().ok());
        QCOMPARE(joined(*late), std::string("b=B;a=A;"));
        QVERIFY(late->update("b").ok() && late->forget("a").ok());
        holder.write("x");
        QVERIFY(holder.waitForFinished());
        QVERIFY(early->refresh().ok());  // what could not be written then is written now
        QCOMPARE(joined(*History::open(m_workspace)), std::string("b=B;a=A;"));
    }
    void aReadOnlyWorkspaceIsIndexedInMemory() {
        const stdfs::path shared = m_folder.filePath("readonly").toStdString();
        stdfs::create_directories(shared);
        if (::mount("tmpfs", shared.c_str(), "tmpfs", 0, "size=4m") != 0) QSKIP("mounting needs root");
        m_workspace = shared;
        write("a", "summary.json", "A");
        const bool readOnly = ::mount(nullptr, shared.c_str(), nullptr, MS_REMOUNT | MS_RDONLY, nullptr) == 0;
        std::string text;
        bool refreshed = false;
        if (readOnly) {
            const auto history = History::open(shared);
            refreshed = history->refresh().ok() && history->update("a").ok();
            text = joined(*history);
        }
        ::umount2(shared.c_str(), MNT_DETACH);
        QVERIFY(readOnly && refreshed);
        QCOMPARE(text, std::string("a=A;"));
    }
    void severalWindowsShareOneIndex() {
        auto first = History::open(m_workspace), second = History::open(m_workspace);
        for (int i = 0; i < 50; ++i) {
            write("run" + std::to_string(i), "summary.json", std::to_string(i));
            QVERIFY((i % 2 == 0 ? first : second)->refresh().ok());
        }
        QVERIFY(first->refresh().ok() && second->refresh().ok());
        QCOMPARE(joined(*first), joined(*second));
        QCOMPARE(History::open(m_workspace)->rows()->size(), std::size_t{50});
    }
    void progressIsToldToTheEnd() {
        for (int i = 0; i < 450; ++i) write("run" + std::to_string(i), "summary.json", "x");
        std::vector<std::size_t> told;
        QVERIFY(History::open(m_workspace)->refresh([&](std::size_t done, std::size_t total) {
            QCOMPARE(total, std::size_t{450});
            told.push_back(done);
        }).ok());
        QVERIFY(told.size() > 2);
        QVERIFY(std::is_sorted(told.begin(), told.end()));
        QCOMPARE(told.back(), std::size_t{450});
    }
};

int main(int argc, char** argv) {
    if (argc == 3 && std::strcmp(argv[1], "--hold-lock") == 0) return holdLock(argv[2]);
    QCoreApplication application(argc, argv);
    TestHistory test;
    return QTest::qExec(&test, argc, argv);
}
#include "tst_history.moc"
