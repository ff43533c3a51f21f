// labels: process fault
// timeout: 3600
// RELIABILITY F19, R7: command, supervisor, worker, window and whoever else watches are killed in random subsets and orders; after the
// next start nothing of it is left. With a worker that does not compute, so that many kills fit into little time.
#include "trainer_process.h"
#include "whole_form.h"

#include <QtTest/QTest>

using namespace lathe::test;

class TestKillStorm : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void nothingIsLeftOfManyKills() {
        Workspace work;
        const auto programs = work.scratch() / "programs";   // the real window beside the worker that does not compute
        std::filesystem::create_directories(programs);
        std::filesystem::create_symlink(LATHE_BIN_DIR "/../tests/fake/lathe-worker", programs / "lathe-worker");
        const bool hasWindow = std::filesystem::exists(LATHE_BIN_DIR "/lathe");   // not in the preset no-qt
        if (hasWindow) std::filesystem::create_symlink(LATHE_BIN_DIR "/lathe", programs / "lathe");
        work.setEnvironment("LATHE_PROGRAMS", programs.string());
        work.setScript("work");
        const bool isFull = isWhole();
        QStringList words{"drill", "--json", "--kills", isFull ? "1000" : "60", "--every", "0.2"};
        if (qEnvironmentVariableIsSet("LATHE_SEED")) words += {"--seed", qEnvironmentVariable("LATHE_SEED")};
        const Answer answer = work.ask(words, isFull ? 3'000'000 : 170'000);
        qInfo("%s", answer.out.c_str());
        QVERIFY2(answer.code == 0, (answer.out + answer.err).c_str());
        const auto told = answer.json();
        QVERIFY(told["broken"].empty() && told["left"].empty());
        QVERIFY(told["killed"].contains("worker") && told["killed"].contains("supervisor") && told["killed"].contains("command") && told["killed"].contains("window") == hasWindow);
    }
};

QTEST_GUILESS_MAIN(TestKillStorm)
#include "tst_kill_storm.moc"
