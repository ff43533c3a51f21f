// Where the shared data sets lie. They stand beside the repository, not in it: a test that wants them skips where they are absent.
#pragma once

#include <cstdlib>
#include <filesystem>

/// The folder of shared data sets as an absolute, normal path; empty where there is none. LATHE_SHARED names another place than
/// ../shared beside the repository.
inline std::filesystem::path sharedData() {
    const char* chosen = std::getenv("LATHE_SHARED");
    const auto folder = (std::filesystem::path(chosen != nullptr ? chosen : LATHE_SOURCE_DIR "/../shared") / "data").lexically_normal();
    std::error_code problem;
    return std::filesystem::is_directory(folder, problem) ? folder : std::filesystem::path();
}
