// Append-only numbers with a min/max pyramid, so that a million points are drawn as quickly as a thousand.
// Values are float here: these are for pictures; exact doubles stay in run.sqlite. No Qt.
// Thread: no locks; built on one thread, then handed over whole to the thread that appends and paints.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

namespace lathe::session {

/// What a curve is drawn over. Active time leaves pauses and the time between sessions out.
enum class XAxis { Step, ActiveTime };

/// Non-decreasing numbers. Stretches of equal spacing are kept as (first, stride) and cost nothing a point.
class NumberColumn {
public:
    void append(double x);
    std::size_t size() const { return m_size; }
    double at(std::size_t i) const { return at(m_chunks[i / kChunk], i % kChunk); }
    double last() const { return m_size ? at(m_size - 1) : 0.0; }
    /// First index whose number is >= value; `hint` is an index known to be at or before the answer.
    std::size_t lowerBound(double value, std::size_t hint = 0) const;

private:
    static constexpr std::size_t kChunk = 1024;
    struct Chunk {
        double first = 0, stride = 0;
        std::unique_ptr<double[]> values;  ///< empty while the chunk is regular
    };
    static double at(const Chunk& chunk, std::size_t j) {
        return chunk.values ? chunk.values[j] : chunk.first + chunk.stride * double(j);
    }
    std::size_t searchChunk(std::size_t chunk, double value) const;

    std::vector<Chunk> m_chunks;
    std::size_t m_size = 0;
};

/// Where points stand: shared by all series of one session that were recorded at the same attempts.
struct Grid {
    NumberColumn attempts, steps, seconds;

    std::size_t size() const { return attempts.size(); }
    const NumberColumn& column(XAxis axis) const { return axis == XAxis::Step ? steps : seconds; }
    void append(std::int64_t attempt, std::int64_t step, double activeSeconds);
};

/// What a stretch of points looks like. min > max: no finite point.
struct Extent {
    float min = std::numeric_limits<float>::infinity();
    float max = -std::numeric_limits<float>::infinity();
    float minPositive = std::numeric_limits<float>::infinity();  ///< for logarithmic axes
    std::uint32_t nonFinite = 0;

    bool hasFinite() const { return min <= max; }
    void add(const Extent& other);
};

/// The points of one pixel column.
struct PixelColumn {
    Extent extent;
    std::uint32_t count = 0;
};

/// One series of one session.
class Series {
public:
    explicit Series(std::shared_ptr<Grid> grid) : m_grid(std::move(grid)) {}

    /// The value at row size() of the grid, which is there already. Finite values beyond the range of float are kept at
    /// its ends, so that they stay finite and keep their sign.
    void append(double value);
    /// A grid of its own from now on, holding the rows so far: the series parts from its companions.
    void separate();

    std::size_t size() const { return m_size; }
    float at(std::size_t i) const { return m_chunks[i / kChunk][i % kChunk]; }
    double xAt(std::size_t i, XAxis axis) const { return column(axis).at(i); }
    std::int64_t attemptAt(std::size_t i) const { return std::int64_t(m_grid->attempts.at(i)); }
    const NumberColumn& column(XAxis axis) const { return m_grid->column(axis); }
    const std::shared_ptr<Grid>& grid() const { return m_grid; }

    /// Over points [begin, end).
    Extent extent(std::size_t begin, std::size_t end) const;
    std::size_t countNonPositive(std::size_t begin, std::size_t end) const;  ///< finite values <= 0
    /// One PixelColumn for each of `n` equal slices of [x0, x1); looks only at points [begin, end). With many points a
    /// slice its edges snap to whole buckets, which moves a point by less than an eighth of a slice and loses none.
    void columns(XAxis axis, double x0, double x1, int n, std::vector<PixelColumn>& out, std::size_t begin = 0, std::size_t end = SIZE_MAX) const;
    /// First index of [0, size()] whose x is >= value.
    std::size_t lowerBound(XAxis axis, double value) const;
    /// Index of the point closest to x among [begin, end); requires a point there.
    std::size_t nearest(XAxis axis, double x, std::size_t begin = 0, std::size_t end = SIZE_MAX) const;

private:
    static constexpr std::size_t kChunk = 4096;
    static constexpr std::size_t kBase = 16;  ///< points a bucket of the lowest level
    static constexpr std::size_t kFan = 8;    ///< buckets a bucket of the next level
    struct Bucket {
        float min, max;
        std::uint32_t nonFinite;
    };
    struct Level {
        std::vector<Bucket> buckets;
        std::vector<float> minPositive;       ///< kept only once a value <= 0 was seen
    };
    void closeBucket(std::size_t level, const Extent& extent);
    void take(std::size_t level, std::size_t i, Extent& extent) const;
    void scan(std::size_t begin, std::size_t end, Extent& extent) const;

    std::shared_ptr<Grid> m_grid;
    std::vector<std::unique_ptr<float[]>> m_chunks;
    std::vector<Level> m_levels;
    std::size_t m_size = 0;
    bool m_hasNonPositive = false;
};

}  // namespace lathe::session
