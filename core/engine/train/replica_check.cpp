#include "engine/train/replica_check.h"

#include "base/hash.h"

#include <span>
#include <stdexcept>

namespace lathe::engine {
namespace {

struct Named {
    std::vector<std::string> names;
    std::vector<double> digests;
};

Named digestsOf(const TrainState& state) {
    Named all;
    for (const StateTensor& item : state.tensors()) {
        const at::Tensor plain = plainTensor(item.tensor);
        all.names.push_back(item.name);
        all.digests.push_back(digestValue(hash64(bytesOf(plain))));
    }
    for (const Stateful* entry : state.entries()) {
        if (entry->scope() != Scope::Trajectory) continue;  // hooks may know what only their rank sees
        for (const auto& [name, value] : entry->stateValues()) {
            all.names.push_back(entry->stateName() + "." + name);
            all.digests.push_back(digestValue(hash64(std::as_bytes(std::span(value)))));
        }
    }
    return all;
}

}  // namespace

Result<void> compareReplicas(Parallel& parallel, const TrainState& state) {
    const Named mine = digestsOf(state);
    std::vector<double> whole{digestValue(hash64(std::as_bytes(std::span(mine.digests))))};
    parallel.gather(whole);
    bool equal = true;
    for (const double digest : whole) equal = equal && digest == whole.front();
    if (equal) return {};
    std::vector<double> all = mine.digests;
    parallel.gather(all);
    const std::size_t count = mine.names.size();
    for (std::size_t i = 0; i < count; ++i)
        for (std::size_t rank = 1; (rank + 1) * count <= all.size(); ++rank)
            if (all[rank * count + i] != all[i])
                return Error{ErrorCode::Corrupt, "The ranks no longer hold the same model: “" + mine.names[i] + "” of rank " + std::to_string(rank) +
                             " differs from that of rank 0. Go back to a checkpoint; where it happens again, memory or a device may be at fault", {}, {}};
    return Error{ErrorCode::Corrupt, "The ranks no longer hold the same state", {}, {}};
}

void ReplicaCheck::at(const HookContext& context, Wishes&) {
    if (context.point != Point::Update || !context.update->applied || !m_every.due(*context.counters, 0)) return;
    if (const auto same = compareReplicas(m_parallel, m_state); !same.ok()) throw std::runtime_error(same.error().sentence);
}

}  // namespace lathe::engine
