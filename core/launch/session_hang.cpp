// A rank that does not get on: named at once, with the stacks of all ranks, and ended in the end where that is wished.
#include "launch/session.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/number_text.h"

#include <nlohmann/json.hpp>

#include <algorithm>

namespace lathe::launch {

using live::Phase;
using nlohmann::json;

static std::int64_t now() { return Clock::system().monotonicNs(); }
static std::string textOf(const json& facts) { return facts.dump(-1, ' ', false, json::error_handler_t::replace); }

static json beatsJson(const HangDoctor::Beats& beats) {
    json ranks = json::array();
    for (std::size_t rank = 0; rank < beats.size(); ++rank) {
        if (!beats[rank]) continue;
        const live::Heartbeat& beat = *beats[rank];
        const auto ago = [](std::int64_t ns) { return static_cast<double>(std::max<std::int64_t>(0, now() - ns)) / 1e9; };
        ranks.push_back({{"rank", rank}, {"phase", live::name(beat.phase)}, {"activity", live::name(beat.activity)}, {"update", beat.attempt + 1}, {"operation", beat.collective},
                         {"silent_seconds", ago(beat.monotonicNs)}, {"still_seconds", ago(beat.movedNs)}});
    }
    return ranks;
}

void Session::lookForHang() {
    if (!m_workers || m_gone || m_ladder.stage() != StopLadder::Stage::None || m_workers->heldUpBy() >= 0) return;
    const HangDoctor::Beats beats = this->beats();
    m_doctor.look(beats, now());
    const auto& found = m_doctor.finding();
    if (m_hang && (!found || found->rank != m_hang->rank)) {
        if (!m_workers->end(m_hang->rank)) tellEvent("hang_over", (world() > 1 ? "Rank " + std::to_string(m_hang->rank) : std::string("The worker")) + " gets on again, after " + shortText(m_hang->seconds, 3) + " s",
                  textOf({{"rank", m_hang->rank}, {"seconds", m_hang->seconds}}));
        m_hang.reset();
        m_stackReader.reset();
    }
    if (!found) return;
    if (!m_hang) {
        tellEvent("hang", sentenceOf(*found, beats),
                  textOf({{"rank", found->rank}, {"silent", found->isSilent}, {"mutual", found->isMutual}, {"seconds", found->seconds}, {"limit_seconds", found->limit},
                          {"phase", live::name(found->beat.phase)}, {"activity", live::name(found->beat.activity)}, {"update", found->beat.attempt + 1}, {"ranks", beatsJson(beats)}}));
        m_stackReader.emplace(m_run, m_workers->workers(), now());
        m_stacksTold = false;
    }
    m_hang = found;
    if (m_stackReader && !m_stacksTold && m_stackReader->isComplete(now())) tellStacks();
    if (m_stacksTold) endHang(beats);
}

void Session::tellStacks() {
    m_stacksTold = true;
    std::string text, whole;
    json ranks = json::array();
    for (const RankStack& stack : m_stackReader->stacks()) {
        constexpr std::size_t kShown = 4;
        std::string top;
        for (std::size_t i = 0; i < stack.frames.size(); ++i) {
            if (i < kShown) top += (i == 0 ? "" : " < ") + stack.frames[i];
            whole += "\n  rank " + std::to_string(stack.rank) + "  " + stack.frames[i];
        }
        text += (text.empty() ? "Rank " : "; rank ") + std::to_string(stack.rank) + ": " + (top.empty() ? stack.note : top);
        ranks.push_back({{"rank", stack.rank}, {"stack", stack.frames}, {"note", stack.note}});
    }
    tellEvent("stacks", text, textOf({{"ranks", ranks}}));
    if (!whole.empty()) log::info("Stacks of all ranks, innermost first:" + whole);
}

rundir::HangRecord Session::hangRecord() const {
    return {m_hang->rank, m_hang->beat.attempt, placeOf(m_hang->beat), m_stackReader->stacks()[static_cast<std::size_t>(m_hang->rank)].digest()};
}

/// The same update with the same stack is the same cause.
Crash Session::crashByHang() const {
    const rundir::HangRecord& hang = *m_record.hang;
    return {now(), hang.attempt, "a hang in " + hang.place + (hang.stack.empty() ? "" : " with the stack " + hang.stack)};
}

/// What takes long for good reason is named, and waited for. One process alone that somebody stopped holds up nobody.
void Session::endHang(const HangDoctor::Beats& beats) {
    const bool isUpdate = m_hang->beat.phase == Phase::Training || (world() > 1 && (m_hang->beat.phase == Phase::FirstUpdate || m_hang->beat.phase == Phase::Evaluating));
    const std::int64_t most = m_config.parallel.waitSeconds;
    if (m_config.guard.onHang == "wait" || m_hang->seconds <= static_cast<double>(most) || !(isUpdate || (world() > 1 && m_hang->isSilent))) return;
    if (world() == 1 && m_stackReader->stacks().front().isStopped) return;
    const std::string seconds = std::to_string(most) + " s";
    const std::string why = m_hang->isMutual  ? "the ranks waited for one another for " + seconds
                          : m_hang->isSilent ? "it gave no sign of life for " + seconds
                                             : "it did not get on for " + seconds + " in " + placeOf(m_hang->beat) + ", update " + std::to_string(m_hang->beat.attempt + 1);
    m_record.hang = hangRecord();
    const bool othersWait = beats.size() > 1 && !m_hang->isMutual;
    m_workers->endFor(m_hang->rank, why + (othersWait ? " while the other ranks waited for it" : "") + " (parallel.wait_seconds)", now());
}

}  // namespace lathe::launch
