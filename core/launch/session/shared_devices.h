// The devices that a session computes on, for the other runs of this machine: a run that was started by hand shares them with
// others of that kind, so that the queue does not start one beside it; one from the queue has them alone, and its locks are
// only kept.
// Thread: one; the clock comes from outside. Sentences that are returned are to be told as warnings of the run.
#pragma once

#include "device/devices.h"
#include "launch/queue/device_lock.h"

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace lathe::launch {

class SharedDevices {
public:
    /// `alone`: what the queue has taken for this run, or nothing.
    explicit SharedDevices(std::shared_ptr<DeviceLocks> alone = {}) : m_locks(alone ? std::move(alone) : std::make_shared<DeviceLocks>()) {}

    /// Takes as many as are needed until this object goes. That one of them is another's alone keeps nobody from what a person
    /// asked for: it is told. A lock that cannot be opened is logged.
    std::vector<std::string> share(const device::Candidates& devices);
    /// To be called several times a second. A lock that somebody removed keeps nobody away, so it is taken again; what could not
    /// be for a second (who only tries to take it has it for a moment) is told, once until it is held again.
    std::vector<std::string> keep(std::int64_t nowNs);

private:
    std::shared_ptr<DeviceLocks> m_locks;
    std::map<std::string, std::int64_t> m_lost;   ///< devices whose lock is gone: since when, monotonic; 0 once that was told
};

}  // namespace lathe::launch
