// A clone of the installer with a small project to build, in a folder of its own: the real scripts on a machine whose package
// manager, pip, sudo, disk and processor are stand-ins. PATH holds nothing but these and the tools named below.
#pragma once

#include <QtCore/QDir>
#include <QtCore/QFile>
#include <QtCore/QProcess>
#include <QtCore/QStandardPaths>
#include <QtCore/QTemporaryDir>
#include <QtTest/QTest>

#include <fcntl.h>
#include <sys/file.h>

#include <csignal>
#include <memory>
#include <unistd.h>

namespace lathe::test {

struct Ending {
    int code = -1;  ///< -1: ended by a signal, or not at all
    QString out, err;
    /// What it said at its end: "lathe: what happened" and the line that says what to do. Empty unless there is exactly one.
    QString sentence() const { return err.count(QStringLiteral("\nlathe: ")) == 1 ? err.section(QStringLiteral("\nlathe: "), 1).simplified() : QString(); }
};

class InstalledClone {
public:
    InstalledClone() {
        for (const char* folder : {"clone/installer", "bin", "state/packages", "home", "tmp"}) QDir().mkpath(path(QLatin1String(folder)));
        useTools({"awk", "bash", "cat", "dirname", "env", "flock", "fold", "grep", "head", "mkdir", "mktemp", "mv", "nproc", "realpath", "rm",
            "sed", "sh", "tail", "tee", "true"});
        for (const QFileInfo& standIn : QDir(QStringLiteral(LATHE_SOURCE_DIR "/tests/installer/stand_ins")).entryInfoList(QDir::Files))
            QFile::link(standIn.filePath(), path(QStringLiteral("bin/")) + standIn.fileName());
        for (const char* name : {"start", "dependencies", "lib.sh"}) copyScript(QLatin1String(name));
        m_gate = ::open(path(QStringLiteral("state/gate")).toLocal8Bit().constData(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
        if (m_gate < 0 || ::flock(m_gate, LOCK_EX) != 0) qFatal("cannot close the gate");
        set("free", "90000");
        set("machine", "x86_64");
        set("os-release", "ID=debian\nVERSION_ID=\"12\"\n");
        QFile(m_folder.path()).setPermissions(QFile(m_folder.path()).permissions() | QFile::ReadOther | QFile::ExeOther);
    }

    QString path(const QString& name) const { return m_folder.filePath(name); }
    QString cache() const { return path(QStringLiteral("home/.cache/lathe")); }
    QString torch() const { return cache() + QStringLiteral("/torch-2.11.0-cpu"); }

    /// What the stand-ins shall do; each says in its first lines what it reads.
    void set(const char* name, const QByteArray& text) { write(QStringLiteral("state/") + QLatin1String(name), text); }
    void unset(const char* name) { QFile::remove(path(QStringLiteral("state/") + QLatin1String(name))); }
    QString state(const char* name) const { return read(path(QStringLiteral("state/") + QLatin1String(name))); }
    void remove(const char* command) { QFile::remove(path(QStringLiteral("bin/") + QLatin1String(command))); }
    void setEnvironment(const QString& name, const QString& value) { m_environment.insert(name, value); }
    void actAsNobody() { m_nobody = true; }

    /// The machine's own command instead of a stand-in. False where there is none.
    bool useTool(const char* name, const QString& place = {}) {
        const QString found = place.isEmpty() ? QStandardPaths::findExecutable(QLatin1String(name)) : place;
        remove(name);
        return QFile::exists(found) && QFile::link(found, path(QStringLiteral("bin/") + QLatin1String(name)));
    }
    /// A project with the release preset in the clone: its trainer says what it trains, its window ends at once. One step of the
    /// build waits for the gate with state/build.hangs, fails with what state/build.fails says, fills the disk as state/build.fills says.
    void addProject() {
        useTools({"cmake", "ninja", "clang-16", "mold", "uname", "ld"});
        write(QStringLiteral("clone/CMakePresets.json"),
            "{\"version\": 6, \"configurePresets\": [{\"name\": \"release\", \"generator\": \"Ninja\", \"binaryDir\": \"${sourceDir}/build/release\","
            " \"cacheVariables\": {\"CMAKE_C_COMPILER\": \"clang-16\", \"CMAKE_RUNTIME_OUTPUT_DIRECTORY\": \"${sourceDir}/build/release/bin\"}}]}");
        write(QStringLiteral("clone/CMakeLists.txt"),
            "cmake_minimum_required(VERSION 3.25)\nproject(small LANGUAGES C)\n"
            "add_custom_command(OUTPUT made.c COMMAND bash ${CMAKE_SOURCE_DIR}/make.sh made.c)\nadd_executable(lathe-trainer main.c made.c)\nadd_executable(lathe window.c)\n");
        write(QStringLiteral("clone/window.c"), "int main(void) { return 7; }\n");
        write(QStringLiteral("clone/main.c"), "#include <stdio.h>\nint made(void);\nint main(int n, char** w) { printf(\"training %s\\n\", n > 2 ? w[2] : \"\"); return made(); }\n");
        write(QStringLiteral("clone/make.sh"),
            "echo 'int made(void' >$1\necho made >>\"$STAND_IN/calls\"\n"
            "[ ! -e \"$STAND_IN/build.fills\" ] || cat \"$STAND_IN/build.fills\" >\"$STAND_IN/free\"\n"
            "[ ! -e \"$STAND_IN/build.fails\" ] || { cat \"$STAND_IN/build.fails\"; exit 1; }\n"
            "[ ! -e \"$STAND_IN/build.hangs\" ] || { echo reached >\"$STAND_IN/reached\"; flock \"$STAND_IN/gate\" true; }\n"
            "echo ') { return 0; }' >>$1\n");
    }

    std::unique_ptr<QProcess> start(const QStringList& words) const {
        auto process = std::make_unique<QProcess>();
        QProcessEnvironment environment = m_environment;
        environment.insert(QStringLiteral("PATH"), path(QStringLiteral("bin")));
        environment.insert(QStringLiteral("HOME"), path(QStringLiteral("home")));
        environment.insert(QStringLiteral("TMPDIR"), path(QStringLiteral("tmp")));
        environment.insert(QStringLiteral("STAND_IN"), path(QStringLiteral("state")));
        process->setProcessEnvironment(environment);
        process->setWorkingDirectory(path(QStringLiteral("home")));
        const bool nobody = m_nobody && ::geteuid() == 0;
        // A group of its own, as a terminal gives it: a signal reaches all of it.
        process->setChildProcessModifier([nobody] {
            ::setsid();
            if (nobody && (::setgid(65534) != 0 || ::setuid(65534) != 0)) ::_exit(99);
        });
        process->start(path(QStringLiteral("bin/bash")), QStringList{path(QStringLiteral("clone/installer/") + words.at(0))} + words.mid(1));
        return process;
    }
    static void signalAll(const QProcess& process, int signal) { ::kill(-static_cast<pid_t>(process.processId()), signal); }
    static Ending finish(QProcess& process) {
        if (!process.waitForFinished(60'000)) {
            signalAll(process, SIGKILL);
            process.waitForFinished();
        }
        return {process.exitStatus() == QProcess::NormalExit ? process.exitCode() : -1, QString::fromUtf8(process.readAllStandardOutput()),
            QString::fromUtf8(process.readAllStandardError())};
    }
    Ending run(const QStringList& words) const { return finish(*start(words)); }

    /// Waits until a stand-in is at the gate.
    bool isAtTheGate() const {
        return QTest::qWaitFor([&] { return !state("reached").isEmpty(); }, 30'000);
    }
    /// Whoever is at the gate, or comes to it later, goes on. It is a lock that this clone holds, so nobody can come too late to hear it.
    void openTheGate() const { ::flock(m_gate, LOCK_UN); }

    ~InstalledClone() { ::close(m_gate); }
    Q_DISABLE_COPY_MOVE(InstalledClone)

private:
    void useTools(std::initializer_list<const char*> names) {
        for (const char* name : names) useTool(name);
    }
    void write(const QString& name, const QByteArray& text) {
        QFile file(path(name));
        if (!file.open(QIODevice::WriteOnly | QIODevice::Truncate)) qFatal("cannot write %s", qPrintable(name));
        file.write(text);
    }
    static QString read(const QString& place) {
        QFile file(place);
        return file.open(QIODevice::ReadOnly) ? QString::fromUtf8(file.readAll()) : QString();
    }
    /// The script as it is, but for the two files that say which system and which GPU this is.
    void copyScript(const QString& name) {
        QString text = read(QStringLiteral(LATHE_SOURCE_DIR "/installer/") + name);
        text.replace(QStringLiteral("/etc/os-release"), path(QStringLiteral("state/os-release")));
        text.replace(QStringLiteral("/proc/driver/nvidia/version"), path(QStringLiteral("state/nvidia")));
        write(QStringLiteral("clone/installer/") + name, text.toUtf8());
        QFile::setPermissions(path(QStringLiteral("clone/installer/") + name), QFile::ReadOwner | QFile::WriteOwner | QFile::ExeOwner | QFile::ReadOther | QFile::ExeOther);
    }

    QTemporaryDir m_folder;
    QProcessEnvironment m_environment;
    bool m_nobody = false;
    int m_gate = -1;
};

}  // namespace lathe::test
