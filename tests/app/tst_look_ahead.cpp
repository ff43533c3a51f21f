// labels: process
// What is told beforehand is what happens: check and run refuse alike, before there is a run; a dry run of going on says what
// the real one does, also where data and plug-ins have changed since.
#include "trainer_process.h"

#include "config/config.h"

#include <QtTest>

#include <fstream>

using namespace lathe;
using namespace lathe::test;
using nlohmann::json;
namespace stdfs = std::filesystem;

class LookAheadTest : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void init() {
        m_work = std::make_unique<Workspace>();
        m_plugins = m_work->scratch() / "plugins";
        stdfs::create_directories(m_plugins);
        stdfs::permissions(m_plugins, stdfs::perms::owner_all);
        stdfs::copy_file(LATHE_PLUGIN_EVERY_KIND, plugin());
        stdfs::permissions(plugin(), stdfs::perms::owner_read | stdfs::perms::owner_write);
        m_work->setEnvironment("LATHE_PLUGINS", m_plugins.string());
        writeRows(64);
        write("line.yaml", "data: {train: line.csv, target: [y], batch_size: 16}\nmodel: {name: linear}\ntask: {name: regression}\noptimizer: {name: sgd, learning_rate: 0.1}\n"
                           "schedule: {name: constant}\nrun: {epochs: none, max_updates: 6}\nparallel: {determinism: exact}\n");
        const std::string header = R"({"other.weight":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})";
        std::string file(8, '\0');
        file[0] = static_cast<char>(header.size());
        write("other.safetensors", file + header + std::string(8, '\0'));
    }

    void checkAndRunRefuseAlike_data() {
        QTest::addColumn<QString>("setting");
        QTest::addColumn<QByteArray>("key");
        QTest::addColumn<QByteArray>("part");
        QTest::newRow("weights of another model") << QStringLiteral("model.weights=%1/other.safetensors") << QByteArray("model.weights") << QByteArray("other.weight");
        QTest::newRow("a model that can never fit") << "model.name=mlp;model.hidden=1000000, 1000000" << QByteArray("model.name") << QByteArray("TiB");
        QTest::newRow("no such plug-in") << "plugins.nope.x=1" << QByteArray("plugins.nope") << QByteArray("is not in");
        QTest::newRow("no such thing in a plug-in") << "schedule.name=every_kind/nix" << QByteArray("schedule.name") << QByteArray("every_kind/nix");
        QTest::newRow("a setting that the plug-in lacks") << "plugins.every_kind.trow_at=7" << QByteArray("plugins.every_kind") << QByteArray("did you mean throw_at");
        QTest::newRow("no full micro-batch") << "data.batch_size=100" << QByteArray("data.batch_size") << QByteArray("drop_last");
        QTest::newRow("pictures wanted") << "model.name=resnet18" << QByteArray("model.name") << QByteArray("resnet18");
    }
    void checkAndRunRefuseAlike() {
        QFETCH(QString, setting);
        QFETCH(QByteArray, key);
        QFETCH(QByteArray, part);
        if (setting.contains(QStringLiteral("%1"))) setting = setting.arg(QString::fromStdString(m_work->scratch().string()));
        for (const char* verb : {"check", "run"}) {
            QStringList words{QLatin1String(verb), config(), "--set", "data.drop_last=true"};
            for (const QString& one : setting.split(QLatin1Char(';'))) words << QStringLiteral("--set") << one;
            if (setting.startsWith(QLatin1String("schedule"))) words << "--set" << "plugins.use=every_kind";
            const Answer answer = m_work->ask(words);
            QVERIFY2(answer.code == 2, (answer.out + answer.err).c_str());
            QVERIFY2(says(answer, "error: " + key.toStdString()) && says(answer, part.toStdString()), (answer.out + answer.err).c_str());
        }
        QVERIFY(rundir::listRuns(m_work->folder()).empty());
    }

    void otherDataAreRefusedBeforehandAndInFact() {
        QCOMPARE(train({}).code, 0);
        writeRows(65);
        for (const QStringList& verb : {QStringList{"continue", "latest", "--set", "run.max_updates=9"}, {"roll-back", "latest@6", "--set", "run.max_updates=9"}, {"fork", "latest@6", "--set", "run.max_updates=9"}})
            refusedAlike(verb, "The training data are not those of checkpoint s001-000000006");
        QCOMPARE(rundir::newestSession(m_work->latest()), 1);
        QCOMPARE(rundir::listRuns(m_work->folder()).size(), std::size_t(1));
        QCOMPARE(m_work->ask({"start-from-weights", "latest@6"}).code, 0);   // as the sentence says
    }

    void aPluginThatIsGoneIsRefusedBeforehandAndInFact() {
        QCOMPARE(train({"--set", "plugins.use=every_kind"}).code, 0);
        stdfs::remove(plugin());
        for (const QStringList& verb : {QStringList{"continue", "latest", "--set", "run.max_updates=9"}, {"roll-back", "latest@6", "--set", "run.max_updates=9"}, {"start-from-weights", "latest@6"}})
            refusedAlike(verb, "The plug-in every_kind is not in");
        const Answer again = m_work->ask({"again", "latest"});
        QVERIFY2(again.code == 2 && says(again, "The plug-in every_kind is not in"), again.err.c_str());
        QCOMPARE(rundir::newestSession(m_work->latest()), 1);
        QCOMPARE(rundir::listRuns(m_work->folder()).size(), std::size_t(1));
    }

    void whatAReportWouldSayIsSaidBeforehand() {
        QCOMPARE(train({"--set", "plugins.use=every_kind"}).code, 0);
        const QStringList go{"continue", "latest", "--json", "--set", "run.max_updates=9"};
        const json same = m_work->ask(go + QStringList{"--dry-run"}).json();
        QVERIFY2(same["notices"].dump().find("it can continue exactly") != std::string::npos, same["notices"].dump().c_str());
        std::ofstream(plugin(), std::ios::app | std::ios::binary) << "another build";
        const json changed = m_work->ask(go + QStringList{"--dry-run"}).json();
        QVERIFY(changed["would_start"].get<bool>());
        const Answer answer = m_work->ask(go);
        QVERIFY2(answer.code == 0, answer.err.c_str());
        const json report = answer.json()["resume"];
        QCOMPARE(report["outcome"], "not comparable");
        const std::string detail = report["detail"];
        QVERIFY2(detail.find("plug-in every_kind") != std::string::npos, detail.c_str());
        QVERIFY2(changed["notices"].back().get<std::string>().ends_with(detail), changed["notices"].dump().c_str());
    }

    // the next window of a plug-in is asked for before there is a run
    void aPluginThatHangsWhenAskedHoldsNoRunBackForEver() {
        m_work->setEnvironment("LATHE_REFUSAL_SECONDS", "1");
        const QStringList faulty{"--set", "plugins.use=every_kind", "--set", "plugins.every_kind.fault=hang when asked", "--set", "accumulation.rule=every_kind/growing"};
        const Answer checked = m_work->ask(QStringList{"check", config()} + faulty);
        QVERIFY2(checked.code == 3 && says(checked, "lathe-worker describe gave no answer within 1 s: the data take long to open, or a plug-in hangs"), checked.err.c_str());
        QVERIFY2(says(checked, "Could not be checked to the end") && !says(checked, "Ready to run"), checked.out.c_str());
        const Answer answer = train(faulty);
        QVERIFY2(answer.code == 0, answer.err.c_str());
        QVERIFY2(answer.err.find("lathe-worker describe gave no answer within 1 s: the data take long to open, or a plug-in hangs") != std::string::npos, answer.err.c_str());
        QVERIFY(rundir::readSession(m_work->latest(), 1)->state == rundir::State::Completed);
        const Answer explained = m_work->ask(QStringList{"explain", config()} + faulty);
        QVERIFY2(explained.code == 0 && says(explained, "gave no answer within 1 s"), explained.err.c_str());
        const json sheet = m_work->ask({"continue", "latest", "--json", "--dry-run", "--set", "run.max_updates=9"}).json();
        QVERIFY2(sheet["would_start"].get<bool>() && sheet["notices"].dump().find("What the worker says of it is not known: lathe-worker describe gave no answer within 1 s") != std::string::npos, sheet.dump().c_str());
        const Answer more = m_work->ask({"continue", "latest", "--set", "run.max_updates=9"});
        QVERIFY2(more.code == 0, more.err.c_str());
        QCOMPARE(rundir::readSession(m_work->latest(), 2)->counters->globalStep.value(), 9);
    }

