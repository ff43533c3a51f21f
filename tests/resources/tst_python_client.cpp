// labels: process
// resources/python/lathe.py in a real interpreter, against the recorder's own code.
#include "patience.h"
#include "program_host.h"
#include "python.h"

#include <QtCore/QTemporaryDir>
#include <QtTest/QTest>

#include <set>

#include <nlohmann/json.hpp>

#include <cmath>
#include <set>

using namespace lathe;
using tests::ProgramHost;
using tests::PythonScript;
using Goodbye = launch::ProgramFrames::Goodbye;

class TestPythonClient : public QObject {
    Q_OBJECT

    QTemporaryDir m_folder;
    int m_serial = 0;
    std::filesystem::path workspace() { return std::filesystem::path(m_folder.path().toStdString()) / std::to_string(++m_serial); }
    static std::vector<std::string> seriesOf(ProgramHost& host) {
        host.stop();
        const auto all = std::move((*store::RunReader::open(host.run.folder().database()))->series()).value();
        std::vector<std::string> names;
        for (const auto& one : all) names.push_back(one.name);
        return names;
    }

private Q_SLOTS:
    void initTestCase() {
        if (PythonScript::interpreter().isEmpty()) QSKIP("there is no Python 3 (python3 on PATH, or LATHE_PYTHON)");
    }

    void everythingALoggingScriptSaysIsRecorded() {
        ProgramHost host(workspace());
        const auto answer = PythonScript(&host, {"everything"}).finish();
        QVERIFY2(answer.code == 0, answer.err.c_str());
        const auto loss = host.points("train/loss");
        QCOMPARE(loss.size(), std::size_t{1004});
        for (std::size_t i = 0; i < 1000; ++i) QVERIFY(loss[i].value == 1.0 / double(i + 1) && loss[i].step == std::int64_t(i));
        QVERIFY(loss[1002].step == 6 && loss[1003].step == 6);
        QVERIFY(std::isnan(loss[1000].value) && std::isinf(loss[1001].value) && loss[1001].step == 5);
        QCOMPARE(host.points("train/lr").size(), std::size_t{1000});
        QCOMPARE(host.points("eval/accuracy").size(), std::size_t{1});
        QCOMPARE(host.points("deep/er").at(0).step, std::int64_t{6});
        for (const char* said : {"\"weights\" is a histogram without some of its values: 1 at step 3 are nan or inf", "edges and counts of a histogram are finite numbers",
                                 "\"table\" is not recorded: ValueError: row 1 of \"short\" has 1 cells, and there are 2 columns",
                                 "\"checkpoint\" is not recorded: FileNotFoundError: there is no file or folder /nowhere/model.pt", "\"word\" is not recorded", "\"image\" is not recorded", "\"histogram\" is not recorded", "replaced by the step before: 'seven' is not"})
            QVERIFY2(answer.err.find(said) != std::string::npos, said);
        const auto reader = std::move(store::RunReader::open(host.run.folder().database())).value();
        std::set<std::string> records;
        const auto names = std::move(reader->recordNames()).value();
        for (const auto& one : names) records.insert(std::string(live::recordWord(one.type)) + " " + one.name + " " + std::to_string(one.count));
        const std::string script = PythonScript::path();
        QCOMPARE(records, (std::set<std::string>{"text sample 1", "table confusion 1", "histogram weights 2", "image input 1", "summary best 1",
                                                 "summary words 1", "checkpoint " + script + " 1"}));
        QCOMPARE(reader->records(live::FrameType::Text, "sample")->at(0).record.content, std::string("once upon a time ?"));
        const auto table = nlohmann::json::parse(reader->records(live::FrameType::Table, "confusion")->at(0).record.content);
        QCOMPARE(table.dump(), std::string(R"({"columns":["a","b"],"rows":[[1,"nan"],[null,"x"]]})"));
        const auto kept = nlohmann::json::parse(reader->newestRecords(live::FrameType::OwnCheckpoint)->at(0).record.content);
        QCOMPARE(kept.at("metrics").at("eval/loss").get<std::string>(), std::string("0.25"));
        QVERIFY(kept.at("bytes").get<std::int64_t>() > 100);
        const auto warnings = host.events("warning");
        QVERIFY(std::any_of(warnings.begin(), warnings.end(), [](const auto& row) { return row.event.text == "half way"; }));
        QCOMPARE(host.summary().plannedUpdates.value_or(0), std::int64_t{1000});
        QVERIFY(host.summary().best && host.summary().best->metric == "eval/accuracy" && host.summary().best->value == 1);
        QVERIFY(host.events("program").at(0).event.text.find("python 3") == 0);
    }

