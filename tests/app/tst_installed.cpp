// labels: process slow
// timeout: 400
// Lathe as a library: installed into a temporary folder, found by find_package, and the examples built and run against that.
#include "trainer_process.h"

#include <QStandardPaths>
#include <QtTest>

#include <fstream>

using namespace lathe;
using namespace lathe::test;
namespace stdfs = std::filesystem;

class InstalledTest : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void initTestCase() {
        const QString prefix = path("prefix"), build = path("examples");
        for (const char* part : {"development", "lathe-trainer", "lathe-worker", "resources"})
            ask("cmake", {"--install", LATHE_BUILD_DIR, "--prefix", prefix, "--component", part});
        QVERIFY2(stdfs::exists(stdfs::path(prefix.toStdString()) / "include/lathe/engine/plugin/plugin.h"), m_last.err.c_str());
        configure(QStringLiteral(LATHE_SOURCE_DIR "/examples"), build);
        ask("cmake", {"--build", build, "-j2"});
        QVERIFY2(m_last.code == 0, m_last.out.c_str());
    }

    // with its own presets, and without a path to LibTorch in the environment
    void theInstalledProgramsTrain() {
        ask(path("prefix/bin/lathe-trainer"), {"run", "digits-mlp", "--set", "run.epochs=1", "--workspace", path("elsewhere")});
        QVERIFY2(m_last.code == 0, (m_last.out + m_last.err).c_str());
        QVERIFY2(m_last.err.find("completed. Finished 1 epoch") != std::string::npos, m_last.err.c_str());
    }

    void aProgramOfYourOwnTrains() {
        ask(path("examples/train"), {"digits-mlp"});
        QVERIFY2(m_last.code == 0, (m_last.out + m_last.err).c_str());
        QVERIFY2(m_last.out.find("accuracy 0.9") != std::string::npos && m_last.out.find("Finished 20 epochs") != std::string::npos, m_last.out.c_str());
        ask(path("examples/train"), {"no-such-preset"});
        QCOMPARE(m_last.code, 2);
    }

    // two halves give the bits of the whole, and its curve is there
    void aLoopOfYourOwnGoesOnExactly() {
        const QString program = path("examples/own_loop");
        ask(program, {path("whole"), "100"});
        const std::string whole = m_last.out;
        QVERIFY2(m_last.code == 0 && whole.starts_with("update 100: loss "), (whole + m_last.err).c_str());
        ask(program, {path("halves"), "37"});
        ask(program, {path("halves"), "100"});
        QCOMPARE(m_last.out, whole);
        const Answer answer = m_work.ask({"run", "--json", "--", program, path("watched"), "50"});
        QVERIFY2(answer.code == 0, answer.err.c_str());
        QCOMPARE(m_work.ask({"show", "latest", "--json"}).json()["counters"]["global_step"].get<int>(), 50);
    }

    // one with LibTorch and a thing of each kind, which no target of the build knows
    void aPluginWithStrategiesIsBuiltAgainstTheInstallation() {
        const auto source = stdfs::path(path("own").toStdString());
        stdfs::create_directory(source);
        std::ofstream(source / "CMakeLists.txt") << "cmake_minimum_required(VERSION 3.25)\nproject(Own LANGUAGES C CXX)\nfind_package(Lathe REQUIRED)\n"
                                                    "lathe_add_plugin(every_kind " LATHE_SOURCE_DIR "/tests/programs/every_kind.cpp TORCH)\n";
        const QString build = path("own-build");
        configure(path("own"), build);
        ask("cmake", {"--build", build});
        QVERIFY2(m_last.code == 0, m_last.out.c_str());
        m_work.setEnvironment("LATHE_PLUGINS", build.toStdString());
        const Answer answer = m_work.ask({"run", "digits-mlp", "--json", "--set", "plugins.use=every_kind", "--set", "accumulation.rule=every_kind/growing", "--set",
                                          "parallel.strategy=every_kind/in_rank_order", "--set", "schedule.name=every_kind/halving", "--set", "precision.mode=every_kind/short",
                                          "--set", "parallel.ranks=2", "--set", "run.epochs=none", "--set", "run.max_updates=6", "--set", "evaluation.every=never"});   // its metric is of regressions
        QVERIFY2(answer.code == 0, answer.err.c_str());
        QCOMPARE(answer.json()["counters"]["global_step"].get<int>(), 6);
    }

    void thePluginIsLoadedByTheWorker() {
        m_work.setEnvironment("LATHE_PLUGINS", path("examples").toStdString());
        const Answer answer = m_work.ask({"run", "digits-mlp", "--json", "--set", "plugins.go_back.every=10", "--set", "run.epochs=1"});
        QVERIFY2(answer.code == 0, answer.err.c_str());
        const auto shown = m_work.ask({"show", "latest", "--json"}).json();
        QVERIFY(std::string(shown["environment"]["plug-in go_back"]).starts_with("1.0, "));
        QVERIFY2(shown["series"].dump().find("eval/loss") != std::string::npos, shown["series"].dump().c_str());
    }

private:
    void configure(const QString& source, const QString& build) {
        ask("cmake", {"-S", source, "-B", build, "-G", "Ninja", "-DCMAKE_PREFIX_PATH=" + path("prefix"), "-DCMAKE_CXX_COMPILER=" LATHE_CXX, "-DCMAKE_C_COMPILER=" LATHE_CC,
                      "-DCMAKE_CXX_COMPILER_LAUNCHER=" + QStandardPaths::findExecutable("ccache")});
        QVERIFY2(m_last.code == 0, (m_last.out + m_last.err).c_str());
    }
    QString path(const char* name) const { return QString::fromStdString((m_work.scratch() / name).string()); }
    void ask(const QString& program, const QStringList& words) { m_last = Workspace::finish(*m_work.startProgram(program, words), 300'000); }

    Workspace m_work;
    Answer m_last;
};

QTEST_GUILESS_MAIN(InstalledTest)
#include "tst_installed.moc"
