// TensorFlow's record framing (TFRecord): u64 length · u32 masked CRC-32C of the length · payload · u32 masked CRC-32C of
// the payload, little-endian.
// Thread: an object belongs to one thread.
#pragma once

#include "base/bytes.h"
#include "base/result.h"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <utility>

namespace lathe {
class OutputFile;
}

namespace lathe::tensorboard {

/// Longer records are passed over unread: no curve is in them, and no length in a file may take all memory.
constexpr std::uint64_t kLongestRecord = 64u << 20;

/// Reads a file that may be growing, from where it was left.
class RecordReader {
public:
    /// Regular files only (links to them too).
    static Result<RecordReader> open(const std::filesystem::path& file, std::uint64_t offset);
    RecordReader(RecordReader&& other) noexcept;
    RecordReader& operator=(RecordReader&&) = delete;
    ~RecordReader();

    struct Progress {
        bool more = false;          ///< stopped at the budget, not at the end
        bool damaged = false;       ///< the length at offset() contradicts its checksum: nothing after it can be found
        bool shrunk = false;        ///< the file is shorter than what was read of it
        std::uint64_t badRecords = 0;   ///< payloads left out for their checksum
        std::uint64_t longRecords = 0;  ///< passed over, longer than kLongestRecord
        std::uint64_t unfinished = 0;   ///< bytes of a record at the end that is not whole (yet)
    };
    /// Gives `take` each whole record up to the present end, at most about `budget` bytes of them; meanwhile offset() is
    /// where that record begins.
    Result<Progress> read(std::uint64_t budget, const std::function<void(std::span<const std::byte>)>& take);
    /// Behind the last record that was dealt with.
    std::uint64_t offset() const { return m_offset; }
    std::uint64_t size() const;  ///< of the file, now; 0 where it cannot be told

private:
    RecordReader(std::filesystem::path file, int fd, std::uint64_t offset) : m_file(std::move(file)), m_fd(fd), m_offset(offset) {}
    Result<std::size_t> fill(std::size_t wanted, std::uint64_t fileBytes);

    std::filesystem::path m_file;
    int m_fd = -1;
    std::uint64_t m_offset = 0;
    Bytes m_buffer;                 ///< bytes of the file from m_bufferAt on
    std::uint64_t m_bufferAt = 0;
    std::size_t m_buffered = 0;
};

/// Appends one framed record.
void frameRecord(Bytes& out, std::span<const std::byte> payload);

}  // namespace lathe::tensorboard
