// labels: process
// resources/c/lathe.h, built as C99 and as C++, against the recorder's own code.
#include "program_host.h"
#include "trainer_process.h"

#include <QtCore/QTemporaryDir>
#include <QtTest/QTest>

#include <nlohmann/json.hpp>

#include <cmath>
#include <sstream>

using namespace lathe;
using tests::ProgramHost;
using Goodbye = launch::ProgramFrames::Goodbye;

namespace {

class Played {
public:
    Played(const char* program, const char* play, const ProgramHost* host, const QString& trainer = {}) {
        QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
        for (const char* name : {"LATHE_SOCKET", "LATHE_TOKEN", "LATHE_RUN", "LATHE_TRAINER"}) environment.remove(QString::fromLatin1(name));
        if (host != nullptr)
            for (const auto& [name, value] : host->environment) environment.insert(QString::fromStdString(name), QString::fromStdString(value));
        else
            environment.insert(QStringLiteral("PATH"), QStringLiteral("/nowhere"));
        if (!trainer.isEmpty()) environment.insert(QStringLiteral("LATHE_TRAINER"), trainer);
        m_process.setProcessEnvironment(environment);
        m_process.start(QString::fromLatin1(program), {QString::fromLatin1(play)});
    }
    bool waitForLine() {
        return test::eventually([this] { return m_process.canReadLine(); });
    }
    void write(const char* text) { m_process.write(text); }
    test::Answer finish() { return test::Workspace::finish(m_process); }

private:
    QProcess m_process;
};

}  // namespace

class TestCClient : public QObject {
    Q_OBJECT

