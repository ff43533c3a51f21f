// labels: process
// timeout: 400
// The callbacks of resources/python in trainings with the real libraries, where LATHE_PYTHON (or python3, with the LibTorch
// wheel of the build on its path) has them: what arrives is what the library says it did.
#include "program_host.h"
#include "python.h"

#include <QtCore/QDir>
#include <QtCore/QTemporaryDir>
#include <QtTest/QTest>

#include <nlohmann/json.hpp>

#include <cmath>

using namespace lathe;
using nlohmann::json;
using tests::ProgramHost;
using tests::PythonScript;

class TestCallbacks : public QObject {
    Q_OBJECT

    QTemporaryDir m_folder;
    std::unique_ptr<ProgramHost> m_host;
    json m_said;

    /// Runs a case to its end; m_said is null where the library is missing.
    void play(const char* name) {
        m_host = std::make_unique<ProgramHost>(std::filesystem::path(m_folder.filePath(QString::fromLatin1(name) + QStringLiteral("-work")).toStdString()));
        m_said = nullptr;
        const QString folder = m_folder.filePath(QString::fromLatin1(name));
        QVERIFY(QDir().mkpath(folder));
        PythonScript script(m_host.get(), {QString::fromLatin1(name), folder}, [&](QProcessEnvironment& environment) {
            const QString torch = qEnvironmentVariable("LIBTORCH_ROOT");
            if (!torch.isEmpty()) environment.insert(QStringLiteral("PYTHONPATH"), QDir(torch).filePath(QStringLiteral("..")));
            environment.insert(QStringLiteral("HF_HUB_OFFLINE"), QStringLiteral("1"));
            environment.insert(QStringLiteral("CUDA_VISIBLE_DEVICES"), QString());
        }, "play_callbacks.py");
        const auto answer = script.finish(200'000);
        if (answer.code == 77) QSKIP(("not installed: " + answer.err).c_str());
        QVERIFY2(answer.code == 0, answer.err.c_str());
        m_said = answer.json();
    }
    /// The values of a series equal those that the library told, to the precision it told them with.
    void compare(const char* series, const json& told, double relative) {
        const auto points = m_host->points(series);
        QCOMPARE(points.size(), told.size());
        for (std::size_t i = 0; i < points.size(); ++i) {
            const double expected = told[i].get<double>();
            QVERIFY2(std::abs(points[i].value - expected) <= relative * std::abs(expected), (std::string(series) + " " + std::to_string(i)).c_str());
        }
    }
    /// All that were registered, with the step they were told at.
    std::vector<json> checkpoints() {
        m_host->stop();
        std::vector<json> out;
        const auto reader = std::move(store::RunReader::open(m_host->run.folder().database())).value();
        const auto newest = std::move(reader->newestRecords(live::FrameType::OwnCheckpoint)).value();
        for (const auto& one : newest) {
            const auto rows = std::move(reader->records(live::FrameType::OwnCheckpoint, one.record.name)).value();
            for (const auto& row : rows) {
                out.push_back(json::parse(row.record.content));
                out.back()["step"] = row.record.step;
            }
        }
        return out;
    }

private Q_SLOTS:
    void initTestCase() {
        if (PythonScript::interpreter().isEmpty()) QSKIP("there is no Python 3 (python3 on PATH, or LATHE_PYTHON)");
    }

    void aPlainLoop() {
        play("plain");
        if (m_said.is_null()) return;
        compare("train/loss", m_said.at("loss"), 0);
        compare("train/grad_norm", m_said.at("grad_norm"), 1e-6);
        QCOMPARE(m_host->points("train/lr").size(), std::size_t{50});
        QCOMPARE(m_host->points("train/loss").back().step, std::int64_t{50});
        QCOMPARE(m_host->points("eval/accuracy").size(), std::size_t{1});
        QCOMPARE(m_host->summary().plannedUpdates.value_or(0), std::int64_t{50});
        QCOMPARE(checkpoints().size(), std::size_t{1});
        QCOMPARE(checkpoints()[0].at("path").get<std::string>(), m_said.at("checkpoint").get<std::string>());
    }
    void lightning() {
        play("lightning");
        if (m_said.is_null()) return;
        compare("train/loss", m_said.at("loss"), 0);
        QCOMPARE(m_host->points("train/loss").back().step, m_said.at("steps").get<std::int64_t>());
        QCOMPARE(m_host->points("train/lr").size(), m_said.at("loss").size());
        QCOMPARE(m_host->points("eval/loss").size(), std::size_t{3});
        QCOMPARE(m_host->summary().plannedUpdates.value_or(0), std::int64_t{12});
        QCOMPARE(m_host->points("train/lr/1").size(), m_said.at("loss").size());
        QCOMPARE(m_host->points("train/lr/1").at(0).value, 0.01);
        QCOMPARE(checkpoints().size(), std::size_t{1});  // it is the best after each epoch, and written once
        QCOMPARE(checkpoints().back().at("step"), m_said.at("best_step"));
        QCOMPARE(checkpoints().back().at("path").get<std::string>(), m_said.at("checkpoint").get<std::string>());
        QVERIFY(checkpoints().back().at("metrics").contains("eval/loss"));
    }
    void transformers() {
        play("transformers");
        if (m_said.is_null()) return;
        compare("train/loss", m_said.at("loss"), 0);
        compare("train/lr", m_said.at("lr"), 0);
        compare("eval/loss", m_said.at("eval_loss"), 0);
        QVERIFY(!m_host->points("train/grad_norm").empty());
        QCOMPARE(m_host->summary().plannedUpdates.value_or(0), std::int64_t{12});
        QCOMPARE(checkpoints().size(), std::size_t{2});
        for (const json& one : checkpoints()) QVERIFY2(one.at("path").get<std::string>().ends_with("checkpoint-" + std::to_string(one.at("step").get<int>())), one.dump().c_str());
        QVERIFY(checkpoints()[0].at("metrics").contains("eval/loss"));
    }
};

QTEST_GUILESS_MAIN(TestCallbacks)
#include "tst_callbacks.moc"
