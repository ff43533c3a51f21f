// Little-endian fields in byte buffers, for the formats of this folder.
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

namespace lathe::live {

static_assert(std::endian::native == std::endian::little, "formats are little-endian and written as they lie in memory");

class WireWriter {
public:
    explicit WireWriter(std::vector<std::byte>& out) : m_out(out) { m_out.clear(); }

    template <typename T>
    void put(T value) {
        static_assert(std::is_arithmetic_v<T>);
        const auto* bytes = reinterpret_cast<const std::byte*>(&value);
        m_out.insert(m_out.end(), bytes, bytes + sizeof value);
    }
    /// u32 length, then the bytes.
    void putText(std::string_view text) {
        put(static_cast<std::uint32_t>(text.size()));
        const auto* bytes = reinterpret_cast<const std::byte*>(text.data());
        m_out.insert(m_out.end(), bytes, bytes + text.size());
    }

private:
    std::vector<std::byte>& m_out;
};

/// Reads the same; after the first field that does not fit, `ok()` is false and everything reads as zero.
class WireReader {
public:
    explicit WireReader(std::span<const std::byte> bytes) : m_bytes(bytes) {}

    template <typename T>
    T get() {
        static_assert(std::is_arithmetic_v<T>);
        T value{};
        if (!take(sizeof value)) return value;
        std::memcpy(&value, m_bytes.data() + m_at - sizeof value, sizeof value);
        return value;
    }
    std::string getText() {
        const auto length = get<std::uint32_t>();
        if (!take(length)) return {};
        return {reinterpret_cast<const char*>(m_bytes.data()) + m_at - length, length};
    }
    std::size_t left() const { return m_bytes.size() - m_at; }
    bool ok() const { return m_ok; }

private:
    bool take(std::size_t count) {
        if (!m_ok || count > left()) {
            m_ok = false;
            return false;
        }
        m_at += count;
        return true;
    }

    std::span<const std::byte> m_bytes;
    std::size_t m_at = 0;
    bool m_ok = true;
};

}  // namespace lathe::live
