// labels: process
// timeout: 300
// The installer on machines where something is wrong: it ends with one sentence, leaves nothing half done, and goes on next time.
#include "installed_clone.h"

#include <sys/mount.h>

using namespace lathe::test;

namespace {

const QStringList kInstall{QStringLiteral("dependencies")};
const QStringList kStart{QStringLiteral("start")};

}  // namespace

class TestInstaller : public QObject {
    Q_OBJECT

    std::unique_ptr<InstalledClone> m_clone;

    /// Everything is there, and nothing of an unfinished attempt.
    void isInstalled() {
        QVERIFY(QFile::exists(m_clone->torch() + QStringLiteral("/torch/lib/libtorch_cpu.so")));
        QVERIFY(m_clone->state("packages/cmake").startsWith(QLatin1String("install ok installed")));
        hasNoRemains();
    }
    void hasNoRemains() { QCOMPARE(QDir(m_clone->cache()).entryList({QStringLiteral("unfinished-*")}), QStringList()); }
    void installs() {
        const Ending ending = m_clone->run(kInstall);
        QVERIFY2(ending.code == 0, qPrintable(ending.err));
        isInstalled();
        QVERIFY(QDir(m_clone->path(QStringLiteral("tmp"))).isEmpty());
    }
    /// It ends with one sentence that holds `happened` and one that says what to do; then, with the cause gone, it installs.
    void failsWith(const Ending& ending, const QString& happened, const QString& todo) {
        QVERIFY2(ending.code == 3, qPrintable(ending.out + ending.err));
        QVERIFY2(ending.sentence().contains(happened) && ending.sentence().contains(todo), qPrintable(ending.err));
        QVERIFY(!QDir(m_clone->torch()).exists());
        hasNoRemains();
    }

private Q_SLOTS:
    void init() { m_clone = std::make_unique<InstalledClone>(); }
    void cleanup() { m_clone.reset(); }

    void aBareMachineGetsEverythingOnce_data() {
        QTest::addColumn<QByteArray>("system");
        QTest::newRow("Debian 12") << QByteArray("ID=debian\nVERSION_ID=\"12\"\n");
        QTest::newRow("Ubuntu 24.04") << QByteArray("ID=ubuntu\nID_LIKE=debian\nVERSION_ID=\"24.04\"\n");
    }
    void aBareMachineGetsEverythingOnce() {
        QFETCH(QByteArray, system);
        m_clone->set("os-release", system);
        installs();
        QVERIFY(!QFile::exists(m_clone->torch() + QStringLiteral("/torch/lib/libtorch_cuda.so")));
        m_clone->unset("calls");
        installs();
        QCOMPARE(m_clone->state("calls"), QString());
    }
    void onlyTheTestsPackagesAreAddedLater() {
        installs();
        QCOMPARE(m_clone->state("packages/xvfb"), QString());
        QCOMPARE(m_clone->run({QStringLiteral("dependencies"), QStringLiteral("--tests")}).code, 0);
        QVERIFY(!m_clone->state("packages/xvfb").isEmpty());
    }

    void anUnsupportedSystemIsRefused_data() {
        QTest::addColumn<QByteArray>("system");
        QTest::addColumn<QString>("name");
        QTest::newRow("Fedora") << QByteArray("ID=fedora\nVERSION_ID=40\n") << QStringLiteral("This system is fedora 40;");
        QTest::newRow("older Ubuntu") << QByteArray("ID=ubuntu\nVERSION_ID=\"22.04\"\n") << QStringLiteral("This system is ubuntu 22.04;");
        QTest::newRow("unstable, no version") << QByteArray("ID=debian\n") << QStringLiteral("This system is debian ;");
        QTest::newRow("no file") << QByteArray() << QStringLiteral("This system is unknown ;");
    }
    void anUnsupportedSystemIsRefused() {
        QFETCH(QByteArray, system);
        QFETCH(QString, name);
        if (system.isEmpty()) m_clone->unset("os-release");
        else m_clone->set("os-release", system);
        m_clone->remove("dpkg-query");
        failsWith(m_clone->run(kInstall), name, QStringLiteral("add --skip-packages: clang-16 "));
        QCOMPARE(m_clone->state("calls"), QString());
        QCOMPARE(m_clone->run({QStringLiteral("dependencies"), QStringLiteral("--skip-packages")}).code, 0);
        QVERIFY(QDir(m_clone->torch()).exists());
    }
    void anotherProcessorIsRefused() {
        m_clone->set("machine", "aarch64");
        for (const QStringList& script : {kInstall, kStart}) failsWith(m_clone->run(script), QStringLiteral("This machine is aarch64"), QStringLiteral("Intel or AMD"));
        QCOMPARE(m_clone->state("calls"), QString());
    }

