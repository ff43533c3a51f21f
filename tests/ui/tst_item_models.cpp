// labels: gui
// Item models over fixture runs, each watched by QAbstractItemModelTester.
#include "fixture_run.h"

#include "base/file_system.h"
#include "config/config.h"
#include "models/checkpoints_model.h"
#include "models/compare_model.h"
#include "models/config_model.h"
#include "models/events_model.h"
#include "models/log_model.h"
#include "models/runs_model.h"

#include <QAbstractItemModelTester>
#include <QFile>
#include <QPointF>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QtTest>

#include <cmath>

using namespace lathe;
using models::RunsModel;
using session::RunSession;
using tests::FixtureRun;
using tests::LiveSession;

namespace {

constexpr int kPatience = 60000;  // ms: far more than ever needed, also on a busy machine

constexpr auto kStrict = QAbstractItemModelTester::FailureReportingMode::QtTest;

QStringList column(const QAbstractItemModel& model, int column) {
    QStringList texts;
    for (int row = 0; row < model.rowCount(); ++row) texts += model.index(row, column).data().toString();
    return texts;
}

std::string yamlWith(const std::function<void(config::RunConfig&)>& change) {
    config::RunConfig config;
    change(config);
    return config::toYaml(config);
}

void append(const QString& path, const QByteArray& text) {
    QFile file(path);
    if (!file.open(QIODevice::WriteOnly | QIODevice::Append) || file.write(text) != text.size()) qFatal("cannot write %s", qPrintable(path));
}

}  // namespace

class tst_item_models : public QObject {
    Q_OBJECT

    std::unique_ptr<QTemporaryDir> m_folder;
    std::filesystem::path workspace() const { return m_folder->path().toStdString(); }

    std::unique_ptr<FixtureRun> finished(const std::string& name, const std::function<void(rundir::Summary&)>& change, const std::string& yaml = {}) {
        auto run = std::make_unique<FixtureRun>(workspace(), name, yaml);
        run->beginSession(1);
        run->endSession();
        run->summary(change);
        return run;
    }

private Q_SLOTS:
    void init() { m_folder = std::make_unique<QTemporaryDir>(); }

    void rowsTellWhatTheSummariesSay() {
        const auto a = finished("alpha", [](rundir::Summary& summary) {
            summary.best = rundir::BestValue{"eval/accuracy", 0.982, 900, true};
            summary.counters.globalStep = GlobalStep(900);
            summary.plannedUpdates = 1000;
            summary.activeSeconds = 75;
            summary.sparkline = {{1, 2.5}, {900, 0.1}};
        });
        session::Workspace list(workspace());
        RunsModel model(&list);
        QAbstractItemModelTester tester(&model, kStrict);
        QTRY_COMPARE_WITH_TIMEOUT(model.rowCount(), 1, kPatience);
        const auto at = [&](int column) { return model.index(0, column); };
        QCOMPARE(at(RunsModel::Name).data().toString(), QStringLiteral("alpha"));
        QCOMPARE(at(RunsModel::State).data().toString(), QStringLiteral("completed"));
        QCOMPARE(at(RunsModel::Progress).data().toString(), QStringLiteral("900 / 1,000"));
        QCOMPARE(at(RunsModel::Progress).data(RunsModel::FractionRole).toDouble(), 0.9);
        QVERIFY(at(RunsModel::Metric).data().toString().startsWith(QStringLiteral("accuracy ↑ 0.982")));  // a number never stands without its name
        const auto sparkline = at(RunsModel::Sparkline).data(RunsModel::SparklineRole).value<QVector<QPointF>>();
        QCOMPARE(sparkline, (QVector<QPointF>{{1, 2.5}, {900, 0.1}}));
        QCOMPARE(at(0).data(RunsModel::FolderRole).toString().toStdString(), a->key());
    }

