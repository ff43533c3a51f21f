#include "launch/workers/stop_ladder.h"

#include <algorithm>

namespace lathe::launch {

static constexpr std::int64_t kSecond = 1'000'000'000, kUsualSilence = 5 * kSecond;

void StopLadder::enter(Stage stage, std::int64_t nowNs, std::int64_t seconds) {
    m_stage = stage;
    m_deadlineNs = nowNs + seconds * kSecond;
}

void StopLadder::ask(bool discard, std::int64_t nowNs, bool listens) {
    if (m_stage == Stage::None) {
        m_askedNs = m_wishedNs = nowNs;
        m_discard = discard;
        m_listens = listens;
        enter(Stage::Asked, nowNs, !listens ? 0 : discard ? kDiscardSeconds : kAskSeconds);
    } else if (discard && !m_discard && (m_stage == Stage::Asked || (m_stage == Stage::Terminated && !m_listens))) {
        m_discard = true;
        m_wishedNs = nowNs;
        m_deadlineNs = std::min(m_deadlineNs, nowNs + kDiscardSeconds * kSecond);
    }
}

void StopLadder::hurry(std::int64_t nowNs) {
    if (m_stage == Stage::None) m_askedNs = nowNs;
    m_hurried = true;
    m_discard = true;
    if (m_stage == Stage::None) m_stage = Stage::Asked;
    m_deadlineNs = std::min(m_deadlineNs, nowNs);
}

StopLadder::Stage StopLadder::advance(std::int64_t nowNs, bool saving) {
    if (m_stage == Stage::None || m_stage == Stage::Killed) return Stage::None;
    const std::int64_t latest = m_askedNs + kSavingSeconds * kSecond;
    m_saving = saving && m_stage == Stage::Asked && !m_discard && nowNs < latest;
    if (m_saving) m_deadlineNs = std::max(m_deadlineNs, std::min(latest, nowNs + kTermSeconds * kSecond));
    if (nowNs < m_deadlineNs) return Stage::None;
    const int afterTerm = m_hurried ? kHurrySeconds : m_listens ? kTermSeconds : m_discard ? kDiscardSeconds : kAskSeconds;
    if (m_stage == Stage::Terminated) return m_stage = Stage::Killed;
    m_missedNs = m_deadlineNs;
    enter(Stage::Terminated, nowNs, afterTerm);
    return m_stage;
}

double StopLadder::secondsLeft(std::int64_t nowNs) const {
    const std::int64_t then = m_saving ? m_askedNs + kSavingSeconds * kSecond : m_deadlineNs;
    return std::max(0.0, static_cast<double>(then - nowNs) / 1e9);
}

std::optional<Stopping> StopLadder::stopping(std::int64_t nowNs) const {
    const auto at = [&](StopStage stage) { return Stopping{stage, secondsLeft(nowNs), m_discard}; };
    switch (m_stage) {
        case Stage::None: return std::nullopt;
        case Stage::Asked: return at(StopStage::Asked);
        case Stage::Terminated: return at(StopStage::ToldToLeave);
        case Stage::Killed: return at(StopStage::Killed);
    }
    return std::nullopt;
}

std::string StopLadder::reason() const {
    if (m_stage != Stage::Terminated && m_stage != Stage::Killed) return {};
    if (m_hurried) return "asked twice to stop, left at once without saving";
    if (!m_listens) return "it did not leave within " + std::to_string((m_deadlineNs - m_askedNs) / kSecond) + " s of SIGTERM";
    return std::string(m_discard ? "it did not stop" : "it did not save and stop") + " within " + std::to_string((m_missedNs - m_wishedNs) / kSecond) + " s of being asked";
}

std::optional<int> silentRank(const HangDoctor::Beats& beats, std::int64_t nowNs) {
    std::optional<int> found;
    std::int64_t oldest = nowNs - kUsualSilence;
    for (std::size_t rank = 0; rank < beats.size(); ++rank) {
        if (!beats[rank] || beats[rank]->monotonicNs == 0 || beats[rank]->phase == live::Phase::Ended || beats[rank]->monotonicNs >= oldest) continue;
        oldest = beats[rank]->monotonicNs;
        found = static_cast<int>(rank);
    }
    return found;
}

bool isSaving(const HangDoctor::Beats& beats, std::int64_t nowNs) {
    if (beats.empty() || !beats.front() || beats.front()->monotonicNs == 0 || silentRank(beats, nowNs)) return false;
    return beats.front()->phase == live::Phase::Saving || beats.front()->phase == live::Phase::Finishing;
}

}  // namespace lathe::launch
