// What the benches share: the JSON line of a figure, processor time, medians, and the numbers that a peer's program prints.
#pragma once

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <optional>
#include <string>
#include <vector>

namespace lathe::bench {

/// One figure. A case's ratio stands last, under the metric "ratio".
inline void line(const char* bench, const std::string& name, const std::string& peer, const std::string& metric, double value, const char* unit) {
    std::printf(R"({"bench": "%s", "case": "%s", "peer": "%s", "metric": "%s", "value": %.4g, "unit": "%s"})" "\n", bench, name.c_str(), peer.c_str(), metric.c_str(), value, unit);
    std::fflush(stdout);
}

/// Processor time of this thread, and of all threads: other work on the machine adds little to it.
inline double micros(clockid_t clock) {
    timespec now{};
    ::clock_gettime(clock, &now);
    return static_cast<double>(now.tv_sec) * 1e6 + static_cast<double>(now.tv_nsec) * 1e-3;
}
inline double threadMicros() { return micros(CLOCK_THREAD_CPUTIME_ID); }
inline double processMicros() { return micros(CLOCK_PROCESS_CPUTIME_ID); }

/// Requires: not empty.
inline double median(std::vector<double> values) {
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    return *middle;
}

/// The numbers that a command prints, or nothing where it cannot run.
inline std::optional<std::vector<double>> numbersOf(const std::string& command) {
    std::FILE* output = ::popen(command.c_str(), "r");
    if (!output) return std::nullopt;
    std::vector<double> numbers;
    for (double number = 0; std::fscanf(output, "%lf", &number) == 1;) numbers.push_back(number);
    if (::pclose(output) != 0 || numbers.empty()) return std::nullopt;
    return numbers;
}

}  // namespace lathe::bench
