// Little-endian fields in byte buffers: appending, and reading with every length checked.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace lathe {

static_assert(std::endian::native == std::endian::little, "formats are little-endian and written as they lie in memory");

using Bytes = std::vector<std::byte>;

template <typename T>
void put(Bytes& out, T value) {
    static_assert(std::is_arithmetic_v<T>);
    const auto* raw = reinterpret_cast<const std::byte*>(&value);
    out.insert(out.end(), raw, raw + sizeof value);
}

inline void putBytes(Bytes& out, std::span<const std::byte> bytes) { out.insert(out.end(), bytes.begin(), bytes.end()); }
/// u32 length, then the bytes.
inline void putText(Bytes& out, std::string_view text) {
    put(out, static_cast<std::uint32_t>(text.size()));
    putBytes(out, std::as_bytes(std::span(text)));
}

/// After the first field that does not fit, `ok()` is false and everything reads as zero or empty.
class ByteReader {
public:
    explicit ByteReader(std::span<const std::byte> bytes) : m_bytes(bytes) {}

    template <typename T>
    T get() {
        static_assert(std::is_arithmetic_v<T>);
        T value{};
        const auto raw = take(sizeof value);
        if (!raw.empty()) std::memcpy(&value, raw.data(), sizeof value);
        return value;
    }
    /// The next `count` bytes, still owned by the buffer.
    std::span<const std::byte> take(std::size_t count) {
        if (!m_ok || count > left()) {
            m_ok = false;
            return {};
        }
        const auto part = m_bytes.subspan(m_at, count);
        m_at += count;
        return part;
    }
    std::string getText() {
        const auto text = take(get<std::uint32_t>());
        return {reinterpret_cast<const char*>(text.data()), text.size()};
    }
    std::size_t left() const { return m_bytes.size() - m_at; }
    bool ok() const { return m_ok; }
    void fail() { m_ok = false; }
    bool finished() const { return m_ok && left() == 0; }

private:
    std::span<const std::byte> m_bytes;
    std::size_t m_at = 0;
    bool m_ok = true;
};

}  // namespace lathe
