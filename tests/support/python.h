// A Python script of the tests as a child process, with the environment that a recorder gives it.
#pragma once

#include "program_host.h"
#include "trainer_process.h"

#include <QtCore/QProcess>

#include <functional>
#include <string>

namespace lathe::tests {

class PythonScript {
public:
    /// LATHE_PYTHON, else the program behind python3 (which may be a wrapper that needs PATH); empty where there is none.
    static const QString& interpreter() {
        static const QString found = [] {
            const QString chosen = qEnvironmentVariable("LATHE_PYTHON");
            QProcess asked;
            asked.start(chosen.isEmpty() ? QStringLiteral("python3") : chosen, {QStringLiteral("-c"), QStringLiteral("import sys; print(sys.executable)")});
            asked.waitForFinished();
            return QString::fromUtf8(asked.readAllStandardOutput()).trimmed();
        }();
        return found;
    }
    static std::string path(const char* name = "play_client.py") { return std::string(LATHE_SOURCE_DIR "/tests/resources/") + name; }

    /// `host` may be nothing; `change` is the last to touch the environment.
    PythonScript(const ProgramHost* host, const QStringList& words, const std::function<void(QProcessEnvironment&)>& change = {},
                 const char* script = "play_client.py", const QString& python = interpreter()) {
        QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
        for (const char* name : {"LATHE_SOCKET", "LATHE_TOKEN", "LATHE_RUN", "LATHE_TRAINER", "RANK", "LOCAL_RANK"}) environment.remove(QString::fromLatin1(name));
        environment.insert(QStringLiteral("PYTHONDONTWRITEBYTECODE"), QStringLiteral("1"));
        if (host != nullptr)
            for (const auto& [name, value] : host->environment) environment.insert(QString::fromStdString(name), QString::fromStdString(value));
        if (change) change(environment);
        m_process.setProcessEnvironment(environment);
        m_process.start(python, QStringList{QString::fromStdString(path(script))} + words);
    }
    bool waitForLine() {
        return test::eventually([this] { return m_process.canReadLine(); });
    }
    void write(const char* text) { m_process.write(text); }
    test::Answer finish(int milliseconds = 240'000) { return test::Workspace::finish(m_process, milliseconds); }

private:
    QProcess m_process;
};

}  // namespace lathe::tests
