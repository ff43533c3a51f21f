// Exponential moving average of a series as TensorBoard defines it: de-biased, non-finite values passed through and
// left out of the state. Kept as bucket ranges and the filter state at each bucket; single values are worked out again.
#pragma once

#include "session/series.h"

#include <cstddef>
#include <vector>

namespace lathe::session {

class Smoothing {
public:
    /// `weight` is clamped to [0, 0.999]. A branch goes on with the filter of the branch it left: `parent` and how many
    /// of its points came before. `series` and `parent` outlive this object.
    Smoothing(const Series* series, double weight, const Smoothing* parent = nullptr, std::size_t parentPoints = 0);

    /// Takes in what was appended to the series since.
    void update();
    double weight() const { return m_weight; }
    std::size_t size() const { return m_done; }
    double at(std::size_t i) const;
    /// Range of the smoothed values over points [begin, end).
    Extent extent(std::size_t begin, std::size_t end) const;
    /// As Series::columns.
    void columns(XAxis axis, double x0, double x1, int n, std::vector<PixelColumn>& out, std::size_t begin = 0, std::size_t end = SIZE_MAX) const;

private:
    static constexpr std::size_t kBase = 32;
    struct State {
        double last = 0;
        double power = 1;  ///< weight^n over the finite points so far
    };
    struct Range {
        float min, max;
    };
    float step(State& state, float value) const;
    State stateBefore(std::size_t i) const;
    void addRange(std::size_t begin, std::size_t end, Extent& extent) const;

    const Series* m_series;
    double m_weight;
    State m_state;
    Range m_open{};
    std::vector<State> m_states;  ///< before each bucket
    std::vector<Range> m_buckets;
    std::size_t m_done = 0;
};

}  // namespace lathe::session