    void whatIsLeftOutIsToldOnceForEachCauseAndCounted() {
        ProgramHost host(workspace());
        const auto answer = PythonScript(&host, {"odd_values"}).finish();
        QVERIFY2(answer.code == 0, answer.err.c_str());
        QCOMPARE(answer.json().at("missing").get<int>(), 4 + 3);
        const auto loss = host.points("train/loss");
        QCOMPARE(loss.size(), std::size_t{2});
        QVERIFY(loss[0].step == 0 && loss[1].step == 1 && loss[1].value == 1);
        std::string told;
        const auto warnings = host.events("warning");
        for (const auto& row : warnings) told += row.event.text + "\n";
        QVERIFY2(warnings.size() == 7, told.c_str());
        for (const char* said : {"a step is replaced", "a value of type str is not a number", "None is not a number", "too large for a float", "No such file",
                                 "IsADirectoryError", "\"loss\" (a value of type str is not a number): 2;"})
            QVERIFY2(told.find(said) != std::string::npos, (std::string(said) + " is not in\n" + told).c_str());
        const auto reader = std::move(store::RunReader::open(host.run.folder().database())).value();
        QCOMPARE(reader->records(live::FrameType::Text, "kept")->size(), std::size_t{1});
    }

    void moreSeriesThanARunCanHaveAreCountedAndTold() {
        ProgramHost host(workspace());
        const auto answer = PythonScript(&host, {"crowded"}).finish();
        QVERIFY2(answer.code == 0, answer.err.c_str());
        QCOMPARE(answer.json().at("missing").get<int>(), 15);
        QCOMPARE(host.points("s65534").size(), std::size_t{3});
        const auto warnings = host.events("warning");
        QVERIFY(warnings.size() == 2 && warnings[0].event.text.find("at most 65535") != std::string::npos);
        QVERIFY2(warnings[1].event.text.find("65535): 15") != std::string::npos, warnings[1].event.text.c_str());
    }

    void ratesOfSeveralOptimizersHaveNamesOfTheirOwn() {
        ProgramHost host(workspace());
        QCOMPARE(PythonScript(&host, {"rates"}).finish().json().dump(), std::string(R"({"lr":0.1,"train/lr/1":0.2,"train/lr/2":0.3,"train/lr/3":0.4})"));
    }