    void withoutRootAndSudoItSaysWhomToAsk() {
        m_clone->actAsNobody();
        m_clone->remove("sudo");
        failsWith(m_clone->run(kInstall), QStringLiteral("neither root nor is sudo there"), QStringLiteral("apt-get install clang-16 "));
        QCOMPARE(m_clone->state("calls"), QString());
    }
    void aRefusalBySudoIsSaid() {
        m_clone->actAsNobody();
        m_clone->set("sudo.refuses", "");
        failsWith(m_clone->run(kInstall), QStringLiteral("sudo refused"), QStringLiteral("apt-get install clang-16 "));
        QCOMPARE(m_clone->state("calls"), QString());
    }

    void whatAptRefusesIsSaid_data() {
        QTest::addColumn<QByteArray>("verb");
        QTest::addColumn<QByteArray>("printed");
        QTest::addColumn<QString>("happened");
        QTest::addColumn<QString>("todo");
        QTest::newRow("no network, lists") << QByteArray("update")
            << QByteArray("E: Failed to fetch http://deb.debian.org/debian/dists/bookworm/InRelease  Temporary failure resolving 'deb.debian.org'\n")
            << QStringLiteral("lists could not be fetched: the package sources cannot be reached.") << QStringLiteral("Check the network");
        QTest::newRow("no network, packages") << QByteArray("install")
            << QByteArray("Get:1 http://deb.debian.org/debian bookworm/main amd64 cmake amd64 3.25 [404 kB]\n"
                          "E: Failed to fetch http://deb.debian.org/debian/pool/main/c/cmake.deb  Connection timed out [IP: 151.101.2.132 80]\n"
                          "E: Unable to fetch some archives, maybe run apt-get update or try with --fix-missing?\n")
            << QStringLiteral("the package sources cannot be reached.") << QStringLiteral("Check the network");
        QTest::newRow("source not signed") << QByteArray("update")
            << QByteArray("E: GPG error: http://example.org/debian bookworm InRelease: The following signatures couldn't be verified because the public key is not "
                          "available: NO_PUBKEY 0E98404D386FA1D9\nE: The repository 'http://example.org/debian bookworm InRelease' is not signed.\n")
            << QStringLiteral("a package source was refused") << QStringLiteral("/etc/apt");
        QTest::newRow("source forbidden") << QByteArray("update")
            << QByteArray("E: Failed to fetch http://example.org/debian/dists/bookworm/InRelease  403  Forbidden [IP: 127.0.0.1 80]\n")
            << QStringLiteral("a package source was refused") << QStringLiteral("/etc/apt");
        QTest::newRow("source gone") << QByteArray("update")
            << QByteArray("E: The repository 'http://example.org/debian bookworm Release' does not have a Release file.\n")
            << QStringLiteral("a package source was refused") << QStringLiteral("/etc/apt");
        QTest::newRow("wrong clock") << QByteArray("update")
            << QByteArray("E: Release file for http://deb.debian.org/debian/dists/bookworm/InRelease is not valid yet (invalid for another 3h 2min 1s).\n")
            << QStringLiteral("a package source was refused") << QStringLiteral("clock");
        QTest::newRow("no space for the archives") << QByteArray("install")
            << QByteArray("E: You don't have enough free space in /var/cache/apt/archives/.\n") << QStringLiteral("the disk is full") << QStringLiteral("apt-get clean");
        QTest::newRow("no space to unpack") << QByteArray("install")
            << QByteArray("dpkg: error processing archive /var/cache/apt/archives/cmake.deb (--unpack):\n"
                          " cannot copy extracted data for './usr/bin/cmake': failed to write (No space left on device)\n")
            << QStringLiteral("the disk is full") << QStringLiteral("apt-get clean");
        QTest::newRow("another installation") << QByteArray("install")
            << QByteArray("E: Could not get lock /var/lib/dpkg/lock-frontend. It is held by process 812 (unattended-upgr)\n")
            << QStringLiteral("another program is installing packages") << QStringLiteral("Wait until it is done");
        QTest::newRow("broken packages") << QByteArray("install")
            << QByteArray("The following packages have unmet dependencies:\n cmake : Depends: libc6 but it is not installable\nE: Unable to correct problems, you have held "
                          "broken packages.\n")
            << QStringLiteral("could not be installed") << QStringLiteral("apt-get -f install");
    }
    void whatAptRefusesIsSaid() {
        QFETCH(QByteArray, verb);
        QFETCH(QByteArray, printed);
        QFETCH(QString, happened);
        QFETCH(QString, todo);
        const QByteArray file = "apt-get." + verb + ".fails";
        m_clone->set(file.constData(), printed);
        if (verb == "update") m_clone->set("not_offered", "clang-16\ncmake\n");
        const Ending ending = m_clone->run(kInstall);
        failsWith(ending, happened, todo);
        QVERIFY2(ending.err.contains(QString::fromUtf8(printed.trimmed().split('\n').last().trimmed())), qPrintable(ending.err));
        m_clone->unset(file.constData());
        m_clone->unset("not_offered");
        installs();
    }
    void aSourceThatIsNotNeededStopsNothing() {
        m_clone->set("apt-get.update.fails", "E: Failed to fetch http://example.org/dists/x/InRelease  403  Forbidden [IP: 127.0.0.1 80]\n");
        installs();
    }
    void packagesThatNobodyOffersAreNamed() {
        m_clone->set("not_offered", "clang-16\nlibqt6opengl6-dev\n");
        failsWith(m_clone->run(kInstall), QStringLiteral("do not offer: clang-16 libqt6opengl6-dev."), QStringLiteral("'universe'"));
        m_clone->unset("not_offered");
        installs();
    }