private:
    stdfs::path plugin() const { return m_plugins / "every_kind.so"; }
    QString config() const { return QString::fromStdString((m_work->scratch() / "line.yaml").string()); }
    void write(const char* name, const std::string& text) const { std::ofstream(m_work->scratch() / name, std::ios::binary) << text; }
    void writeRows(int count) const {
        std::string text = "x,y\n";
        for (int i = 0; i < count; ++i) text += std::to_string(i / 64.0) + "," + std::to_string(i / 32.0) + "\n";
        write("line.csv", text);
    }
    Answer train(const QStringList& more) const { return m_work->ask(QStringList{"run", config()} + more); }
    static bool says(const Answer& answer, const std::string& part) { return (answer.out + answer.err).find(part) != std::string::npos; }
    void refusedAlike(const QStringList& words, const std::string& part) const {
        for (const QStringList& more : {QStringList{"--dry-run"}, QStringList{}}) {
            const Answer answer = m_work->ask(words + more);
            QVERIFY2(answer.code == 2 && says(answer, part), (words.join(' ').toStdString() + ": " + answer.out + answer.err).c_str());
        }
    }

    std::unique_ptr<Workspace> m_work;
    stdfs::path m_plugins;
};

QTEST_GUILESS_MAIN(LookAheadTest)
#include "tst_look_ahead.moc"