    void filterNarrowsByWordsTagsAndState() {
        const auto a = finished("digits-mlp-lr1", {}), b = finished("digits-convnet", {});
        const auto c = finished("flowers", [](rundir::Summary& summary) { summary.state = rundir::State::Failed; });
        c->beginSession(2);
        c->endSession(rundir::State::Failed, "Out of data");
        session::Workspace list(workspace());
        list.editUser(b->key(), [](rundir::UserRecord& user) { user.tags = {"good", "final"}; });
        RunsModel model(&list);
        QAbstractItemModelTester tester(&model, kStrict);
        QTRY_COMPARE_WITH_TIMEOUT(model.rowCount(), 3, kPatience);
        QTRY_VERIFY_WITH_TIMEOUT(!list.find(b->key())->user.tags.empty(), kPatience);
        const auto shown = [&](const char* filter) {
            model.setFilter(QString::fromLatin1(filter));
            QStringList names = column(model, RunsModel::Name);
            names.sort();
            return names;
        };
        QCOMPARE(shown("digits"), (QStringList{"digits-convnet", "digits-mlp-lr1"}));
        QCOMPARE(shown("DIGITS Lr1"), (QStringList{"digits-mlp-lr1"}));
        QCOMPARE(shown("#good"), (QStringList{"digits-convnet"}));
        QCOMPARE(shown("#goo"), QStringList());
        QCOMPARE(shown("is:failed"), (QStringList{"flowers"}));
        QCOMPARE(shown("nothing like it"), QStringList());
        QCOMPARE(shown("").size(), 3);
    }

    void sortKeepsMetricsApartAndNanLast() {
        const auto withBest = [](const char* metric, double value) {
            return [=](rundir::Summary& summary) { summary.best = rundir::BestValue{metric, value, 1, std::string(metric) == "eval/accuracy"}; };
        };
        const auto a = finished("a", withBest("eval/accuracy", 0.5)), b = finished("b", withBest("eval/loss", 0.1));
        const auto c = finished("c", withBest("eval/accuracy", 0.9)), d = finished("d", withBest("eval/accuracy", std::nan("")));
        const auto e = finished("e", withBest("eval/loss", 7));
        session::Workspace list(workspace());
        RunsModel model(&list);
        QAbstractItemModelTester tester(&model, kStrict);
        QTRY_COMPARE_WITH_TIMEOUT(model.rowCount(), 5, kPatience);
        model.sort(RunsModel::Metric, Qt::AscendingOrder);
        QCOMPARE(column(model, 0), (QStringList{"a", "c", "b", "e", "d"}));
        model.sort(RunsModel::Metric, Qt::DescendingOrder);
        QCOMPARE(column(model, 0), (QStringList{"c", "a", "e", "b", "d"}));
        model.sort(RunsModel::Name, Qt::DescendingOrder);
        QCOMPARE(column(model, 0), (QStringList{"e", "d", "c", "b", "a"}));
    }

    void checkedRunsKeepTheirOrderThroughFilters() {
        const auto a = finished("a", {}), b = finished("b", {}), c = finished("c", {});
        session::Workspace list(workspace());
        RunsModel model(&list);
        QAbstractItemModelTester tester(&model, kStrict);
        QTRY_COMPARE_WITH_TIMEOUT(model.rowCount(), 3, kPatience);
        QSignalSpy spy(&model, &RunsModel::checkedChanged);
        const auto check = [&](const FixtureRun& run) {
            const QModelIndex index = model.index(model.rowOf(QString::fromStdString(run.key())), 0);
            return model.setData(index, Qt::Checked, Qt::CheckStateRole);
        };
        QVERIFY(check(*c) && check(*a));
        QVERIFY(!model.setData(model.index(0, 1), Qt::Checked, Qt::CheckStateRole));
        model.setFilter(QStringLiteral("b"));
        QCOMPARE(model.checkedRuns(), (QStringList{QString::fromStdString(c->key()), QString::fromStdString(a->key())}));
        model.setFilter({});
        QCOMPARE(model.index(model.rowOf(QString::fromStdString(a->key())), 0).data(Qt::CheckStateRole).toInt(), int(Qt::Checked));
        model.clearChecked();
        QVERIFY(model.checkedRuns().isEmpty());
        QCOMPARE(spy.count(), 3);
    }