    void whatPipRefusesIsSaid_data() {
        QTest::addColumn<QByteArray>("printed");
        QTest::addColumn<QString>("happened");
        QTest::addColumn<QString>("todo");
        QTest::newRow("no space") << QByteArray("ERROR: Could not install packages due to an OSError: [Errno 28] No space left on device\n")
                                  << QStringLiteral("the disk is full") << QStringLiteral("XDG_CACHE_HOME");
        QTest::newRow("torn connection") << QByteArray("urllib3.exceptions.ProtocolError: ('Connection broken: IncompleteRead(1 bytes read)')\n")
                                         << QStringLiteral("PyPI cannot be reached") << QStringLiteral("Check the network");
        QTest::newRow("damaged") << QByteArray("ERROR: THESE PACKAGES DO NOT MATCH THE HASHES FROM THE REQUIREMENTS FILE.\n")
                                 << QStringLiteral("arrived damaged") << QStringLiteral("Start again");
        QTest::newRow("not for this Python") << QByteArray("ERROR: Could not find a version that satisfies the requirement torch==2.11.0 (from versions: 2.4.0)\n")
                                             << QStringLiteral("no torch 2.11.0 for Python 3.11.2") << QStringLiteral("--torch PATH");
        QTest::newRow("anything else") << QByteArray("ERROR: Can not combine '--user' and '--target'\n")
                                       << QStringLiteral("the reason stands above") << QStringLiteral("--torch PATH");
    }
    void whatPipRefusesIsSaid() {
        QFETCH(QByteArray, printed);
        QFETCH(QString, happened);
        QFETCH(QString, todo);
        m_clone->set("pip.fails", printed);
        const Ending ending = m_clone->run(kInstall);
        failsWith(ending, happened, todo);
        QVERIFY2(ending.err.contains(QString::fromUtf8(printed.trimmed())), qPrintable(ending.err));
        m_clone->unset("pip.fails");
        installs();
    }
    void withoutPipItSaysHowToGetIt() {
        m_clone->set("no_pip", "");
        failsWith(m_clone->run(kInstall), QStringLiteral("no pip here"), QStringLiteral("Install python3-pip"));
        m_clone->unset("no_pip");
        installs();
    }
    void aDiskThatIsTooSmallIsSaidBeforeTheDownload() {
        m_clone->set("free", "2900");
        failsWith(m_clone->run(kInstall), QStringLiteral("needs 3 GB"), QStringLiteral("XDG_CACHE_HOME"));
        QVERIFY(!m_clone->state("calls").contains(QLatin1String("pip")));
        m_clone->set("free", "3100");
        installs();
    }
    void aFolderThatCannotBeWrittenIsSaid() {
        installs();
        QVERIFY(QDir(m_clone->cache()).removeRecursively());
        QFile blocker(m_clone->path(QStringLiteral("home/.cache/lathe")));
        QVERIFY(blocker.open(QIODevice::WriteOnly));
        failsWith(m_clone->run(kInstall), QStringLiteral("Nothing can be written in "), QStringLiteral("XDG_CACHE_HOME"));
    }
    void anIncompleteLibTorchIsFetchedAnew() {
        installs();
        QVERIFY(QFile::remove(m_clone->torch() + QStringLiteral("/nvidia/cu13/lib/libcudart.so.13")));
        installs();
        QVERIFY(QFile::exists(m_clone->torch() + QStringLiteral("/nvidia/cu13/lib/libcudart.so.13")));
    }
    void aNamedLibTorchIsUsedOrRefused() {
        installs();
        QVERIFY(QFile::rename(m_clone->torch(), m_clone->path(QStringLiteral("home/wheel"))));
        m_clone->unset("calls");
        QCOMPARE(m_clone->run({QStringLiteral("dependencies"), QStringLiteral("--torch"), QStringLiteral("wheel/torch")}).code, 0);
        QCOMPARE(m_clone->state("calls"), QString());
        failsWith(m_clone->run({QStringLiteral("dependencies"), QStringLiteral("--torch"), QStringLiteral("/nowhere")}), QStringLiteral("no LibTorch in /nowhere"),
            QStringLiteral("site-packages"));
    }
    void theGpuDecidesWhichSetIsFetched_data() {
        QTest::addColumn<QByteArray>("driver");
        QTest::addColumn<QString>("kind");
        QTest::addColumn<QString>("said");
        QTest::newRow("usable") << QByteArray("NVRM version: NVIDIA UNIX x86_64 Kernel Module  580.65.06  Sun Jul 27 07:03:22 UTC 2025\n") << QStringLiteral("cuda") << QString();
        QTest::newRow("usable, open module") << QByteArray("NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  595.45  Release Build\n")
                                             << QStringLiteral("cuda") << QString();
        QTest::newRow("too old") << QByteArray("NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.183.01  Sun May 12 19:39:15 UTC 2024\n")
                                 << QStringLiteral("cpu") << QStringLiteral("its driver is version 535");
        QTest::newRow("unreadable") << QByteArray("something\n") << QStringLiteral("cpu") << QStringLiteral("cannot be read");
    }
    void theGpuDecidesWhichSetIsFetched() {
        QFETCH(QByteArray, driver);
        QFETCH(QString, kind);
        QFETCH(QString, said);
        m_clone->set("nvidia", driver);
        const Ending ending = m_clone->run(kInstall);
        QCOMPARE(ending.code, 0);
        QVERIFY(QDir(m_clone->cache() + QStringLiteral("/torch-2.11.0-") + kind).exists());
        QVERIFY2(ending.out.contains(said), qPrintable(ending.out));
    }

