// What a run's program writes to its log, as it comes: for a person who watches in the terminal.
// Thread: one.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace lathe::trainer {

class LogFollower {
public:
    explicit LogFollower(std::filesystem::path file) : m_file(std::move(file)) {}
    /// What was added since the last call; of very much only the last part, behind a line that says so.
    std::string take();

private:
    std::filesystem::path m_file;
    std::uint64_t m_place = 0;   ///< in the file, which begins anew when it has become too long
};

}  // namespace lathe::trainer
