// labels: process
// timeout: 300
// Plug-ins through lathe-trainer with a real worker: what they add, what they are told, and each way in which they can be wrong.
#include "trainer_process.h"

#include "config/config.h"
#include "store/run_store.h"

#include <QtTest>

#include <fstream>
#include <sys/stat.h>

using namespace lathe;
using namespace lathe::test;
using nlohmann::json;
namespace stdfs = std::filesystem;

namespace {

std::vector<store::EventRow> eventsOf(const rundir::RunFolder& run, const std::string& kind) {
    const auto reader = store::RunReader::open(run.database()).value();
    std::vector<store::EventRow> all = reader->events().value();
    std::erase_if(all, [&](const store::EventRow& row) { return row.event.kind != kind; });
    return all;
}

std::vector<double> valuesOf(const rundir::RunFolder& run, const std::string& series, store::RunReader::Line line = store::RunReader::Line::Surviving) {
    const auto reader = store::RunReader::open(run.database()).value();
    std::vector<double> values;
    if (const auto points = reader->points(series, line))
        for (const store::Point& point : *points) values.push_back(point.value);
    return values;
}

}  // namespace

class PluginsTest : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void init() {
        m_work = std::make_unique<Workspace>();
        m_folder = m_work->scratch() / "plugins";
        stdfs::create_directory(m_folder);
        stdfs::permissions(m_folder, stdfs::perms::owner_all);
        stdfs::copy_file(LATHE_PLUGIN_EVERY_KIND, m_folder / "every_kind.so");
        stdfs::copy_file(LATHE_PLUGIN_GO_BACK, m_folder / "go_back.so");
        for (const char* file : {"every_kind.so", "go_back.so"}) stdfs::permissions(m_folder / file, stdfs::perms::owner_read | stdfs::perms::owner_write);
        m_work->setEnvironment("LATHE_PLUGINS", m_folder.string());
        const auto csv = m_work->scratch() / "line.csv";
        std::ofstream data(csv);
        data << "x,y\n";
        for (int i = 0; i < 64; ++i) data << i / 64.0 << "," << 2.0 * i / 64.0 << "\n";
        data.close();
        std::ofstream(m_work->scratch() / "line.yaml") << "data: {train: line.csv, target: [y], batch_size: 16}\nmodel: {name: linear}\ntask: {name: regression}\n"
                                                          "optimizer: {name: sgd, learning_rate: 0.1}\nschedule: {name: constant}\nrun: {epochs: none, max_updates: 6}\n"
                                                          "evaluation: {every: 2 updates}\n";
    }

    void everyKindOfThingWorksAndIsRecorded() {
        const auto run = finished({"model.name=every_kind/product", "task.name=every_kind/fourth", "schedule.name=every_kind/halving", "precision.mode=every_kind/short",
                                   "evaluation.best_metric=every_kind/worst", "evaluation.best_direction=min", "plugins.every_kind.throw_at=100"});
        QCOMPARE(valuesOf(run, "counting/updates"), (std::vector<double>{1, 2, 3, 4, 5, 6}));
        QCOMPARE(eventsOf(run, "counted").size(), std::size_t(1));
        QCOMPARE(valuesOf(run, "train/lr"), (std::vector<double>{0.1, 0.1 * (1.0 / 2), 0.1 * (1.0 / 3), 0.1 * (1.0 / 4), 0.1 * (1.0 / 5), 0.1 * (1.0 / 6)}));
        QVERIFY(valuesOf(run, "train/loss").at(0) > 0);   // the plug-in's own value under our name was ignored
        QCOMPARE(valuesOf(run, "eval/every_kind/worst").size(), std::size_t(3));
        const json shown = m_work->ask({"show", "latest", "--json"}).json();
        QCOMPARE(shown["best"]["metric"], json("eval/every_kind/worst"));
        QCOMPARE(shown["environment"]["precision"], json("every_kind/short"));
        const std::string record = shown["environment"]["plug-in every_kind"];
        QVERIFY2(record.starts_with("2.5, ") && record.size() == 5 + 32, record.c_str());
        const auto yaml = readFile(run.configYaml(), 1u << 20).value();
        QVERIFY2(yaml.find("plugins:\n  every_kind:\n    throw_at: \"100\"\n") != std::string::npos || yaml.find("plugins:\n  every_kind:\n    throw_at: 100\n") != std::string::npos, yaml.c_str());
    }

    // state of hooks lies in the checkpoint; another file is another plug-in
    void aHookGoesOnWhereItWas() {
        const auto run = finished({"run.max_updates=3"});
        QCOMPARE(m_work->ask({"continue", "latest", "--json", "--set", "run.max_updates=6"}).code, 0);
        QCOMPARE(valuesOf(run, "counting/updates"), (std::vector<double>{1, 2, 3, 4, 5, 6}));
        QCOMPARE(outcomes(run), (std::vector<std::string>{"continues exactly"}));
        QCOMPARE(m_work->ask({"continue", "latest", "--json", "--set", "run.max_updates=8", "--set", "plugins.use="}).code, 0);
        QCOMPARE(valuesOf(run, "counting/updates").size(), std::size_t(6));
        QCOMPARE(outcomes(run).back(), std::string("not comparable"));
        QVERIFY(eventsOf(run, "resume_report").back().event.text.find("plug-in every_kind") != std::string::npos);
    }

    // windows that grow with what became of the ones before: in three pieces as in one, and at each place as the rule remembers it
    void anAccumulationIsSavedAndGoesOnExactly() {
        const QStringList recipe{"accumulation.rule=every_kind/growing", "plugins.every_kind.window=1", "data.batch_size=4", "optimizer.learning_rate=1.2"};
        const auto whole = finished(recipe + QStringList{"run.max_updates=24"});
        const json shown = m_work->ask({"show", "latest", "--json"}).json();
        QVERIFY2(shown["counters"]["micro_step"].get<int>() > 40, shown["counters"].dump().c_str());
        const auto pieces = finished(recipe + QStringList{"run.max_updates=7"});
        for (const char* until : {"run.max_updates=15", "run.max_updates=24"}) QCOMPARE(m_work->ask({"continue", "latest", "--json", "--set", until}).code, 0);
        QCOMPARE(valuesOf(pieces, "train/loss"), valuesOf(whole, "train/loss"));
        QCOMPARE(outcomes(pieces), (std::vector<std::string>{"continues exactly", "continues exactly"}));
        QCOMPARE(m_work->ask({"show", "latest", "--json"}).json()["counters"], shown["counters"]);
    }

    // two ranks: the order of the sum is that of ddp, so that all numbers are
    void aParallelStrategySumsInItsOwnWay() {
        const QStringList recipe{"parallel.ranks=2", "accumulation.micro_batches=3", "data.batch_size=4", "parallel.check_replicas=1 updates"};
        const auto own = finished(recipe + QStringList{"parallel.strategy=every_kind/in_rank_order"});
        QCOMPARE(m_work->ask({"show", "latest", "--json"}).json()["environment"]["layout"], json("every_kind/in_rank_order: in rank order, 2"));
        const auto ddp = finished(recipe);
        QCOMPARE(valuesOf(own, "train/loss").size(), std::size_t(6));
        QCOMPARE(valuesOf(own, "train/loss"), valuesOf(ddp, "train/loss"));
        QCOMPARE(m_work->ask({"continue", QString::fromStdString(own.place().filename().string()), "--json", "--set", "run.max_updates=9"}).code, 0);
        QCOMPARE(outcomes(own), (std::vector<std::string>{"continues exactly"}));
        const auto both = finished(recipe + QStringList{"parallel.strategy=every_kind/in_rank_order", "accumulation.rule=every_kind/growing"});
        QCOMPARE(valuesOf(both, "train/loss").size(), std::size_t(6));
    }

    void ranksThatPartAreFoundWhateverTheStrategyIs() {
        const Answer answer = launched({"parallel.ranks=2", "accumulation.micro_batches=2", "data.batch_size=4", "parallel.check_replicas=1 updates",
                                        "parallel.strategy=every_kind/in_rank_order", "plugins.every_kind.fault=forget"});
        QCOMPARE(answer.code, static_cast<int>(ExitCode::Failed));
        const auto record = rundir::readSession(m_work->latest(), 1).value();
        QVERIFY2(record.why.find("The ranks no longer hold the same model: “linear.weight”") != std::string::npos || record.why.find("The ranks no longer hold the same model") != std::string::npos, record.why.c_str());
    }

    void aStrategyThatThrowsEndsTheRunAndNothingIsLost_data() {
        QTest::addColumn<QStringList>("settings");
        QTest::addColumn<QString>("part");
        QTest::newRow("window") << QStringList{"accumulation.rule=every_kind/growing", "plugins.every_kind.fault=throw"} << "every_kind/growing failed: it lost count";
        QTest::newRow("after a window") << QStringList{"accumulation.rule=every_kind/growing", "plugins.every_kind.fault=settle"} << "every_kind/growing failed: it lost count";
        QTest::newRow("sum") << QStringList{"parallel.strategy=every_kind/in_rank_order", "plugins.every_kind.fault=throw"} << "every_kind/in_rank_order failed: it lost its way";
        QTest::newRow("sum of two ranks") << QStringList{"parallel.strategy=every_kind/in_rank_order", "parallel.ranks=2", "accumulation.micro_batches=2", "plugins.every_kind.fault=throw"}
                                          << "every_kind/in_rank_order failed: it lost its way";
    }
    void aStrategyThatThrowsEndsTheRunAndNothingIsLost() {
        QFETCH(QStringList, settings);
        QFETCH(QString, part);
        const Answer answer = launched(QStringList{"checkpoint.every=2 updates", "data.batch_size=4"} + settings);
        QCOMPARE(answer.code, static_cast<int>(ExitCode::Failed));
        const auto record = rundir::readSession(m_work->latest(), 1).value();
        QVERIFY2(QString::fromStdString(record.why).contains(part), record.why.c_str());
        QVERIFY(valuesOf(m_work->latest(), "train/loss").size() >= 2);
        QCOMPARE(m_work->ask({"continue", "latest", "--json", "--set", "plugins.every_kind.fault=none"}).code, 0);
        QCOMPARE(valuesOf(m_work->latest(), "train/loss").size(), std::size_t(6));
    }

    void whatIsMissingAtAResumeIsSaidAndNothingIsLost() {
        const auto run = finished({"run.max_updates=3", "accumulation.rule=every_kind/growing"});
        stdfs::rename(m_folder / "every_kind.so", m_folder / "elsewhere.so");
        const Answer refused = m_work->ask({"continue", "latest", "--json", "--set", "run.max_updates=6"});
        QCOMPARE(refused.code, static_cast<int>(ExitCode::Usage));
        QVERIFY2(refused.err.find("The plug-in every_kind is not in") != std::string::npos, refused.err.c_str());
        QCOMPARE(rundir::newestSession(run), 1);
        stdfs::rename(m_folder / "elsewhere.so", m_folder / "every_kind.so");
        QCOMPARE(m_work->ask({"continue", "latest", "--json", "--set", "run.max_updates=6"}).code, 0);
        QCOMPARE(valuesOf(run, "train/loss").size(), std::size_t(6));
        QCOMPARE(outcomes(run).back(), std::string("continues exactly"));
    }

    // explain and check ask a worker, which loads what the configuration uses
    void strategiesAreExplainedInTheirOwnWords() {
        const QStringList use{"--set", "accumulation.rule=every_kind/growing", "--set", "parallel.strategy=every_kind/in_rank_order", "--set", "precision.mode=every_kind/short",
                              "--set", "plugins.every_kind.window=2", "--set", "parallel.ranks=2"};
        const Answer answer = m_work->ask(QStringList{"explain", config()} + use);
        QVERIFY2(answer.code == 0, answer.err.c_str());
        for (const char* part : {"a window that begins with 2 and grows, in the order of the epoch", "gathered and added up in rank order", "of each micro-batch: arithmetic in bf16 by the plug-in"})
            QVERIFY2(answer.out.find(part) != std::string::npos, answer.out.c_str());
        QVERIFY(answer.out.find("the scale halves") == std::string::npos);
        const Answer checked = m_work->ask(QStringList{"check", config(), "--set", "run.epochs=2"} + use);
        QVERIFY2(checked.code == 0 && checked.out.find("Ready to run") != std::string::npos, (checked.out + checked.err).c_str());
        QVERIFY2(checked.out.find("every_kind/growing: 2 updates an epoch, 4 in all") != std::string::npos, checked.out.c_str());
        for (const char* thing : {"accumulation.rule=every_kind/none", "parallel.strategy=every_kind/none", "precision.mode=every_kind/none", "schedule.name=every_kind/none"}) {
            const Answer unknown = m_work->ask({"explain", config(), "--set", "plugins.use=every_kind", "--set", thing});
            QVERIFY2(unknown.code == static_cast<int>(ExitCode::Usage) && unknown.err.find("every_kind/none") != std::string::npos, unknown.err.c_str());
        }
        stdfs::remove(m_folder / "every_kind.so");
        const Answer missing = m_work->ask(QStringList{"explain", config()} + use);
        QVERIFY2(missing.code == static_cast<int>(ExitCode::Usage) && missing.err.find("every_kind is not in") != std::string::npos, missing.err.c_str());
    }

    // the curve as the plug-in computes it, not a guess
    void theSheetKnowsTheCurveOfAPlugin() {
        finished({"run.max_updates=3", "schedule.name=every_kind/halving"});
        const QStringList ask{"continue", "latest", "--dry-run", "--json", "--set", "run.max_updates=8", "--set", "optimizer.learning_rate=0.2"};
        const json rate = m_work->ask(ask).json()["learning_rate"];
        QCOMPARE(rate["before"].get<double>(), 0.1 * (1.0 / 4));
        QCOMPARE(rate["after"].get<double>(), 0.2 * (1.0 / 4));
        QVERIFY(rate["curve"].size() >= 8);
        for (const json& point : rate["curve"]) QCOMPARE(point["after"].get<double>(), 0.2 * (1.0 / (1.0 + point["step"].get<double>())));
        stdfs::remove(m_folder / "every_kind.so");
        const json unknown = m_work->ask(ask).json();
        QVERIFY(unknown["learning_rate"]["before"].is_null() && unknown["learning_rate"]["curve"][0]["after"].is_null());
        QCOMPARE(unknown["notices"].size(), std::size_t(1));
        QVERIFY2(std::string(unknown["notices"][0]).find("every_kind/halving is not known") != std::string::npos, unknown["notices"].dump().c_str());
    }

    void aCurveThatIsNoNumberEndsTheRunBeforeItHarmsAWeight() {
        const Answer answer = launched({"plugins.every_kind.fault=nan", "schedule.name=every_kind/halving", "checkpoint.every=2 updates"});
        QCOMPARE(answer.code, static_cast<int>(ExitCode::Failed));
        const auto record = rundir::readSession(m_work->latest(), 1).value();
        QVERIFY2(record.why.find("The schedule every_kind/halving gives nan for the update after 4 others") != std::string::npos, record.why.c_str());
        QCOMPARE(m_work->ask({"verify", "latest@4", "--json"}).code, 0);
    }

    void aHookThatThrowsIsReportedAndTrainingGoesOn() {
        const auto run = finished({"plugins.every_kind.throw_at=2"});
        QCOMPARE(valuesOf(run, "train/loss").size(), std::size_t(6));
        const auto warnings = eventsOf(run, "warning");
        QVERIFY(std::any_of(warnings.begin(), warnings.end(), [](const store::EventRow& row) {
            return row.event.text.find("counted too far") != std::string::npos && row.event.text.find("counting at update") != std::string::npos;
        }));
    }

    void aMetricThatThrowsIsNamed() {
        launched({"plugins.every_kind.fault=metric"});
        const Answer events = m_work->ask({"events", "latest"});
        QVERIFY2(events.out.find("The metric every_kind/worst failed: it lost its glasses") != std::string::npos, (events.out + events.err).c_str());
    }

    void aRequiredHookThatThrowsEndsTheRun() {
        const Answer answer = launched({"plugins.every_kind.throw_at=2", "plugins.every_kind.required=true"});
        QCOMPARE(answer.code, static_cast<int>(ExitCode::Failed));
        const auto record = rundir::readSession(m_work->latest(), 1).value();
        QVERIFY2(record.why.find("counted too far") != std::string::npos, record.why.c_str());
    }

    // the example in thirty lines
    void theExampleGoesBackToTheBest_data() {
        QTest::addColumn<QString>("metric");
        QTest::newRow("lower is better") << "loss";
        QTest::newRow("higher is better") << "r2";
    }
    void theExampleGoesBackToTheBest() {
        QFETCH(QString, metric);
        m_work->ask({"run", config(), "--json", "--set", "plugins.go_back.worse_by=0.001", "--set", "optimizer.learning_rate=3", "--set", "evaluation.every=never", "--set", "plugins.go_back.every=1",
                     "--set", "guard.max_roll_backs=20", "--set", "plugins.go_back.metric=" + metric,
                     "--set", metric == "loss" ? "plugins.go_back.higher_is_better=false" : "plugins.go_back.higher_is_better=true"});
        const auto went = eventsOf(m_work->latest(), "rolled_back");
        QVERIFY(!went.empty());
        QVERIFY2(went[0].event.json.find(metric.toStdString() + " is worse than") != std::string::npos, went[0].event.json.c_str());
        const auto values = valuesOf(m_work->latest(), "eval/" + metric.toStdString(), store::RunReader::Line::All);   // one an update
        const double sign = metric == "loss" ? 1 : -1;
        std::size_t worse = 1;
        for (double best = sign * values.at(0); sign * values.at(worse) <= best + 0.001; ++worse) best = std::min(best, sign * values.at(worse));
        QCOMPARE(rundir::readSession(m_work->latest(), 1)->counters->globalStep, GlobalStep(static_cast<std::int64_t>(worse) + 1));
    }

    void whatIsWrongIsSaid_data() {
        QTest::addColumn<QStringList>("settings");
        QTest::addColumn<QString>("part");
        QTest::newRow("missing") << QStringList{"plugins.use=nothere"} << "nothere is not in";
        QTest::newRow("what there is") << QStringList{"plugins.use=nothere"} << "every_kind, go_back";
        QTest::newRow("throws in load") << QStringList{"plugins.every_kind.fail=true"} << "every_kind failed while it was loaded: it was told to";
        QTest::newRow("clashing names") << QStringList{"plugins.every_kind.twice=true"} << "adds two things under the name every_kind/halving";
        QTest::newRow("clashing strategies") << QStringList{"plugins.every_kind.fault=same name"} << "adds two things under the name every_kind/growing";
        QTest::newRow("a window that never closes") << QStringList{"plugins.every_kind.fault=never", "accumulation.rule=every_kind/growing"} << "closes no window in a whole epoch of 4 micro-batches";
        QTest::newRow("no such accumulation") << QStringList{"accumulation.rule=every_kind/none", "plugins.use=every_kind"} << "every_kind/growing, fixed, ramp, weight";
        QTest::newRow("no such strategy") << QStringList{"parallel.strategy=every_kind/none", "plugins.use=every_kind"} << "auto, ddp, every_kind/in_rank_order, single";
        QTest::newRow("unknown setting") << QStringList{"plugins.every_kind.throw_on=3"} << "did you mean throw_at?";
        QTest::newRow("bad value") << QStringList{"plugins.every_kind.throw_at=soon"} << "plugins.every_kind.throw_at must be a whole number";
        QTest::newRow("value outside") << QStringList{"plugins.go_back.worse_by=-1"} << "plugins.go_back.worse_by must be a number";
        QTest::newRow("no such thing") << QStringList{"model.name=every_kind/none", "plugins.use=every_kind"} << "every_kind/product";
        QTest::newRow("weights in another type") << QStringList{"precision.mode=every_kind/long", "plugins.use=every_kind"} << "data come in fp32";
        QTest::newRow("not used") << QStringList{"model.name=every_kind/product", "plugins.use="} << "which is not used";
        QTest::newRow("a path") << QStringList{"plugins.use=../every_kind"} << "names no plug-in";
    }
    void whatIsWrongIsSaid() {
        QFETCH(QStringList, settings);
        QFETCH(QString, part);
        expectRefusal(settings, part);
    }

    void aPluginOfAnotherVersionIsNotRun() {
        for (const auto& [from, to, part] : {std::tuple<std::string, std::string, const char*>{LATHE_VERSION, "0.0.9", "was built for Lathe 0.0.9"}, {"every_kind", "other_name", "calls itself other_name"}})
            expectAfter([from = from, to = to](std::string& bytes) { bytes.replace(bytes.find(from, bytes.find("LATHE-PLUGIN-STAMP-1")), from.size(), to); }, part);
        expectAfter([](std::string& bytes) { bytes[bytes.find("LATHE-PLUGIN-STAMP-1") + 28] ^= 1; }, "another build of Lathe");
        expectAfter([](std::string& bytes) { bytes[bytes.find("LATHE-PLUGIN-STAMP-1")] = 'X'; }, "is no plug-in of Lathe");
        expectAfter([](std::string& bytes) { bytes.resize(100); }, "is no plug-in of Lathe");
    }

    void whatLiesInARunIsNotLoaded() {
        const auto run = finished({"run.max_updates=1"});
        const auto inside = run.place() / "export" / "plugins";
        stdfs::create_directories(inside);
        stdfs::copy_file(m_folder / "every_kind.so", inside / "every_kind.so");
        stdfs::remove(m_folder / "every_kind.so");
        stdfs::create_symlink(inside / "every_kind.so", m_folder / "every_kind.so");
        expectRefusal({"plugins.use=every_kind"}, "lies in a run folder");
    }

    void whatOthersMayWriteIsNotLoaded() {
        ::chmod((m_folder / "every_kind.so").c_str(), 0666);
        expectRefusal({"plugins.use=every_kind"}, "may be written by others");
        ::chmod((m_folder / "every_kind.so").c_str(), 0600);
        ::chmod(m_folder.c_str(), 0777);
        expectRefusal({"plugins.use=every_kind"}, "may be written by others");
        ::chmod(m_folder.c_str(), 0700);
        const auto open = m_work->scratch() / "open";
        stdfs::create_directory(open);
        ::chmod(open.c_str(), 0777);
        stdfs::rename(m_folder / "every_kind.so", open / "every_kind.so");
        stdfs::create_symlink(open / "every_kind.so", m_folder / "every_kind.so");
        expectRefusal({"plugins.use=every_kind"}, "may be written by others");
        if (::geteuid() != 0) return;
        stdfs::remove(m_folder / "every_kind.so");
        stdfs::copy_file(open / "every_kind.so", m_folder / "every_kind.so");
        QCOMPARE(::chown((m_folder / "every_kind.so").c_str(), 12345, 12345), 0);
        expectRefusal({"plugins.use=every_kind"}, "belongs to another user (12345)");
    }