    void archivedRunsAreHiddenUnlessAskedFor() {
        const auto a = finished("a", {}), b = finished("b", {});
        session::Workspace list(workspace());
        RunsModel model(&list);
        QAbstractItemModelTester tester(&model, kStrict);
        QTRY_COMPARE_WITH_TIMEOUT(model.rowCount(), 2, kPatience);
        list.editUser(a->key(), [](rundir::UserRecord& user) { user.archived = true; });
        QTRY_COMPARE_WITH_TIMEOUT(model.rowCount(), 1, kPatience);
        model.setShowArchived(true);
        QCOMPARE(model.rowCount(), 2);
    }

    void liveNumbersChangeWithoutAReset() {
        FixtureRun run(workspace(), "a");
        run.beginSession(1);
        LiveSession live(run.folder(), 1);
        run.summary([](rundir::Summary& summary) { summary.state = rundir::State::Running; });
        session::Workspace list(workspace());
        RunsModel model(&list);
        QAbstractItemModelTester tester(&model, kStrict);
        QTRY_COMPARE_WITH_TIMEOUT(model.rowCount(), 1, kPatience);
        QSignalSpy resets(&model, &RunsModel::modelReset), changes(&model, &RunsModel::dataChanged);
        run.summary([](rundir::Summary& summary) {
            summary.state = rundir::State::Running;
            summary.counters.globalStep = GlobalStep(77);
        });
        QTRY_COMPARE_WITH_TIMEOUT(model.index(0, RunsModel::Progress).data().toString(), QStringLiteral("77"), kPatience);
        QCOMPARE(resets.count(), 0);
        QVERIFY(changes.count() >= 1);
    }

    void unreadableRunIsListedWithItsReason() {
        const auto a = finished("a", {});
        append(QString::fromStdString(a->folder().summaryJson()), "garbage");
        session::Workspace list(workspace());
        RunsModel model(&list);
        QAbstractItemModelTester tester(&model, kStrict);
        QTRY_COMPARE_WITH_TIMEOUT(model.rowCount(), 1, kPatience);
        QVERIFY2(!model.index(0, 0).data(RunsModel::WhyRole).toString().isEmpty(), "a reason");
    }

    void checkpointsAreGroupedNewestFirst() {
        FixtureRun run(workspace());
        run.beginSession(1);
        for (int i = 1; i <= 300; ++i) run.points(i, {{"train/loss", 1}});
        run.endSession(rundir::State::Stopped);
        run.beginSession(2, "roll-back", 1, 100);
        for (int i = 101; i <= 220; ++i) run.points(i, {{"train/loss", 1}});
        run.endSession();
        run.checkpoint(1, 100, {{"eval/accuracy", "0.9"}}, true);
        run.checkpoint(1, 200);
        run.checkpoint(1, 300);
        run.checkpoint(2, 200);
        QVERIFY(replaceFile(FileSystem::real(), run.folder().sessionYaml(2), config::toYaml(config::load("digits-mlp")->config)).ok());
        auto session = std::make_shared<RunSession>(run.folder());
        models::CheckpointsModel model;
        QAbstractItemModelTester tester(&model, kStrict);
        model.setSession(session);
        QTRY_VERIFY_WITH_TIMEOUT(session->isLoaded(), kPatience);
        QTRY_COMPARE_WITH_TIMEOUT(model.checkpoints(), 4, kPatience);
        QTRY_COMPARE_WITH_TIMEOUT(model.rowCount(), 2, kPatience);
        QVERIFY2(model.index(0, 0).data().toString().startsWith(QStringLiteral("Session 2")), qPrintable(model.index(0, 0).data().toString()));
        QVERIFY(model.index(0, 0).data().toString().contains(QStringLiteral("rolled back at step 100")));
        const QModelIndex old = model.index(1, 0);
        QCOMPARE(model.rowCount(old), 3);
        QCOMPARE(model.index(0, 0, old).data().toString(), QStringLiteral("300"));
        QCOMPARE(model.index(0, 0, old).data(models::CheckpointsModel::ProblemRole).toString(), QString());
        QVERIFY(model.index(0, 0, old).data(models::CheckpointsModel::AbandonedRole).toBool());
        const QModelIndex best = model.indexOf(QString::fromStdString(rundir::checkpointName(1, GlobalStep(100))));
        QVERIFY(best.isValid() && best.data(models::CheckpointsModel::BestRole).toBool());
        QVERIFY(!best.data(models::CheckpointsModel::AbandonedRole).toBool());
        QCOMPARE(best.siblingAtColumn(models::CheckpointsModel::Metrics).data().toString(), QStringLiteral("accuracy 0.9"));
        // Why they are kept is what the rule itself says.
        const auto why = [&model](int session, std::int64_t step) {
            return model.indexOf(QString::fromStdString(rundir::checkpointName(session, GlobalStep(step)))).siblingAtColumn(models::CheckpointsModel::Kept).data().toString();
        };
        QCOMPARE(why(1, 100), QStringLiteral("newest · best"));
        QCOMPARE(why(2, 200), QStringLiteral("newest"));
        QCOMPARE(why(1, 300), QStringLiteral("newest of its branch · on an abandoned branch"));
        QCOMPARE(why(1, 200), QStringLiteral("makes room for the next one · on an abandoned branch"));
        session->editUser([](rundir::UserRecord& user) { user.pinned = {rundir::checkpointName(1, GlobalStep(200))}; });
        QTRY_VERIFY_WITH_TIMEOUT(model.indexOf(QString::fromStdString(rundir::checkpointName(1, GlobalStep(200)))).data(models::CheckpointsModel::PinnedRole).toBool(), kPatience);
        QVERIFY(!model.updatesAtRisk());  // it is over
    }