    QTemporaryDir m_folder;
    int m_serial = 0;
    std::filesystem::path workspace() { return std::filesystem::path(m_folder.path().toStdString()) / std::to_string(++m_serial); }
    static constexpr const char* kC = LATHE_PLAY_C;
    static constexpr const char* kCxx = LATHE_PLAY_CXX;

private Q_SLOTS:
    void everythingAProgramSaysIsRecorded_data() {
        QTest::addColumn<QByteArray>("program");
        QTest::newRow("C") << QByteArray(kC);
        QTest::newRow("C++") << QByteArray(kCxx);
    }
    void everythingAProgramSaysIsRecorded() {
        QFETCH(QByteArray, program);
        ProgramHost host(workspace());
        const auto answer = Played(program.constData(), "everything", &host).finish();
        QVERIFY2(answer.code == 0 && answer.err.empty(), answer.err.c_str());
        const auto goodbye = host.facts().goodbye;
        QVERIFY(goodbye && goodbye->how == Goodbye::How::Fine);
        const auto loss = host.points("train/loss");
        QCOMPARE(loss.size(), std::size_t{1002});
        for (std::size_t i = 0; i < 1000; ++i) QVERIFY(loss[i].value == 1.0 / double(i + 1) && loss[i].step == std::int64_t(i));
        QVERIFY(std::isnan(loss[1000].value) && std::isinf(loss[1001].value));
        QCOMPARE(host.points("train/lr").size(), std::size_t{1000});
        QCOMPARE(host.points("eval/accuracy").at(0).step, std::int64_t{-1});
        const auto reader = std::move(store::RunReader::open(host.run.folder().database())).value();
        QCOMPARE(reader->recordNames()->size(), std::size_t{6});
        const auto kept = nlohmann::json::parse(reader->newestRecords(live::FrameType::OwnCheckpoint)->at(0).record.content);
        QCOMPARE(kept.at("path").get<std::string>(), std::filesystem::current_path().string() + "/some \"file\".bin");
        QCOMPARE(kept.at("metrics").at("odd \"name\"").get<std::string>(), std::string("0.33333333333333331"));
        QCOMPARE(host.events("warning").at(0).event.text, std::string("half way"));
        QCOMPARE(host.summary().plannedUpdates.value_or(0), std::int64_t{1000});
    }
    void aProgramThatClosesItsDescriptorsLosesNothing() {
        ProgramHost host(workspace());
        QCOMPARE(Played(kC, "closes", &host).finish().out, std::string("0 0\n"));
        const auto loss = host.points("train/loss");
        QCOMPARE(loss.size(), std::size_t{3000});
        for (std::size_t i = 0; i < loss.size(); ++i) QCOMPARE(loss[i].value, double(i));
    }
    void aForkedChildSendsForItself() {
        ProgramHost host(workspace());
        QCOMPARE(Played(kC, "forks", &host).finish().code, 0);
        QCOMPARE(host.facts().producers, 2);
        QCOMPARE(host.points("train/loss").size(), std::size_t{1});
        for (const char* name : {"child", "parent"}) QCOMPARE(host.points(name).size(), std::size_t{100});
    }
    void whatDoesNotFitIsCountedExactly() {
        ProgramHost host(workspace());
        std::istringstream said(Played(kC, "flood", &host).finish().out);
        std::uint64_t total = 0, missing = 0;
        QVERIFY(said >> total >> missing);
        QCOMPARE(host.facts().missing, missing);
        QCOMPARE(host.points("train/loss").size() + missing, total);
    }
    void afterAFullBufferTheCountIsExactAndTheGoodbyeArrives() {
        ProgramHost host(workspace());
        host.hold(true);
        Played program(kC, "full", &host);
        // It cannot be welcomed while nobody listens.
        host.hold(false);
        QTRY_COMPARE_WITH_TIMEOUT(host.facts().connections, 1, 20'000);
        host.hold(true);
        QVERIFY(program.waitForLine());
        host.hold(false);
        std::istringstream said(program.finish().out);
        std::string word;
        std::uint64_t total = 0, missing = 0;
        QVERIFY(said >> word >> total >> missing);
        QVERIFY(host.facts().goodbye.has_value());
        QCOMPARE(host.facts().missing, missing);
        QCOMPARE(host.points("train/loss").size() + missing, total);
    }
    void moreSeriesThanARunCanHaveAreCountedAndTold() {
        ProgramHost host(workspace());
        const auto answer = Played(kC, "crowded", &host).finish();
        QCOMPARE(answer.out, std::string("5\n"));
        QCOMPARE(host.points("s5").size(), std::size_t{2});
        const auto warnings = host.events("warning");
        QVERIFY(warnings.size() == 2 && warnings[0].event.text.find("at most 65535 series") != std::string::npos);
        QVERIFY(warnings[1].event.text.find("5 values were left out") != std::string::npos);
    }
    void aPathThatIsNotUtf8IsKeptAndTold() {
        ProgramHost host(workspace());
        QCOMPARE(Played(kC, "bad_path", &host).finish().code, 0);
        host.stop();
        const auto reader = std::move(store::RunReader::open(host.run.folder().database())).value();
        const auto kept = reader->newestRecords(live::FrameType::OwnCheckpoint);
        QCOMPARE(kept->size(), std::size_t{1});
        QVERIFY(kept->at(0).record.content.find("/tmp/model-?.pt") != std::string::npos);
        QVERIFY(host.events("warning").at(0).event.text.find("not UTF-8") != std::string::npos);
    }
    void aRefusalIsPrintedAndWhatComesAfterItArrives() {
        ProgramHost host(workspace());
        const auto answer = Played(kC, "refused", &host).finish();
        QVERIFY2(answer.err.find("refused a message of this program: A message (points) has a wrong length") != std::string::npos, answer.err.c_str());
        QCOMPARE(host.points("train/loss").size(), std::size_t{2});
    }
    void manyNamesAndAGiantOne() {
        ProgramHost host(workspace());
        QCOMPARE(Played(kC, "names", &host).finish().code, 0);
        host.stop();
        const auto reader = std::move(store::RunReader::open(host.run.folder().database())).value();
        QCOMPARE(reader->series()->size(), std::size_t{2001});
        const auto twice = host.points("layer.5");  // named twice in one call
        QCOMPARE(twice.size(), std::size_t{3});
        QCOMPARE(twice[1].value + 10 * twice[2].value, 31.0);
        QCOMPARE(twice[1].step, twice[2].step);
    }
    void stopAndSaveReachTheProgram() {
        ProgramHost host(workspace());
        Played program(kCxx, "obeys", &host);
        QVERIFY(program.waitForLine());
        host.ask(live::Control::Stop::None, 1);
        QTRY_COMPARE_WITH_TIMEOUT(host.facts().saved, std::int64_t{1}, 20'000);
        host.ask(live::Control::Stop::SaveAndStop, 1);
        QCOMPARE(program.finish().out, std::string("ready\n1\n"));
        const auto goodbye = host.facts().goodbye;
        QVERIFY(goodbye && goodbye->how == Goodbye::How::Stopped);
    }
    void aProgramOutlivesItsRecorder() {
        ProgramHost host(workspace());
        Played program(kC, "loses_its_recorder", &host);
        QVERIFY(program.waitForLine());
        host.stop();
        program.write("\n");
        const auto answer = program.finish();
        QCOMPARE(answer.out, std::string("ready\n1 0\n"));
        QVERIFY(answer.err.find("recorder is gone") != std::string::npos);
    }
    void exitSendsWhatIsLeft() {
        ProgramHost host(workspace());
        QCOMPARE(Played(kC, "leaves", &host).finish().code, 0);
        QVERIFY(host.facts().goodbye.has_value());
        QCOMPARE(host.points("train/loss").size(), std::size_t{2});
    }
    void withoutARecorderNothingHappens() {
        for (const char* trainer : {"", "/nowhere/lathe-trainer", "/bin/echo", "/bin/false"}) {
            const auto answer = Played(kC, "everything", nullptr, QString::fromLatin1(trainer)).finish();
            QCOMPARE(answer.code, 0);
            QCOMPARE(std::count(answer.err.begin(), answer.err.end(), '\n'), std::ptrdiff_t{1});
        }
    }
};

QTEST_GUILESS_MAIN(TestCClient)
#include "tst_c_client.moc"
