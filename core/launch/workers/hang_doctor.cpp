#include "launch/workers/hang_doctor.h"

#include "base/number_text.h"

#include <algorithm>
#include <limits>
#include <tuple>

namespace lathe::launch {
namespace {

using live::Activity;
using live::Heartbeat;
using live::Phase;

constexpr std::int64_t kSecond = 1'000'000'000;
constexpr std::int64_t kMostBetweenLooks = kSecond / 2;
constexpr std::size_t kUpdates = 31;

bool waits(const Heartbeat& beat) { return beat.activity == Activity::Reducing || beat.activity == Activity::Exchanging; }
bool mayStandStill(const Heartbeat& beat) { return beat.phase == Phase::Paused || beat.phase == Phase::Ended; }

}  // namespace

std::string placeOf(const Heartbeat& beat) {
    const std::string_view activity = isInUpdate(beat) || beat.phase == Phase::FirstUpdate ? live::name(beat.activity) : std::string_view();
    return std::string(activity.empty() ? live::name(beat.phase) : activity);
}

std::optional<double> HangDoctor::secondsOfUpdate() const {
    if (m_updates.empty()) return std::nullopt;
    std::vector<double> sorted = m_updates;
    const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 2);
    std::nth_element(sorted.begin(), middle, sorted.end());
    return *middle;
}

void HangDoctor::measure(const Heartbeat& beat, std::int64_t nowNs) {
    if (beat.attempt == m_attempt) return;
    if (m_attempt >= 0 && beat.attempt > m_attempt && beat.phase == Phase::Training) {
        const double seconds = static_cast<double>(nowNs - m_attemptNs) / kSecond / static_cast<double>(beat.attempt - m_attempt);
        if (m_updates.size() < kUpdates) m_updates.push_back(seconds);
        else m_updates[m_next++ % kUpdates] = seconds;
    }
    m_attempt = beat.attempt;
    m_attemptNs = nowNs;
}

/// Seconds without getting on that are borne. Of an update two seconds or five times the usual time, less what beat and
/// look are late by.
double HangDoctor::limitOf(const Heartbeat& beat) const {
    constexpr double kUpdate = 1.75, kTimes = 4.75;
    const std::optional<double> usual = secondsOfUpdate();
    if (isInUpdate(beat)) return usual ? std::max(kUpdate, kTimes * *usual) : 30;
    switch (beat.phase) {
        case Phase::Training: break;
        case Phase::Starting: case Phase::LoadingData: case Phase::Evaluating: return std::max(60.0, kTimes * usual.value_or(0));
        case Phase::LoadingCheckpoint: case Phase::FirstUpdate: return 120;
        case Phase::BuildingModel: return 300;
        case Phase::Saving: case Phase::Finishing: return 900;
        case Phase::Paused: case Phase::Ended: break;
    }
    return std::numeric_limits<double>::infinity();
}

double HangDoctor::since(std::int64_t thenNs, std::int64_t nowNs) const {
    return static_cast<double>(nowNs - std::max(thenNs, m_lookingSinceNs)) / kSecond;
}

void HangDoctor::look(const Beats& beats, std::int64_t nowNs) {
    if (m_lookedNs == 0 || nowNs - m_lookedNs > kMostBetweenLooks) m_lookingSinceNs = nowNs;
    m_lookedNs = nowNs;
    if (!beats.empty() && beats.front()) measure(*beats.front(), nowNs);
    m_finding = silent(beats, nowNs);
    if (!m_finding) m_finding = still(beats, nowNs);
}

std::optional<HangDoctor::Finding> HangDoctor::silent(const Beats& beats, std::int64_t nowNs) const {
    std::optional<Finding> found;
    for (std::size_t rank = 0; rank < beats.size(); ++rank) {
        if (!beats[rank] || beats[rank]->monotonicNs == 0 || beats[rank]->phase == Phase::Ended) continue;
        const double seconds = since(beats[rank]->monotonicNs, nowNs);
        if (seconds > kSilentSeconds && (!found || seconds > found->seconds)) found = Finding{static_cast<int>(rank), true, false, seconds, kSilentSeconds, *beats[rank]};
    }
    return found;
}

std::optional<HangDoctor::Finding> HangDoctor::still(const Beats& beats, std::int64_t nowNs) const {
    std::optional<Finding> found;
    bool allWait = true;
    const Heartbeat* behind = nullptr;
    double shortest = std::numeric_limits<double>::infinity();
    for (std::size_t rank = 0; rank < beats.size(); ++rank) {
        if (!beats[rank] || beats[rank]->movedNs == 0) return std::nullopt;   // not all of them are up, or one has ended: the others will see to it
        const Heartbeat& beat = *beats[rank];
        if (mayStandStill(beat)) return std::nullopt;
        const double seconds = since(beat.movedNs, nowNs), limit = limitOf(beat);
        if (waits(beat)) {
            shortest = std::min(shortest, seconds - limit);
        } else {
            allWait = false;
            if (seconds > limit && (!found || seconds > found->seconds)) found = Finding{static_cast<int>(rank), false, false, seconds, limit, beat};
        }
        if (behind == nullptr || std::tie(beat.attempt, beat.collective) < std::tie(behind->attempt, behind->collective)) behind = &beat;
    }
    if (!allWait || shortest <= 0 || behind == nullptr) return found;
    for (std::size_t rank = 0; rank < beats.size(); ++rank)
        if (&*beats[rank] == behind) found = Finding{static_cast<int>(rank), false, beats.size() > 1, since(behind->movedNs, nowNs), limitOf(*behind), *behind};
    return found;
}

bool isInUpdate(const Heartbeat& beat) {
    const bool saves = beat.phase == Phase::Saving || beat.phase == Phase::Finishing;
    return beat.phase == Phase::Training || (saves && (beat.activity == Activity::Reading || beat.activity == Activity::Computing));
}

static std::string where(const Heartbeat& beat) {
    const bool isUpdate = isInUpdate(beat) || beat.phase == Phase::FirstUpdate;
    return "in " + placeOf(beat) + (isUpdate ? ", update " + std::to_string(beat.attempt + 1) : std::string());
}

std::string standstillOf(const HangDoctor::Finding& finding, int ranks) {
    if (finding.isMutual) return "The ranks wait for one another";
    const std::string who = ranks > 1 ? "Rank " + std::to_string(finding.rank) : "The worker";
    return who + (finding.isSilent ? " gives no sign of life " : " does not get on ") + where(finding.beat);
}

std::string sentenceOf(const HangDoctor::Finding& finding, const HangDoctor::Beats& beats) {
    const std::string seconds = shortText(finding.seconds, finding.seconds < 10 ? 2 : 3) + " s";
    const std::string who = beats.size() > 1 ? "Rank " + std::to_string(finding.rank) : "The worker";
    std::string text = finding.isMutual ? "The ranks have waited for one another for " + seconds
                                        : who + (finding.isSilent ? " has been silent for " : " has not got on for ") + seconds + " " + where(finding.beat);
    constexpr std::size_t kMostTold = 8;
    for (std::size_t rank = 0, told = 0; rank < beats.size() && told < kMostTold; ++rank) {
        if (!beats[rank] || (!finding.isMutual && (static_cast<int>(rank) == finding.rank || !waits(*beats[rank])))) continue;
        ++told;
        text += (finding.isMutual && told == 1 ? ": rank " : finding.isMutual ? ", rank " : "; rank ") + std::to_string(rank) + (finding.isMutual ? " " : " waits ") + where(*beats[rank]);
    }
    return text;
}

}  // namespace lathe::launch
