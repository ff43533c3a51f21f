// A checkpoint taken over by another run.
#include "rundir/checkpoint_manifest.h"

#include "base/descriptor.h"
#include "base/file_system.h"
#include "base/hash.h"
#include "rundir/run_folder.h"

#include <cerrno>
#include <span>

namespace lathe::rundir {

namespace stdfs = std::filesystem;

static constexpr std::size_t kBlockBytes = 1u << 20;

static Result<std::size_t> readSome(int fd, const stdfs::path& file, std::span<std::byte> into) {
    while (true) {
        const ssize_t got = ::read(fd, into.data(), into.size());
        if (got >= 0) return static_cast<std::size_t>(got);
        if (errno != EINTR) return fileError("read", file.native(), errno);
    }
}

/// A file that lasts once this has returned; with the content that its entry says, where that says one.
static Result<void> copyFile(FileSystem& fs, const stdfs::path& from, const stdfs::path& to, const FileEntry& entry) {
    LATHE_TRY_ASSIGN(const int opened, openBelow(from, entry.name));
    const Descriptor source(opened);
    LATHE_TRY_ASSIGN(const auto copy, fs.create(to / entry.name));
    LATHE_TRY(copy->reserve(entry.bytes));
    std::vector<std::byte> block(kBlockBytes);
    Hasher hasher;
    while (true) {
        LATHE_TRY_ASSIGN(const std::size_t got, readSome(source.get(), from / entry.name, block));
        if (got == 0) break;
        const auto part = std::span(block).first(got);
        hasher.update(part);
        LATHE_TRY(copy->write(part));
    }
    if (!entry.hash.empty() && hasher.hex() != entry.hash)
        return Error{ErrorCode::Corrupt, (from / entry.name).string() + " differs from its checksum", {}, {}};
    LATHE_TRY(copy->sync());
    return copy->close();
}

Result<void> takeOverCheckpoint(FileSystem& fs, const stdfs::path& from, const stdfs::path& to) {
    LATHE_TRY_ASSIGN(CheckpointManifest manifest, readCheckpoint(from));
    manifest.files.push_back({kManifestFile, 0, {}});
    LATHE_TRY(fs.makeFolder(to));
    for (const FileEntry& entry : manifest.files) {
        if (!fs.link(from / entry.name, to / entry.name)) LATHE_TRY(copyFile(fs, from, to, entry));
    }
    LATHE_TRY(fs.syncFolder(to));
    return fs.syncFolder(to.parent_path());
}

}  // namespace lathe::rundir