    void anInterruptionLeavesNothingHalfDone_data() {
        QTest::addColumn<QByteArray>("where");
        QTest::addColumn<QByteArray>("place");
        QTest::addColumn<int>("signal");
        for (const auto& [signal, name] : {std::pair{SIGTERM, "ended"}, {SIGHUP, "terminal closed"}})
            QTest::addRow("%s in the download", name) << QByteArray("pip.hangs") << QByteArray("download") << signal;
        for (const auto& [signal, name] : {std::pair{SIGKILL, "killed"}, {SIGINT, "Ctrl-C"}}) {
            QTest::addRow("%s in apt", name) << QByteArray("apt-get.hangs") << QByteArray() << signal;
            QTest::addRow("%s in the download", name) << QByteArray("pip.hangs") << QByteArray("download") << signal;
            QTest::addRow("%s in the unpacking", name) << QByteArray("pip.hangs") << QByteArray("unpack") << signal;
            QTest::addRow("%s in the build", name) << QByteArray("build.hangs") << QByteArray() << signal;
        }
    }
    void anInterruptionLeavesNothingHalfDone() {
        QFETCH(QByteArray, where);
        QFETCH(QByteArray, place);
        QFETCH(int, signal);
        m_clone->addProject();
        m_clone->set(where.constData(), place);
        const auto start = m_clone->start(kStart);
        QVERIFY(m_clone->isAtTheGate());
        InstalledClone::signalAll(*start, signal);
        const Ending ending = InstalledClone::finish(*start);
        if (signal == SIGKILL) {
            QCOMPARE(ending.code, -1);
        } else {
            QVERIFY2(ending.code == 130, qPrintable(ending.err));
            QVERIFY2(ending.sentence() == QLatin1String("Interrupted; what is done stays done. Start again, and it goes on from there."), qPrintable(ending.err));
            hasNoRemains();
        }
        QCOMPARE(QDir(m_clone->torch()).exists(), where == "build.hangs");

        m_clone->unset(where.constData());
        m_clone->openTheGate();  // ninja's commands outlive a kill of its group
        const bool hadPip = m_clone->state("calls").contains(QLatin1String("pip"));
        const Ending next = m_clone->run(kStart);
        QVERIFY2(next.code == 0, qPrintable(next.out + next.err));
        QVERIFY(next.out.contains(QLatin1String("training digits-convnet")));
        isInstalled();
        QCOMPARE(m_clone->state("calls").count(QLatin1String("pip install")), hadPip && where != "build.hangs" ? 2 : 1);

        m_clone->unset("calls");
        QCOMPARE(m_clone->run(kStart).code, 0);
        QCOMPARE(m_clone->state("calls"), QString());
    }

