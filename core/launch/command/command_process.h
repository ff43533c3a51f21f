// A person's command as what a session runs: started and ended through its keeper.
// Thread: one.
#pragma once

#include "launch/command/keeper.h"
#include "launch/process/child_process.h"
#include "launch/process/program_process.h"

#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace lathe::launch {

struct CommandOrder {
    rundir::RunFolder run;
    int session = 0;
    int segmentFd = -1;                    ///< of the session's shared memory
    std::filesystem::path folder;          ///< working folder
    std::filesystem::path program;         ///< file to execute
    std::vector<std::string> words;        ///< its arguments, the first of them its own name
    std::vector<std::string> environment;  ///< "NAME=VALUE" on top of this process's own
};

class CommandProcess : public ProgramProcess {
public:
    /// Waits until the command runs, or tells why it does not (Config, command.line).
    static Result<std::unique_ptr<CommandProcess>> start(const CommandOrder& order, const std::string& token);
    ~CommandProcess() override;

    int pollFd() const override { return m_channel; }   ///< readable when poll() may know more
    /// Its end, once it and all it started are gone; nothing while it runs.
    std::optional<ExitStatus> poll() override;
    /// SIGTERM, or SIGKILL to all of it.
    void signal(int number) override;
    void pause(bool paused);
    /// What there is to say of it since the last call, or empty: it has ended and left something behind.
    std::string takeNews() { return std::exchange(m_left, {}); }
    /// The keeper's, then the command's.
    std::vector<rundir::ProcessIdentity> identities() const override { return {m_keeper.identity(), m_command}; }
    std::int64_t pid() const { return m_command.pid; }

private:
    CommandProcess(ChildProcess keeper, int channel) : m_keeper(std::move(keeper)), m_channel(channel) {}
    Result<void> waitUntilStarted(const CommandOrder& order, const std::string& token);
    void send(KeeperOrder order) const;
    void loseKeeper();

    ChildProcess m_keeper;
    int m_channel;
    rundir::ProcessIdentity m_command;
    std::optional<ExitStatus> m_end;
    std::string m_left;
};

}  // namespace lathe::launch
