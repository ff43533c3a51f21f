// Shared memory between ranks of one machine, for the many small exchanges of an update: what a rank puts up, all others
// read. A rank that waits sleeps (futex) and costs nothing; through sockets and their threads the same exchange takes
// several times the processor time.
//
// The memory has no name: the first rank makes it, the others open it through /proc. A rank that is gone is noticed within
// a tenth of a second. Includes no LibTorch.
// Thread: one thread at a time for each rank.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace lathe::engine {

class RankBoard {
public:
    static constexpr std::size_t kMostBytes = 256u << 10;   ///< that a rank puts up at a time

    /// Made by the first rank; null where this machine does not allow it.
    static std::unique_ptr<RankBoard> make(int world);
    /// Where the others find it: they must be on the same machine, which is part of it.
    std::string place() const;
    /// Null where it cannot be reached.
    static std::unique_ptr<RankBoard> open(const std::string& place, int rank, int world);
    ~RankBoard();
    RankBoard(const RankBoard&) = delete;
    RankBoard& operator=(const RankBoard&) = delete;

    /// Puts up `mine` and waits for all others, who put up as much (at most kMostBytes); every rank exchanges in the same
    /// order. Afterwards of(rank) is what that rank put up, until the next exchange.
    /// Throws std::runtime_error when a rank is gone, does something else, or `timeoutMs` has passed.
    void exchange(std::span<const std::byte> mine, std::int64_t timeoutMs);
    std::span<const std::byte> of(int rank) const;

private:
    struct Slot;
    RankBoard(int fd, std::byte* memory, int rank, int world);
    Slot& slot(int rank) const;
    std::byte* area(int rank) const;
    void waitFor(int rank, std::int64_t timeoutMs);
    void refuseGone(int rank);

    int m_fd;
    std::byte* m_memory;
    int m_rank, m_world;
    std::uint32_t m_number = 0;      ///< of the newest exchange
    std::size_t m_bytes = 0;         ///< that each rank put up in it
    std::vector<int> m_processes;    ///< pidfd of each rank, -1: this process, or not looked for yet
};

}  // namespace lathe::engine
