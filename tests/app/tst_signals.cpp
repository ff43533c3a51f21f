// labels: process slow
// timeout: 600
// SIGTERM, SIGINT and SIGHUP in every phase of a real run: the first one ends it cleanly with what it had, a second one at
// once, and what is written down is true.
#include "launch/run/checkpoint_choice.h"
#include "launch/run/settle.h"
#include "launch/run/standing.h"
#include "live/control_socket.h"
#include "rundir/checkpoint_manifest.h"
#include "supervised.h"

#include <QtTest/QTest>

#include <array>
#include <csignal>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

using namespace lathe;
using namespace lathe::test;
using rundir::State;

class TestSignals : public QObject {
    Q_OBJECT

    std::unique_ptr<Workspace> m_work;
    std::unique_ptr<QProcess> m_process;

    /// The plug-in keeps the worker in the phase while this pipe is there and open.
    int m_pipe = -1;
    std::filesystem::path hold() const { return m_work->scratch() / "hold"; }

    QStringList words(const char* verb, const QString& what, const QStringList& settings) const {
        QStringList words{verb, what, "--json"};
        for (const QString& one : settings) words << "--set" << one;
        return words << "--set" << QString::fromStdString("plugins.every_kind.hold_pipe=" + hold().string());
    }

    /// A run whose worker is in this phase, and stays in it until letGo().
    void holdIn(const std::string& phase) {
        m_work = std::make_unique<Workspace>();
        const auto plugins = m_work->scratch() / "plugins";
        std::filesystem::create_directory(plugins);
        std::filesystem::permissions(plugins, std::filesystem::perms::owner_all);
        std::filesystem::copy_file(LATHE_PLUGIN_EVERY_KIND, plugins / "every_kind.so");
        std::filesystem::permissions(plugins / "every_kind.so", std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
        m_work->setEnvironment("LATHE_PLUGINS", plugins.string());
        std::ofstream data(m_work->scratch() / "line.csv");
        data << "x,y\n";
        for (int i = 0; i < 64; ++i) data << i / 64.0 << "," << 2.0 * i / 64.0 << "\n";
        data.close();
        const auto yaml = m_work->scratch() / "line.yaml";
        std::ofstream(yaml) << "data: {train: line.csv, target: [y], batch_size: 16}\nmodel: {name: every_kind/product}\ntask: {name: every_kind/fourth}\n"
                               "optimizer: {name: sgd, learning_rate: 0.01}\nschedule: {name: constant}\nrun: {epochs: none, max_updates: 1000000000}\n"
                               "evaluation: {every: 3 updates}\ncheckpoint: {every: 2 updates, keep_last: 2}\nparallel: {device: cpu}\nplugins: {use: [every_kind]}\n";
        const QString file = QString::fromStdString(yaml.string()), held = QString::fromStdString("plugins.every_kind.hold_in=" + phase);
        if (phase == "loading the checkpoint") QCOMPARE(m_work->ask(words("run", file, {held, "run.max_updates=4"})).code, 0);
        QVERIFY(::mkfifo(hold().c_str(), 0600) == 0);
        m_pipe = ::open(hold().c_str(), O_RDWR | O_CLOEXEC);
        QVERIFY(m_pipe >= 0);
        m_process = phase == "loading the checkpoint" ? m_work->start(words("continue", "latest", {"run.max_updates=1000000000"})) : m_work->start(words("run", file, {held}));
        std::unique_ptr<live::ControlClient> client;
        if (phase == "paused") {
            QVERIFY(eventually([&] { return phaseNow(client) == "training"; }));
            QVERIFY(client->ask(live::Verb::Pause).ok());
        }
        QVERIFY2(eventually([&] { return phaseNow(client) == phase; }), phase.c_str());
    }
    void letGo() {
        if (m_pipe < 0) return;
        std::filesystem::remove(hold());
        ::close(std::exchange(m_pipe, -1));
    }

    std::string phaseNow(std::unique_ptr<live::ControlClient>& client) const {
        if (!client || !client->connected()) {
            const auto runs = rundir::listRuns(m_work->folder());
            auto connected = runs.empty() ? Result<std::unique_ptr<live::ControlClient>>(Error{}) : live::ControlClient::connect(runs.front().socket());
            if (!connected) return {};
            client = std::move(*connected);
        }
        const auto status = client->ask(live::Verb::Status);
        const auto json = status ? nlohmann::json::parse(status->json, nullptr, false) : nlohmann::json();
        return json.is_object() ? json.value("phase", "") : std::string();
    }

    void signal(int number) const { ::kill(static_cast<pid_t>(m_process->processId()), number); }

    /// What is written down agrees with what is there.
    void endIsTrue() const {
        const auto run = m_work->latest();
        const auto record = rundir::readSession(run, rundir::newestSession(run));
        QVERIFY(record.ok() && record->state.has_value());
        const std::int64_t reached = record->counters ? record->counters->globalStep.value() : 0;
        if (*record->state == State::Stopped) {
            QVERIFY2(!record->lastCheckpoint.empty(), record->why.c_str());
            QCOMPARE(rundir::parseCheckpointName(record->lastCheckpoint)->step.value(), reached);
        }
        if (!record->lastCheckpoint.empty()) QVERIFY(rundir::verifyCheckpoint(run.checkpoints() / record->lastCheckpoint)->ok());
        QVERIFY(launch::standingOf(run).state == *record->state);
        nothingIsLeft(run);
    }

    static void phases() {
        QTest::addColumn<QByteArray>("phase");
        QTest::addColumn<int>("number");
        int each = 0;
        for (const char* phase : {"starting", "loading data", "building the model", "loading the checkpoint", "first update", "training", "evaluating", "saving", "paused"})
            QTest::newRow(phase) << QByteArray(phase) << std::array{SIGTERM, SIGINT, SIGHUP}[static_cast<std::size_t>(each++ % 3)];
    }

private Q_SLOTS:
    void cleanup() { letGo(); }
    void theFirstOneEndsItCleanly_data() { phases(); }
    void theFirstOneEndsItCleanly() {
        QFETCH(QByteArray, phase);
        QFETCH(int, number);
        holdIn(phase.toStdString());
        if (QTest::currentTestFailed()) return;
        signal(number);
        letGo();
        const Answer answer = Workspace::finish(*m_process);
        QVERIFY2(answer.code == 4, (std::to_string(answer.code) + answer.out + answer.err).c_str());
        const State state = launch::standingOf(m_work->latest()).state;
        QVERIFY2(state == State::Stopped || state == State::Cancelled, std::string(rundir::name(state)).c_str());
        if (phase == "training" || phase == "evaluating" || phase == "saving" || phase == "paused") QVERIFY(state == State::Stopped);
        endIsTrue();
    }
    void aSecondOneEndsItAtOnce_data() { phases(); }
    void aSecondOneEndsItAtOnce() {
        QFETCH(QByteArray, phase);
        QFETCH(int, number);
        holdIn(phase.toStdString());
        if (QTest::currentTestFailed()) return;
        signal(number);
        signal(number == SIGTERM ? SIGINT : SIGTERM);
        const Answer answer = Workspace::finish(*m_process, 20'000);
        QVERIFY2(answer.code == 4 || answer.code == 5, (std::to_string(answer.code) + answer.out + answer.err).c_str());
        const State state = launch::standingOf(m_work->latest()).state;
        QVERIFY2(state == State::Stopped || state == State::Cancelled || state == State::Killed, std::string(rundir::name(state)).c_str());
        endIsTrue();
    }
    /// Whatever the worker was at, nobody asked for an end.
    void aLostSupervisorIsToldAsThat_data() { phases(); }
    void aLostSupervisorIsToldAsThat() {
        QFETCH(QByteArray, phase);
        holdIn(phase.toStdString());
        if (QTest::currentTestFailed()) return;
        const auto run = m_work->latest();
        QVERIFY(eventually([&] { return rundir::RunLock::isHeld(run.workersLock()); }));
        signal(SIGKILL);
        QVERIFY(m_process->waitForFinished());
        letGo();
        QVERIFY(eventually([&] { return !rundir::RunLock::isHeld(run.workersLock()); }));
        QCOMPARE(rundir::name(launch::standingOf(run).state), std::string_view("interrupted"));
        QVERIFY(launch::takeRun(run).ok());
        QCOMPARE(rundir::name(*rundir::readSession(run, rundir::newestSession(run))->state), std::string_view("interrupted"));
    }
    void oneThatComesWhileItEndsChangesNothing() {
        m_work = std::make_unique<Workspace>();
        for (int round = 0; round < 5; ++round) {
            m_process = m_work->start({"run", "digits-mlp", "--json", "--set", "run.max_updates=20"});
            const auto isFinishing = [&] {
                const auto runs = rundir::listRuns(m_work->folder());
                return int(runs.size()) > round && !launch::newestOnLine(runs.front()).empty();
            };
            QVERIFY(eventually(isFinishing));   // its last checkpoint is there, the exit record not yet
            for (int times = 0; times <= round % 3; ++times) signal(SIGTERM);
            const Answer answer = Workspace::finish(*m_process);
            QVERIFY2(answer.code == 0 || answer.code == 4 || answer.code == 5, answer.err.c_str());
            QCOMPARE(launch::standingOf(m_work->latest()).state == State::Completed, answer.code == 0);
            endIsTrue();
        }
    }
};

QTEST_GUILESS_MAIN(TestSignals)
#include "tst_signals.moc"
