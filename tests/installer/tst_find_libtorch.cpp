// Where the build looks for LibTorch: what is named, else where the installer puts it; and that a failed search is not kept.
#include <QtCore/QDir>
#include <QtCore/QFile>
#include <QtCore/QProcess>
#include <QtCore/QTemporaryDir>
#include <QtTest/QTest>

namespace {

struct Answer {
    int code;
    QString text;
    QString root() const { return text.section(QStringLiteral("root=["), 1).section(QLatin1Char(']'), 0, 0); }
};

}  // namespace

class TestFindLibTorch : public QObject {
    Q_OBJECT

    std::unique_ptr<QTemporaryDir> m_home;

    QString path(const QString& name) const { return m_home->filePath(name); }
    void write(const QString& name, const QByteArray& text = {}) {
        QVERIFY(QDir().mkpath(QFileInfo(path(name)).path()));
        QFile file(path(name));
        QVERIFY(file.open(QIODevice::WriteOnly));
        file.write(text);
    }
    /// As much of a wheel as the search looks at.
    QString wheel(const QString& folder, const QByteArray& minor = "11") {
        const QString torch = folder + QStringLiteral("/torch");
        write(torch + QStringLiteral("/include/torch/headeronly/version.h"),
            "#define TORCH_VERSION_MAJOR 2\n#define TORCH_VERSION_MINOR " + minor + "\n#define TORCH_VERSION_PATCH 0\n");
        for (const char* file : {"/lib/libc10.so", "/lib/libtorch_cpu.so", "/include/ATen/core/Tensor.h"}) write(torch + QLatin1String(file));
        write(folder + QStringLiteral("/nvidia/cu13/lib/libcudart.so.13"));
        return path(torch);
    }
    QString installed(const QString& kind) { return QStringLiteral(".cache/lathe/torch-2.11.0-") + kind; }

    Answer configure(const QStringList& options = {}, const QString& environmentRoot = {}) {
        QProcess process;
        auto environment = QProcessEnvironment::systemEnvironment();
        environment.insert(QStringLiteral("HOME"), m_home->path());
        environment.remove(QStringLiteral("XDG_CACHE_HOME"));
        environment.remove(QStringLiteral("LIBTORCH_ROOT"));
        if (!environmentRoot.isEmpty()) environment.insert(QStringLiteral("LIBTORCH_ROOT"), environmentRoot);
        process.setProcessEnvironment(environment);
        process.setProcessChannelMode(QProcess::MergedChannels);
        process.start(QStringLiteral("cmake"), QStringList{QStringLiteral("-G"), QStringLiteral("Ninja"), QStringLiteral("-S"), path(QStringLiteral("project")), QStringLiteral("-B"), path(QStringLiteral("build"))} + options);
        process.waitForFinished(60'000);
        return {process.exitCode(), QString::fromUtf8(process.readAll()).simplified()};
    }

private Q_SLOTS:
    void init() {
        m_home = std::make_unique<QTemporaryDir>();
        write(QStringLiteral("project/CMakeLists.txt"),
            "cmake_minimum_required(VERSION 3.25)\nproject(search LANGUAGES NONE)\n"
            "set(CMAKE_FIND_LIBRARY_PREFIXES lib)\nset(CMAKE_FIND_LIBRARY_SUFFIXES .so)\nset_property(GLOBAL PROPERTY TARGET_SUPPORTS_SHARED_LIBS TRUE)\n"
            "list(APPEND CMAKE_MODULE_PATH \"" LATHE_SOURCE_DIR "/core/engine\")\n"
            "find_package(LibTorch 2.11 REQUIRED)\nmessage(STATUS \"root=[${LibTorch_ROOT}]\")\n");
    }

    void itIsFoundWhereTheInstallerPutsIt() {
        const QString root = wheel(installed(QStringLiteral("cpu")));
        QCOMPARE(configure().root(), root);
    }
    void theSetWithCudaComesFirst() {
        wheel(installed(QStringLiteral("cpu")));
        const QString root = wheel(installed(QStringLiteral("cuda")));
        QCOMPARE(configure().root(), root);
    }
    void whatIsNamedComesFirst() {
        wheel(installed(QStringLiteral("cpu")));
        const QString environment = wheel(QStringLiteral("environment")), option = wheel(QStringLiteral("option"));
        QCOMPARE(configure({}, environment).root(), environment);
        QCOMPARE(configure({QStringLiteral("-DLIBTORCH_ROOT=") + option}, environment).root(), option);
    }
    void whatWasFoundIsKept() {
        const QString root = wheel(QStringLiteral("environment"));
        QCOMPARE(configure({}, root).root(), root);
        wheel(installed(QStringLiteral("cpu")));
        QCOMPARE(configure().root(), root);
    }
    void aSearchThatFailedIsForgotten() {
        const Answer none = configure();
        QVERIFY(none.code != 0);
        QVERIFY2(none.text.contains(QStringLiteral("Run installer/dependencies")), qPrintable(none.text));
        QVERIFY(none.text.contains(path(installed(QStringLiteral("cpu")))));
        const QString root = wheel(QStringLiteral("environment"));
        QCOMPARE(configure({}, root).root(), root);
    }
    void aWrongNameIsForgotten() {
        const Answer wrong = configure({QStringLiteral("-DLIBTORCH_ROOT=/nowhere/torch")});
        QVERIFY(wrong.code != 0);
        QVERIFY2(wrong.text.contains(QStringLiteral("nothing in /nowhere/torch")), qPrintable(wrong.text));
        const QString root = wheel(installed(QStringLiteral("cpu")));
        QCOMPARE(configure().root(), root);
    }
    void anOlderOneIsRefusedAndForgotten() {
        const Answer old = configure({}, wheel(QStringLiteral("old"), "5"));
        QVERIFY(old.code != 0);
        QVERIFY2(old.text.contains(QStringLiteral("2.5.0")), qPrintable(old.text));
        const QString root = wheel(installed(QStringLiteral("cpu")));
        QCOMPARE(configure().root(), root);
    }
    void oneThatIsGoneIsLookedForAnew() {
        const QString root = wheel(QStringLiteral("environment"));
        QCOMPARE(configure({}, root).root(), root);
        QVERIFY(QDir(path(QStringLiteral("environment"))).removeRecursively());
        QVERIFY(configure().code != 0);
        const QString next = wheel(installed(QStringLiteral("cpu")));
        QCOMPARE(configure().root(), next);
    }
};

QTEST_GUILESS_MAIN(TestFindLibTorch)
#include "tst_find_libtorch.moc"
