#include "store/codec.h"

#include <algorithm>
#include <array>
#include <zstd.h>

namespace lathe::store {
namespace {

constexpr std::size_t kMostNumbers = 65536;
constexpr std::size_t kWorthCompressing = 48;  // zstd's own header eats the gain of shorter planes

enum class Transform : std::uint8_t { None = 0, Xor = 1, Delta = 2, DeltaOfDelta = 3 };
enum class Plane : std::uint8_t { Zero = 0, Constant = 1, Raw = 2, Compressed = 3 };

std::uint64_t zigzag(std::uint64_t difference) {
    return (difference << 1) ^ (0 - (difference >> 63));
}
std::uint64_t unzigzag(std::uint64_t coded) { return (coded >> 1) ^ (0 - (coded & 1)); }

/// What stands for numbers[1…]; all arithmetic wraps.
std::vector<std::uint64_t> transformed(std::span<const std::uint64_t> numbers, Transform transform) {
    std::vector<std::uint64_t> out(numbers.size() - 1);
    std::uint64_t before = 0;
    for (std::size_t i = 0; i < out.size(); ++i) {
        const std::uint64_t previous = numbers[i], current = numbers[i + 1];
        switch (transform) {
        case Transform::None: out[i] = current; break;
        case Transform::Xor: out[i] = current ^ previous; break;
        case Transform::Delta: out[i] = zigzag(current - previous); break;
        case Transform::DeltaOfDelta:
            out[i] = zigzag(current - previous - before);
            before = current - previous;
            break;
        }
    }
    return out;
}

void restore(std::vector<std::uint64_t>& numbers, Transform transform) {
    std::uint64_t before = 0;
    for (std::size_t i = 1; i < numbers.size(); ++i) {
        const std::uint64_t previous = numbers[i - 1];
        switch (transform) {
        case Transform::None: break;
        case Transform::Xor: numbers[i] ^= previous; break;
        case Transform::Delta: numbers[i] = previous + unzigzag(numbers[i]); break;
        case Transform::DeltaOfDelta:
            before += unzigzag(numbers[i]);
            numbers[i] = previous + before;
            break;
        }
    }
}

}  // namespace

struct Codec::Contexts {
    ZSTD_CCtx* compress = ZSTD_createCCtx();
    ZSTD_DCtx* decompress = ZSTD_createDCtx();
    ~Contexts() {
        ZSTD_freeCCtx(compress);
        ZSTD_freeDCtx(decompress);
    }
};

Codec::Codec() : m_contexts(std::make_unique<Contexts>()) {
    LATHE_ASSERT(m_contexts->compress != nullptr && m_contexts->decompress != nullptr);
    // The plane's length is known and the chunk has a checksum: a frame needs neither.
    ZSTD_CCtx_setParameter(m_contexts->compress, ZSTD_c_compressionLevel, 1);
    ZSTD_CCtx_setParameter(m_contexts->compress, ZSTD_c_contentSizeFlag, 0);
}
Codec::~Codec() = default;

void Codec::putPlanes(Bytes& out, std::span<const std::uint64_t> numbers) {
    const std::size_t count = numbers.size();
    const std::size_t modesAt = out.size();
    put(out, std::uint16_t{0});
    unsigned modes = 0;
    std::uint64_t differs = 0;
    for (const std::uint64_t number : numbers) differs |= number ^ numbers[0];
    Bytes plane(count), packed(ZSTD_compressBound(count));
    for (unsigned p = 0; p < 8; ++p) {
        const auto first = static_cast<std::byte>(numbers[0] >> (8 * p) & 0xff);
        Plane mode = first == std::byte{0} ? Plane::Zero : Plane::Constant;
        if ((differs >> (8 * p) & 0xff) != 0) {
            mode = Plane::Raw;
            for (std::size_t i = 0; i < count; ++i) plane[i] = static_cast<std::byte>(numbers[i] >> (8 * p) & 0xff);
            std::size_t size = count;
            if (count >= kWorthCompressing)
                size = ZSTD_compress2(m_contexts->compress, packed.data(), packed.size(), plane.data(), count);
            if (!ZSTD_isError(size) && size + 2 < count) {
                mode = Plane::Compressed;
                put(out, static_cast<std::uint16_t>(size));
                putBytes(out, std::span(packed).first(size));
            } else {
                putBytes(out, plane);
            }
        } else if (mode == Plane::Constant) {
            out.push_back(first);
        }
        modes |= static_cast<unsigned>(mode) << (2 * p);
    }
    const auto finalModes = static_cast<std::uint16_t>(modes);
    std::memcpy(out.data() + modesAt, &finalModes, sizeof finalModes);
}

void Codec::putColumn(Bytes& out, std::span<const std::uint64_t> numbers, Kind kind) {
    if (numbers.empty()) return;
    LATHE_ASSERT(numbers.size() <= kMostNumbers);
    constexpr std::array kForIntegers{Transform::Delta, Transform::DeltaOfDelta};
    constexpr std::array kForReals{Transform::None, Transform::Xor};
    Bytes best;
    for (const Transform transform : kind == Kind::Integers ? kForIntegers : kForReals) {
        Bytes coded;
        put(coded, static_cast<std::uint8_t>(transform));
        put(coded, numbers[0]);
        if (numbers.size() > 1) putPlanes(coded, transformed(numbers, transform));
        if (best.empty() || coded.size() < best.size()) best = std::move(coded);
        if (numbers.size() == 1) break;
    }
    putBytes(out, best);
}

std::vector<std::uint64_t> Codec::getColumn(ByteReader& in, std::size_t count) {
    if (count == 0) return {};
    const auto transform = in.get<std::uint8_t>();
    const auto first = in.get<std::uint64_t>();
    const unsigned modes = count > 1 ? in.get<std::uint16_t>() : 0u;
    if (!in.ok() || transform > static_cast<std::uint8_t>(Transform::DeltaOfDelta) || count > kMostNumbers) {
        in.fail();
        return {};
    }
    std::vector<std::uint64_t> numbers(count);
    numbers[0] = first;
    const std::size_t rest = count - 1;
    Bytes unpacked(rest);
    for (unsigned p = 0; p < 8 && rest > 0; ++p) {
        std::span<const std::byte> plane;
        switch (static_cast<Plane>(modes >> (2 * p) & 3)) {
        case Plane::Zero: continue;
        case Plane::Constant: {
            const std::uint64_t value = std::uint64_t{in.get<std::uint8_t>()} << (8 * p);
            for (std::size_t i = 1; i < count; ++i) numbers[i] |= value;
            continue;
        }
        case Plane::Raw: plane = in.take(rest); break;
        case Plane::Compressed: {
            const auto packed = in.take(in.get<std::uint16_t>());
            const std::size_t size =
                in.ok() ? ZSTD_decompressDCtx(m_contexts->decompress, unpacked.data(), rest, packed.data(), packed.size()) : 0;
            if (ZSTD_isError(size) || size != rest) in.fail();
            plane = unpacked;
            break;
        }
        }
        if (!in.ok()) return {};
        for (std::size_t i = 0; i < rest; ++i) numbers[i + 1] |= std::to_integer<std::uint64_t>(plane[i]) << (8 * p);
    }
    if (!in.ok()) return {};
    restore(numbers, static_cast<Transform>(transform));
    return numbers;
}

Bytes Codec::encode(const Axis& axis) {
    Bytes out;
    putColumn(out, axis.attempt, Kind::Integers);
    putColumn(out, axis.step, Kind::Integers);
    putColumn(out, axis.activeNs, Kind::Integers);
    // Both clocks tick alike: their difference hardly moves.
    std::vector<std::uint64_t> ahead(axis.wallNs);
    for (std::size_t i = 0; i < ahead.size(); ++i) ahead[i] -= axis.activeNs[i];
    putColumn(out, ahead, Kind::Integers);
    return out;
}

std::optional<Axis> Codec::decodeAxis(std::span<const std::byte> bytes, std::size_t rows) {
    ByteReader in(bytes);
    Axis axis;
    axis.attempt = getColumn(in, rows);
    axis.step = getColumn(in, rows);
    axis.activeNs = getColumn(in, rows);
    axis.wallNs = getColumn(in, rows);
    if (!in.finished()) return std::nullopt;
    for (std::size_t i = 0; i < rows; ++i) axis.wallNs[i] += axis.activeNs[i];
    return axis;
}

Bytes Codec::encode(const Values& values) {
    Bytes out;
    const bool everywhere = values.bits.size() == values.present.size();
    put(out, static_cast<std::uint8_t>(everywhere ? 0 : 1));
    if (!everywhere) {
        Bytes map((values.present.size() + 7) / 8);
        for (std::size_t i = 0; i < values.present.size(); ++i)
            if (values.present[i] != 0) map[i / 8] |= std::byte{1} << (i % 8);
        putBytes(out, map);
    }
    putColumn(out, values.bits, Kind::Reals);
    return out;
}

std::optional<Values> Codec::decodeValues(std::span<const std::byte> bytes, std::size_t rows) {
    ByteReader in(bytes);
    const auto mode = in.get<std::uint8_t>();
    if (!in.ok() || mode > 1 || rows > kMostNumbers) return std::nullopt;
    Values values;
    values.present.assign(rows, 1);
    std::size_t count = rows;
    if (mode == 1) {
        const auto map = in.take((rows + 7) / 8);
        if (!in.ok()) return std::nullopt;
        for (std::size_t i = 0; i < rows; ++i)
            values.present[i] = std::to_integer<std::uint8_t>(map[i / 8] >> (i % 8)) & 1;
        count = static_cast<std::size_t>(std::count(values.present.begin(), values.present.end(), 1));
    }
    values.bits = getColumn(in, count);
    if (!in.finished()) return std::nullopt;
    return values;
}

Bytes Codec::encode(const Level& level) {
    Bytes out;
    putColumn(out, level.minimum, Kind::Reals);
    putColumn(out, level.maximum, Kind::Reals);
    putColumn(out, level.count, Kind::Integers);
    putColumn(out, level.nonFinite, Kind::Integers);
    return out;
}

std::optional<Level> Codec::decodeLevel(std::span<const std::byte> bytes, std::size_t rows) {
    ByteReader in(bytes);
    const std::size_t buckets = bucketsOf(rows);
    Level level;
    level.minimum = getColumn(in, buckets);
    level.maximum = getColumn(in, buckets);
    level.count = getColumn(in, buckets);
    level.nonFinite = getColumn(in, buckets);
    if (!in.finished()) return std::nullopt;
    return level;
}

Bytes Codec::encode(const AxisLevel& level) {
    Bytes out;
    putColumn(out, level.firstStep, Kind::Integers);
    putColumn(out, level.lastStep, Kind::Integers);
    return out;
}

std::optional<AxisLevel> Codec::decodeAxisLevel(std::span<const std::byte> bytes, std::size_t rows) {
    ByteReader in(bytes);
    const std::size_t buckets = bucketsOf(rows);
    AxisLevel level;
    level.firstStep = getColumn(in, buckets);
    level.lastStep = getColumn(in, buckets);
    if (!in.finished()) return std::nullopt;
    return level;
}

}  // namespace lathe::store
