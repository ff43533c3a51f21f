// labels: process
// What the terminal tells of a run: its events, its checkpoints by any name, one update of its own configuration, and what
// could not be done.
#include "trainer_process.h"

#include "store/run_store.h"

#include <QtTest/QTest>

using namespace lathe;
using namespace lathe::test;
using nlohmann::json;

class TestTold : public QObject {
    Q_OBJECT
    std::unique_ptr<Workspace> m_work;

    Answer ask(const QStringList& words) const { return m_work->ask(words); }
    static bool says(const Answer& answer, const std::string& part) { return (answer.out + answer.err).find(part) != std::string::npos; }

private Q_SLOTS:
    void init() {
        m_work = std::make_unique<Workspace>();
        m_work->useFakeWorker(LATHE_BIN_DIR);
        m_work->setScript("metric 0.5; until 10; save; warn careful; metric 0.4; until 20; save; end completed, 0");
        QCOMPARE(ask({"run", "digits-mlp", "--json", "--set", "accumulation.micro_batches=3"}).code, 0);
    }

    void eventsAreToldInOrder() {
        const json all = ask({"events", "latest", "--json"}).json();
        QVERIFY(all.is_array() && all.size() >= 4);
        std::vector<std::string> kinds;
        std::int64_t last = 0;
        for (const json& event : all) {
            for (const char* key : {"id", "session", "attempt", "step", "time", "kind", "text", "facts"}) QVERIFY2(event.contains(key), key);
            QVERIFY(event["id"].get<std::int64_t>() > last);
            last = event["id"];
            kinds.push_back(event["kind"]);
        }
        const auto place = [&](const char* kind) { return std::find(kinds.begin(), kinds.end(), kind) - kinds.begin(); };
        QVERIFY(place("checkpoint") < place("warning") && place("warning") < place("ended") && place("ended") < std::ptrdiff_t(kinds.size()));
        const json warnings = ask({"events", "latest", "--kind", "warning", "--json"}).json();
        QCOMPARE(warnings.size(), std::size_t(1));
        QVERIFY(warnings[0]["text"] == "careful" && warnings[0]["step"] == 10);
        const Answer table = ask({"events", "latest", "--kind", "warning", "--kind", "checkpoint"});
        QVERIFY2(table.code == 0 && says(table, "step 10") && says(table, "careful") && says(table, "checkpoint") && !says(table, "ended"), table.out.c_str());
        QCOMPARE(ask({"events", "latest", "--since", "1h", "--json"}).json().size(), all.size());
        const Answer mistyped = ask({"events", "latest", "--kind", "warnings"});
        QVERIFY2(mistyped.code == 2 && says(mistyped, "checkpoint, ") && says(mistyped, "warning"), mistyped.err.c_str());
        QCOMPARE(ask({"events", "latest", "--since", "when"}).code, 2);
        QCOMPARE(ask({"events", "nobody"}).code, 2);
    }

    void aCheckpointIsNamedInAnyWay() {
        const std::string id = rundir::readManifest(m_work->latest())->id;
        const auto at = [&](const QString& name) { return ask({"verify", name, "--json"}).json().value("checkpoint", std::string()); };
        for (const QString& newest : {QStringLiteral("latest"), QString::fromStdString(id), QStringLiteral("20"), QStringLiteral("latest@20"), QStringLiteral("latest@latest"), QStringLiteral("s001-000000020")})
            QVERIFY2(at(newest).ends_with("s001-000000020"), newest.toUtf8().constData());
        for (const char* best : {"best", "latest@best", "10"}) QVERIFY2(at(QLatin1String(best)).ends_with("s001-000000010"), best);
        QVERIFY(at(QString::fromStdString((m_work->latest().checkpoints() / "s001-000000010").string())).ends_with("s001-000000010"));
        const Answer none = ask({"verify", "15"});
        QVERIFY2(none.code == 2 && says(none, "has no checkpoint at step 15; there are: 10, 20"), none.err.c_str());
        const Answer vague = ask({"roll-back", "latest"});   // it is there already
        QVERIFY2(vague.code == 2 && says(vague, "say where to go back to (RUN@STEP)"), vague.err.c_str());
        QCOMPARE(rundir::newestSession(m_work->latest()), 1);
        QCOMPARE(ask({"pin", "10"}).code, 0);
    }

    void aRunIsExplainedByItsOwnConfiguration() {
        const Answer answer = ask({"explain", "latest"});
        QVERIFY2(answer.code == 0 && says(answer, "3 micro-batches"), (answer.out + answer.err).c_str());
        const Answer nobody = ask({"explain", "nobody"});
        QVERIFY2(nobody.code == 2 && says(nobody, "no file and no preset"), nobody.err.c_str());
    }

    void noBestToRestoreIsSaid() {
        m_work->setScript("until 5; save; end completed, 0");
        QCOMPARE(ask({"run", "digits-mlp", "--json", "--set", "evaluation.restore_best=true"}).code, 0);
        const json warnings = ask({"show", "latest", "--json"}).json()["warnings"];
        QVERIFY2(warnings.dump().find("has a value of eval/accuracy (evaluation.best_metric)") != std::string::npos, warnings.dump().c_str());
    }
};

QTEST_GUILESS_MAIN(TestTold)
#include "tst_told.moc"
