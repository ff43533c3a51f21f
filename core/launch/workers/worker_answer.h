// Asking lathe-worker a question that only the engine can answer (describe, explain, eval, selftest): one JSON object.
// Thread: functions without shared state; they block.
#pragma once

#include "base/result.h"
#include "config/sections.h"
#include "plan/explain.h"

#include <nlohmann/json_fwd.hpp>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace lathe::launch {

/// Waits for its end, but no longer than `patience`, if there is one. The error is what it said on standard error; Config
/// where it left with the code for that, Unsupported where it crashed.
Result<nlohmann::json> askWorker(const std::vector<std::string>& words, std::optional<std::chrono::seconds> patience = std::nullopt);

/// From where a session would go on.
struct SessionStart {
    std::filesystem::path checkpoint;   ///< folder; empty: from nothing
    bool weightsOnly = false, newCurve = false;
};

/// How long what a session would be is waited for: 30 s, or as many as LATHE_REFUSAL_SECONDS says (1 … 30), which is there
/// for tests. After that it is begun all the same.
std::chrono::seconds refusalPatience();
/// What a session would be, without training, by the code that would make it (`lathe-worker describe`): parameters, their
/// groups, bytes, updates; and what it would tell where it goes on from a checkpoint. The error is its refusal, with the key
/// (Config); of another code where the worker could not be asked.
Result<nlohmann::json> describeSession(const config::RunConfig& config, const SessionStart& start = {}, std::chrono::seconds patience = refusalPatience());
/// The refusal alone: a session that the worker would end before its first update is not begun. Where the worker cannot be
/// asked, or hangs, nothing is refused: beginning the session tells why.
Result<void> refuseBadStart(const config::RunConfig& config, const SessionStart& start = {});

/// plan::explainUpdate(), by a worker that has loaded the plug-ins where a strategy or the schedule is of one.
Result<std::vector<plan::UpdateEvent>> explainUpdate(const config::RunConfig& config);

/// plan::factorAt() of a curve at each of these numbers of applied updates, likewise. `schedule`: config.schedule, with its length.
Result<std::vector<double>> factorsAt(const config::RunConfig& config, const config::ScheduleSection& schedule, const std::vector<std::int64_t>& steps);

/// A text as a file that exists only in memory, for a child to read. Closed with the object.
class TextInMemory {
public:
    static Result<TextInMemory> make(const std::string& text);
    TextInMemory(TextInMemory&& other) noexcept;
    TextInMemory& operator=(TextInMemory&&) = delete;
    ~TextInMemory();
    std::string path() const;   ///< /proc/…, valid while this object lives
    int fd() const { return m_fd; }
    std::string content() const;

private:
    explicit TextInMemory(int fd) : m_fd(fd) {}
    int m_fd;
};

}  // namespace lathe::launch
