// Safetensors files of tensors, written with the hash taken on the way.
// Thread: one thread at a time.
#pragma once

#include "base/file_system.h"
#include "base/hash.h"
#include "rundir/checkpoint_manifest.h"
#include "rundir/safetensors_header.h"

#include <torch/types.h>

#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace lathe::engine {

/// "F32" …; empty for types that safetensors has no word for.
std::string dtypeWord(at::ScalarType type);

using NamedTensors = std::vector<std::pair<std::string, at::Tensor>>;

/// Writes a file once, from start to end, hashing what it writes.
class HashingFile {
public:
    static Result<std::unique_ptr<HashingFile>> create(FileSystem& fs, const std::filesystem::path& path, std::uint64_t reserveBytes);
    Result<void> write(std::span<const std::byte> bytes);
    /// Flushes, syncs and closes. The file is complete only after this.
    Result<rundir::FileEntry> finish(const std::string& name);

private:
    explicit HashingFile(std::unique_ptr<OutputFile> file) : m_file(std::move(file)) {}
    Result<void> flush();

    std::unique_ptr<OutputFile> m_file;
    std::vector<std::byte> m_buffer;
    Hasher m_hasher;
    std::uint64_t m_bytes = 0;
};

/// What a safetensors file of these tensors begins with; their bytes follow in this order. Requires: every type has a word.
std::string tensorFileHeader(const NamedTensors& tensors);
/// Bytes of the whole file.
std::uint64_t tensorFileBytes(const NamedTensors& tensors);
/// Name, size and hash of the file.
rundir::FileEntry describeTensorFile(const NamedTensors& tensors, const std::string& name);

}  // namespace lathe::engine
