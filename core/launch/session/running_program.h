// A program that is not ours as what a session runs: a person's own command, which the session starts behind a keeper, or a
// script that runs already and is only recorded. What it logs comes in through its socket and becomes the first ring's frames.
// Thread: that of the session.
#pragma once

#include "launch/command/command_process.h"
#include "launch/process/adopted_process.h"
#include "launch/session/running.h"
#include "launch/session/supervisor.h"

#include <memory>

namespace lathe::launch {

class RunningProgram : public Running {
public:
    std::vector<rundir::ProcessIdentity> identities() const override;
    std::vector<int> pollFds() const override { return {process()->pollFd()}; }
    bool turn(std::int64_t) override { return process()->poll().has_value(); }
    std::optional<ExitStatus> end(int) const override { return process() ? process()->poll() : std::nullopt; }
    void look(const Standing& standing, std::int64_t nowNs) override;
    std::optional<double> workedSeconds(std::int64_t nowNs) const override;
    ProgramFrames* frames() const override { return m_frames.get(); }
    void stopListening() override { m_frames.reset(); }

protected:
    using Running::Running;
    virtual ProgramProcess* process() const = 0;   ///< none before it was started
    void noteHeld(bool isHeld, std::int64_t nowNs);

    std::unique_ptr<ProgramFrames> m_frames;

private:
    std::int64_t m_heldNs = 0, m_heldSinceNs = 0;  ///< in all; 0: it is not held now
};

class RunningCommand : public RunningProgram {
public:
    explicit RunningCommand(Order order) : RunningProgram(Kind::Command, std::move(order)) {}
    /// With the whole environment that the run was started in, so that it finds what it finds in a terminal.
    Result<void> start() override;
    std::string takeNews() override { return m_command->takeNews(); }
    void signal(int number, std::int64_t nowNs) override;
    void hold(bool isHeld, std::int64_t nowNs) override;
    void capLogs() const override {}   // its keeper does it

private:
    ProgramProcess* process() const override { return m_command.get(); }
    std::unique_ptr<CommandProcess> m_command;
};

class RunningScript : public RunningProgram {
public:
    RunningScript(Order order, Recording recording) : RunningProgram(Kind::Script, std::move(order)), m_recording(std::move(recording)) {}
    /// It runs already, and is only listened to.
    Result<void> start() override;
    /// As long as somebody logs it goes on: it may have left its work to a child, a daemon.
    bool turn(std::int64_t nowNs) override { return RunningProgram::turn(nowNs) && m_frames->connections() == 0; }
    /// Where it left its work to others, those that log are meant.
    void signal(int number, std::int64_t nowNs) override;

private:
    ProgramProcess* process() const override { return m_script.get(); }
    const Recording m_recording;
    std::unique_ptr<AdoptedProcess> m_script;
};

}  // namespace lathe::launch
