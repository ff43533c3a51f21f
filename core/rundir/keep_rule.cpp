#include "rundir/keep_rule.h"

#include <algorithm>

namespace lathe::rundir {

static constexpr std::size_t kVerifiedFloor = 2;

std::vector<KeepChoice> chooseKept(const std::vector<CheckpointInfo>& all, const KeepRule& rule, const std::multimap<std::string, std::string>& wanted) {
    std::map<std::string, std::string> reasons;   // folder -> why it stays
    const auto keep = [&](const CheckpointInfo& info, const std::string& why) {
        std::string& text = reasons[info.folder];
        text += (text.empty() ? "" : ", ") + why;
    };
    std::vector<const CheckpointInfo*> newestFirst;
    for (const CheckpointInfo& info : all)
        if (info.problem.empty()) newestFirst.push_back(&info);
    std::stable_sort(newestFirst.begin(), newestFirst.end(), [](const CheckpointInfo* a, const CheckpointInfo* b) {
        return std::pair(a->session, a->step) > std::pair(b->session, b->step);
    });
    const auto last = static_cast<std::size_t>(std::max<std::int64_t>(rule.last, 1));
    for (std::size_t i = 0; i < newestFirst.size() && i < last; ++i) keep(*newestFirst[i], "newest");
    const auto ranked = bestFirst(all, rule.metric, rule.higherIsBetter);
    for (std::size_t i = 0; i < ranked.size() && i < static_cast<std::size_t>(std::max<std::int64_t>(rule.best, 0)); ++i) keep(*ranked[i], "best");
    for (const CheckpointInfo* info : newestFirst) {
        if (rule.every && info->step.value() % *rule.every == 0) keep(*info, "every " + std::to_string(*rule.every) + " updates");
        if (info->pinned) keep(*info, "pinned");
        const auto [from, to] = wanted.equal_range(info->folder);
        for (auto why = from; why != to; ++why) keep(*info, why->second);
    }
    std::size_t verified = 0;
    for (const CheckpointInfo* info : newestFirst) verified += info->verifiedNs > 0 && reasons.contains(info->folder) ? 1 : 0;
    for (const CheckpointInfo* info : newestFirst) {
        if (verified >= kVerifiedFloor || info->verifiedNs == 0 || reasons.contains(info->folder)) continue;
        keep(*info, "one of the last two that were re-read and are whole");
        ++verified;
    }
    std::vector<KeepChoice> choices;
    for (const CheckpointInfo& info : all) {
        if (info.isBeingWritten) choices.push_back({info.folder, true, "being written"});
        else if (!info.problem.empty()) choices.push_back({info.folder, true, "cannot be used, and only people remove such"});
        else if (const auto kept = reasons.find(info.folder); kept != reasons.end()) choices.push_back({info.folder, true, kept->second});
        else choices.push_back({info.folder, false, "neither among the newest " + std::to_string(last) + " nor the best " + std::to_string(rule.best)});
    }
    return choices;
}

}  // namespace lathe::rundir
