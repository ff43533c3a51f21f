#include "engine/parallel/group_parallel.h"

#include <algorithm>

namespace lathe::engine {
namespace {

/// Values that travel with their count in one operation; more of them need a second one.
constexpr std::int64_t kSlot = 32;

std::int64_t countIn(const at::Tensor& slots, int rank) { return static_cast<std::int64_t>(slots.const_data_ptr<double>()[rank * kSlot]); }

}  // namespace

void GroupParallel::gather(std::vector<double>& values) {
    if (!m_group) return;
    const auto count = static_cast<std::int64_t>(values.size());
    at::Tensor mine = at::zeros({kSlot}, at::kDouble);
    double* slot = mine.mutable_data_ptr<double>();
    slot[0] = static_cast<double>(count);
    std::copy_n(values.begin(), std::min(count, kSlot - 1), slot + 1);
    const at::Tensor first = m_group->gather(mine);
    std::int64_t most = 0;
    for (int rank = 0; rank < world(); ++rank) most = std::max(most, countIn(first, rank));
    at::Tensor rest;
    if (most > kSlot - 1) {
        at::Tensor all = at::zeros({most}, at::kDouble);
        std::copy_n(values.begin(), count, all.mutable_data_ptr<double>());
        rest = m_group->gather(all);
    }
    values.clear();
    for (int rank = 0; rank < world(); ++rank) {
        const double* from = rest.defined() ? rest.const_data_ptr<double>() + rank * most : first.const_data_ptr<double>() + rank * kSlot + 1;
        values.insert(values.end(), from, from + countIn(first, rank));
    }
}

std::vector<at::Tensor> GroupParallel::gather(const at::Tensor& mine) {
    if (!m_group) return {mine};
    std::vector<double> lengths{static_cast<double>(mine.numel())};
    gather(lengths);
    const auto most = static_cast<std::int64_t>(*std::max_element(lengths.begin(), lengths.end()));
    std::vector<at::Tensor> all(lengths.size(), at::empty({0}, mine.options()));
    if (most == 0) return all;
    at::Tensor padded = at::zeros({most}, mine.options());
    padded.narrow(0, 0, mine.numel()).copy_(mine);
    const at::Tensor values = m_group->gather(padded);
    for (std::size_t rank = 0; rank < lengths.size(); ++rank)
        all[rank] = values.narrow(0, static_cast<std::int64_t>(rank) * most, static_cast<std::int64_t>(lengths[rank]));
    return all;
}

std::uint64_t GroupParallel::agree(std::uint64_t mine) {
    if (!m_group) return mine;
    const at::Tensor all = m_group->gather(at::full({1}, static_cast<std::int64_t>(mine), at::kLong));
    std::uint64_t agreed = 0;
    for (int rank = 0; rank < world(); ++rank) agreed |= static_cast<std::uint64_t>(all.const_data_ptr<std::int64_t>()[rank]);
    return agreed;
}

void GroupParallel::broadcast(const std::vector<at::Tensor>& tensors) {
    if (!m_group) return;
    const at::NoGradGuard noGrad;
    for (const at::Tensor& tensor : tensors) {
        at::Tensor plain = tensor.detach().contiguous();
        m_group->broadcast(plain, 0);
        if (!plain.is_alias_of(tensor)) tensor.detach().copy_(plain);
    }
}

}  // namespace lathe::engine
