#include "base/in_order.h"

#include <algorithm>
#include <atomic>
#include <system_error>
#include <thread>
#include <vector>

namespace lathe {

Result<void> inOrder(std::size_t count, std::size_t threads, const Step& first, const Step& second) {
    std::atomic<std::size_t> begun{0}, turn{0};
    std::atomic<bool> stops{false};
    Result<void> outcome;   // belongs to whoever has the turn
    const auto work = [&](std::size_t thread) {
        for (std::size_t index = begun++; index < count; index = begun++) {
            Result<void> done = stops ? Result<void>() : first(index, thread);
            for (std::size_t now = turn; now != index; now = turn) turn.wait(now);
            if (outcome.ok() && done.ok()) done = second(index, thread);
            if (outcome.ok()) outcome = std::move(done);
            stops = !outcome.ok();
            turn = index + 1;
            turn.notify_all();
        }
    };
    std::vector<std::jthread> others;
    others.reserve(threads);
    try {
        for (std::size_t thread = 1; thread < std::min(threads, count); ++thread) others.emplace_back(work, thread);
    } catch (const std::system_error&) {
        // The system gives no more threads: those that there are do the work.
    }
    work(0);
    others.clear();
    return outcome;
}

}  // namespace lathe
