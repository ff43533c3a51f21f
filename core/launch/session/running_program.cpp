#include "launch/session/running_program.h"

#include "base/clock.h"
#include "config/command_text.h"
#include "launch/command/command_facts.h"

#include <nlohmann/json.hpp>

#include <cstdlib>
#include <utility>

namespace lathe::launch {

std::vector<rundir::ProcessIdentity> RunningProgram::identities() const {
    return process() ? process()->identities() : std::vector<rundir::ProcessIdentity>();
}

void RunningProgram::look(const Standing& standing, std::int64_t nowNs) {
    m_beat.phase = standing.isStopping ? live::Phase::Finishing : standing.isPaused ? live::Phase::Paused : live::Phase::Training;
    m_beat.attempt = standing.attempt;
    m_beat.step = standing.step;
    m_beat.acknowledged = standing.wish;
    m_beat.monotonicNs = nowNs;
    m_beat.pid = static_cast<std::int32_t>(process()->identities().back().pid);
    m_order.memory.beat(0, m_beat);
}

std::optional<double> RunningProgram::workedSeconds(std::int64_t nowNs) const {
    const std::int64_t held = m_heldNs + (m_heldSinceNs != 0 ? nowNs - m_heldSinceNs : 0);
    return static_cast<double>(nowNs - m_startedNs - held) / 1e9;
}

void RunningProgram::noteHeld(bool isHeld, std::int64_t nowNs) {
    if (m_heldSinceNs != 0) m_heldNs += nowNs - m_heldSinceNs;
    m_heldSinceNs = isHeld ? nowNs : 0;
}

Result<void> RunningCommand::start() {
    const config::CommandSection& what = m_order.config.command;
    LATHE_TRY_ASSIGN(const config::CommandWords words, config::splitCommand(what.line));
    CommandOrder order{m_order.run, m_order.session, m_order.memory.fd(), what.folder, {}, words.words, words.variables};
    LATHE_TRY(checkCommand(what));
    LATHE_TRY_ASSIGN(order.program, findProgram(words, order.folder));
    // Standard output is a file: without this Python would hold back what it prints.
    if (std::getenv("PYTHONUNBUFFERED") == nullptr) order.environment.insert(order.environment.begin(), "PYTHONUNBUFFERED=1");
    // The GPUs that are named, by a person or by the queue, are all that the script sees.
    const std::string& device = m_order.config.parallel.device;
    if (device.starts_with("GPU-")) order.environment.insert(order.environment.begin(), "CUDA_VISIBLE_DEVICES=" + device);
    LATHE_TRY_ASSIGN(m_frames, ProgramFrames::listen(m_order.run, m_order.summary, m_order.memory, 0, m_order.session));
    for (const auto& [name, value] : m_frames->environment()) order.environment.push_back(name + "=" + value);
    LATHE_TRY_ASSIGN(m_command, CommandProcess::start(order, m_order.token));
    m_startedNs = Clock::system().monotonicNs();
    const nlohmann::json surroundings = surroundingsOf(words, order.folder, order.program);
    m_order.tell("environment", "Runs " + what.line + " in " + order.folder.string(), surroundings.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
    return {};
}

void RunningCommand::signal(int number, std::int64_t) {
    if (m_command) m_command->signal(number);
}

void RunningCommand::hold(bool isHeld, std::int64_t nowNs) {
    m_command->pause(isHeld);
    noteHeld(isHeld, nowNs);
}

Result<void> RunningScript::start() {
    LATHE_TRY_ASSIGN(m_frames, ProgramFrames::listen(m_order.run, m_order.summary, m_order.memory, 0, m_order.session, m_recording.token));
    LATHE_TRY_ASSIGN(m_script, AdoptedProcess::adopt(m_recording.pid, m_order.token));
    m_startedNs = Clock::system().monotonicNs();
    m_order.tell("environment", "Records process " + std::to_string(m_recording.pid) + ": " + m_order.config.command.line + " in " + m_order.config.command.folder, "{}");
    return {};
}

void RunningScript::signal(int number, std::int64_t) {
    if (!m_script) return;
    if (!m_script->poll()) return m_script->signal(number);
    for (const std::int64_t pid : m_frames->peers()) signalOwn(pid, number);
}

}  // namespace lathe::launch
