#include "launch/verbs/away.h"

#include "base/number_text.h"
#include "launch/run/standing.h"

#include <algorithm>
#include <array>
#include <ctime>
#include <map>
#include <sys/stat.h>
#include <utility>

namespace lathe::launch {

using rundir::State;

static constexpr std::int64_t kSecond = 1'000'000'000;

/// A file is stamped with the kernel's coarse clock, which is a little behind the one that is written into it.
static bool changedAfter(const std::filesystem::path& file, std::int64_t sinceNs) {
    struct stat info {};
    if (::stat(file.c_str(), &info) != 0) return false;
    return info.st_mtim.tv_sec * kSecond + info.st_mtim.tv_nsec >= sinceNs - kSecond;
}

std::vector<RunEnding> endingsSince(const std::filesystem::path& workspace, std::int64_t sinceNs) {
    std::vector<RunEnding> out;
    for (const std::string& folder : rundir::runFolderNames(workspace)) {
        const rundir::RunFolder run = rundir::runNamed(workspace, folder);
        if (!changedAfter(run.summaryJson(), sinceNs)) continue;
        const auto summary = rundir::readSummary(run);
        if (!summary) continue;
        const Standing standing = standingOf(run);
        if (rundir::isAlive(standing.state) || standing.state == State::Queued) continue;
        const std::int64_t ended = summary->state == standing.state && summary->endedNs > 0 ? summary->endedNs : summary->updatedNs;
        if (ended < sinceNs) continue;
        const auto user = rundir::readUser(run);
        out.push_back({run, user && user->name ? *user->name : summary->name, standing.state, standing.why, ended});
    }
    std::stable_sort(out.begin(), out.end(), [](const RunEnding& a, const RunEnding& b) { return a.endedNs < b.endedNs; });
    return out;
}

// ---- as text

static std::tm localTime(std::int64_t wallNs) {
    const std::time_t seconds = static_cast<std::time_t>(wallNs / kSecond);
    std::tm parts{};
    ::localtime_r(&seconds, &parts);
    return parts;
}

static std::string timeOfDay(std::int64_t wallNs, std::int64_t nowNs) {
    const std::tm then = localTime(wallNs), now = localTime(nowNs);
    const bool today = then.tm_yday == now.tm_yday && then.tm_year == now.tm_year;
    std::array<char, 32> text{};
    static_cast<void>(std::strftime(text.data(), text.size(), today ? "%H:%M" : "%Y-%m-%d %H:%M", &then));
    return text.data();
}

std::string endingsText(const std::vector<RunEnding>& endings, std::int64_t nowNs) {
    std::map<State, std::pair<int, std::int64_t>> groups;   // in the order of the states: what went well comes first
    for (const RunEnding& ending : endings) {
        auto& [count, last] = groups[ending.state];
        ++count;
        last = std::max(last, ending.endedNs);
    }
    std::string out;
    for (const auto& [state, group] : groups) {
        const auto& [count, last] = group;
        out += (out.empty() ? "" : ", ") + std::to_string(count) + " " + std::string(rundir::name(state));
        if (state == State::Completed) continue;
        out += count == 1 ? " at " + timeOfDay(last, nowNs) : " (the last at " + timeOfDay(last, nowNs) + ")";
    }
    return out;
}

// ---- from text

static std::optional<std::int64_t> parsed(const std::string& text, const char* format, std::tm base, bool isUtc) {
    base.tm_sec = 0;
    const char* end = ::strptime(text.c_str(), format, &base);
    if (end == nullptr || *end != '\0') return std::nullopt;
    base.tm_isdst = -1;
    const std::time_t seconds = isUtc ? ::timegm(&base) : ::mktime(&base);
    return static_cast<std::int64_t>(seconds) * kSecond;
}

static std::optional<std::int64_t> spanBefore(const std::string& text, std::int64_t nowNs) {
    static constexpr std::array<std::pair<const char*, std::int64_t>, 4> kUnits = {{{"min", 60}, {"h", 3600}, {"d", 86400}, {"s", 1}}};
    const std::size_t digits = text.find_first_not_of("0123456789");
    if (digits == 0 || digits == std::string::npos || digits > 6) return std::nullopt;
    const auto count = readInteger(text.substr(0, digits));
    for (const auto& [unit, seconds] : kUnits)
        if (count && text.substr(digits) == unit) return nowNs - *count * seconds * kSecond;
    return std::nullopt;
}

Result<std::int64_t> momentFrom(const std::string& text, std::int64_t nowNs) {
    if (const auto span = spanBefore(text, nowNs)) return *span;
    const std::tm today = localTime(nowNs);
    if (auto moment = parsed(text, "%H:%M", today, false)) {
        if (*moment <= nowNs) return *moment;
        std::tm yesterday = today;
        --yesterday.tm_mday;   // mktime() puts the first of a month right
        return *parsed(text, "%H:%M", yesterday, false);
    }
    std::tm midnight = today;
    midnight.tm_hour = midnight.tm_min = 0;
    if (const auto moment = parsed(text, "%Y-%m-%d", midnight, false)) return *moment;
    for (const char* format : {"%Y-%m-%d %H:%M", "%Y-%m-%dT%H:%M"})
        if (const auto moment = parsed(text, format, today, false)) return *moment;
    if (const auto moment = parsed(text, "%Y-%m-%dT%H:%M:%SZ", today, true)) return *moment;
    return Error{ErrorCode::Usage, "\"" + text.substr(0, 100) + "\" is no moment; write 8h, 90min, 2d, 03:12, 2026-11-29 or \"2026-11-29 22:00\"", {}, {}};
}

}  // namespace lathe::launch
