#include "tensorboard/record_file.h"

#include "tensorboard/crc32c.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace lathe::tensorboard {

static constexpr std::size_t kHeadBytes = 12, kFootBytes = 4;
static constexpr std::size_t kBlock = 1u << 20;

template <typename T>
static T at(std::span<const std::byte> bytes, std::size_t place) {
    T value{};
    std::memcpy(&value, bytes.data() + place, sizeof value);
    return value;
}

Result<RecordReader> RecordReader::open(const std::filesystem::path& file, std::uint64_t offset) {
    // Without waiting: a pipe of that name must not hold everything up.
    const int fd = ::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) return fileError("open", file.native(), errno);
    RecordReader reader(file, fd, offset);
    struct stat info {};
    if (::fstat(fd, &info) != 0) return fileError("look at", file.native(), errno);
    if (!S_ISREG(info.st_mode)) return Error{ErrorCode::Usage, file.string() + " is not a file", {}, {}};
    return reader;
}

RecordReader::RecordReader(RecordReader&& other) noexcept
    : m_file(std::move(other.m_file)), m_fd(std::exchange(other.m_fd, -1)), m_offset(other.m_offset), m_buffer(std::move(other.m_buffer)), m_bufferAt(other.m_bufferAt),
      m_buffered(std::exchange(other.m_buffered, 0)) {}

RecordReader::~RecordReader() {
    if (m_fd >= 0) ::close(m_fd);
}

std::uint64_t RecordReader::size() const {
    struct stat info {};
    return ::fstat(m_fd, &info) == 0 ? static_cast<std::uint64_t>(info.st_size) : 0;
}

/// Brings bytes from m_offset on into the buffer, at least `wanted` where the file has so many; returns how many there are.
Result<std::size_t> RecordReader::fill(std::size_t wanted, std::uint64_t fileBytes) {
    if (m_offset < m_bufferAt || m_offset > m_bufferAt + m_buffered) m_bufferAt = m_offset, m_buffered = 0;
    std::size_t there = static_cast<std::size_t>(m_bufferAt + m_buffered - m_offset);
    if (there >= wanted) return there;
    if (there > 0) std::memmove(m_buffer.data(), m_buffer.data() + (m_offset - m_bufferAt), there);
    m_bufferAt = m_offset;
    m_buffered = there;
    const std::uint64_t left = fileBytes > m_offset ? fileBytes - m_offset : 0;
    const auto goal = static_cast<std::size_t>(std::min<std::uint64_t>(left, std::max(wanted, kBlock)));
    if (m_buffer.size() > 4 * kBlock && goal <= kBlock) m_buffer.resize(kBlock), m_buffer.shrink_to_fit();
    if (m_buffer.size() < goal) m_buffer.resize(goal);
    while (m_buffered < goal) {
        const ssize_t got = ::pread(m_fd, m_buffer.data() + m_buffered, goal - m_buffered, static_cast<off_t>(m_bufferAt + m_buffered));
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return fileError("read", m_file.native(), errno);
        if (got == 0) break;
        m_buffered += static_cast<std::size_t>(got);
    }
    return m_buffered;
}

Result<RecordReader::Progress> RecordReader::read(std::uint64_t budget, const std::function<void(std::span<const std::byte>)>& take) {
    Progress progress;
    const std::uint64_t fileBytes = size(), begin = m_offset;
    // What an unfinished record looked like before may have changed since.
    m_buffered = 0;
    progress.shrunk = fileBytes < m_offset;
    while (!progress.shrunk) {
        if (m_offset - begin >= budget) {
            progress.more = true;
            break;
        }
        LATHE_TRY_ASSIGN(std::size_t there, fill(kHeadBytes, fileBytes));
        progress.unfinished = there;
        if (there < kHeadBytes) break;
        std::span<const std::byte> bytes(m_buffer.data() + (m_offset - m_bufferAt), there);
        const auto length = at<std::uint64_t>(bytes, 0);
        progress.damaged = maskedCrc(bytes.first(8)) != at<std::uint32_t>(bytes, 8);
        if (progress.damaged) break;
        const std::uint64_t left = fileBytes - m_offset;
        progress.unfinished = left;
        if (left < kHeadBytes + kFootBytes || length > left - kHeadBytes - kFootBytes) break;
        const std::uint64_t whole = kHeadBytes + length + kFootBytes;
        if (length > kLongestRecord) {
            ++progress.longRecords;
        } else {
            LATHE_TRY_ASSIGN(there, fill(static_cast<std::size_t>(whole), fileBytes));
            if (there < whole) break;
            bytes = std::span<const std::byte>(m_buffer.data() + (m_offset - m_bufferAt), static_cast<std::size_t>(whole));
            const auto payload = bytes.subspan(kHeadBytes, static_cast<std::size_t>(length));
            if (maskedCrc(payload) == at<std::uint32_t>(bytes, static_cast<std::size_t>(whole) - kFootBytes)) take(payload);
            else ++progress.badRecords;
        }
        m_offset += whole;
        progress.unfinished = 0;
    }
    return progress;
}

void frameRecord(Bytes& out, std::span<const std::byte> payload) {
    const std::size_t begin = out.size();
    put(out, static_cast<std::uint64_t>(payload.size()));
    put(out, maskedCrc(std::span<const std::byte>(out).subspan(begin, 8)));
    putBytes(out, payload);
    put(out, maskedCrc(payload));
}

}  // namespace lathe::tensorboard
