#include "rundir/checkpoint_content.h"

#include "base/file_system.h"
#include "base/hash.h"
#include "rundir/run_folder.h"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <span>
#include <sys/stat.h>
#include <vector>

namespace lathe::rundir {
namespace {

/// Hashed while it lies in the processor's cache.
constexpr std::size_t kBlockBytes = 256u << 10;

Error corrupt(const FileEntry& entry, const std::string& how) { return {ErrorCode::Corrupt, entry.name + " " + how, {}, {}}; }

Result<void> checkHash(int fd, const FileEntry& entry, const Reading& reading) {
    if (reading.fromDisk) static_cast<void>(::posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED));
    std::vector<std::byte> buffer(static_cast<std::size_t>(std::min<std::uint64_t>(kBlockBytes, entry.bytes)));
    Hasher hasher;
    for (std::uint64_t at = 0; at < entry.bytes; at += kBlockBytes) {
        if (!reading.goesOn()) return Error{ErrorCode::Stopped, "Given up while reading " + entry.name, {}, {}};
        const auto block = std::span(buffer).first(static_cast<std::size_t>(std::min<std::uint64_t>(kBlockBytes, entry.bytes - at)));
        LATHE_TRY(readAt(fd, at, block, entry.name));
        hasher.update(block);
    }
    if (hasher.hex() == entry.hash) return {};
    return corrupt(entry, "is damaged: its content does not match its checksum");
}

Result<void> checkPieces(const SafetensorsHeader& header, const FileEntry& entry, const CheckpointManifest& manifest) {
    for (const TensorEntry& tensor : manifest.tensors) {
        for (const Piece& piece : tensor.pieces) {
            if (piece.file != entry.name) continue;
            const auto found = header.tensors.find(piece.key);
            if (found == header.tensors.end()) return corrupt(entry, "lacks the tensor \"" + piece.key + "\", which the manifest places there");
            if (found->second.dtype != tensor.dtype || found->second.shape != piece.shape)
                return corrupt(entry, "holds \"" + piece.key + "\" with another type or shape than the manifest says");
        }
    }
    return {};
}

}  // namespace

Result<Descriptor> openListed(const std::filesystem::path& folder, const FileEntry& entry) {
    LATHE_TRY_ASSIGN(const int opened, openBelow(folder, entry.name));
    Descriptor file(opened);
    struct stat info {};
    if (::fstat(file.get(), &info) != 0) return fileError("read", entry.name, errno);
    if (static_cast<std::uint64_t>(info.st_size) == entry.bytes) return file;
    return corrupt(entry, "has " + std::to_string(info.st_size) + " bytes, the manifest says " + std::to_string(entry.bytes));
}

Result<WholeFile> openWhole(const std::filesystem::path& folder, const FileEntry& entry, const CheckpointManifest& manifest, const Reading& reading) {
    WholeFile whole;
    LATHE_TRY_ASSIGN(whole.file, openListed(folder, entry));
    LATHE_TRY(checkHash(whole.file.get(), entry, reading));
    if (entry.name.ends_with(".safetensors")) {
        LATHE_TRY_ASSIGN(whole.header, readSafetensorsHeader(whole.file.get(), entry.name));
    }
    LATHE_TRY(checkPieces(whole.header, entry, manifest));
    return whole;
}

}  // namespace lathe::rundir
