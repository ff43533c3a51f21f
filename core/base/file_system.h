// The seam between Lathe and the disk: whatever must survive a crash is written through it, so that tests
// can make any call fail. Durability: write a temporary file, sync it, rename it, sync the folder.
// A file whose sync failed is never retried; write a new one from memory.
#pragma once

#include "base/result.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace lathe {

/// A file open for writing. Closing without `close()` discards nothing but checks nothing either.
class OutputFile {
public:
    virtual ~OutputFile() = default;
    virtual Result<void> write(std::span<const std::byte> bytes) = 0;
    /// Reserves `bytes` on disk from offset 0 (NoSpace when they are not there); the size stays as it is.
    virtual Result<void> reserve(std::uint64_t bytes) = 0;
    /// Until this returns ok, nothing written counts as kept.
    virtual Result<void> sync() = 0;
    virtual Result<void> close() = 0;
};

/// Thread: safe from any thread. Paths are absolute or relative to the working folder, never from a file's content
/// (those go through rundir's resolver).
class FileSystem {
public:
    virtual ~FileSystem() = default;
    /// A new file, mode 0600; Exists when the name is taken.
    virtual Result<std::unique_ptr<OutputFile>> create(const std::filesystem::path& path) = 0;
    virtual Result<void> makeFolder(const std::filesystem::path& path) = 0;  ///< mode 0700; Exists when taken
    virtual Result<void> rename(const std::filesystem::path& from, const std::filesystem::path& to) = 0;
    /// Two names swap what they stand for, in one step; Unsupported where the disk cannot do that.
    virtual Result<void> exchange(const std::filesystem::path& one, const std::filesystem::path& other) = 0;
    virtual Result<void> link(const std::filesystem::path& existing, const std::filesystem::path& name) = 0;
    virtual Result<void> remove(const std::filesystem::path& file) = 0;        ///< a file or an empty folder
    virtual Result<void> syncFolder(const std::filesystem::path& folder) = 0;
    virtual Result<std::uint64_t> freeBytes(const std::filesystem::path& folder) = 0;

    static FileSystem& real();
};

/// Whole content; Corrupt when longer than `maxBytes`, so that no file can exhaust memory. Regular files only.
Result<std::string> readFile(const std::filesystem::path& path, std::uint64_t maxBytes);

/// Fills `to` with what the file has from `offset` on; Corrupt where it ends before. `name`: what the error calls the file.
Result<void> readAt(int fd, std::uint64_t offset, std::span<std::byte> to, const std::string& name);

/// Replaces `path` as a whole: after a crash either the old or the new content is there. Errors name `path`.
Result<void> replaceFile(FileSystem& fs, const std::filesystem::path& path, std::string_view content);

/// `makeFolder` for each missing part, which then survives a power loss; existing folders are fine.
Result<void> makeFolders(FileSystem& fs, const std::filesystem::path& path);

/// Removes a tree without following links. Stops at the first thing that cannot be removed.
Result<void> removeTree(FileSystem& fs, const std::filesystem::path& path);

/// Names in a folder, sorted; without "." and "..".
Result<std::vector<std::string>> listFolder(const std::filesystem::path& folder);

}  // namespace lathe
