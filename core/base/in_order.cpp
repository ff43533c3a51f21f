#include "base/in_order.h"

#include <algorithm>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

namespace lathe {
namespace {

class InOrder {
public:
    InOrder(std::size_t count, const Step& first, const Step& second) : m_first(first), m_second(second), m_end(count), m_isReady(count) {}

    void work() {
        std::unique_lock lock(m_mutex);
        while (m_begun < m_end) {
            const std::size_t index = m_begun++;
            lock.unlock();
            Result<void> done = m_first(index);
            lock.lock();
            m_isReady[index] = true;
            if (!done.ok()) fail(index, std::move(done));
            if (!std::exchange(m_isTaking, true)) take(lock);
        }
    }
    Result<void> outcome() && { return std::move(m_outcome); }

private:
    /// Everything before it has been begun, and is still done.
    void fail(std::size_t index, Result<void> why) {
        if (index >= m_end) return;
        m_end = index;
        m_outcome = std::move(why);
    }
    void take(std::unique_lock<std::mutex>& lock) {
        for (; m_taken < m_end && m_isReady[m_taken]; ++m_taken) {
            lock.unlock();
            Result<void> done = m_second(m_taken);
            lock.lock();
            if (!done.ok()) fail(m_taken, std::move(done));
        }
        m_isTaking = false;
    }

    const Step& m_first;
    const Step& m_second;
    std::mutex m_mutex;              ///< guards what follows
    std::size_t m_begun = 0, m_taken = 0;
    std::size_t m_end;               ///< of what is to be done: all, or up to an error
    std::vector<bool> m_isReady;     ///< has had its first step
    bool m_isTaking = false;         ///< a thread is at the second steps; m_taken is its own
    Result<void> m_outcome;
};

}  // namespace

Result<void> inOrder(std::size_t count, std::size_t threads, const Step& first, const Step& second) {
    InOrder things(count, first, second);
    std::vector<std::jthread> others;
    others.reserve(threads);
    try {
        for (std::size_t thread = 1; thread < std::min(threads, count); ++thread) others.emplace_back([&things] { things.work(); });
    } catch (const std::system_error&) {
        // The system gives no more threads: those that there are do the work.
    }
    things.work();
    others.clear();
    return std::move(things).outcome();
}

}  // namespace lathe
