// A program started without copying this one's memory (posix_spawn), in a session of its own, its output kept in memory
// files: no pipe that somebody must read, so it lives on unharmed when this program ends.
#pragma once

#include <QByteArray>
#include <QObject>
#include <QSocketNotifier>

#include "base/result.h"

#include <memory>
#include <string>
#include <vector>

namespace lathe::session {

class ChildProcess : public QObject {
    Q_OBJECT
public:
    /// `words`: the program's path and its arguments.
    static Result<std::unique_ptr<ChildProcess>> start(const std::vector<std::string>& words);
    ~ChildProcess() override;

    struct Ended {
        int exitCode = -1;  ///< -1: by a signal
        int signal = 0;
        QByteArray output, errors;  ///< at most 1 MiB each, the end of it
    };
    /// Requires: ended() was emitted.
    const Ended& result() const { return m_result; }

Q_SIGNALS:
    void ended();

private:
    ChildProcess(int pid, int pidFd, int outputFd, int errorsFd);
    void reap();

    int m_pid, m_pidFd, m_outputFd, m_errorsFd;
    QSocketNotifier m_notifier;
    Ended m_result;
};

}  // namespace lathe::session
