// labels: process
// resources/python installed with pip as a user would, into a fresh environment and without a network.
#include "program_host.h"
#include "python.h"

#include <QtCore/QDir>
#include <QtCore/QTemporaryDir>
#include <QtTest/QTest>

using namespace lathe;
using tests::ProgramHost;
using tests::PythonScript;

class TestPythonInstall : public QObject {
    Q_OBJECT

    QTemporaryDir m_folder;
    const QString m_source = QStringLiteral(LATHE_SOURCE_DIR "/resources/python");
    QString python() const { return m_folder.filePath(QStringLiteral("fresh/bin/python")); }

    /// In a folder without our files; pip finds no index and no settings of this machine.
    test::Answer run(const QString& program, const QStringList& words, const ProgramHost* host = nullptr) {
        QProcess process;
        QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
        for (const char* name : {"LATHE_SOCKET", "LATHE_TOKEN", "LATHE_RUN", "LATHE_TRAINER", "PYTHONPATH", "PYTHONHOME", "PIP_TARGET", "PIP_PREFIX", "PIP_USER", "PIP_FIND_LINKS"})
            environment.remove(QString::fromLatin1(name));
        environment.insert(QStringLiteral("PIP_NO_INDEX"), QStringLiteral("1"));
        environment.insert(QStringLiteral("PIP_CONFIG_FILE"), QStringLiteral("/dev/null"));
        environment.insert(QStringLiteral("PIP_NO_CACHE_DIR"), QStringLiteral("1"));
        environment.insert(QStringLiteral("PIP_DISABLE_PIP_VERSION_CHECK"), QStringLiteral("1"));
        environment.insert(QStringLiteral("PYTHONDONTWRITEBYTECODE"), QStringLiteral("1"));
        if (host != nullptr)
            for (const auto& [name, value] : host->environment) environment.insert(QString::fromStdString(name), QString::fromStdString(value));
        process.setProcessEnvironment(environment);
        process.setWorkingDirectory(m_folder.path());
        process.start(program, words);
        return test::Workspace::finish(process, 120'000);
    }
    test::Answer pip(const QStringList& words) { return run(python(), QStringList{QStringLiteral("-m"), QStringLiteral("pip")} + words); }
    test::Answer script(const char* text, const ProgramHost* host = nullptr) { return run(python(), {QStringLiteral("-c"), QString::fromLatin1(text)}, host); }
    QStringList sources() const { return QDir(m_source).entryList(QDir::AllEntries | QDir::Hidden | QDir::NoDotAndDotDot); }

private Q_SLOTS:
    void initTestCase() {
        if (PythonScript::interpreter().isEmpty()) QSKIP("there is no Python 3 (python3 on PATH, or LATHE_PYTHON)");
        if (run(PythonScript::interpreter(), {"-c", "import venv, ensurepip"}).code != 0) QSKIP("python3-venv is not installed (installer/dependencies --tests brings it)");
        const auto made = run(PythonScript::interpreter(), {"-m", "venv", m_folder.filePath(QStringLiteral("fresh"))});
        QVERIFY2(made.code == 0, (made.out + made.err).c_str());
    }

    void installingFetchesNothingAndLeavesTheFolderAsItWas() {
        const QStringList before = sources();
        const auto installed = pip({"install", m_source});
        QVERIFY2(installed.code == 0, (installed.out + installed.err).c_str());
        QCOMPARE(sources(), before);
    }
    void theInstalledClientLogs() {
        ProgramHost host(m_folder.path().toStdString() + "/work");
        const auto answer = script("import lathe, sys\n"
                                   "run = lathe.init()\n"
                                   "run.log(3, loss=0.5)\n"
                                   "run.text(3, 'sample', 'words')\n"
                                   "run.finish()\n"
                                   "print(lathe.__file__)", &host);
        QVERIFY2(answer.code == 0, answer.err.c_str());
        QVERIFY2(answer.out.starts_with(m_folder.filePath(QStringLiteral("fresh/lib")).toStdString()), answer.out.c_str());
        QCOMPARE(host.points("train/loss").size(), std::size_t{1});
        const auto reader = std::move(store::RunReader::open(host.run.folder().database())).value();
        QCOMPARE(reader->records(live::FrameType::Text, "sample")->size(), std::size_t{1});
    }
    void everyModuleIsThereUnderTheVersionOfTheClient() {
        const auto answer = script("import importlib.metadata, importlib.util, lathe\n"
                                   "assert importlib.metadata.version('lathe-client') == lathe.__version__\n"
                                   "assert importlib.metadata.requires('lathe-client') is None\n"
                                   "print(all(importlib.util.find_spec(name) for name in ('lathe_torch', 'lathe_lightning', 'lathe_transformers')))");
        QVERIFY2(answer.code == 0, answer.err.c_str());
        QCOMPARE(answer.out, std::string("True\n"));
    }
    void uninstallingTakesAllOfItAway() {
        const auto gone = pip({"uninstall", "-y", "lathe-client"});
        QVERIFY2(gone.code == 0, gone.err.c_str());
        QVERIFY(script("import lathe").code != 0);
        QVERIFY(script("import lathe_torch").code != 0);
    }
    void anEditableInstallationUsesTheFolderItself() {
        const auto installed = pip({"install", "--editable", m_source});
        QVERIFY2(installed.code == 0, (installed.out + installed.err).c_str());
        const auto answer = script("import lathe; print(lathe.__file__)");
        QCOMPARE(QString::fromStdString(answer.out).trimmed(), m_source + QStringLiteral("/lathe.py"));
    }
};

QTEST_MAIN(TestPythonInstall)
#include "tst_python_install.moc"
