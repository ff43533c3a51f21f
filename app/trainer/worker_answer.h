// Asking lathe-worker a question that only the engine can answer (describe, eval, selftest): one JSON object.
#pragma once

#include "base/result.h"
#include "config/sections.h"

#include <nlohmann/json_fwd.hpp>

#include <string>
#include <vector>

namespace lathe::trainer {

/// Waits for its end. The error is what it said on standard error; Config where it left with the code for that.
Result<nlohmann::json> askWorker(const std::vector<std::string>& words);

/// What the engine makes of a configuration, without training: parameters, their groups, bytes, updates (`lathe-worker describe`).
Result<nlohmann::json> describeConfig(const config::RunConfig& config);

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

}  // namespace lathe::trainer
