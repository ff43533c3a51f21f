// lathe-trainer as a child process with a workspace of its own, and what it printed.
#pragma once

#include "base/file_system.h"
#include "live/control_socket.h"
#include "rundir/run_folder.h"

#include <nlohmann/json.hpp>

#include <QtCore/QFloat16>
#include <QtCore/QProcess>
#include <QtCore/QTemporaryDir>
#include <QtTest/QTest>

#include <csignal>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>

namespace lathe::test {

struct Answer {
    int code = -1;           ///< -1: it crashed or did not end
    std::string out, err;

    nlohmann::json json() const {
        if (auto whole = nlohmann::json::parse(out, nullptr, false); !whole.is_discarded()) return whole;
        const auto last = out.find_last_not_of('\n');
        const auto begin = last == std::string::npos ? std::string::npos : out.rfind('\n', last);
        return nlohmann::json::parse(begin == std::string::npos ? out : out.substr(begin + 1), nullptr, false);
    }
};

/// Polls until a fact holds, at most `milliseconds`.
inline bool eventually(const std::function<bool()>& fact, int milliseconds = 60'000) {
    return QTest::qWaitFor(fact, milliseconds);
}

class Workspace {
public:
    std::filesystem::path folder() const { return std::filesystem::path(m_folder.path().toStdString()) / "work"; }
    std::filesystem::path scratch() const { return m_folder.path().toStdString(); }

    /// Programs beside which lathe-worker is looked for; the fake worker's script.
    void useFakeWorker(const std::string& binFolder) { m_programs = binFolder + "/../tests/fake"; }
    void setScript(const std::string& script) { m_script = script; }
    void setEnvironment(const char* name, const std::string& value) { m_environment[name] = value; }

    std::unique_ptr<QProcess> start(const QStringList& words) const { return startProgram(QStringLiteral(LATHE_BIN_DIR "/lathe-trainer"), words); }
    /// On a terminal of 80 columns; what it shows is read as standard output.
    std::unique_ptr<QProcess> startOnTerminal(const QString& words) const {
        return startProgram(QStringLiteral("script"), {QStringLiteral("-qec"), QStringLiteral(LATHE_BIN_DIR "/lathe-trainer ") + words, QStringLiteral("/dev/null")});
    }

    std::unique_ptr<QProcess> startProgram(const QString& program, const QStringList& words) const {
        auto process = std::make_unique<QProcess>();
        QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
        environment.insert(QStringLiteral("LATHE_WORKSPACE"), QString::fromStdString(folder().string()));
        if (!m_programs.empty()) environment.insert(QStringLiteral("LATHE_PROGRAMS"), QString::fromStdString(m_programs));
        environment.insert(QStringLiteral("LATHE_FAKE_SCRIPT"), QString::fromStdString(m_script));
        for (const auto& [name, value] : m_environment) environment.insert(QString::fromStdString(name), QString::fromStdString(value));
        process->setProcessEnvironment(environment);
        process->start(program, words);
        return process;
    }

    static Answer finish(QProcess& process, int milliseconds = 240'000) {
        Answer answer;
        if (!process.waitForFinished(milliseconds)) {
            process.kill();
            process.waitForFinished();
        } else if (process.exitStatus() == QProcess::NormalExit) {
            answer.code = process.exitCode();
        }
        answer.out = process.readAllStandardOutput().toStdString();
        answer.err = process.readAllStandardError().toStdString();
        return answer;
    }

    Answer ask(const QStringList& words, int milliseconds = 240'000) const { return finish(*start(words), milliseconds); }

    rundir::RunFolder latest() const { return rundir::listRuns(folder()).at(0); }

private:
    QTemporaryDir m_folder;
    std::string m_programs, m_script = "train";
    std::map<std::string, std::string> m_environment;
};

/// Whether a process with this id exists that is not a zombie.
inline bool processLives(std::int64_t pid) {
    const auto text = readFile("/proc/" + std::to_string(pid) + "/stat", 4096);
    if (!text) return false;
    const auto end = text->rfind(')');
    return end != std::string::npos && end + 2 < text->size() && (*text)[end + 2] != 'Z' && (*text)[end + 2] != 'X';
}

}  // namespace lathe::test
