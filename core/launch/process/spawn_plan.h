// How a child of the supervisor begins: in a session of its own, so that a terminal's Ctrl-C does not reach it, with
// default signals and only the descriptors that are placed. Private to this folder.
#pragma once

#include <csignal>
#include <spawn.h>

namespace lathe::launch {

/// What posix_spawn does between fork and exec.
class SpawnPlan {
public:
    SpawnPlan() {
        ::posix_spawn_file_actions_init(&actions);
        ::posix_spawnattr_init(&attributes);
        sigset_t all, none;
        ::sigfillset(&all);
        ::sigemptyset(&none);
        ::posix_spawnattr_setsigdefault(&attributes, &all);
        ::posix_spawnattr_setsigmask(&attributes, &none);
        ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
    }
    ~SpawnPlan() {
        ::posix_spawn_file_actions_destroy(&actions);
        ::posix_spawnattr_destroy(&attributes);
    }
    SpawnPlan(const SpawnPlan&) = delete;
    SpawnPlan& operator=(const SpawnPlan&) = delete;

    void place(int from, int to) { ::posix_spawn_file_actions_adddup2(&actions, from, to); }
    void open(const char* file, int flags, int to) { ::posix_spawn_file_actions_addopen(&actions, to, file, flags, 0); }
    void closeFrom(int fd) { ::posix_spawn_file_actions_addclosefrom_np(&actions, fd); }

    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
};

}  // namespace lathe::launch
