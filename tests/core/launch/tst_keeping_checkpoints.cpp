// labels: process
// Checkpoints of runs under a real supervisor: what is re-read in the background, said when it is damaged, kept and removed.
#include "base/clock.h"
#include "rundir/checkpoint_manifest.h"
#include "supervised.h"

#include "base/file_system.h"

#include <nlohmann/json.hpp>

#include <QtTest>

#include <QTemporaryDir>

#include <algorithm>
#include <fstream>

using namespace lathe;
using namespace lathe::test;
using nlohmann::json;

class KeepingCheckpointsTest : public QObject {
    Q_OBJECT

    std::unique_ptr<Workspace> m_workspace;
    char m_last = 0;   ///< what stood where damage() was done

    Answer ask(const QStringList& words) const { return m_workspace->ask(words); }
    rundir::RunFolder run() const { return m_workspace->latest(); }
    std::vector<rundir::CheckpointInfo> all() const { return rundir::listCheckpoints(run().checkpoints()); }
    json plan(const QStringList& more = {}) const {
        const Answer answer = ask(QStringList{"checkpoints", "latest", "--json"} + more);
        if (answer.code != 0) qFatal("%s", answer.out.c_str());
        return json::parse(answer.out);
    }
    static std::vector<std::string> kept(const json& plan) {
        std::vector<std::string> out;
        for (const json& row : plan.at("checkpoints"))
            if (row.at("kept").get<bool>()) out.push_back(row.at("folder"));
        return out;
    }
    static char exchangeLast(const rundir::RunFolder& run, const std::string& folder, char byte) {
        std::fstream file(run.checkpoints() / folder / "model-00000.safetensors", std::ios::in | std::ios::out | std::ios::binary);
        file.seekg(-1, std::ios::end);
        const int was = file.get();
        file.seekp(-1, std::ios::end);
        file.put(byte);
        return static_cast<char>(was);
    }
    void damage(const rundir::RunFolder& run, const std::string& folder) { m_last = exchangeLast(run, folder, '!'); }
    void mend(const rundir::RunFolder& run, const std::string& folder) { exchangeLast(run, folder, m_last); }

    /// What `hold` in a script waits for.
    std::string gate() {
        if (!m_gates) m_gates = std::make_unique<QTemporaryDir>();
        return (std::filesystem::path(m_gates->path().toStdString()) / std::to_string(m_gate)).string();
    }
    void openGate() {
        if (!replaceFile(FileSystem::real(), gate(), "open").ok()) qFatal("gate");
        ++m_gate;
    }
    /// Usable checkpoints that were not re-read yet.
    std::ptrdiff_t unread() const {
        const auto infos = all();
        return std::count_if(infos.begin(), infos.end(), [](const auto& info) { return info.problem.empty() && info.verifiedNs == 0; });
    }
    /// What the run's end left no time for: the rule holds on to what is known to be whole.
    void reRead() const {
        for (const auto& info : all()) {
            const auto folder = run().checkpoints() / info.folder;
            const auto found = rundir::verifyCheckpoint(folder);
            if (!found || !found->ok() || !rundir::writeVerified(FileSystem::real(), folder, *found, Clock::system().wallNs())) qFatal("re-read");
        }
    }
    std::ptrdiff_t damageTold() const {
        const auto kinds = eventKinds(run());
        return std::count(kinds.begin(), kinds.end(), "checkpoint_damaged");
    }

