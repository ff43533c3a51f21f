// Asks workers where they are, and reads what they wrote to their logs (engine/session/stack_writer.h). What cannot answer is
// described by what the kernel says of it.
// Thread: one; the clock comes from outside.
#pragma once

#include "launch/process/child_process.h"
#include "rundir/run_folder.h"

#include <cstdint>
#include <string>
#include <vector>

namespace lathe::launch {

struct RankStack {
    int rank = 0;
    std::vector<std::string> frames;   ///< innermost first: "c10d::Work::wait(…) (libtorch_cpu.so)"; empty: see note
    std::string note;                  ///< state of the process, and why there is no stack
    bool isStopped = false;            ///< by SIGSTOP or a debugger

    /// Equal for equal places in the code of one build, whatever the addresses; empty without frames.
    std::string digest() const;
};

class StackReader {
public:
    /// Asks all of them that live.
    StackReader(const rundir::RunFolder& run, const std::vector<ChildProcess>& workers, std::int64_t nowNs);
    /// True once all have answered, or could not within a second.
    bool isComplete(std::int64_t nowNs);
    const std::vector<RankStack>& stacks() const { return m_stacks; }

private:
    void read(std::size_t rank);

    std::vector<RankStack> m_stacks;
    std::vector<std::filesystem::path> m_logs;
    std::vector<std::uintmax_t> m_logBytes;   ///< before it was asked
    std::vector<std::int64_t> m_pids;
    std::vector<bool> m_isOpen;               ///< asked, and not answered yet
    std::int64_t m_untilNs;
};

/// "torch::autograd::Engine::execute(…) (libtorch_cpu.so)" from a line of backtrace_symbols_fd().
std::string frameText(const std::string& line);

}  // namespace lathe::launch
