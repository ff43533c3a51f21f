// One operation, with every call that it makes to the system killed and failed: once, and from then on. After each the same
// question: is the state the old one or the new one, and does the operation work when it is tried again?
#pragma once

#include "syscall_tracer.h"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <set>
#include <string>
#include <vector>

namespace lathe::test {

/// How the operation ended; undisturbed ones are done, too.
enum class Ending { Undisturbed, Done, Failed, Killed };
inline bool isDone(Ending ending) { return ending == Ending::Undisturbed || ending == Ending::Done; }

struct Operation {
    std::string name;
    /// Makes the state before it in an empty folder.
    std::function<void(const std::filesystem::path& folder)> prepare;
    /// Run in a child; 0: done. It must say on standard error why it failed.
    std::function<int(const std::filesystem::path& folder)> work;
    /// What is wrong with the state, or empty. `said` is what the operation printed.
    std::function<std::string(const std::filesystem::path& folder, Ending ending, const std::string& said)> judge;
    bool retries = true;  ///< tried again undisturbed, it must be done
    /// Temporary files that are there although nothing disturbed it, or empty.
    std::function<std::string(const std::filesystem::path& folder)> left = [](const std::filesystem::path&) { return std::string(); };
    /// What the disk that it works on cannot do: these calls always fail with EPERM.
    std::function<bool(const SystemCall& call)> refused = {};
};

struct SweepCount {
    bool works = false;
    std::string why;                     ///< where it does not
    std::size_t calls = 0, points = 0, possible = 0;
    std::vector<std::string> bad;        ///< a sentence each, with what reproduces it
};

/// All points with LATHE_FULL=1 (or those of a part, see whole_form.h), else `sample` of them, drawn by LATHE_SEED (random and
/// printed where that is not set). LATHE_FAULT=EMFILE: only of this fault.
SweepCount sweep(const Operation& operation, std::size_t sample);

std::uint64_t faultSeed();

/// Where there is one, a folder in memory: what is asked here has nothing to do with the kind of the disk.
std::filesystem::path sweepFolder();

}  // namespace lathe::test
