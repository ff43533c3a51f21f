#include "session/smoothing.h"

#include "session/slices.h"

#include <algorithm>
#include <cmath>

namespace lathe::session {

namespace {
constexpr double kLargestWeight = 0.999;    // 1 would be a line at zero
constexpr double kNegligiblePower = 1e-18;  // no longer changes 1 - power; keeps denormals out of long runs
}  // namespace

Smoothing::Smoothing(const Series* series, double weight, const Smoothing* parent, std::size_t parentPoints)
    : m_series(series), m_weight(std::clamp(weight, 0.0, kLargestWeight)) {
    if (parent) m_state = parent->stateBefore(parentPoints);
    update();
}

float Smoothing::step(State& state, float value) const {
    if (!std::isfinite(value)) return value;
    state.last = m_weight * state.last + (1 - m_weight) * double(value);
    state.power *= m_weight;
    if (state.power < kNegligiblePower) state.power = 0;
    return float(state.last / (1 - state.power));
}

Smoothing::State Smoothing::stateBefore(std::size_t i) const {
    if (i >= m_done) return m_state;
    State state = m_states[i / kBase];
    for (std::size_t j = i / kBase * kBase; j < i; ++j) step(state, m_series->at(j));
    return state;
}

void Smoothing::update() {
    for (const std::size_t n = m_series->size(); m_done < n; ++m_done) {
        if (m_done % kBase == 0) {
            m_states.push_back(m_state);
            m_open = {std::numeric_limits<float>::infinity(), -std::numeric_limits<float>::infinity()};
        }
        const float value = step(m_state, m_series->at(m_done));
        if (std::isfinite(value)) {
            m_open.min = std::min(m_open.min, value);
            m_open.max = std::max(m_open.max, value);
        }
        if (m_done % kBase == kBase - 1) m_buckets.push_back(m_open);
    }
}

double Smoothing::at(std::size_t i) const {
    State state = m_states[i / kBase];
    float value = 0;
    for (std::size_t j = i / kBase * kBase; j <= i; ++j) value = step(state, m_series->at(j));
    return double(value);
}

void Smoothing::addRange(std::size_t begin, std::size_t end, Extent& extent) const {
    for (std::size_t i = begin; i < end;) {
        const std::size_t bucket = i / kBase, stop = std::min(end, (bucket + 1) * kBase);
        if (i % kBase == 0 && i + kBase <= end) {  // a whole bucket: its stored range is enough
            extent.min = std::min(extent.min, m_buckets[bucket].min);
            extent.max = std::max(extent.max, m_buckets[bucket].max);
        } else {
            State state = stateBefore(i);
            for (std::size_t j = i; j < stop; ++j) {
                const float value = step(state, m_series->at(j));
                if (!std::isfinite(value)) {
                    ++extent.nonFinite;
                    continue;
                }
                extent.min = std::min(extent.min, value);
                extent.max = std::max(extent.max, value);
                if (value > 0) extent.minPositive = std::min(extent.minPositive, value);
            }
        }
        i = stop;
    }
}

Extent Smoothing::extent(std::size_t begin, std::size_t end) const {
    Extent extent;
    addRange(begin, std::min(end, m_done), extent);
    return extent;
}

void Smoothing::columns(XAxis axis, double x0, double x1, int n, std::vector<PixelColumn>& out, std::size_t begin, std::size_t end) const {
    out.assign(std::size_t(std::max(n, 0)), {});
    forSlices(m_series->column(axis), x0, x1, n, begin, std::min(end, m_done), kBase, 2 * kBase,
              [&](std::size_t k, std::size_t a, std::size_t b) {
                  out[k].count = std::uint32_t(b - a);
                  addRange(a, b, out[k].extent);
              });
}

}  // namespace lathe::session
