// Runs a piece of work in a forked child and sees every call of it to the system that concerns one folder, in the one order
// in which they happen, whichever thread or process of the child makes them. Each may be let through, made to fail, cut
// short, or be the last thing before SIGKILL. x86-64 Linux, ptrace, with a seccomp filter that stops at those calls only.
// strace would do for failing calls, but it counts by thread, cannot cut writes short and does not keep what was written.
// Thread: one; the caller has no other children meanwhile that it does not wait for by pid.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace lathe::test {

/// A call that takes a path in the folder, or a descriptor of a file there; or one that starts a thread or process.
struct SystemCall {
    long number = 0;
    std::string name;                     ///< "pwrite64"
    std::string path, second;             ///< absolute; second: the other path of rename and link
    int flags = 0;                        ///< of open and renameat2
    std::int64_t offset = -1;             ///< of writes and truncations: where they begin; -1: not known
    std::vector<std::byte> data;          ///< of writes, where `keepData` was asked for
    std::uint64_t bytes = 0;              ///< of writes and reads: how much was asked for
    std::int64_t result = 0;              ///< once it was made; negative: -errno

    bool isWrite() const;                 ///< write, pwrite64, writev, pwritev
    bool isSync() const;                  ///< fsync, fdatasync
    bool startsProcess() const;           ///< clone, fork …
    bool changesDisk() const;             ///< whatever a crash before or after it can tell apart
};

struct Verdict {
    enum class What { Pass, Kill, Fail, Short } what = What::Pass;
    int errorNumber = 0;                  ///< Fail
    bool isFollowed = true;               ///< `after` hears of it
};

struct Traced {
    bool works = false;                   ///< false: tracing is not possible here; `why` says it
    std::string why;
    int exitCode = -1;                    ///< of the child, or -1
    int signal = 0;                       ///< that ended it
    bool hung = false;                    ///< it or something that it started was still there after 90 s, and was ended
    std::string output;                   ///< its standard error and output
};

/// Returns when the child and all that it started have ended. `work` is called in the child, whose exit code is what it returns. `before` is asked at the entry of each call to or
/// about `folder`, `after` hears of it with its result; and of what the work prints on standard output, as a call "say".
Traced trace(const std::filesystem::path& folder, const std::function<int()>& work, const std::function<Verdict(const SystemCall&)>& before,
             const std::function<void(const SystemCall&)>& after = {}, bool keepData = false);

/// The same work with nobody looking at its calls, much faster.
Traced runAlone(const std::function<int()>& work);

/// Work that becomes another program.
std::function<int()> executes(std::vector<std::string> words, std::vector<std::string> environment = {});

}  // namespace lathe::test