    void aBuildThatFailsIsSaid_data() {
        QTest::addColumn<QByteArray>("free");
        QTest::addColumn<QByteArray>("left");
        QTest::addColumn<QByteArray>("printed");
        QTest::addColumn<QString>("happened");
        QTest::addColumn<QString>("todo");
        QTest::newRow("an error") << QByteArray("90000") << QByteArray("90000") << QByteArray("clang: error: unable to execute command: Killed\n") << QStringLiteral("The build failed")
                                  << QStringLiteral("memory ran out");
        QTest::newRow("no space to begin with") << QByteArray("1400") << QByteArray("1400") << QByteArray() << QStringLiteral("Building needs 1.5 GB")
                                              << QStringLiteral("Free some space");
        QTest::newRow("no space in the middle") << QByteArray("1600") << QByteArray("3") << QByteArray("error: unable to open output file: No space left on device\n")
                                                << QStringLiteral("The disk is full: the build stopped") << QStringLiteral("Free some space");
    }
    void aBuildThatFailsIsSaid() {
        QFETCH(QByteArray, free);
        QFETCH(QByteArray, left);
        QFETCH(QByteArray, printed);
        QFETCH(QString, happened);
        QFETCH(QString, todo);
        installs();
        m_clone->addProject();
        m_clone->set("free", free);
        m_clone->set("build.fills", left);
        if (!printed.isEmpty()) m_clone->set("build.fails", printed);
        const Ending ending = m_clone->run(kStart);
        QVERIFY2(ending.code == 3, qPrintable(ending.err));
        QVERIFY2(ending.sentence().contains(happened) && ending.sentence().contains(todo), qPrintable(ending.err));
        for (const char* name : {"free", "build.fills"}) m_clone->set(name, "90000");
        m_clone->unset("build.fails");
        QCOMPARE(m_clone->run(kStart).code, 0);
    }
    void aBuildThatCannotBeConfiguredIsSaid() {
        installs();
        m_clone->addProject();
        m_clone->remove("clang-16");
        const Ending ending = m_clone->run(kStart);
        QVERIFY2(ending.code == 3 && ending.sentence().contains(QLatin1String("could not be configured")), qPrintable(ending.err));
        QVERIFY(m_clone->useTool("clang-16"));
        QCOMPARE(m_clone->run(kStart).code, 0);
    }
    void buildOnlyStopsAfterTheBuild() {
        m_clone->addProject();
        const Ending ending = m_clone->run({QStringLiteral("start"), QStringLiteral("--build-only")});
        QVERIFY2(ending.code == 0, qPrintable(ending.err));
        QVERIFY(!ending.out.contains(QLatin1String("training")));
    }

