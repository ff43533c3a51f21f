#include "launch/workers/hang_watch.h"

#include "base/log.h"
#include "base/number_text.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <utility>

namespace lathe::launch {

using live::Phase;
using nlohmann::json;

static std::string textOf(const json& facts) { return facts.dump(-1, ' ', false, json::error_handler_t::replace); }

static json beatsJson(const HangDoctor::Beats& beats, std::int64_t nowNs) {
    json ranks = json::array();
    for (std::size_t rank = 0; rank < beats.size(); ++rank) {
        if (!beats[rank]) continue;
        const live::Heartbeat& beat = *beats[rank];
        const auto ago = [nowNs](std::int64_t ns) { return static_cast<double>(std::max<std::int64_t>(0, nowNs - ns)) / 1e9; };
        ranks.push_back({{"rank", rank}, {"phase", live::name(beat.phase)}, {"activity", live::name(beat.activity)}, {"update", beat.attempt + 1}, {"operation", beat.collective},
                         {"silent_seconds", ago(beat.monotonicNs)}, {"still_seconds", ago(beat.movedNs)}});
    }
    return ranks;
}

HangWatch::HangWatch(const rundir::RunFolder& run, const config::RunConfig& config, const live::Segment& segment, WorkerGroup& workers, Tell tell)
    : m_run(run), m_config(config), m_segment(segment), m_workers(workers), m_tell(std::move(tell)) {}

HangDoctor::Beats HangWatch::beats() const {
    HangDoctor::Beats beats;
    for (int rank = 0; rank < m_workers.world(); ++rank) beats.push_back(m_workers.end(rank) ? std::nullopt : m_segment.heartbeat(rank));
    return beats;
}

void HangWatch::look(std::int64_t nowNs, std::int64_t recorded) {
    if (m_workers.heldUpBy() >= 0) return;
    HangDoctor::Beats all = beats();
    // One that is stopped whole beats no more, up to a tenth of a second before where it is; its points come with each update.
    if (all.size() == 1 && all[0]) all[0]->attempt = std::max(all[0]->attempt, recorded);
    m_doctor.look(all, nowNs);
    const auto& found = m_doctor.finding();
    tellOver(all);
    if (!found) return;
    const auto wasTold = std::erase_if(m_told, [&](const HangDoctor::Finding& told) { return told.rank == found->rank; });
    if (wasTold == 0) tellHang(*found, all, nowNs);
    m_told.push_back(*found);
    if (m_stacks && !m_stacksTold && m_stacks->isComplete(nowNs)) tellStacks();
    if (m_stacksTold) endIt(nowNs);
}

/// Only what a rank does itself ends its hang: that the doctor looks at another one, or at none since one is gone, says
/// nothing about it.
void HangWatch::tellOver(const HangDoctor::Beats& beats) {
    const auto& found = m_doctor.finding();
    for (HangDoctor::Finding& told : std::exchange(m_told, {})) {
        if (m_workers.end(told.rank)) continue;
        const auto& beat = beats[static_cast<std::size_t>(told.rank)];
        const bool hasMoved = beat && (told.isSilent ? beat->monotonicNs > told.beat.monotonicNs : beat->movedNs > told.beat.movedNs);
        if (!hasMoved || (found && found->rank == told.rank)) {
            m_told.push_back(std::move(told));
            continue;
        }
        const std::string who = m_workers.world() > 1 ? "Rank " + std::to_string(told.rank) : std::string("The worker");
        m_tell("hang_over", who + " gets on again, after " + shortText(told.seconds, 3) + " s", textOf({{"rank", told.rank}, {"seconds", told.seconds}}));
    }
}

void HangWatch::tellHang(const HangDoctor::Finding& found, const HangDoctor::Beats& beats, std::int64_t nowNs) {
    m_tell("hang", sentenceOf(found, beats),
           textOf({{"rank", found.rank}, {"silent", found.isSilent}, {"mutual", found.isMutual}, {"seconds", found.seconds}, {"limit_seconds", found.limit},
                   {"phase", live::name(found.beat.phase)}, {"activity", live::name(found.beat.activity)}, {"update", found.beat.attempt + 1}, {"ranks", beatsJson(beats, nowNs)}}));
    m_stacks.emplace(m_run, m_workers.workers(), nowNs);
    m_stacksTold = false;
}

void HangWatch::tellStacks() {
    m_stacksTold = true;
    std::string text, whole;
    json ranks = json::array();
    for (const RankStack& stack : m_stacks->stacks()) {
        constexpr std::size_t kShown = 4;
        std::string top;
        for (std::size_t i = 0; i < stack.frames.size(); ++i) {
            if (i < kShown) top += (i == 0 ? "" : " < ") + stack.frames[i];
            whole += "\n  rank " + std::to_string(stack.rank) + "  " + stack.frames[i];
        }
        text += (text.empty() ? "Rank " : "; rank ") + std::to_string(stack.rank) + ": " + (top.empty() ? stack.note : top);
        ranks.push_back({{"rank", stack.rank}, {"stack", stack.frames}, {"note", stack.note}});
    }
    m_tell("stacks", text, textOf({{"ranks", ranks}}));
    if (!whole.empty()) log::info("Stacks of all ranks, innermost first:" + whole);
}

std::string HangWatch::whyEnded() const {
    const std::string seconds = std::to_string(m_config.parallel.waitSeconds) + " s";
    const HangDoctor::Finding& told = m_told.back();
    const std::string why = told.isMutual  ? "the ranks waited for one another for " + seconds
                          : told.isSilent ? "it gave no sign of life for " + seconds
                                          : "it did not get on for " + seconds + " in " + placeOf(told.beat) + ", update " + std::to_string(told.beat.attempt + 1);
    const bool othersWait = m_workers.world() > 1 && !told.isMutual;
    return why + (othersWait ? " while the other ranks waited for it" : "") + " (parallel.wait_seconds)";
}

/// What takes long for good reason is named, and waited for. One process alone that somebody stopped holds up nobody.
void HangWatch::endIt(std::int64_t nowNs) {
    const bool isGroup = m_workers.world() > 1;
    const HangDoctor::Finding& told = m_told.back();
    const Phase phase = told.beat.phase;
    const bool isUpdate = isInUpdate(told.beat) || (isGroup && (phase == Phase::FirstUpdate || phase == Phase::Evaluating));
    const bool isTooLong = told.seconds > static_cast<double>(m_config.parallel.waitSeconds) && (isUpdate || (isGroup && told.isSilent));
    if (m_config.guard.onHang == "wait" || !isTooLong || (!isGroup && m_stacks->stacks().front().isStopped)) return;
    m_record = {told.rank, told.beat.attempt, placeOf(told.beat), m_stacks->stacks()[static_cast<std::size_t>(told.rank)].digest()};
    m_workers.endFor(told.rank, whyEnded(), nowNs);
}

}  // namespace lathe::launch
