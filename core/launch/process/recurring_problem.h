// A problem of the outside world that comes again and again, told without filling terminals and logs: when it is new or
// another one (other amounts in its sentence make it no other), and once it is over how often it came.
// Thread: one.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace lathe::launch {

/// The sentence without its amounts, which differ from one time to the next: "have 8.2 kB".
std::string withoutAmounts(const std::string& sentence);

class RecurringProblem {
public:
    /// `what` with its count says what happened: "saves could not be made".
    explicit RecurringProblem(std::string what) : m_what(std::move(what)) {}

    /// It came; whether it is to be told.
    bool came(const std::string& sentence, std::int64_t wallNs);
    /// It is over: "42 saves could not be made between 10:32:01 and 11:05:12" (local time). Nothing where it came once at most.
    std::optional<std::string> over();

private:
    const std::string m_what;
    std::string m_told;
    std::int64_t m_firstNs = 0, m_lastNs = 0;
    int m_count = 0;
};

}  // namespace lathe::launch
