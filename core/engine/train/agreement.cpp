// What the ranks of a run agree on between updates: wishes, stops, roll-backs, and how a save went.
#include "base/number_text.h"
#include "engine/train/guard.h"
#include "engine/train/trainer.h"

#include <iterator>

namespace lathe::engine {

/// Every rank wishes what any of them wishes.
void Trainer::agreeOnWishes(Due& due) {
    if (m_parts.parallel->world() == 1) return;
    bool stops = m_wishes.stop.has_value(), rollsBack = m_wishes.rollBack.has_value();
    bool* const all[] = {&due.evaluation, &due.save, &due.saved, &m_wishes.evaluate, &m_wishes.save, &m_wishes.pause, &m_wishes.hold, &m_wishes.log, &stops, &rollsBack};
    std::uint64_t mine = 0;
    for (std::size_t i = 0; i < std::size(all); ++i) mine |= std::uint64_t{*all[i]} << i;
    const auto agreed = guarded("agreeing with the other ranks", [&]() -> Result<void> {
        const std::uint64_t ours = m_parts.parallel->agree(mine);
        for (std::size_t i = 0; i < std::size(all); ++i) *all[i] = (ours >> i & 1) != 0;
        if (stops) adoptStop();
        if (rollsBack) adoptRollBack();
        return {};
    });
    if (!agreed.ok()) return endBy(agreed.error(), false);
    m_agreed = true;
}

/// The roll-back that leads furthest back, of the first rank that wants it.
void Trainer::adoptRollBack() {
    const auto textOf = [](const RollBack& wish) { return std::to_string(wish.notAfter.value()) + " " + std::string(rundir::name(wish.otherwise)) + "\n" + wish.why; };
    std::optional<RollBack> chosen;
    for (const std::string& text : gatherTexts(*m_parts.parallel, m_wishes.rollBack ? textOf(*m_wishes.rollBack) : std::string())) {
        const std::size_t gap = text.find(' '), cut = text.find('\n');
        if (gap == std::string::npos || cut == std::string::npos || gap > cut) continue;
        const auto step = readInteger(text.substr(0, gap));
        const auto otherwise = rundir::stateFrom(text.substr(gap + 1, cut - gap - 1));
        if (step && otherwise && (!chosen || *step < chosen->notAfter.value())) chosen = RollBack{GlobalStep(*step), text.substr(cut + 1), *otherwise};
    }
    m_wishes.rollBack = std::move(chosen);
}

/// The stop of the first rank that wants one; one that leaves without saving comes before one that saves.
void Trainer::adoptStop() {
    const auto textOf = [](const Ending& ending) {
        return std::string(ending.save ? "1" : "0") + std::string(rundir::name(ending.state)) + "\n" + ending.why;
    };
    std::optional<Ending> chosen;
    for (const std::string& text : gatherTexts(*m_parts.parallel, m_wishes.stop ? textOf(*m_wishes.stop) : std::string())) {
        const std::size_t cut = text.find('\n');
        const auto state = cut == std::string::npos ? std::nullopt : rundir::stateFrom(text.substr(1, cut - 1));
        if (!state) continue;
        Ending ending{*state, text.substr(cut + 1), text[0] == '1'};
        if (!chosen || (chosen->save && !ending.save)) chosen = std::move(ending);
    }
    m_wishes.stop = std::move(chosen);
}

/// A person asked to leave nothing behind, whichever rank heard it.
bool Trainer::discards() {
    Due nothing;
    if (!m_agreed) agreeOnWishes(nothing);
    return m_wishes.stop && !m_wishes.stop->save;
}

/// All ranks learn how the save of the first one went.
Result<void> Trainer::shareOutcome(Result<SaveOutcome>& saved) {
    if (m_parts.parallel->world() == 1 || m_outOfStep) return {};
    const std::string first = gatherTexts(*m_parts.parallel, saved.ok() ? "+" + saved->folder : "-" + saved.error().text()).front();
    if (isSaver()) return {};
    if (first.starts_with('+')) saved->folder = first.substr(1);
    else saved = Error{ErrorCode::Io, first.substr(1), {}, {}};
    return {};
}

}  // namespace lathe::engine