    std::unique_ptr<QTemporaryDir> m_gates;
    int m_gate = 0;

private Q_SLOTS:
    void aSaveUnderWayIsNoDamage() {
        m_workspace = fresh("points 5; save; points 5; partial; train");
        const auto process = m_workspace->start({"run", "digits-mlp"});
        QVERIFY(eventually([&] { return !rundir::listRuns(m_workspace->folder()).empty() && all().size() == 2; }));
        const Answer shown = ask({"checkpoints", "latest"});
        QVERIFY2(shown.out.find("s001-000000010  is being written") != std::string::npos && shown.out.find("cannot be used") == std::string::npos, shown.out.c_str());
        process->terminate();
        Workspace::finish(*process);
        QVERIFY(ask({"checkpoints", "latest"}).out.find("is being written") == std::string::npos);   // nobody is there who could
    }
    void whatARunSavesIsReReadWhileItRuns() {
        m_workspace = fresh("points 5; save; points 5; save; hold " + gate() + "; end completed, 0");
        QCOMPARE(ask({"run", "digits-mlp", "--detach"}).code, 0);
        QVERIFY(eventually([&] { return all().size() == 2 && unread() == 0; }));
        for (const auto& info : all()) QVERIFY2(info.problem.empty(), info.folder.c_str());
        const json shown = ask({"show", "latest", "--json"}).json();
        QVERIFY(shown["checkpoints"][0]["verified"].is_string());
        openGate();
        QVERIFY(eventually([&] { return rundir::readSession(run(), rundir::newestSession(run()))->state && !rundir::RunLock::isHeld(run().lock()); }));
    }

    /// The end waits for no re-reading; what is left of it the next session does at once, and does not wait for a save of its own
    void whatARunLeavesIsReReadInItsNextSession() {
        m_workspace = fresh("points 5; save; points 5; save; end completed, 0");
        QCOMPARE(ask({"run", "digits-mlp"}).code, 0);
        for (const auto& info : all()) std::filesystem::remove(run().checkpoints() / info.folder / "verified.json");   // as if it had ended before
        damage(run(), "s001-000000005");
        m_workspace->setScript("hold " + gate() + "; end completed, 0");
        QCOMPARE(ask({"continue", "latest", "--detach"}).code, 0);
        QVERIFY(eventually([&] { return unread() == 0; }));
        QVERIFY(eventually([&] { return damageTold() == 1; }));
        QVERIFY(all()[0].problem.starts_with("Damaged: model-00000.safetensors") && all()[1].verifiedNs > 0);
        openGate();
        QVERIFY(eventually([&] { return rundir::readSession(run(), rundir::newestSession(run()))->state && !rundir::RunLock::isHeld(run().lock()); }));
    }

    /// Found while the run is up: it is said, no longer offered, and the one before is gone on from
    void aDamagedCheckpointIsSaidAndNotOffered() {
        m_workspace = fresh("points 5; save; points 5; save; end completed, 0");
        QCOMPARE(ask({"run", "digits-mlp"}).code, 0);
        damage(run(), "s001-000000010");
        std::filesystem::remove(run().checkpoints() / "s001-000000010/verified.json");
        m_workspace->setScript("points 5; save; hold " + gate() + "; end completed, 0");
        QCOMPARE(ask({"roll-back", "latest@5", "--detach"}).code, 0);
        QVERIFY(eventually([&] { return all().size() == 3 && unread() == 0 && damageTold() == 1; }));
        openGate();
        QVERIFY(eventually([&] { return rundir::readSession(run(), rundir::newestSession(run()))->state && !rundir::RunLock::isHeld(run().lock()); }));
        for (const auto& info : all()) {
            if (info.folder != "s001-000000010") QVERIFY2(info.problem.empty(), info.problem.c_str());
            else QVERIFY2(info.problem.starts_with("Damaged: model-00000.safetensors"), info.problem.c_str());
        }
        const json row = plan()["checkpoints"][1];
        QVERIFY(row["kept"].get<bool>() && row["problem"].get<std::string>().find("Damaged") != std::string::npos);
        QCOMPARE(ask({"verify", "latest@s001-000000010"}).code, 3);
        mend(run(), "s001-000000010");
        QCOMPARE(ask({"verify", "latest@s001-000000010"}).code, 0);
        for (const auto& info : all()) QVERIFY2(info.problem.empty(), info.problem.c_str());
        damage(run(), "s001-000000005");   // what verify finds is known to everybody after it, too
        QCOMPARE(ask({"verify", "latest@s001-000000005"}).code, 3);
        const json shown = ask({"show", "latest", "--json"}).json();
        QVERIFY2(!shown["checkpoints"][0]["valid"].get<bool>(), shown["checkpoints"].dump().c_str());
    }

