// Works the queue off: one keeper for each user and machine, elected by keeper.lock. It starts each run that is not held as
// soon as a device is free that the run can have for itself, in order: a run that waits for a device is not passed by one
// that could take the same. Each run gets a supervisor of its own, which goes on when the keeper dies; another keeper then
// goes on with the queue. No run starts twice: starting needs the run's lock and its state to be queued.
// The keeper ends when nothing is left but what somebody holds: a run that cannot start as the machine is now (a driver that
// is not up yet, a disk that is not there) is tried on.
// Thread: the calling one; no other may be there, since it forks.
#pragma once

#include "base/exit_code.h"
#include "base/result.h"
#include "launch/queue/queue.h"

namespace lathe::launch {

/// Runs until the queue is done, SIGTERM or SIGINT. Completed at once where another keeper is at work.
/// One byte is written to `readyFd` (if it is one) when this process is the keeper.
ExitCode keepQueue(const Queue& queue, int readyFd = -1);

/// Why nothing starts although there is a keeper: it is stopped, and how it goes on. Empty where it is not.
std::string stoppedKeeperNote(const Queue& queue);
/// Starts a keeper in the background where there is work and none is up.
Result<void> startKeeper(const Queue& queue);
/// Whether the systemd of this user answers, which would take the queue up after a restart of the machine.
bool hasUserSystemd();

/// A unit of the user's systemd, so that the queue goes on after a restart of the machine. Tells in a sentence where that
/// cannot be had, and what to do instead; empty where it is set up.
std::string comeBackAfterRestart(const std::string& trainer);

}  // namespace lathe::launch