    void twoAtOnceDoNothingTwice() {
        m_clone->set("pip.hangs", "download");
        m_clone->addProject();
        const auto first = m_clone->start(kStart);
        QVERIFY(m_clone->isAtTheGate());
        const auto second = m_clone->start(kStart);
        QByteArray said;
        QVERIFY(QTest::qWaitFor([&] { return (said += second->readAllStandardOutput()).contains("waiting for it"); }, 30'000));
        m_clone->openTheGate();
        QCOMPARE(InstalledClone::finish(*first).code, 0);
        QCOMPARE(InstalledClone::finish(*second).code, 0);
        QCOMPARE(m_clone->state("calls").count(QLatin1String("pip install")), 1);
        QCOMPARE(m_clone->state("calls").count(QLatin1String("made")), 1);
    }
    void aWindowThatCannotOpenSaysWhatElseThereIs() {
        m_clone->addProject();
        m_clone->setEnvironment(QStringLiteral("DISPLAY"), QStringLiteral(":77"));
        const Ending ending = m_clone->run(kStart);
        QVERIFY2(ending.code == 3 && ending.sentence().contains(QLatin1String("The window ended with code 7")), qPrintable(ending.err));
        QVERIFY(ending.sentence().contains(QLatin1String("--no-window")));
        QVERIFY(m_clone->run({QStringLiteral("start"), QStringLiteral("--no-window")}).out.contains(QLatin1String("training digits-convnet")));
    }
    /// Under sudo only the packages are installed as root.
    void whoCalledItThroughSudoOwnsTheRest() {
        if (::geteuid() != 0) QSKIP("needs root");
        m_clone->addProject();
        m_clone->setEnvironment(QStringLiteral("SUDO_USER"), QStringLiteral("ada"));
        const Ending ending = m_clone->run(kStart);
        QVERIFY2(ending.code == 0, qPrintable(ending.err));
        isInstalled();
        QVERIFY(m_clone->state("calls").startsWith(QLatin1String("dpkg --configure -a\napt-get update\napt-get install\nsudo -u ada\npip install\n")));
    }

    /// The same by the real pip, on an index of small wheels.
    void theRealPip_data() {
        QTest::addColumn<QString>("index");
        QTest::addColumn<QString>("happened");
        QTest::newRow("installs") << QStringLiteral("good") << QString();
        QTest::newRow("another hash") << QStringLiteral("wrong_hash") << QStringLiteral("arrived damaged");
        QTest::newRow("a cut file") << QStringLiteral("cut") << QStringLiteral("arrived damaged");
        QTest::newRow("an index without it") << QString() << QStringLiteral("has no torch 2.11.0 for Python 3");
        QTest::newRow("no connection") << QStringLiteral("http://127.0.0.1:9/simple") << QStringLiteral("PyPI cannot be reached");
    }
    void theRealPip() {
        QFETCH(QString, index);
        QFETCH(QString, happened);
        useRealPip(index);
        const Ending ending = m_clone->run(kInstall);
        if (happened.isEmpty()) {
            QVERIFY2(ending.code == 0, qPrintable(ending.err));
            isInstalled();
        } else {
            failsWith(ending, happened, QStringLiteral("tart again"));
        }
    }
    void theRealPipOnAFullDisk() {
        useRealPip(QStringLiteral("large"));
        const QByteArray cache = m_clone->path(QStringLiteral("home/.cache")).toLocal8Bit();
        QVERIFY(QDir().mkpath(QString::fromLocal8Bit(cache)));
        if (::mount("tmpfs", cache.constData(), "tmpfs", 0, "size=8m") != 0) QSKIP("mounting a small tmpfs needs root");
        const Ending ending = m_clone->run(kInstall);
        const int left = ::umount(cache.constData());
        failsWith(ending, QStringLiteral("the disk is full"), QStringLiteral("XDG_CACHE_HOME"));
        QCOMPARE(left, 0);
    }

private:
    void useRealPip(const QString& index) {
        const QString system = QStringLiteral("/usr/bin/python3");
        if (!m_clone->useTool("python3", QFile::exists(system) ? system : QString()) || QProcess::execute(system, {QStringLiteral("-m"), QStringLiteral("pip"), QStringLiteral("--version")}) != 0)
            QSKIP("python3 has no pip here");
        QString address = index;
        if (!index.startsWith(QLatin1String("http"))) {
            address = m_clone->path(QStringLiteral("index"));
            QVERIFY(QDir().mkpath(address));
            if (!index.isEmpty()) QCOMPARE(QProcess::execute(system, {QStringLiteral(LATHE_SOURCE_DIR "/tests/installer/make_wheels.py"), address, index}), 0);
            address.prepend(QLatin1String("file://"));
        }
        m_clone->setEnvironment(QStringLiteral("PIP_CONFIG_FILE"), QStringLiteral("/dev/null"));
        m_clone->setEnvironment(QStringLiteral("PIP_INDEX_URL"), address);
        m_clone->setEnvironment(QStringLiteral("PIP_RETRIES"), QStringLiteral("1"));
    }
};

QTEST_GUILESS_MAIN(TestInstaller)
#include "tst_installer.moc"
