#include "dataset/byte_source.h"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>
#include <zlib.h>

namespace lathe::dataset {
namespace {

constexpr unsigned kBufferBytes = 1u << 17;
constexpr std::size_t kMaxReadBytes = 1u << 30;

gzFile handle(void* file) { return static_cast<gzFile>(file); }

}  // namespace

Result<OpenFile> openRegular(const std::filesystem::path& path) {
    const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (descriptor < 0) return fileError("read", path.native(), errno);
    struct stat info {};
    if (::fstat(descriptor, &info) != 0) {
        const int problem = errno;
        ::close(descriptor);
        return fileError("read", path.native(), problem);
    }
    if (!S_ISREG(info.st_mode)) {
        ::close(descriptor);
        return Error{ErrorCode::Data, "Cannot read " + path.string() + ": it is not a regular file", {}, {}};
    }
    return OpenFile{descriptor, static_cast<std::uint64_t>(info.st_size)};
}

void ByteSource::Close::operator()(void* file) const { gzclose(handle(file)); }

ByteSource::ByteSource(void* file, std::filesystem::path path) : m_file(file), m_path(std::move(path)) {}

Result<ByteSource> ByteSource::open(const std::filesystem::path& path) {
    LATHE_TRY_ASSIGN(const OpenFile file, openRegular(path));
    const gzFile stream = gzdopen(file.descriptor, "rb");
    if (stream == nullptr) {
        ::close(file.descriptor);
        return Error{ErrorCode::OutOfMemory, "Cannot read " + path.string() + ": no memory for its buffer", {}, {}};
    }
    gzbuffer(stream, kBufferBytes);
    return ByteSource(stream, path);
}

Result<std::size_t> ByteSource::read(std::span<std::byte> out) {
    std::size_t have = 0;
    while (have < out.size()) {
        const auto wanted = static_cast<unsigned>(std::min(out.size() - have, kMaxReadBytes));
        const int got = gzread(handle(m_file.get()), out.data() + have, wanted);
        int problem = Z_OK;
        const char* why = gzerror(handle(m_file.get()), &problem);
        if (problem == Z_ERRNO) return fileError("read", m_path.native(), errno);
        if (got < 0 || problem == Z_DATA_ERROR || problem == Z_BUF_ERROR)
            return Error{ErrorCode::Corrupt,
                         m_path.string() + " is a damaged gzip file (" + why + "): fetch or pack it again", {}, {}};
        if (got == 0) break;
        have += static_cast<std::size_t>(got);
    }
    return have;
}

}  // namespace lathe::dataset
