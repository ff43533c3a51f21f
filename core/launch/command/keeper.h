// The process between a supervisor and a person's command: starts the command, sees all that it starts, caps its log, and
// ends what must be ended even when the supervisor is gone. A keeper is lathe-trainer itself, started as
//   lathe-trainer keep RUN_FOLDER SESSION WORKING_FOLDER PROGRAM -- WORDS…
// with the command's environment, its log as standard output and error, one end of a channel as descriptor 3, and the
// shared memory of the session as descriptor 4.
//
//   - Holds workers.lock shared for its life, and is a subreaper: what the command leaves behind becomes its child.
//   - The command runs in a session and process group of its own with default signals, standard input /dev/null, and
//     nothing but descriptors 0 to 2. It is killed should the keeper be killed.
//   - Channel (SOCK_SEQPACKET): the supervisor sends a KeeperOrder, the keeper a KeeperReport. At its end (the supervisor
//     is gone, so that nobody records, answers or stops) the command gets SIGTERM, and after kOrphanSeconds SIGKILL; what
//     lies in the rings and is not recorded goes to spill/, where the next start finds it.
//   - When the command's own process ends, the rest of what it started gets SIGTERM, and after kRestSeconds SIGKILL; then
//     the end is reported, and the keeper leaves.
#pragma once

#include "base/result.h"

#include <array>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace lathe::launch {

enum class KeeperOrder : char {
    Terminate = 't',  ///< SIGTERM to the process group
    Kill = 'k',       ///< SIGKILL to everything
    Pause = 's',      ///< SIGSTOP to everything
    Resume = 'c'      ///< SIGCONT to everything
};

struct KeeperReport {
    enum class Kind : std::int32_t { Started, Failed, Left, Ended };
    Kind kind = Kind::Started;
    std::int32_t problem = 0;          ///< Failed: errno
    std::int64_t pid = 0;              ///< Started: of the command
    std::uint64_t startTime = 0;
    std::int32_t code = -1, signal = -1;  ///< Ended: one of them
    std::int32_t left = 0;             ///< Left (the command has ended, these have not yet) and Ended: processes that were left and had to be ended
    std::array<char, 64> names{};      ///< some of their names, zero-terminated
};

constexpr int kKeeperChannel = 3, kKeeperSegment = 4;
constexpr int kRestSeconds = 10, kOrphanSeconds = 45, kBookSeconds = 10;

/// main() of a keeper; the words behind "keep".
int runKeeper(const std::vector<std::string>& words);

}  // namespace lathe::launch