    void aWishIsListenedForOnceTheRecorderKnowsIt() {
        ProgramHost host(workspace());
        PythonScript script(&host, {"listens_late"});
        QVERIFY(script.waitForLine());
        QTRY_VERIFY_WITH_TIMEOUT(host.facts().listensForStop, 20'000);
        script.write("\n");
        QCOMPARE(script.finish().code, 0);
    }

    void aForkedChildThatOnlyAsksIsHeard() {
        ProgramHost host(workspace());
        PythonScript script(&host, {"child_listens"});
        QTRY_VERIFY_WITH_TIMEOUT(host.facts().listensForStop, 20'000);
        host.ask(live::Control::Stop::SaveAndStop, 0);
        QTRY_VERIFY_WITH_TIMEOUT(host.facts().goodbye.has_value(), 20'000);
        QVERIFY(host.facts().goodbye->how == Goodbye::How::Stopped);
    }

    void aRefusalIsPrintedAndWhatComesAfterItArrives() {
        ProgramHost host(workspace());
        const auto answer = PythonScript(&host, {"refused"}).finish();
        QVERIFY2(answer.err.find("the recorder refused it: A message (points) has a wrong length") != std::string::npos, answer.err.c_str());
        QCOMPARE(host.points("train/loss").size(), std::size_t{2});
    }

    void whatIsNotSafeCountsAsMissing() {
        ProgramHost host(workspace());
        host.keepUnsafe();
        const auto answer = PythonScript(&host, {"unsafe"}).finish();
        QVERIFY2(answer.json().at("missing").get<int>() >= 10, answer.out.c_str());
    }

    void aScriptThatClosesItsDescriptorsLosesNothing() {
        ProgramHost host(workspace());
        const auto answer = PythonScript(&host, {"closes"}).finish();
        QVERIFY2(answer.code == 0, answer.err.c_str());
        QCOMPARE(answer.json().at("missing").get<int>(), 0);
        for (const auto& bytes : answer.json().at("open")) QCOMPARE(bytes.get<int>(), 0);
        const auto loss = host.points("train/loss");
        QCOMPARE(loss.size(), std::size_t{3000});
        for (std::size_t i = 0; i < loss.size(); ++i) QCOMPARE(loss[i].value, double(i));
    }

    void forkedChildrenSendForThemselves() {
        ProgramHost host(workspace());
        const auto answer = PythonScript(&host, {"forks"}).finish();
        QVERIFY2(answer.code == 0, answer.err.c_str());
        QCOMPARE(host.facts().producers, 4);
        QCOMPARE(host.points("train/loss").size(), std::size_t{2});
        for (const char* name : {"child1", "child2", "child3"}) QCOMPARE(host.points(name).size(), std::size_t{100});
    }

    void childrenOfMultiprocessingLoseNothing() {
        ProgramHost host(workspace());
        const auto answer = PythonScript(&host, {"pools"}).finish();
        QVERIFY2(answer.code == 0, answer.err.c_str());
        std::set<double> values;
        for (const auto& point : host.points("worker")) values.insert(point.value);
        QCOMPARE(values, (std::set<double>{0, 1, 2, 3, 4, 5, 6, 7}));
    }

    void whatCannotBeNamedHarmsNothing() {
        ProgramHost host(workspace());
        const auto answer = PythonScript(&host, {"odd_names"}).finish();
        QVERIFY2(answer.code == 0, answer.err.c_str());
        QCOMPARE(host.points("train/loss").size(), std::size_t{3});
        host.stop();
        const auto reader = std::move(store::RunReader::open(host.run.folder().database())).value();
        const auto kept = reader->newestRecords(live::FrameType::OwnCheckpoint);
        QCOMPARE(kept->size(), std::size_t{1});
        QVERIFY(kept->at(0).record.content.find("/model-?.pt") != std::string::npos);
    }

    void aDaemonGoesOnLogging() {
        ProgramHost host(workspace());
        const auto answer = PythonScript(&host, {"daemon"}).finish();
        QCOMPARE(answer.code, 0);
        QTRY_VERIFY_WITH_TIMEOUT(host.facts().goodbye.has_value(), 30'000);
        QCOMPARE(host.points("train/loss").size(), std::size_t{100});
    }

    /// Nor do values without a name raise or stop what comes after them.
    void tenThousandNamesAndAGiantOne() {
        ProgramHost host(workspace());
        const auto answer = PythonScript(&host, {"names"}).finish();
        QVERIFY2(answer.code == 0, answer.err.c_str());
        QCOMPARE(seriesOf(host).size(), std::size_t{10'003});
        QCOMPARE(host.points("first").at(0).value, 7.5);  // a step that was forgotten is the next one
        QCOMPARE(host.points("train/loss").size(), std::size_t{1});
        QVERIFY2(answer.err.find("by name") != std::string::npos, answer.err.c_str());
    }

    /// Recorded and missing make up what was logged, to the message, on both sides.
    void whatDoesNotFitIsCountedExactly() {
        ProgramHost host(workspace());
        const auto answer = PythonScript(&host, {"flood"}).finish();
        QVERIFY2(answer.code == 0, answer.err.c_str());
        const auto missing = answer.json().at("missing").get<std::uint64_t>();
        QCOMPARE(host.facts().missing, missing);
        const auto loss = host.points("train/loss");
        QCOMPARE(loss.size() + missing, answer.json().at("total").get<std::size_t>());
        for (std::size_t i = 1; i < loss.size(); ++i) QVERIFY(loss[i].value > loss[i - 1].value);
    }

    void stopAndSaveReachTheScript() {
        ProgramHost host(workspace());
        PythonScript script(&host, {"obeys"});
        QVERIFY(script.waitForLine());
        host.ask(live::Control::Stop::None, 1);
        QTRY_COMPARE_WITH_TIMEOUT(host.facts().saved, std::int64_t{1}, 20'000);
        host.ask(live::Control::Stop::None, 2);
        QTRY_COMPARE_WITH_TIMEOUT(host.facts().saved, std::int64_t{2}, 20'000);
        host.ask(live::Control::Stop::SaveAndStop, 2);
        const auto answer = script.finish();
        QCOMPARE(answer.code, 0);
        QCOMPARE(answer.json().at("saved").get<int>(), 2);
        QTRY_VERIFY(host.facts().goodbye.has_value());
        QVERIFY(host.facts().goodbye->how == Goodbye::How::Stopped);
    }

    void aScriptOutlivesItsRecorder() {
        ProgramHost host(workspace());
        PythonScript script(&host, {"loses_its_recorder"});
        QVERIFY(script.waitForLine());
        host.stop();
        script.write("go on\n");
        const auto answer = script.finish();
        QVERIFY2(answer.code == 0, answer.err.c_str());
        QCOMPARE(answer.json().dump(), std::string(R"({"missing":true,"save":false,"stop":false})"));
        QVERIFY(answer.err.find("recorder is gone") != std::string::npos);
    }

    void howAScriptEndsIsKnown_data() {
        QTest::addColumn<QString>("play");
        QTest::addColumn<int>("how");
        QTest::addColumn<QString>("why");
        QTest::newRow("fine") << "threads" << 0 << "";
        QTest::newRow("exception") << "raises" << 1 << "ValueError: shapes differ";
        QTest::newRow("Ctrl-C") << "interrupted" << 2 << "Ctrl-C";
    }
    void howAScriptEndsIsKnown() {
        QFETCH(QString, play);
        QFETCH(int, how);
        QFETCH(QString, why);
        ProgramHost host(workspace());
        PythonScript(&host, {play}).finish();
        const auto goodbye = host.facts().goodbye;
        QVERIFY(goodbye.has_value());
        QCOMPARE(int(goodbye->how), how);
        QCOMPARE(QString::fromStdString(goodbye->why), why);
    }

    void aKilledScriptLosesNothingThatWasSent() {
        ProgramHost host(workspace());
        QCOMPARE(PythonScript(&host, {"killed"}).finish().code, -1);
        QVERIFY(!host.facts().goodbye.has_value());
        QCOMPARE(host.points("train/loss").size(), std::size_t{100});
    }

    void severalThreadsMayLog() {
        ProgramHost host(workspace());
        QCOMPARE(PythonScript(&host, {"threads"}).finish().code, 0);
        for (const char* name : {"thread0", "thread1", "thread2", "thread3"}) {
            const auto points = host.points(name);
            QCOMPARE(points.size(), std::size_t{2000});
            for (std::size_t i = 0; i < points.size(); ++i) QCOMPARE(points[i].value, double(i));
        }
    }

    void initIsOneRunUntilItIsFinished() {
        ProgramHost host(workspace());
        const auto answer = PythonScript(&host, {"twice"}).finish();
        QCOMPARE(answer.code, 0);
        QCOMPARE(answer.out, std::string("{\"same\": true, \"current\": true}\n{\"another\": true, \"recorded\": true}\n"));
        QCOMPARE(host.points("train/loss").size(), std::size_t{1});
    }

    void withoutARecorderNothingHappens_data() {
        QTest::addColumn<QString>("trainer");
        QTest::addColumn<QString>("sentence");
        QTest::newRow("none") << "" << "lathe-trainer is not on PATH";
        QTest::newRow("not a program") << "/nowhere/lathe-trainer" << "not recorded";
        QTest::newRow("says nonsense") << "/bin/echo" << "not recorded";
        QTest::newRow("fails") << "/bin/false" << "not recorded";
        QTest::newRow("recorder gone") << "socket" << "not recorded";
        QTest::newRow("other ranks") << "rank" << "";
    }
    void withoutARecorderNothingHappens() {
        QFETCH(QString, trainer);
        QFETCH(QString, sentence);
        PythonScript script(nullptr, {QStringLiteral("not_recorded")}, [&](QProcessEnvironment& environment) {
            environment.insert(QStringLiteral("PATH"), QStringLiteral("/nowhere"));
            if (trainer == QStringLiteral("rank")) environment.insert(QStringLiteral("RANK"), QStringLiteral("1"));
            else if (trainer != QStringLiteral("socket")) environment.insert(QStringLiteral("LATHE_TRAINER"), trainer);
            else environment.insert(QStringLiteral("LATHE_SOCKET"), m_folder.filePath(QStringLiteral("gone.sock")));
            environment.insert(QStringLiteral("LATHE_TOKEN"), QStringLiteral("x"));
        });
        const auto answer = script.finish();
        QCOMPARE(answer.code, 0);
        QCOMPARE(answer.json().dump(), std::string(R"({"missing":0,"recorded":false,"save":false,"stop":false})"));
        QCOMPARE(std::count(answer.err.begin(), answer.err.end(), '\n'), std::ptrdiff_t{sentence.isEmpty() ? 0 : 1});
        QVERIFY2(answer.err.find(sentence.toStdString()) != std::string::npos, answer.err.c_str());
    }
};

QTEST_GUILESS_MAIN(TestPythonClient)
#include "tst_python_client.moc"
