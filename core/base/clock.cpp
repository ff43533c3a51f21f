#include "base/clock.h"

#include <ctime>

namespace lathe {
namespace {

std::int64_t read(clockid_t id) {
    timespec now{};
    clock_gettime(id, &now);
    return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

class SystemClock final : public Clock {
public:
    std::int64_t monotonicNs() const override { return read(CLOCK_MONOTONIC); }
    std::int64_t wallNs() const override { return read(CLOCK_REALTIME); }
};

}  // namespace

const Clock& Clock::system() {
    static const SystemClock clock;
    return clock;
}

std::string isoTime(std::int64_t wallNs) {
    const std::time_t seconds = static_cast<std::time_t>(wallNs / 1'000'000'000);
    std::tm parts{};
    gmtime_r(&seconds, &parts);
    char text[32];
    const std::size_t length = std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
    return {text, length};
}

}  // namespace lathe