    void brokenCheckpointTellsItsProblem() {
        FixtureRun run(workspace());
        run.beginSession(1);
        run.endSession();
        run.checkpoint(1, 10);
        append(QString::fromStdString(run.folder().checkpoints() / rundir::checkpointName(1, GlobalStep(10)) / "manifest.json"), "x");
        auto session = std::make_shared<RunSession>(run.folder());
        models::CheckpointsModel model;
        QAbstractItemModelTester tester(&model, kStrict);
        model.setSession(session);
        QTRY_COMPARE_WITH_TIMEOUT(model.checkpoints(), 1, kPatience);
        const QModelIndex item = model.index(0, 0, model.index(0, 0));
        QVERIFY(!item.data(models::CheckpointsModel::UsableRole).toBool());
        QVERIFY(!item.data(models::CheckpointsModel::ProblemRole).toString().isEmpty());
    }

    void compareShowsOnlyWhatDiffers() {
        const auto a = finished("a", [](rundir::Summary& summary) { summary.best = rundir::BestValue{"eval/accuracy", 0.9, 1, true}; },
                                yamlWith([](config::RunConfig& config) { config.run.seed = 1; }));
        const auto b = finished("b", {}, yamlWith([](config::RunConfig& config) { config.run.seed = 2; }));
        for (const auto& [run, last] : {std::pair{a.get(), 100}, {b.get(), 300}}) {
            run->beginSession(2);
            for (int i = 1; i <= last; ++i) run->points(i, {{"train/loss", run == a.get() ? 1.0 / i : 2.0 / i}, {"eval/accuracy", i / 400.0}});
            run->endSession();
        }
        auto first = std::make_shared<RunSession>(a->folder()), second = std::make_shared<RunSession>(b->folder());
        models::CompareModel model;
        QAbstractItemModelTester tester(&model, kStrict);
        model.setSessions({first, second});
        QTRY_VERIFY_WITH_TIMEOUT(first->isLoaded() && second->isLoaded(), kPatience);
        QTRY_COMPARE_WITH_TIMEOUT(model.commonStep(), std::optional<std::int64_t>(100), kPatience);
        QTRY_VERIFY_WITH_TIMEOUT(model.rowCount() > 0 && model.index(0, 0).data(models::CompareModel::KindRole).toInt() == int(models::CompareModel::Kind::Setting), kPatience);
        QVERIFY(!model.identical());
        QStringList settings, results;
        for (int row = 0; row < model.rowCount(); ++row) {
            const QModelIndex index = model.index(row, 0);
            (index.data(models::CompareModel::KindRole).toInt() == int(models::CompareModel::Kind::Setting) ? settings : results) += index.data(models::CompareModel::KeyRole).toString();
        }
        QCOMPARE(settings, QStringList{QStringLiteral("run.seed")});
        QVERIFY2(results.contains(QStringLiteral("train/loss@common")) && results.contains(QStringLiteral("train/loss@end")), qPrintable(results.join(' ')));
        // At the common step: 1/100 against 2/100; the lower loss is the best of its row.
        for (int row = 0; row < model.rowCount(); ++row) {
            if (model.index(row, 0).data(models::CompareModel::KeyRole).toString() != QStringLiteral("train/loss@common")) continue;
            QCOMPARE(model.index(row, 1).data().toString(), QStringLiteral("0.01"));
            QCOMPARE(model.index(row, 2).data().toString(), QStringLiteral("0.02"));
            QVERIFY(model.index(row, 1).data(models::CompareModel::BestRole).toBool() && !model.index(row, 2).data(models::CompareModel::BestRole).toBool());
        }
        model.setOnlyDifferences(false);
        QVERIFY(model.rowCount() > 20);
    }

