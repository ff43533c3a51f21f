// labels: process gui
// The real window program on a live run: two of them at once, killed while they watch.
#include "trainer_process.h"

#include "rundir/run_folder.h"
#include "store/run_store.h"

#include <QtCore/QDir>
#include <QtCore/QFile>

using namespace lathe;
using namespace lathe::test;

namespace {

/// Whether a process has mapped a run's shared memory: then it watches live.
bool watches(const QProcess& window) {
    const auto maps = readFile("/proc/" + std::to_string(window.processId()) + "/maps", 8u << 20);
    return maps && maps->find("memfd:lathe-run") != std::string::npos;
}

}  // namespace

class WindowsKilledTest : public QObject {
    Q_OBJECT
    Workspace m_workspace;
    std::string m_run;

    std::unique_ptr<QProcess> openWindow(const QString& settings) {
        auto process = std::make_unique<QProcess>();
        QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
        environment.insert(QStringLiteral("QT_QPA_PLATFORM"), QStringLiteral("offscreen"));
        environment.insert(QStringLiteral("LATHE_SETTINGS"), QString::fromStdString((m_workspace.scratch() / settings.toStdString()).string()));
        process->setProcessEnvironment(environment);
        process->start(QStringLiteral(LATHE_BIN_DIR "/lathe"), {QStringLiteral("--workspace"), QString::fromStdString(m_workspace.folder().string()),
                                                                QString::fromStdString(m_run)});
        return process;
    }
    std::int64_t step() {
        const auto summary = rundir::readSummary(m_workspace.latest());
        return summary ? summary->counters.globalStep.value() : -1;
    }

private Q_SLOTS:
    void initTestCase() {
        if (!QFile::exists(QStringLiteral(LATHE_BIN_DIR "/lathe"))) QSKIP("the window is not built (preset no-qt)");
        const Answer started = m_workspace.ask({QStringLiteral("run"), QStringLiteral("digits-mlp"), QStringLiteral("--detach"), QStringLiteral("--json"),
            QStringLiteral("--set"), QStringLiteral("run.epochs=1000000"), QStringLiteral("--set"), QStringLiteral("parallel.threads=1"),
            QStringLiteral("--set"), QStringLiteral("evaluation.every=never")});
        QVERIFY2(started.code == 0, started.err.c_str());
        m_run = m_workspace.latest().name();
    }
    void cleanupTestCase() {
        if (!m_run.empty()) static_cast<void>(m_workspace.ask({QStringLiteral("stop"), QStringLiteral("latest"), QStringLiteral("--discard")}));
    }

    void twoWindowsWatchOneRunAndTheirDeathDoesNotTouchIt() {
        auto first = openWindow(QStringLiteral("first.ini")), second = openWindow(QStringLiteral("second.ini"));
        QVERIFY2(eventually([&] { return watches(*first) && watches(*second); }), "both windows map the run's shared memory");
        first->kill();  // SIGKILL
        QVERIFY(first->waitForFinished());
        QVERIFY(watches(*second));
        const std::int64_t then = step();
        QVERIFY2(eventually([&] { return step() > then; }), "the run goes on after the first window's death");
        second->kill();
        QVERIFY(second->waitForFinished());
        const std::int64_t later = step();
        QVERIFY2(eventually([&] { return step() > later; }), "and after the second's");

        auto again = openWindow(QStringLiteral("first.ini"));
        QVERIFY2(eventually([&] { return watches(*again); }), "a new window finds the run");
        again->kill();
        again->waitForFinished();
    }
    void theRunEndsAsAskedWithEveryPoint() {
        const Answer stopped = m_workspace.ask({QStringLiteral("stop"), QStringLiteral("latest")});
        QVERIFY2(stopped.code == 0, stopped.err.c_str());
        const rundir::RunFolder run = m_workspace.latest();
        QVERIFY(eventually([&] { return !rundir::RunLock::isHeld(run.lock()); }));
        const auto record = rundir::readSession(run, 1);
        QVERIFY(record.ok() && record->state == rundir::State::Stopped);
        const auto points = (*store::RunReader::open(run.database()))->points("train/loss", store::RunReader::Line::Surviving);
        QVERIFY(points.ok());
        QCOMPARE(static_cast<std::int64_t>(points->size()), record->counters->globalStep.value());
        for (std::size_t i = 0; i < points->size(); ++i) QCOMPARE((*points)[i].step, static_cast<std::int64_t>(i) + 1);
    }
};

QTEST_GUILESS_MAIN(WindowsKilledTest)
#include "tst_windows_killed.moc"
