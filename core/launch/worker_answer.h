// Asking lathe-worker a question that only the engine can answer (describe, explain, eval, selftest): one JSON object.
// Thread: functions without shared state; they block.
#pragma once

#include "base/result.h"
#include "config/sections.h"
#include "plan/explain.h"

#include <nlohmann/json_fwd.hpp>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace lathe::launch {

/// Waits for its end, but no longer than `patience`, if there is one. The error is what it said on standard error; Config
/// where it left with the code for that.
Result<nlohmann::json> askWorker(const std::vector<std::string>& words, std::optional<std::chrono::seconds> patience = std::nullopt);

/// What the engine makes of a configuration, without training: parameters, their groups, bytes, updates (`lathe-worker describe`).
Result<nlohmann::json> describeConfig(const config::RunConfig& config);

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
