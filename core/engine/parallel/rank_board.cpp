#include "engine/parallel/rank_board.h"

#include "base/file_system.h"

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <fcntl.h>
#include <linux/futex.h>
#include <poll.h>
#include <stdexcept>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace lathe::engine {

/// What a rank says of itself; each in cache lines of its own.
struct alignas(128) RankBoard::Slot {
    std::atomic<std::uint32_t> arrived;      ///< number of the newest exchange it has put something up for
    std::atomic<std::uint32_t> waiters;      ///< ranks that sleep on `arrived`
    std::atomic<std::uint32_t> gone;
    std::atomic<std::int32_t> process;
    std::atomic<std::uint64_t> bytes[2];     ///< that it put up, for odd and even exchanges
};

namespace {

constexpr std::size_t kPage = 4096;
constexpr auto kLook = std::chrono::milliseconds(100);
constexpr int kGlances = 200;                ///< before it goes to sleep: a few microseconds

std::size_t headBytes(int world) { return (static_cast<std::size_t>(world) * 128 + kPage - 1) / kPage * kPage; }
std::size_t allBytes(int world) { return headBytes(world) + static_cast<std::size_t>(world) * 2 * RankBoard::kMostBytes; }

std::string bootId() {
    const auto text = readFile("/proc/sys/kernel/random/boot_id", 100);
    return text.ok() ? *text : std::string();
}

std::byte* mapped(int fd, int world) {
    void* memory = ::mmap(nullptr, allBytes(world), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    return memory == MAP_FAILED ? nullptr : static_cast<std::byte*>(memory);
}

void sleepOn(std::atomic<std::uint32_t>& word, std::uint32_t seen) {
    const timespec slice{0, std::chrono::nanoseconds(kLook).count()};
    ::syscall(SYS_futex, &word, FUTEX_WAIT, seen, &slice, nullptr, 0);
}

void wake(std::atomic<std::uint32_t>& word) { ::syscall(SYS_futex, &word, FUTEX_WAKE, 0x7fffffff, nullptr, nullptr, 0); }

}  // namespace

RankBoard::RankBoard(int fd, std::byte* memory, int rank, int world)
    : m_fd(fd), m_memory(memory), m_rank(rank), m_world(world), m_processes(static_cast<std::size_t>(world), -1) {
    static_assert(sizeof(Slot) == 128 && std::atomic<std::uint64_t>::is_always_lock_free);
    slot(rank).process.store(::getpid());
}

RankBoard::~RankBoard() {
    slot(m_rank).gone.store(1);
    wake(slot(m_rank).arrived);
    for (const int process : m_processes)
        if (process >= 0) ::close(process);
    ::munmap(m_memory, allBytes(m_world));
    ::close(m_fd);
}

std::unique_ptr<RankBoard> RankBoard::make(int world) {
    const int fd = ::memfd_create("lathe-ranks", MFD_CLOEXEC);
    if (fd < 0) return nullptr;
    std::byte* memory = ::ftruncate(fd, static_cast<off_t>(allBytes(world))) == 0 ? mapped(fd, world) : nullptr;  // all zero
    if (memory) return std::unique_ptr<RankBoard>(new RankBoard(fd, memory, 0, world));
    ::close(fd);
    return nullptr;
}

std::string RankBoard::place() const { return std::to_string(::getpid()) + "/fd/" + std::to_string(m_fd) + " " + bootId(); }

std::unique_ptr<RankBoard> RankBoard::open(const std::string& place, int rank, int world) {
    const std::size_t cut = place.find(' ');
    if (cut == std::string::npos || place.substr(cut + 1) != bootId()) return nullptr;
    const int fd = ::open(("/proc/" + place.substr(0, cut)).c_str(), O_RDWR | O_CLOEXEC);
    if (fd < 0) return nullptr;
    const bool isWhole = ::lseek(fd, 0, SEEK_END) == static_cast<off_t>(allBytes(world));
    std::byte* memory = isWhole ? mapped(fd, world) : nullptr;
    if (memory) return std::unique_ptr<RankBoard>(new RankBoard(fd, memory, rank, world));
    ::close(fd);
    return nullptr;
}

RankBoard::Slot& RankBoard::slot(int rank) const { return *reinterpret_cast<Slot*>(m_memory + static_cast<std::size_t>(rank) * sizeof(Slot)); }

/// Two for each rank: while one is read by those that are behind, the next is written. Nobody is two behind, since a rank
/// leaves an exchange only when all have entered it.
std::byte* RankBoard::area(int rank) const { return m_memory + headBytes(m_world) + (static_cast<std::size_t>(rank) * 2 + m_number % 2) * kMostBytes; }

std::span<const std::byte> RankBoard::of(int rank) const { return {area(rank), m_bytes}; }

void RankBoard::exchange(std::span<const std::byte> mine, std::int64_t timeoutMs) {
    if (mine.size() > kMostBytes) throw std::logic_error("More is put up than fits");
    ++m_number;
    m_bytes = mine.size();
    if (!mine.empty()) std::memcpy(area(m_rank), mine.data(), mine.size());
    Slot& own = slot(m_rank);
    own.bytes[m_number % 2].store(mine.size());
    own.arrived.store(m_number);
    if (own.waiters.load() > 0) wake(own.arrived);
    for (int rank = 0; rank < m_world; ++rank) {
        if (rank == m_rank) continue;
        waitFor(rank, timeoutMs);
        if (slot(rank).bytes[m_number % 2].load() != m_bytes) throw std::runtime_error("rank " + std::to_string(rank) + " exchanges something else");
    }
}

void RankBoard::waitFor(int rank, std::int64_t timeoutMs) {
    Slot& other = slot(rank);
    const auto isThere = [&](std::uint32_t arrived) { return static_cast<std::int32_t>(arrived - m_number) >= 0; };
    for (int i = 0; i < kGlances; ++i)
        if (isThere(other.arrived.load())) return;
    const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(timeoutMs);
    while (true) {
        other.waiters.fetch_add(1);
        const std::uint32_t seen = other.arrived.load();
        if (!isThere(seen) && other.gone.load() == 0) sleepOn(other.arrived, seen);
        other.waiters.fetch_sub(1);
        if (isThere(other.arrived.load())) return;
        refuseGone(rank);
        if (std::chrono::steady_clock::now() > until) throw std::runtime_error("rank " + std::to_string(rank) + " did not come in time");
    }
}

void RankBoard::refuseGone(int rank) {
    Slot& other = slot(rank);
    int& process = m_processes[static_cast<std::size_t>(rank)];
    const std::int32_t pid = other.process.load();
    if (process < 0 && pid > 0 && pid != ::getpid()) {
        process = static_cast<int>(::syscall(SYS_pidfd_open, pid, 0));
        if (process < 0 && errno == ESRCH) other.gone.store(1);
    }
    pollfd what{process, POLLIN, 0};
    const bool isDead = process >= 0 && ::poll(&what, 1, 0) > 0;
    const bool arrived = static_cast<std::int32_t>(other.arrived.load() - m_number) >= 0;  // before it went
    if (!arrived && (isDead || other.gone.load() != 0)) throw std::runtime_error("rank " + std::to_string(rank) + " has ended");
}

}  // namespace lathe::engine
