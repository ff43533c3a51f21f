// The bytes of a data file from front to back. Gzip content is unpacked on the way, whatever the file is called.
// Thread: one reader at a time.
#pragma once

#include "base/result.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>

namespace lathe::dataset {

class ByteSource {
public:
    /// NotFound, Permission, Io; regular files only, so that no pipe or device can block.
    static Result<ByteSource> open(const std::filesystem::path& path);

    /// Fills `out` as far as the content goes; less than asked only at the end. Corrupt when a gzip file is damaged or cut.
    Result<std::size_t> read(std::span<std::byte> out);

    const std::filesystem::path& path() const { return m_path; }

private:
    struct Close {
        void operator()(void* file) const;
    };
    ByteSource(void* file, std::filesystem::path path);

    std::unique_ptr<void, Close> m_file;
    std::filesystem::path m_path;
};

/// Opens a regular file for reading and returns its descriptor (the caller closes it) and its size.
struct OpenFile {
    int descriptor = -1;
    std::uint64_t bytes = 0;
};
Result<OpenFile> openRegular(const std::filesystem::path& path);

}  // namespace lathe::dataset
