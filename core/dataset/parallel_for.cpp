#include "dataset/parallel_for.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <new>
#include <system_error>
#include <thread>
#include <vector>

namespace lathe::dataset {
namespace {

constexpr std::int64_t kMaxThreads = 16;
constexpr std::int64_t kWorthAThread = 8;
constexpr std::chrono::milliseconds kReportEvery{50};

}  // namespace

Result<void> parallelFor(const Source& source, std::int64_t count, const std::function<void(std::int64_t)>& work) {
    std::atomic<std::int64_t> next{0}, done{0};
    std::atomic<bool> end{false}, memoryExhausted{false};
    std::mutex mutex;
    std::condition_variable finished;
    std::int64_t running = std::clamp<std::int64_t>(std::thread::hardware_concurrency(), 1, kMaxThreads);
    running = std::min(running, 1 + count / kWorthAThread);
    const std::int64_t wanted = running;

    const auto run = [&] {
        for (std::int64_t i = next++; i < count && !end; i = next++) {
            try {
                work(i);
            } catch (const std::bad_alloc&) {
                memoryExhausted = end = true;
            }
            ++done;
        }
        const std::lock_guard lock(mutex);
        --running;
        finished.notify_one();
    };
    std::vector<std::jthread> threads;  // joins on every way out
    try {
        for (std::int64_t i = 0; i < wanted; ++i) threads.emplace_back(run);
    } catch (const std::system_error&) {  // no more threads to be had: those that run do, or this one
        const bool alone = threads.empty();
        {
            const std::lock_guard lock(mutex);
            running -= wanted - static_cast<std::int64_t>(threads.size()) - (alone ? 1 : 0);
        }
        if (alone) run();
    }

    std::unique_lock lock(mutex);
    while (!finished.wait_for(lock, kReportEvery, [&] { return running == 0; })) {
        lock.unlock();
        if (auto reported = source.report(done, count); !reported.ok()) {
            end = true;
            return reported;
        }
        lock.lock();
    }
    if (memoryExhausted) throw std::bad_alloc();
    return source.report(count, count);
}

}  // namespace lathe::dataset
