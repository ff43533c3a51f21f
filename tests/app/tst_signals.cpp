// labels: process slow
// timeout: 600
// SIGTERM, SIGINT and SIGHUP in every phase of a real run: the first one ends it cleanly with what it had, a second one at
// once, and what is written down is true.
#include "launch/verbs.h"
#include "live/control_socket.h"
#include "rundir/checkpoint_manifest.h"
#include "supervised.h"

#include <QtCore/QElapsedTimer>
#include <QtTest/QTest>

#include <array>
#include <csignal>
#include <optional>

using namespace lathe;
using namespace lathe::test;
using rundir::State;

class TestSignals : public QObject {
    Q_OBJECT

    std::unique_ptr<Workspace> m_work;
    std::unique_ptr<QProcess> m_process;

    static QStringList settings() {
        QStringList words;
        for (const char* one : {"run.epochs=none", "run.max_updates=1000000000", "evaluation.every=3 updates", "checkpoint.every=2 updates", "checkpoint.keep_last=2", "parallel.device=cpu"})
            words << "--set" << one;
        return words;
    }

    void begin(const std::string& phase) {
        m_work = std::make_unique<Workspace>();
        if (phase != "loading checkpoint") {
            m_process = m_work->start(QStringList{"run", "digits-convnet", "--json"} + settings());
            return;
        }
        QCOMPARE(m_work->ask(QStringList{"run", "digits-convnet", "--set", "run.max_updates=4"}).code, 0);
        m_process = m_work->start(QStringList{"continue", "latest", "--json"} + settings());
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

    /// Whether the run was seen in this phase.
    bool waitFor(const std::string& phase) {
        std::unique_ptr<live::ControlClient> client;
        QElapsedTimer timer;
        timer.start();
        bool trains = false;
        while (timer.elapsed() < 60'000 && m_process->state() != QProcess::NotRunning) {
            const std::string now = phaseNow(client);
            if (now == phase) return true;
            trains = trains || now == "training";
            if (trains && phase == "paused") static_cast<void>(client->ask(live::Verb::Pause));
            if (trains && (phase == "loading data" || phase == "building model" || phase == "loading checkpoint" || phase == "first update")) return false;   // it is over
            if (now.empty()) QTest::qWait(1);
        }
        return false;
    }

    bool isCaughtIn(const std::string& phase) {
        for (int attempt = 0; attempt < 5; ++attempt) {
            begin(phase);
            if (waitFor(phase)) return true;
            m_process->kill();
            m_process->waitForFinished();
        }
        return false;
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
        for (const char* phase : {"starting", "loading data", "building model", "loading checkpoint", "first update", "training", "evaluating", "saving", "paused"})
            QTest::newRow(phase) << QByteArray(phase) << std::array{SIGTERM, SIGINT, SIGHUP}[static_cast<std::size_t>(each++ % 3)];
    }

private Q_SLOTS:
    void theFirstOneEndsItCleanly_data() { phases(); }
    void theFirstOneEndsItCleanly() {
        QFETCH(QByteArray, phase);
        QFETCH(int, number);
        if (!isCaughtIn(phase.toStdString())) QSKIP("this phase is too short here to be met in five tries");
        signal(number);
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
        if (!isCaughtIn(phase.toStdString())) QSKIP("this phase is too short here to be met in five tries");
        signal(number);
        signal(number == SIGTERM ? SIGINT : SIGTERM);
        const Answer answer = Workspace::finish(*m_process, 20'000);
        QVERIFY2(answer.code == 4 || answer.code == 5, (std::to_string(answer.code) + answer.out + answer.err).c_str());
        const State state = launch::standingOf(m_work->latest()).state;
        QVERIFY2(state == State::Stopped || state == State::Cancelled || state == State::Killed, std::string(rundir::name(state)).c_str());
        endIsTrue();
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
