// What is done about checkpoints once they are published: saves are heard of once, the rule is applied after them, and what
// re-reading finds is kept with the checkpoint that was read.
#include "launch/session/published_checkpoints.h"

#include "base/file_system.h"
#include "config/config.h"
#include "fixture_run.h"
#include "rundir/checkpoint_manifest.h"

#include <QTemporaryDir>
#include <QtTest/QTest>

#include <filesystem>
#include <optional>
#include <thread>

using namespace lathe;
using launch::PublishedCheckpoints;
using tests::FixtureRun;
using Names = std::vector<std::string>;

class TestPublishedCheckpoints : public QObject {
    Q_OBJECT

    std::unique_ptr<QTemporaryDir> m_folder;
    std::unique_ptr<FixtureRun> m_run;
    config::RunConfig m_config;
    rundir::SessionRecord m_record;
    rundir::Summary m_summary;
    std::unique_ptr<launch::FrameBook> m_book;
    std::uint64_t m_sequence = 0;
    std::vector<std::string> m_told;
    std::optional<PublishedCheckpoints> m_checkpoints;

    static std::string name(std::int64_t step) { return rundir::checkpointName(1, GlobalStep(step)); }
    std::filesystem::path place(std::int64_t step) const { return m_run->folder().checkpoints() / name(step); }
    /// As a worker does it: published, then told.
    void save(std::int64_t step) {
        m_run->checkpoint(1, step);
        live::Frame frame{live::FrameType::Event, ++m_sequence, {}};
        live::encode(live::EventFrame{1, step, step, 1, "checkpoint", "Saved", "{\"folder\": \"" + name(step) + "\", \"bytes\": 1}"}, frame.payload);
        m_book->take(0, frame);
    }
    void begin() {
        const PublishedCheckpoints::Session session{m_run->folder(), m_config, m_record, *m_book, m_run->writer()};
        m_checkpoints.emplace(session, PublishedCheckpoints::Safe{5, 1.5}, [this](const std::string& sentence) { m_told.push_back(sentence); });
    }
    Names there() const {
        Names names;
        for (const auto& info : rundir::listCheckpoints(m_run->folder().checkpoints())) names.push_back(info.folder);
        return names;
    }
    void awaitReading(std::int64_t step) {
        while (!std::filesystem::exists(place(step) / "verified.json")) {
            m_checkpoints->look(3.0);
            std::this_thread::yield();
        }
    }

private Q_SLOTS:
    void init() {
        m_folder = std::make_unique<QTemporaryDir>();
        m_config = config::load("digits-mlp")->config;
        m_config.checkpoint.keepLast = 2;
        m_config.checkpoint.keepBest = 0;
        m_run = std::make_unique<FixtureRun>(m_folder->path().toStdString(), "one", config::toYaml(m_config));
        m_run->beginSession(1);
        m_record = *rundir::readSession(m_run->folder(), 1);
        m_summary = {};
        m_book = std::make_unique<launch::FrameBook>(m_run->writer(), m_summary, 1);
        m_told.clear();
        begin();
    }
    void cleanup() { m_checkpoints.reset(); }

    void whatAStopWouldLoseIsCountedFromTheNewestSave() {
        QVERIFY(!m_checkpoints->look(2.0));
        QVERIFY(m_checkpoints->safe().step == 5 && m_checkpoints->safe().activeSeconds == 1.5);
        save(10);
        QVERIFY(m_checkpoints->look(3.0));
        QVERIFY(m_checkpoints->safe().step == 10 && m_checkpoints->safe().activeSeconds == 3.0);
        awaitReading(10);   // is no save
        QVERIFY(m_checkpoints->safe().step == 10 && m_checkpoints->safe().activeSeconds == 3.0);
    }
    void theRuleIsAppliedAfterASaveAndLeavesWhatTheSessionLoaded() {
        for (const std::int64_t step : {10, 20, 30}) m_run->checkpoint(1, step);
        m_record.checkpoint = name(10);
        QVERIFY(!m_checkpoints->look(0));
        QCOMPARE(there().size(), std::size_t(3));
        save(40);
        QVERIFY(m_checkpoints->look(0));
        const Names left = there();
        QVERIFY(std::find(left.begin(), left.end(), name(10)) != left.end());
        QVERIFY(std::find(left.begin(), left.end(), name(40)) != left.end());
        QVERIFY(std::find(left.begin(), left.end(), name(20)) == left.end());
    }
    void whatIsSavedIsReReadInTheBackground() {
        save(10);
        QVERIFY(m_checkpoints->look(0));
        awaitReading(10);
        QVERIFY(rundir::readVerified(place(10))->wallNs > 0);
        QVERIFY(m_told.empty());
    }
    void whatEarlierSessionsLeftIsReReadWhenAsked() {
        m_run->checkpoint(1, 10);
        m_checkpoints->reReadOlder();
        awaitReading(10);
        QVERIFY(rundir::readVerified(place(10))->wallNs > 0);
    }
    void damageIsToldOnceAndKept() {
        save(10);
        QVERIFY(replaceFile(FileSystem::real(), place(10) / "trainer.json", "[]").ok());
        QVERIFY(m_checkpoints->look(0));
        awaitReading(10);
        QCOMPARE(m_told.size(), std::size_t(1));
        QVERIFY(m_told.front().find("Checkpoint " + name(10) + " was re-read and is damaged: ") == 0);
        QVERIFY(!m_checkpoints->look(0));
        QVERIFY(!rundir::listCheckpoints(m_run->folder().checkpoints()).front().problem.empty());
    }
    void oneThatWasReplacedUnderItsNameIsReadAgain() {
        save(10);
        QVERIFY(m_checkpoints->look(0));
        awaitReading(10);
        std::filesystem::remove_all(place(10));
        save(10);
        QVERIFY(m_checkpoints->look(0));
        awaitReading(10);
        QVERIFY(rundir::readVerified(place(10))->wallNs > 0);
    }
};

QTEST_GUILESS_MAIN(TestPublishedCheckpoints)
#include "tst_published_checkpoints.moc"
