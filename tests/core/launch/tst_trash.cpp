// labels: process
// timeout: 300
// What goes to the trash, what comes back, and what is removed for good.
#include "base/file_system.h"
#include "trainer_process.h"

#include <QtTest/QTest>

#include <filesystem>
#include <string>
#include <vector>

using namespace lathe;
using namespace lathe::test;
using nlohmann::json;

class TestTrash : public QObject {
    Q_OBJECT

    std::unique_ptr<Workspace> m_workspace;

    Answer ask(const QStringList& words) const { return m_workspace->ask(words); }

private Q_SLOTS:
    void init() {
        m_workspace = std::make_unique<Workspace>();
        m_workspace->useFakeWorker(LATHE_BIN_DIR);
        m_workspace->setScript("metric 0.5; points 10; save; end completed, 0");
    }

    void aDeletedCheckpointLeavesWhatOthersShare() {
        m_workspace->setScript("metric 0.5; points 10; save; metric 0.9; points 10; save; points 5; save; end stopped, 4");
        QCOMPARE(ask({"run", "digits-mlp", "--set", "run.name=first"}).code, 4);
        const auto run = m_workspace->latest();
        QCOMPARE(ask({"fork", "first@20", "--set", "run.name=second"}).code, 4);  // shares the files of step 20
        const auto shared = run.checkpoints() / "s001-000000020/model-00000.safetensors";
        QCOMPARE(std::filesystem::hard_link_count(shared), std::uintmax_t{2});

        const Answer deleted = ask({"delete", "first@20", "--json"});
        QVERIFY2(deleted.code == 0, deleted.err.c_str());
        QCOMPARE(deleted.json()["checkpoint"], json("s001-000000020"));
        QVERIFY(!std::filesystem::exists(run.checkpoints() / "s001-000000020"));
        QCOMPARE(ask({"verify", "second@20"}).code, 0);
        const json left = ask({"show", "first", "--json"}).json();
        QCOMPARE(left["checkpoints"].size(), std::size_t{2});
        QCOMPARE(left["series"][0]["points"], json(25));  // its curves stay
        const auto names = *listFolder(run.checkpoints());
        for (const std::string& name : names) QVERIFY2(!name.starts_with("."), name.c_str());
        QCOMPARE(ask({"delete", "first@20"}).code, 2);  // gone
        // It comes back as it was, by its step, unless it is there again.
        QVERIFY(ask({"trash"}).out.find(run.name() + "@s001-000000020") != std::string::npos);
        const Answer back = ask({"restore", "first@20"});
        QVERIFY2(back.code == 0, back.err.c_str());
        QCOMPARE(ask({"verify", "first@20"}).code, 0);
        QCOMPARE(ask({"restore", "first@20"}).code, 2);
        QCOMPARE(ask({"delete", "first@20"}).code, 0);
        QCOMPARE(ask({"trash", "--empty"}).code, 0);
        QCOMPARE(ask({"trash", "--json"}).json(), json::array());
        QCOMPARE(ask({"restore", "first@20"}).code, 2);
        QCOMPARE(ask({"verify", "second@20"}).code, 0);   // what it shares is there as long as anybody needs it
        QCOMPARE(ask({"roll-back", "first@10"}).code, 4);
    }
    void onlyWhatIsNamedLeavesTheTrashForGood() {
        std::vector<std::string> folders;
        for (const char* name : {"one", "two"}) {
            QCOMPARE(ask({"run", "digits-mlp", "--set", QStringLiteral("run.name=%1").arg(QLatin1String(name))}).code, 0);
            folders.push_back(m_workspace->latest().name());
            QCOMPARE(ask({"delete", QString::fromStdString(folders.back())}).code, 0);
        }
        QCOMPARE(ask({"trash", QString::fromStdString(folders[0])}).code, 2);   // names alone remove nothing
        const Answer unknown = ask({"trash", "--empty", QString::fromStdString(folders[0]), "elsewhere"});
        QVERIFY2(unknown.code == 2 && unknown.err.find("\"elsewhere\" is not in the trash, so nothing was removed") != std::string::npos, unknown.err.c_str());
        QCOMPARE(ask({"trash", "--json"}).json().size(), std::size_t{2});
        QCOMPARE(ask({"trash", "--empty", QString::fromStdString(folders[0]), "--json"}).json(), json({{"removed", 1}}));
        const json left = ask({"trash", "--json"}).json();
        QVERIFY(left.size() == 1 && left[0]["name"] == "two");
    }
    void whatALinkInTheTrashPointsToIsNeverTouched() {
        QCOMPARE(ask({"run", "digits-mlp"}).code, 0);
        const auto run = m_workspace->latest();
        const auto outside = m_workspace->scratch() / "outside", trash = m_workspace->folder() / "trash";
        std::filesystem::create_directories(outside / "s001-000000010");
        std::filesystem::create_directories(trash);
        QVERIFY(replaceFile(FileSystem::real(), outside / "s001-000000010/precious", "x").ok());
        std::filesystem::create_directory_symlink(outside / "s001-000000010", trash / (run.name() + "@s001-000000010"));
        std::filesystem::create_directory_symlink(outside, trash / "elsewhere");
        QCOMPARE(ask({"trash", "--json"}).json(), json::array());
        QVERIFY(ask({"restore", QString::fromStdString(run.name()) + "@s001-000000010"}).code != 0);
        QCOMPARE(ask({"trash", "--empty"}).code, 0);
        std::filesystem::create_directory(trash / "mine");
        QCOMPARE(ask({"delete", QString::fromStdString(run.name())}).code, 0);
        const Answer emptied = ask({"trash", "--empty"});
        QVERIFY2(emptied.code == 0 && emptied.out.find("Removed 1 thing ") != std::string::npos && emptied.err.find("mine is no run or checkpoint") != std::string::npos, emptied.err.c_str());
        QCOMPARE(listFolder(trash)->size(), std::size_t{3});   // what delete did not put there is somebody's
        QVERIFY(std::filesystem::exists(outside / "s001-000000010/precious"));
    }
    void aTrashThatIsALinkIsRefused() {
        QCOMPARE(ask({"run", "digits-mlp", "--name", "one"}).code, 0);
        const auto outside = m_workspace->scratch() / "outside";
        std::filesystem::create_directories(outside / m_workspace->latest().name());
        std::filesystem::create_directory_symlink(outside, m_workspace->folder() / "trash");
        for (const QStringList& words : {QStringList{"trash"}, {"trash", "--empty"}, {"delete", "one"}, {"restore", "one"}}) {
            const Answer refused = ask(words);
            QVERIFY2(refused.code == 2 && refused.err.find("is a link") != std::string::npos, refused.err.c_str());
        }
        QCOMPARE(listFolder(outside)->size(), std::size_t{1});
        QCOMPARE(ask({"show", "one"}).code, 0);
    }
};

QTEST_GUILESS_MAIN(TestTrash)
#include "tst_trash.moc"
