// labels: process
// The state of a repository as git itself made it, read without git.
#include "launch/command/git_state.h"

#include <QtCore/QProcess>
#include <QtCore/QStandardPaths>
#include <QtCore/QTemporaryDir>
#include <QtTest/QTest>

#include <filesystem>
#include <fstream>

using namespace lathe::launch;
namespace stdfs = std::filesystem;

class TestGitState : public QObject {
    Q_OBJECT

    std::unique_ptr<QTemporaryDir> m_folder;
    stdfs::path root() const { return stdfs::path(m_folder->path().toStdString()) / "repo"; }

    QString git(const QStringList& words, const stdfs::path& folder = {}) const {
        QProcess process;
        QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
        for (const char* name : {"GIT_AUTHOR_NAME", "GIT_COMMITTER_NAME", "GIT_AUTHOR_EMAIL", "GIT_COMMITTER_EMAIL"}) environment.insert(QString::fromLatin1(name), QStringLiteral("a@b"));
        environment.insert(QStringLiteral("GIT_CONFIG_GLOBAL"), QStringLiteral("/dev/null"));
        process.setProcessEnvironment(environment);
        process.setWorkingDirectory(QString::fromStdString((folder.empty() ? root() : folder).string()));
        process.start(QStringLiteral("git"), words);
        if (!process.waitForFinished() || process.exitCode() != 0) qFatal("git %s: %s", qPrintable(words.join(QLatin1Char(' '))), process.readAllStandardError().constData());
        return QString::fromUtf8(process.readAllStandardOutput()).trimmed();
    }
    void write(const char* name, const std::string& text) const {
        stdfs::create_directories((root() / name).parent_path());
        std::ofstream(root() / name) << text;
    }
    std::string dirty() const { return gitStateOf(root())->dirty; }

private Q_SLOTS:
    void initTestCase() {
        if (QStandardPaths::findExecutable(QStringLiteral("git")).isEmpty()) QSKIP("git is not installed");
    }
    void init() {
        m_folder = std::make_unique<QTemporaryDir>();
        stdfs::create_directories(root());
        git({"init", "-q", "-b", "main"});
        for (int i = 0; i < 20; ++i) write(("src/part/file" + std::to_string(i) + ".py").c_str(), std::string(std::size_t(i), 'x'));
        git({"add", "."});
        git({"commit", "-q", "-m", "first"});
    }

    void commitAndBranchAreThoseOfGit() {
        const auto state = gitStateOf(root() / "src");
        QVERIFY(state.has_value());
        QCOMPARE(QString::fromStdString(state->commit), git({"rev-parse", "HEAD"}));
        QCOMPARE(state->branch, std::string("main"));
        QCOMPARE(state->dirty, std::string("no"));
        git({"pack-refs", "--all"});
        QCOMPARE(QString::fromStdString(gitStateOf(root())->commit), git({"rev-parse", "HEAD"}));
        git({"checkout", "-q", "--detach"});
        QVERIFY(gitStateOf(root())->branch.empty());
        QCOMPARE(QString::fromStdString(gitStateOf(root())->commit), git({"rev-parse", "HEAD"}));
    }
    void everyFormOfTheIndexIsRead_data() {
        QTest::addColumn<QString>("version");
        for (const char* version : {"2", "3", "4"}) QTest::newRow(version) << QString::fromLatin1(version);
    }
    void everyFormOfTheIndexIsRead() {
        QFETCH(QString, version);
        git({"update-index", "--index-version", version});
        QCOMPARE(dirty(), std::string("no"));
        write("src/part/file3.py", "changed");
        QCOMPARE(dirty(), std::string("yes, 1 file"));
        stdfs::remove(root() / "src/part/file7.py");
        write("not-tracked.txt", "x");
        QCOMPARE(dirty(), std::string("yes, 2 files"));
        git({"checkout", "-q", "."});
        QCOMPARE(dirty(), std::string("no"));
        stdfs::permissions(root() / "src/part/file1.py", stdfs::perms::owner_all);
        QCOMPARE(dirty(), std::string("yes, 1 file"));
    }
    void whatIsStagedCountsAsDirty() {
        write("src/part/file3.py", "changed");
        git({"add", "."});
        QCOMPARE(dirty(), std::string("yes, staged"));
        git({"commit", "-q", "-m", "second"});
        QCOMPARE(dirty(), std::string("no"));
    }
    void linkedWorkTreesHaveTheirOwnBranch() {
        const stdfs::path other = root().parent_path() / "other";
        git({"worktree", "add", "-q", "-b", "side", QString::fromStdString(other.string())});
        const auto state = gitStateOf(other);
        QVERIFY(state.has_value());
        QCOMPARE(state->branch, std::string("side"));
        QCOMPARE(QString::fromStdString(state->commit), git({"rev-parse", "side"}));
        QCOMPARE(state->dirty, std::string("no"));
    }
    /// Whatever a hostile repository names is not run; a hook or monitor would leave its mark.
    void nothingOfTheRepositoryIsRun() {
        const std::string mark = (root().parent_path() / "ran").string();
        git({"config", "core.fsmonitor", QString::fromStdString("touch " + mark)});
        git({"config", "filter.x.clean", QString::fromStdString("touch " + mark)});
        write(".gitattributes", "* filter=x\n");
        write("src/part/file3.py", "other");
        QCOMPARE(dirty(), std::string("yes, 1 file"));
        QVERIFY(!stdfs::exists(mark));
    }
    void damagedRepositoriesAreSaidToBeUnknown() {
        std::ifstream in(root() / ".git/index", std::ios::binary);
        const std::string whole((std::istreambuf_iterator<char>(in)), {});
        for (std::size_t bytes = 0; bytes < whole.size() - 20; bytes += 7) {
            std::ofstream(root() / ".git/index", std::ios::binary | std::ios::trunc) << whole.substr(0, bytes);
            const auto state = gitStateOf(root());
            QVERIFY(state.has_value());
            const bool cutBehindTheEntries = state->dirty == "no" || state->dirty == "yes, staged";
            QVERIFY2(cutBehindTheEntries || state->dirty.starts_with("unknown"), state->dirty.c_str());
            if (bytes < whole.size() / 2) QVERIFY(!cutBehindTheEntries);
        }
        std::ofstream(root() / ".git/HEAD", std::ios::trunc) << "ref: ../../../etc/passwd\n";
        QVERIFY(gitStateOf(root())->commit.empty());
        QVERIFY(!gitStateOf("/proc").has_value());
    }
};

QTEST_GUILESS_MAIN(TestGitState)
#include "tst_git_state.moc"
