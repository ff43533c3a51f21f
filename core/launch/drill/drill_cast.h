// The processes of a crash drill: started with a mark in their environment, found by it wherever they went, killed at will.
// Private to this folder. Thread: one.
#pragma once

#include "launch/process/child_process.h"
#include "launch/process/process_tree.h"

#include <chrono>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace lathe::launch {

/// Waits unless a stop signal comes; false when one has come, now or before.
class StopWatch {
public:
    bool sleep(std::chrono::duration<double> time);
    bool hasStopped() const { return m_stopped; }
    /// Until `fact` holds; false when it does not within `seconds` or a stop came.
    template <typename Fact>
    bool until(double seconds, Fact fact) {
        const auto deadline = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
        while (!fact()) {
            if (std::chrono::steady_clock::now() >= deadline || !sleep(std::chrono::milliseconds(10))) return false;
        }
        return true;
    }

private:
    bool m_stopped = false;
};

class DrillCast {
public:
    explicit DrillCast(std::filesystem::path workspace);
    DrillCast(const DrillCast&) = delete;
    DrillCast& operator=(const DrillCast&) = delete;
    ~DrillCast();  ///< ends whatever still runs

    /// lathe-trainer with these words, in the drill's workspace; its output goes to log().
    Result<void> startCommand(std::vector<std::string> words);
    /// How the command ended, or nothing while it runs.
    std::optional<ExitStatus> commandEnd();
    /// Somebody who watches the run: a terminal, and a window where that program is installed. Those that live are left.
    void startWatchers(const std::string& run);
    /// Every process of the drill that lives, by its part: "command", "supervisor", "worker", "reader", "window"; what
    /// those have started is none of them, and is kNobody.
    std::map<std::string, std::vector<TreeProcess>> onStage() const;
    static constexpr const char* kNobody = "other";
    void endWatchers() { m_watchers.clear(); }
    /// SIGKILL to all of them, until none is left; false when some could not be ended.
    bool endAll();
    std::filesystem::path log() const { return m_workspace / "drill.log"; }

private:
    Result<ChildProcess> start(const std::filesystem::path& program, std::vector<std::string> words, std::vector<std::string> environment = {}) const;

    std::filesystem::path m_workspace;
    std::string m_mark;
    std::optional<ChildProcess> m_command;
    std::map<std::string, ChildProcess> m_watchers;  ///< by part
};

}  // namespace lathe::launch