    void whatTheRuleWouldRemoveCanBeAskedBefore() {
        m_workspace = fresh("points 5; save; points 5; save; points 5; save; points 5; save; end completed, 0");
        QCOMPARE(ask({"run", "digits-mlp", "--set", "checkpoint.keep_last=9"}).code, 0);
        reRead();
        QVERIFY(plan()["would_remove"] == 0);
        QCOMPARE(ask({"pin", "latest@5"}).code, 0);
        const QStringList less{"--set", "checkpoint.keep_last=1", "--set", "checkpoint.keep_best=0"};
        const json asked = plan(less);
        QCOMPARE(kept(asked), (std::vector<std::string>{"s001-000000005", "s001-000000020"}));
        QVERIFY(asked["would_remove"] == 2);
        QVERIFY(asked["would_free_bytes"].get<std::int64_t>() > 0);
        QCOMPARE(all().size(), std::size_t(4));   // asking removes nothing
        QCOMPARE(kept(plan(QStringList{"--set", "checkpoint.keep_every=15"} + less)), (std::vector<std::string>{"s001-000000005", "s001-000000015", "s001-000000020"}));
        const Answer text = ask(QStringList{"checkpoints", "latest"} + less);
        QVERIFY2(text.out.find("would go: neither among the newest 1") != std::string::npos && text.out.find("kept: pinned") != std::string::npos, text.out.c_str());
        QCOMPARE(ask({"checkpoints", "latest", "--set", "checkpoint.keep_last=0"}).code, 2);
        QCOMPARE(ask({"checkpoints", "latest", "--set", "checkpoint.keep_lst=1"}).code, 2);
        // The same once it is applied.
        m_workspace->setScript("points 5; save; end completed, 0");
        QCOMPARE(ask(QStringList{"continue", "latest"} + less).code, 0);
        std::vector<std::string> left;
        for (const auto& info : all()) left.push_back(info.folder);
        QCOMPARE(left, (std::vector<std::string>{"s001-000000005", "s001-000000020", "s002-000000025"}));   // 20 is what it went on from
    }

    void whatOtherRunsWereMadeFromStays() {
        m_workspace = fresh("points 5; save; points 5; save; points 5; save; end completed, 0");
        QCOMPARE(ask({"run", "digits-mlp", "--set", "run.name=parent", "--set", "checkpoint.keep_last=9"}).code, 0);
        reRead();
        m_workspace->setScript("points 5; save; end completed, 0");
        QCOMPARE(ask({"fork", "parent@5", "--set", "run.name=child"}).code, 0);
        const auto parentPlan = [&] { return ask({"checkpoints", "parent", "--json", "--set", "checkpoint.keep_last=1", "--set", "checkpoint.keep_best=0"}).json(); };
        QCOMPARE(kept(parentPlan()), (std::vector<std::string>{"s001-000000005", "s001-000000015"}));
        QVERIFY(parentPlan()["checkpoints"][0]["why"] == "another run was made from it");
        QCOMPARE(ask({"unpin", "parent@5"}).code, 0);
        QVERIFY(kept(parentPlan()).front() != "s001-000000005");
        // The child has the files under names of its own.
        QCOMPARE(ask({"delete", "parent@5"}).code, 0);
        QCOMPARE(ask({"verify", "child@5"}).code, 0);
    }

    void aScriptsRunHasNoRuleOfOurs() {
        m_workspace = fresh("end completed, 0");
        QCOMPARE(ask({"run", "--", "true"}).code, 0);
        const Answer answer = ask({"checkpoints", "latest"});
        QCOMPARE(answer.code, 2);
    }
};

QTEST_GUILESS_MAIN(KeepingCheckpointsTest)
#include "tst_keeping_checkpoints.moc"