    void settingsOfAnotherProgramAreComparedWithOurs() {
        const auto ours = finished("ours", {}, yamlWith([](config::RunConfig& config) { config.run.seed = 1; }));
        const auto theirs = finished("theirs", {});
        std::filesystem::remove(theirs->folder().configYaml());
        std::filesystem::remove(theirs->folder().sessionYaml(1));
        QVERIFY(rundir::writeSettings(FileSystem::real(), theirs->folder(), {{"batch", "64"}, {"run.seed", "2"}}).ok());
        models::CompareModel model;
        QAbstractItemModelTester tester(&model, kStrict);
        model.setSessions({std::make_shared<RunSession>(ours->folder()), std::make_shared<RunSession>(theirs->folder())});
        const auto cell = [&](const char* key, int column) {
            for (int row = 0; row < model.rowCount(); ++row)
                if (model.index(row, 0).data(models::CompareModel::KeyRole).toString() == QLatin1String(key)) return model.index(row, column).data().toString();
            return QString();
        };
        QTRY_COMPARE_WITH_TIMEOUT(cell("batch", 2), QStringLiteral("64"), kPatience);
        QCOMPARE(cell("batch", 1), QStringLiteral("–"));
        QCOMPARE(cell("run.seed", 1) + cell("run.seed", 2), QStringLiteral("12"));
        QVERIFY2(model.problem().isEmpty(), qPrintable(model.problem()));
        models::ConfigModel settings;
        settings.setSettings({{"batch", "64"}});
        QCOMPARE(settings.index(0, models::ConfigModel::Value).data().toString(), QStringLiteral("64"));
    }

    void runComparedWithItselfIsIdentical() {
        const auto a = finished("a", {}, yamlWith([](config::RunConfig& config) { config.run.seed = 5; }));
        auto session = std::make_shared<RunSession>(a->folder());
        models::CompareModel model;
        QAbstractItemModelTester tester(&model, kStrict);
        model.setSessions({session, session});
        QTRY_VERIFY_WITH_TIMEOUT(session->isLoaded(), kPatience);
        QTRY_VERIFY_WITH_TIMEOUT(model.identical(), kPatience);
        QCOMPARE(model.rowCount(), 0);
        model.setSessions({});
        QCOMPARE(model.columnCount(), 1);
    }

    void eventsComeNewestFirstAndAreInsertedLive() {
        FixtureRun run(workspace());
        run.beginSession(1);
        LiveSession live(run.folder(), 1);
        live.event("plan", "", 0);  // for programs
        live.event("checkpoint", "Saved at 10", 10);
        auto session = std::make_shared<RunSession>(run.folder());
        models::EventsModel model;
        QAbstractItemModelTester tester(&model, kStrict);
        model.setSession(session);
        QTRY_COMPARE_WITH_TIMEOUT(model.rowCount(), 1, kPatience);
        QSignalSpy inserted(&model, &QAbstractItemModel::rowsInserted);
        live.event("resume_report", "Continues exactly", 20);
        QTRY_COMPARE_WITH_TIMEOUT(model.rowCount(), 2, kPatience);
        QCOMPARE(inserted.count(), 1);
        QCOMPARE(model.index(0, models::EventsModel::Text).data().toString(), QStringLiteral("Continues exactly"));
        QCOMPARE(model.index(0, models::EventsModel::Kind).data().toString(), QStringLiteral("resume report"));
        QCOMPARE(model.rowOf(model.index(1, 0).data(models::EventsModel::IdRole).toLongLong()), 1);
        live.record(run.writer());  // now the database has them too
        session->refresh();
        live.event("warning", "w", 30);
        QTRY_COMPARE_WITH_TIMEOUT(model.rowCount(), 3, kPatience);
    }

