// Signals as something to wait for beside sockets: held back, and read from a descriptor.
// Thread: one. Threads that are started after listen() hold the signals back as well.
#pragma once

#include "base/descriptor.h"
#include "base/result.h"

#include <initializer_list>
#include <optional>

namespace lathe::launch {

class SignalFeed {
public:
    /// The signals stay held back where it fails: whoever cannot hear a wish to stop must not begin.
    static Result<SignalFeed> listen(std::initializer_list<int> signals);

    int fd() const { return m_fd.get(); }   ///< readable when one has come
    std::optional<int> take();              ///< the next one; nothing when there is none

private:
    explicit SignalFeed(int fd) : m_fd(fd) {}
    Descriptor m_fd;
};

}  // namespace lathe::launch
