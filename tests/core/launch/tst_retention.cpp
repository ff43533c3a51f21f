// What the rule lets go with the next checkpoint is told before it does.
#include "launch/session/retention.h"

#include "base/file_system.h"
#include "config/config.h"
#include "config/metrics.h"
#include "fixture_run.h"
#include "rundir/checkpoint_manifest.h"
#include "store/sqlite.h"
#include "without_override.h"

#include <QTemporaryDir>
#include <QtTest/QTest>

#include <algorithm>
#include <filesystem>
#include <map>

using namespace lathe;
using tests::FixtureRun;
using Names = std::vector<std::string>;

class TestRetention : public QObject {
    Q_OBJECT

    std::unique_ptr<QTemporaryDir> m_folder;
    std::unique_ptr<FixtureRun> m_run;
    config::RunConfig m_config;

    std::string name(std::int64_t step) const { return rundir::checkpointName(1, GlobalStep(step)); }
    void save(std::int64_t step, const char* value) { m_run->checkpoint(1, step, {{"eval/" + config::bestMetric(m_config)->name, value}}); }
    Names next() const {
        const auto plan = launch::planRetention(m_run->folder());
        if (!plan) qFatal("%s", plan.error().text().c_str());
        Names names;
        for (const auto& one : *plan)
            if (one.goesNext) names.push_back(one.info.folder);
        return names;
    }

private Q_SLOTS:
    void init() {
        m_folder = std::make_unique<QTemporaryDir>();
        m_config = config::load("digits-mlp")->config;
        m_config.checkpoint.keepLast = 2;
        m_config.checkpoint.keepBest = 1;
        m_run = std::make_unique<FixtureRun>(m_folder->path().toStdString(), "one", config::toYaml(m_config));
        m_run->beginSession(1);
        QVERIFY(replaceFile(FileSystem::real(), m_run->folder().sessionYaml(1), config::toYaml(m_config)).ok());
    }

