#include "engine/parallel/buckets.h"

#include <torch/csrc/autograd/function_hook.h>
#include <torch/csrc/autograd/variable.h>

#include <algorithm>

namespace lathe::engine {

class Buckets::Hook final : public torch::autograd::PostAccumulateGradHook {
public:
    Hook(Buckets& owner, std::size_t bucket) : m_owner(owner), m_bucket(bucket) {}
    void operator()(const at::Tensor&) override { m_owner.ready(m_bucket); }

private:
    Buckets& m_owner;
    std::size_t m_bucket;
};

Buckets::Buckets(const FlatStorage& storage, RankGroup& group, std::int64_t bucketBytes) : m_group(group) {
    for (const at::Tensor& arena : storage.gradientArenas()) {
        const auto placeOf = [&](const ShardView& view) { return storage.flats()[view.flat].arenaOffset + view.offset; };
        std::vector<const ShardView*> views;
        for (const ShardView& view : storage.views())
            if (storage.gradientArenas()[storage.flats()[view.flat].arena].is_same(arena)) views.push_back(&view);
        std::sort(views.begin(), views.end(), [&](const ShardView* a, const ShardView* b) { return placeOf(*a) > placeOf(*b); });
        std::int64_t end = arena.numel();
        int parameters = 0;
        for (std::size_t i = 0; i < views.size(); ++i) {
            ++parameters;
            m_parameters.push_back(views[i]->value);
            torch::autograd::impl::set_post_acc_grad_hooks(views[i]->value, std::make_unique<Hook>(*this, m_buckets.size()));
            const bool isLast = i + 1 == views.size();
            const std::int64_t begin = isLast ? 0 : placeOf(*views[i]);
            if (!isLast && (end - begin) * arena.element_size() < bucketBytes) continue;
            m_buckets.push_back({arena.narrow(0, begin, end - begin), parameters, 0, nullptr});
            end = begin;
            parameters = 0;
        }
    }
}

Buckets::~Buckets() {
    for (const at::Tensor& parameter : m_parameters) torch::autograd::impl::set_post_acc_grad_hooks(parameter, nullptr);
}

void Buckets::arm() {
    m_armed = true;
    for (Bucket& bucket : m_buckets) bucket.left = bucket.parameters;
}

void Buckets::ready(std::size_t bucket) {
    if (!m_armed) return;
    --m_buckets[bucket].left;
    while (m_next < m_buckets.size() && m_buckets[m_next].left == 0) startNext();
}

void Buckets::startNext() {
    Bucket& bucket = m_buckets[m_next++];
    bucket.pending = m_group.startSum(bucket.gradient);
}

void Buckets::finish() {
    m_armed = false;
    while (m_next < m_buckets.size()) startNext();
    for (Bucket& bucket : m_buckets) {
        bucket.pending->wait();
        bucket.pending.reset();
    }
    m_next = 0;
}

}  // namespace lathe::engine