private:
    QString config() const { return QString::fromStdString((m_work->scratch() / "line.yaml").string()); }
    Answer launched(const QStringList& settings) const {
        QStringList words{"run", config(), "--json"};
        for (const QString& setting : settings) words << "--set" << setting;
        return m_work->ask(words);
    }
    rundir::RunFolder finished(QStringList settings) const {
        const Answer answer = launched(QStringList{"plugins.use=every_kind"} + settings);
        if (answer.code != 0) qWarning("%s", (answer.err + answer.out).c_str());
        return rundir::RunFolder(std::string(answer.json()["folder"]));
    }
    void expectRefusal(const QStringList& settings, const QString& part) const {
        const Answer answer = launched(settings);
        QVERIFY2(answer.code == static_cast<int>(ExitCode::Usage), answer.err.c_str());   // before there is a run
        QVERIFY2(QString::fromStdString(answer.err + answer.out).contains(part), (answer.err + answer.out).c_str());
    }
    void expectAfter(const std::function<void(std::string&)>& change, const char* part) const {
        std::string bytes = readFile(LATHE_PLUGIN_EVERY_KIND, 1u << 28).value();
        change(bytes);
        std::ofstream(m_folder / "every_kind.so", std::ios::binary | std::ios::trunc) << bytes;
        expectRefusal({"plugins.use=every_kind"}, part);
    }
    static std::vector<std::string> outcomes(const rundir::RunFolder& run) {
        std::vector<std::string> all;
        for (const store::EventRow& row : eventsOf(run, "resume_report")) all.push_back(json::parse(row.event.json)["outcome"]);
        return all;
    }

    std::unique_ptr<Workspace> m_work;
    stdfs::path m_folder;
};

QTEST_GUILESS_MAIN(PluginsTest)
#include "tst_plugins.moc"
