#include "engine/checkpoint/tensor_file.h"

#include "engine/train/train_state.h"

namespace lathe::engine {
namespace {

/// Smaller writes are gathered.
constexpr std::size_t kBufferBytes = 256u << 10;

}  // namespace

std::string dtypeWord(at::ScalarType type) {
    switch (type) {
    case at::kDouble: return "F64";
    case at::kFloat: return "F32";
    case at::kHalf: return "F16";
    case at::kBFloat16: return "BF16";
    case at::kLong: return "I64";
    case at::kInt: return "I32";
    case at::kShort: return "I16";
    case at::kChar: return "I8";
    case at::kByte: return "U8";
    case at::kBool: return "BOOL";
    default: return {};
    }
}

Result<std::unique_ptr<HashingFile>> HashingFile::create(FileSystem& fs, const std::filesystem::path& path, std::uint64_t reserveBytes) {
    LATHE_TRY_ASSIGN(std::unique_ptr<OutputFile> file, fs.create(path));
    LATHE_TRY(file->reserve(reserveBytes));
    return std::unique_ptr<HashingFile>(new HashingFile(std::move(file)));
}

Result<void> HashingFile::write(std::span<const std::byte> bytes) {
    m_hasher.update(bytes);
    m_bytes += bytes.size();
    if (m_buffer.size() + bytes.size() > kBufferBytes) LATHE_TRY(flush());
    if (bytes.size() >= kBufferBytes) return m_file->write(bytes);
    m_buffer.insert(m_buffer.end(), bytes.begin(), bytes.end());
    return {};
}

Result<void> HashingFile::flush() {
    if (m_buffer.empty()) return {};
    LATHE_TRY(m_file->write(m_buffer));
    m_buffer.clear();
    return {};
}

Result<rundir::FileEntry> HashingFile::finish(const std::string& name) {
    LATHE_TRY(flush());
    LATHE_TRY(m_file->sync());
    LATHE_TRY(m_file->close());
    return rundir::FileEntry{name, m_bytes, m_hasher.hex()};
}

std::string tensorFileHeader(const NamedTensors& tensors) {
    std::vector<std::pair<std::string, rundir::TensorRange>> ranges;
    for (const auto& [name, tensor] : tensors) ranges.emplace_back(name, rundir::TensorRange{dtypeWord(tensor.scalar_type()), tensor.sizes().vec()});
    return rundir::makeSafetensorsHeader(ranges, {});
}

std::uint64_t tensorFileBytes(const NamedTensors& tensors) {
    std::uint64_t bytes = tensorFileHeader(tensors).size();
    for (const auto& [name, tensor] : tensors) bytes += tensor.nbytes();
    return bytes;
}

rundir::FileEntry describeTensorFile(const NamedTensors& tensors, const std::string& name) {
    Hasher hasher;
    const std::string header = tensorFileHeader(tensors);
    hasher.update(std::as_bytes(std::span(header)));
    for (const auto& [key, tensor] : tensors) {
        const at::Tensor plain = plainTensor(tensor);
        hasher.update(bytesOf(plain));
    }
    return {name, tensorFileBytes(tensors), hasher.hex()};
}

}  // namespace lathe::engine