    void logFollowsTheFileThroughPartialLinesAndRotation() {
        const QString path = m_folder->filePath(QStringLiteral("rank-0.log"));
        models::LogModel model;
        QAbstractItemModelTester tester(&model, kStrict);
        model.setFile(path.toStdString());
        QTRY_VERIFY_WITH_TIMEOUT(!model.problem().isEmpty(), kPatience);
        const auto look = [&] {
            QSignalSpy changed(&model, &models::LogModel::changed);
            model.refresh();
            QVERIFY(changed.wait(kPatience));
        };
        append(path, "one\ntwo\nthr");
        look();
        QVERIFY(model.problem().isEmpty());
        QCOMPARE(column(model, 0), (QStringList{"one", "two"}));
        append(path, "ee\n\x1b[31mred\x1b[0m\tend\n");
        look();
        QCOMPARE(column(model, 0), (QStringList{"one", "two", "three", "red\tend"}));
        QCOMPARE(model.lastLines(2), QStringLiteral("three\nred\tend"));
        QVERIFY(QFile::rename(path, path + QStringLiteral(".1")));
        append(path, "new\n");
        look();
        QCOMPARE(column(model, 0), QStringList{QStringLiteral("new")});
    }

    void hugeLogIsShownFromItsEnd() {
        const QString path = m_folder->filePath(QStringLiteral("big.log"));
        QByteArray text;
        for (int i = 0; i < 300000; ++i) text += "line " + QByteArray::number(i) + " of a talkative program\n";
        append(path, text + QByteArray(200000, 'x') + "\nlast\n");
        models::LogModel model;
        model.setFile(path.toStdString());
        QTRY_VERIFY_WITH_TIMEOUT(model.rowCount() > 1000, kPatience);
        QVERIFY(model.rowCount() <= 20000);
        QCOMPARE(model.index(model.rowCount() - 1, 0).data().toString(), QStringLiteral("last"));
        QVERIFY(model.index(model.rowCount() - 2, 0).data().toString().size() < 5000);
    }

    void configTellsWhatDiffersFromTheDefaults() {
        config::RunConfig changed;
        changed.run.seed = 1234;
        models::ConfigModel model;
        QAbstractItemModelTester tester(&model, kStrict);
        model.setConfigs(changed, {}, QStringLiteral("default"));
        QVERIFY(model.rowCount() > 20);
        model.setOnlyDifferences(true);
        QCOMPARE(model.rowCount(), 1);
        QCOMPARE(model.index(0, 0).data(models::ConfigModel::KeyRole).toString(), QStringLiteral("run.seed"));
        QCOMPARE(model.index(0, 1).data().toString(), QStringLiteral("1234"));
    }

    void hundredThousandRunsAreFilteredAndSorted() {
        std::vector<session::RunEntry> entries(100000);
        for (std::size_t i = 0; i < entries.size(); ++i) {
            entries[i].folder = "run-" + std::to_string(i);
            entries[i].summary.name = (i % 7 ? "digits-" : "flowers-") + std::to_string(i * 7919 % 100000);
            entries[i].summary.startedNs = std::int64_t(i);
            entries[i].state = rundir::State::Completed;
        }
        session::Workspace list(workspace());
        RunsModel model(&list);
        QTRY_VERIFY_WITH_TIMEOUT(list.isLoaded(), kPatience);
        model.setRuns(std::move(entries));
        QCOMPARE(model.rowCount(), 100000);
        model.setFilter(QStringLiteral("flowers"));
        QCOMPARE(model.rowCount(), 14286);
        model.sort(RunsModel::Name, Qt::AscendingOrder);
        for (int row = 1; row < 200; ++row) QVERIFY(model.entry(row - 1).summary.name <= model.entry(row).summary.name);
    }
};

QTEST_MAIN(tst_item_models)
#include "tst_item_models.moc"