    void nothingGoesWhileThereIsRoom() {
        QVERIFY(next().empty());
        save(10, "0.5");
        QVERIFY(next().empty());
    }
    void theOldestOfTheLastGoesAndTheBestStays() {
        const bool higher = config::bestMetric(m_config)->higherIsBetter;
        save(10, higher ? "0.9" : "0.1");
        save(20, "0.5");
        save(30, "0.5");
        QCOMPARE(next(), Names{name(20)});   // the next one and 30 are the last two, 10 is the best
    }
    void whatIsPinnedOrInUseStays() {
        for (const std::int64_t step : {10, 20, 30, 40}) save(step, "0.5");
        QVERIFY(rundir::editUser(FileSystem::real(), m_run->folder(), [&](rundir::UserRecord& user) { user.pinned = {name(20)}; }).ok());
        const Names names = next();
        QVERIFY(std::find(names.begin(), names.end(), name(20)) == names.end());
        QVERIFY(std::find(names.begin(), names.end(), name(30)) != names.end());
        QVERIFY(std::find(names.begin(), names.end(), name(40)) == names.end());
    }
    /// The line that goes on keeps its newest; what going back left is not counted, and the newest of it stays.
    void afterGoingBackTheLineThatGoesOnCounts() {
        for (const std::int64_t step : {5, 10, 20, 30, 40}) save(step, "0.5");
        m_config.checkpoint.keepBest = 0;
        m_run->beginSession(2, "roll_back", 1, 20);
        m_run->checkpoint(2, 25);
        const auto plan = launch::planRetention(m_run->folder(), m_config);
        QVERIFY(plan.ok());
        std::map<std::string, std::string> why;
        for (const auto& one : *plan) why[one.info.folder] = one.choice.kept() ? one.why : "";
        const std::map<std::string, std::string> wanted = {{name(5), ""}, {name(10), ""}, {name(20), "newest"}, {name(30), ""},
                                                           {name(40), "newest of a branch that was left"}, {rundir::checkpointName(2, GlobalStep(25)), "newest"}};
        QCOMPARE(why, wanted);
        QVERIFY(launch::applyRetention(FileSystem::real(), m_run->folder(), m_config, m_run->writer(), {}).done.ok());
        for (const auto& [folder, reason] : wanted) QCOMPARE(std::filesystem::exists(m_run->folder().checkpoints() / folder), !reason.empty());
    }
    /// A branch that was left and one that was left of it: each has its newest
    void eachBranchThatWasLeftKeepsItsNewest() {
        for (const std::int64_t step : {10, 20, 30}) save(step, "0.5");
        m_run->beginSession(2, "roll_back", 1, 20);
        m_run->checkpoint(2, 25);
        m_run->checkpoint(2, 28);
        m_run->beginSession(3, "roll_back", 1, 10);
        m_config.checkpoint.keepBest = 0;
        m_config.checkpoint.keepLast = 1;
        const auto plan = launch::planRetention(m_run->folder(), m_config);
        QVERIFY(plan.ok());
        Names kept;
        for (const auto& one : *plan)
            if (one.choice.kept()) kept.push_back(one.info.folder);
        QCOMPARE(kept, (Names{name(10), name(30), rundir::checkpointName(2, GlobalStep(28))}));
    }
    /// Where a session's record cannot be read nobody knows what was left, and all are counted alike
    void whereALineIsNotKnownNothingCountsAsLeft() {
        for (const std::int64_t step : {10, 20, 30}) save(step, "0.5");
        m_run->beginSession(2, "roll_back", 1, 10);
        QVERIFY(replaceFile(FileSystem::real(), m_run->folder().sessionJson(1), "{").ok());
        m_config.checkpoint.keepBest = 0;
        const auto plan = launch::planRetention(m_run->folder(), m_config);
        QVERIFY(plan.ok());
        QVERIFY(!(*plan)[0].choice.kept());
        QVERIFY((*plan)[1].choice.kept() && (*plan)[2].choice.kept());
    }
    /// … and where it cannot be read just now, nothing is decided
    void whereARecordMayNotBeReadNothingGoes() {
        for (const std::int64_t step : {10, 20, 30}) save(step, "0.5");
        m_run->beginSession(2, "roll_back", 1, 10);
        std::filesystem::permissions(m_run->folder().sessionJson(1), std::filesystem::perms::none);
        const test::WithoutOverride asEverybody;
        if (!asEverybody.works()) QSKIP("root cannot give up reading what it may not read");
        const auto plan = launch::planRetention(m_run->folder(), m_config);
        QVERIFY(!plan.ok());
        QVERIFY2(plan.error().text().find("1.json: Permission denied") != std::string::npos, plan.error().text().c_str());
    }
    void whatStaysAlthoughItGoesIsAnError() {
        m_config.checkpoint.keepBest = 0;
        for (const std::int64_t step : {10, 20, 30, 40}) save(step, "0.5");
        const auto apply = [&] { return launch::applyRetention(FileSystem::real(), m_run->folder(), m_config, m_run->writer(), {}); };
        const auto isThere = [&](std::int64_t step) { return std::filesystem::exists(m_run->folder().checkpoints() / name(step)); };
        const std::filesystem::path unread = m_run->folder().checkpoints() / name(20) / "manifest.json";
        QVERIFY(std::filesystem::exists(unread));
        std::filesystem::permissions(unread, std::filesystem::perms::none);
        {
            const test::WithoutOverride asEverybody;
            if (!asEverybody.works()) QSKIP("root cannot give up reading what it may not read");
            // 20 cannot be read just now: nobody knows whether it goes
            const auto applied = apply();
            QVERIFY(!applied.done.ok());
            QVERIFY2(applied.done.error().text().find(name(20)) != std::string::npos, applied.done.error().text().c_str());
            QCOMPARE(applied.notReRead, (Names{name(30), name(40)}));
            QVERIFY(!isThere(10) && isThere(20));
        }
        std::filesystem::permissions(unread, std::filesystem::perms::owner_read);
        std::filesystem::permissions(m_run->folder().checkpoints(), std::filesystem::perms::owner_read | std::filesystem::perms::owner_exec);
        {
            const test::WithoutOverride asEverybody;
            QVERIFY(!apply().done.ok());
            QVERIFY(isThere(20));
        }
        std::filesystem::permissions(m_run->folder().checkpoints(), std::filesystem::perms::owner_all);
        QVERIFY(apply().done.ok());
        QVERIFY(!isThere(20) && isThere(30) && isThere(40));
    }
    void whatCouldNotBeMarkedAsRemovedIsMarkedTheNextTime() {
        m_config.checkpoint.keepBest = 0;
        const auto saveAndBook = [&](std::int64_t step) {
            save(step, "0.5");
            QVERIFY(m_run->writer().addCheckpoint({name(step), 1, step, step, 1, 100, false, false, "{}"}).ok());
        };
        for (const std::int64_t step : {10, 20, 30}) saveAndBook(step);
        const auto apply = [&] { return launch::applyRetention(FileSystem::real(), m_run->folder(), m_config, m_run->writer(), {}); };
        const auto marked = [&] {
            Names names;
            const auto rows = store::RunReader::open(m_run->folder().database()).value()->checkpoints();
            for (const auto& row : *rows)
                if (row.deleted) names.push_back(row.folder);
            return names;
        };
        {
            auto other = store::Database::open(m_run->folder().database(), store::Database::Access::ReadWrite, 1000);
            QVERIFY(other.ok());
            const auto held = store::Transaction::begin(*other, true);
            QVERIFY(held.ok());
            const auto applied = apply();
            QVERIFY(!applied.done.ok());
            QVERIFY2(applied.done.error().code == ErrorCode::Busy && applied.done.error().text().find("another program holds it") != std::string::npos, applied.done.error().text().c_str());
            QVERIFY(!std::filesystem::exists(m_run->folder().checkpoints() / name(10)));
            QCOMPARE(marked(), Names());
        }
        QVERIFY(apply().done.ok());
        QCOMPARE(marked(), Names{name(10)});
        QVERIFY(m_run->writer().markCheckpointDeleted(name(30)).ok());   // as after a look in which it had no name
        saveAndBook(40);
        QVERIFY(apply().done.ok());
        QCOMPARE(marked(), (Names{name(10), name(20)}));
    }
    void whatIsToldIsWhatGoes() {
        for (const std::int64_t step : {10, 20, 30}) save(step, "0.5");
        const Names told = next();
        save(40, "0.5");
        QVERIFY(launch::applyRetention(FileSystem::real(), m_run->folder(), m_config, m_run->writer(), {name(40)}).done.ok());
        for (const std::int64_t step : {10, 20, 30}) {
            const bool isThere = std::filesystem::exists(m_run->folder().checkpoints() / name(step));
            QCOMPARE(isThere, std::find(told.begin(), told.end(), name(step)) == told.end());
        }
        QVERIFY(!told.empty());
    }
};

QTEST_GUILESS_MAIN(TestRetention)
#include "tst_retention.moc"
