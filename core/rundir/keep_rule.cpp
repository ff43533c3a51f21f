#include "rundir/keep_rule.h"

#include <algorithm>
#include <tuple>

namespace lathe::rundir {

static constexpr std::size_t kVerifiedFloor = 2;

static std::size_t count(std::int64_t wish, std::int64_t least) { return static_cast<std::size_t>(std::max(wish, least)); }

std::vector<KeepChoice> chooseKept(const std::vector<CheckpointInfo>& all, const KeepRule& rule, const KeepFacts& facts) {
    std::map<std::string, std::vector<KeepReason>> reasons;   // folder -> why it stays
    const auto isLeft = [&](const CheckpointInfo* info) { return facts.left.contains(info->folder); };
    std::vector<const CheckpointInfo*> usable;                // the line that goes on first, the newest first
    for (const CheckpointInfo& info : all)
        if (info.problem.empty()) usable.push_back(&info);
    std::stable_sort(usable.begin(), usable.end(), [&](const CheckpointInfo* a, const CheckpointInfo* b) {
        return std::tuple(!isLeft(a), a->session, a->step) > std::tuple(!isLeft(b), b->session, b->step);
    });
    for (std::size_t i = 0; i < usable.size() && i < count(rule.last, 1) && (i == 0 || !isLeft(usable[i])); ++i) reasons[usable[i]->folder].push_back(KeepReason::Newest);
    const auto ranked = bestFirst(all, rule.metric, rule.higherIsBetter);
    for (std::size_t i = 0; i < ranked.size() && i < count(rule.best, 0); ++i) reasons[ranked[i]->folder].push_back(KeepReason::Best);
    for (const CheckpointInfo* info : usable) {
        if (rule.every && info->step.value() % *rule.every == 0) reasons[info->folder].push_back(KeepReason::Every);
        if (info->pinned) reasons[info->folder].push_back(KeepReason::Pinned);
        const auto [from, to] = facts.wanted.equal_range(info->folder);
        for (auto why = from; why != to; ++why) reasons[info->folder].push_back(why->second);
    }
    std::size_t verified = 0;
    for (const CheckpointInfo* info : usable) verified += info->verifiedNs > 0 && !isLeft(info) && reasons.contains(info->folder) ? 1 : 0;
    for (const CheckpointInfo* info : usable) {
        if (verified >= kVerifiedFloor) break;
        if (info->verifiedNs == 0 || (reasons.contains(info->folder) && !isLeft(info))) continue;
        if (!reasons.contains(info->folder)) reasons[info->folder].push_back(KeepReason::Verified);
        ++verified;
    }
    std::vector<KeepChoice> choices;
    for (const CheckpointInfo& info : all) {
        if (info.isBeingWritten) choices.push_back({info.folder, {KeepReason::BeingWritten}});
        else choices.push_back({info.folder, info.problem.empty() ? reasons[info.folder] : std::vector{KeepReason::Unusable}});
    }
    return choices;
}

static std::string textOf(KeepReason reason, const KeepRule& rule) {
    switch (reason) {
    case KeepReason::Newest: return "newest";
    case KeepReason::Best: return "best";
    case KeepReason::Every: return "every " + std::to_string(rule.every.value_or(1)) + " updates";
    case KeepReason::Pinned: return "pinned";
    case KeepReason::Parent: return "another run was made from it";
    case KeepReason::InUse: return "in use";
    case KeepReason::Origin: return "the run began from it";
    case KeepReason::LeftBranch: return "newest of a branch that was left";
    case KeepReason::Verified: return "one of the last two that were re-read and are whole";
    case KeepReason::BeingWritten: return "being written";
    case KeepReason::Unusable: return "cannot be used, and only people remove such";
    }
    return {};
}

std::string textOf(const KeepChoice& choice, const KeepRule& rule) {
    if (!choice.kept()) return "neither among the newest " + std::to_string(count(rule.last, 1)) + " nor the best " + std::to_string(rule.best);
    std::string text;
    for (const KeepReason reason : choice.reasons) text += (text.empty() ? "" : ", ") + textOf(reason, rule);
    return text;
}

}  // namespace lathe::rundir
