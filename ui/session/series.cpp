#include "session/series.h"

#include "session/slices.h"

#include <algorithm>
#include <cmath>

namespace lathe::session {

void NumberColumn::append(double x) {
    const std::size_t j = m_size % kChunk;
    if (j == 0) m_chunks.push_back({x, 0, nullptr});
    Chunk& chunk = m_chunks.back();
    if (chunk.values) {
        chunk.values[j] = x;
    } else if (j == 1) {
        chunk.stride = x - chunk.first;
    } else if (j > 1 && x != chunk.first + chunk.stride * double(j)) {
        chunk.values = std::make_unique<double[]>(kChunk);
        for (std::size_t k = 0; k < j; ++k) chunk.values[k] = chunk.first + chunk.stride * double(k);
        chunk.values[j] = x;
    }
    ++m_size;
}

std::size_t NumberColumn::searchChunk(std::size_t c, double value) const {
    const Chunk& chunk = m_chunks[c];
    const std::size_t base = c * kChunk, n = std::min(kChunk, m_size - base);
    if (value <= chunk.first) return base;
    if (chunk.values) {
        const double* values = chunk.values.get();
        return base + std::size_t(std::lower_bound(values, values + n, value) - values);
    }
    if (chunk.stride <= 0) return base + n;
    const double guess = std::ceil((value - chunk.first) / chunk.stride);
    std::size_t j = guess >= double(n) ? n : std::size_t(guess);
    while (j > 0 && at(chunk, j - 1) >= value) --j;  // undo rounding
    while (j < n && at(chunk, j) < value) ++j;
    return base + j;
}

std::size_t NumberColumn::lowerBound(double value, std::size_t hint) const {
    if (hint >= m_size) return m_size;
    std::size_t c = hint / kChunk;
    if (c + 1 < m_chunks.size() && m_chunks[c + 1].first < value) {
        const auto it = std::partition_point(m_chunks.begin() + std::ptrdiff_t(c) + 1, m_chunks.end(),
                                             [&](const Chunk& chunk) { return chunk.first < value; });
        c = std::size_t(it - m_chunks.begin()) - 1;
    }
    return std::max(hint, searchChunk(c, value));
}

void Grid::append(std::int64_t attempt, std::int64_t step, double activeSeconds) {
    // A clock that went back must not break the search for x.
    attempts.append(double(attempt));
    steps.append(steps.size() ? std::max(steps.last(), double(step)) : double(step));
    seconds.append(seconds.size() ? std::max(seconds.last(), activeSeconds) : activeSeconds);
}

void Extent::add(const Extent& other) {
    min = std::min(min, other.min);
    max = std::max(max, other.max);
    minPositive = std::min(minPositive, other.minPositive);
    nonFinite += other.nonFinite;
}

// Free of branches over at most one bucket, so that the compiler can use vector registers.
void Series::scan(std::size_t begin, std::size_t end, Extent& extent) const {
    constexpr float kInfinity = std::numeric_limits<float>::infinity();
    const float* values = &m_chunks[begin / kChunk][begin % kChunk];
    const std::size_t n = end - begin;
    float lo = extent.min, hi = extent.max;
    std::uint32_t bad = 0;
    for (std::size_t i = 0; i < n; ++i) {
        const float y = values[i];
        const bool finite = std::fabs(y) < kInfinity;  // false for NaN too
        const float low = finite ? y : kInfinity, high = finite ? y : -kInfinity;
        lo = low < lo ? low : lo;
        hi = high > hi ? high : hi;
        bad += !finite;
    }
    extent.min = lo;
    extent.max = hi;
    extent.nonFinite += bad;
    if (!m_hasNonPositive) return;  // every value so far is positive: the smallest positive one is min
    for (std::size_t i = 0; i < n; ++i)
        if (values[i] > 0 && values[i] < extent.minPositive) extent.minPositive = values[i];
}

namespace {

float narrowed(double value) {
    constexpr double kLargest = double(std::numeric_limits<float>::max()), kSmallest = double(std::numeric_limits<float>::denorm_min());
    if (!std::isfinite(value) || value == 0) return float(value);
    return float(std::copysign(std::clamp(std::abs(value), kSmallest, kLargest), value));
}

}  // namespace

void Series::append(double exact) {
    const float value = narrowed(exact);
    if (m_size % kChunk == 0) m_chunks.push_back(std::make_unique<float[]>(kChunk));
    m_chunks.back()[m_size % kChunk] = value;
    ++m_size;
    if (value <= 0 && !m_hasNonPositive) {
        m_hasNonPositive = true;
        for (Level& level : m_levels)
            for (const Bucket& bucket : level.buckets) level.minPositive.push_back(bucket.min);
    }
    if (m_size % kBase) return;
    Extent extent;
    scan(m_size - kBase, m_size, extent);
    closeBucket(0, extent);
}

void Series::closeBucket(std::size_t level, const Extent& extent) {
    if (level == m_levels.size()) m_levels.emplace_back();
    m_levels[level].buckets.push_back({extent.min, extent.max, extent.nonFinite});
    if (m_hasNonPositive) m_levels[level].minPositive.push_back(extent.minPositive);
    const std::size_t n = m_levels[level].buckets.size();
    if (n % kFan) return;
    Extent above;
    for (std::size_t i = n - kFan; i < n; ++i) take(level, i, above);
    if (!m_hasNonPositive) above.minPositive = above.min;
    closeBucket(level + 1, above);
}

void Series::take(std::size_t level, std::size_t i, Extent& extent) const {
    const Bucket& bucket = m_levels[level].buckets[i];
    extent.min = std::min(extent.min, bucket.min);
    extent.max = std::max(extent.max, bucket.max);
    if (m_hasNonPositive) extent.minPositive = std::min(extent.minPositive, m_levels[level].minPositive[i]);
    extent.nonFinite += bucket.nonFinite;
}

Extent Series::extent(std::size_t a, std::size_t b) const {
    Extent extent;
    b = std::min(b, m_size);
    if (a >= b) return extent;
    if (a / kBase == (b - 1) / kBase) {  // inside one bucket
        scan(a, b, extent);
    } else {
        const std::size_t head = (a + kBase - 1) / kBase * kBase, tail = b / kBase * kBase;
        if (a < head) scan(a, head, extent);
        if (tail < b) scan(tail, b, extent);
        a = head / kBase;
        b = tail / kBase;
        for (std::size_t level = 0; a < b; ++level, a /= kFan, b /= kFan) {
            while (a < b && a % kFan) take(level, a++, extent);
            while (a < b && b % kFan) take(level, --b, extent);
        }
    }
    if (!m_hasNonPositive) extent.minPositive = extent.min;
    return extent;
}

std::size_t Series::countNonPositive(std::size_t begin, std::size_t end) const {
    std::size_t count = 0;
    for (std::size_t i = begin; i < std::min(end, m_size); ++i) {
        const float value = at(i);
        count += value <= 0 && std::isfinite(value);
    }
    return count;
}

void Series::columns(XAxis axis, double x0, double x1, int n, std::vector<PixelColumn>& out, std::size_t begin, std::size_t end) const {
    out.assign(std::size_t(std::max(n, 0)), {});
    forSlices(column(axis), x0, x1, n, begin, std::min(end, m_size), kBase, 8 * kBase,
              [&](std::size_t k, std::size_t a, std::size_t b) { out[k] = {extent(a, b), std::uint32_t(b - a)}; });
}

std::size_t Series::lowerBound(XAxis axis, double value) const { return std::min(m_size, column(axis).lowerBound(value)); }

std::size_t Series::nearest(XAxis axis, double x, std::size_t begin, std::size_t end) const {
    end = std::min(end, m_size);
    std::size_t i = std::clamp(lowerBound(axis, x), begin, end);
    if (i == end) return end - 1;
    if (i > begin && x - xAt(i - 1, axis) < xAt(i, axis) - x) --i;
    return i;
}

void Series::separate() {
    auto own = std::make_shared<Grid>();
    for (std::size_t i = 0; i < m_size; ++i)
        own->append(attemptAt(i), std::int64_t(m_grid->steps.at(i)), m_grid->seconds.at(i));
    m_grid = std::move(own);
}

}  // namespace lathe::session
