#include "engine/checkpoint/snapshot.h"

#include "base/number_text.h"
#include "engine/train/guard.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/from_blob.h>
#include <c10/core/GradMode.h>

#include <algorithm>
#include <cstring>
#include <sys/mman.h>

namespace lathe::engine {
namespace {

/// Copies begin at cache lines.
constexpr std::uint64_t kAlignment = 64;

std::uint64_t placeOf(const at::Tensor& tensor) { return (tensor.nbytes() + kAlignment - 1) / kAlignment * kAlignment; }

bool isOnDevice(const std::vector<StatePart>& parts) {
    return std::any_of(parts.begin(), parts.end(), [](const StatePart& part) {
        return std::any_of(part.tensors.begin(), part.tensors.end(), [](const StateTensor& item) { return !item.tensor.is_cpu(); });
    });
}

}  // namespace

std::uint64_t Snapshot::bytesFor(const std::vector<StatePart>& parts) {
    std::uint64_t bytes = 0;
    for (const StatePart& part : parts)
        for (const StateTensor& item : part.tensors) bytes += item.frozen ? 0 : placeOf(item.tensor);
    return bytes;
}

Result<std::unique_ptr<Snapshot>> Snapshot::reserve(const std::vector<StatePart>& parts, std::uint64_t available) {
    const std::uint64_t bytes = bytesFor(parts);
    const Error none{ErrorCode::OutOfMemory, "There is no memory for a copy of the state (" + memoryText(bytes) + ", " + memoryText(available) +
                     " may be taken), so training waits for the disk at each save", {}, {}};
    if (bytes > available) return none;
    const at::TensorOptions options(at::kByte);
    if (bytes == 0) return std::unique_ptr<Snapshot>(new Snapshot(at::empty({0}, options)));
    if (isOnDevice(parts)) {
        return guarded("reserving page-locked memory for checkpoints", [&]() -> Result<std::unique_ptr<Snapshot>> {
            return std::unique_ptr<Snapshot>(new Snapshot(at::empty({static_cast<std::int64_t>(bytes)}, options.pinned_memory(true))));
        });
    }
    void* memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return none;
    static_cast<void>(::madvise(memory, bytes, MADV_HUGEPAGE));
    return std::unique_ptr<Snapshot>(new Snapshot(at::from_blob(memory, {static_cast<std::int64_t>(bytes)}, [bytes](void* held) { ::munmap(held, bytes); }, options)));
}

void Snapshot::touch() {
    constexpr std::size_t kPage = 4096;
    auto* bytes = static_cast<volatile std::byte*>(m_memory.mutable_data_ptr());
    for (std::size_t at = 0; at < m_memory.nbytes(); at += kPage) bytes[at] = std::byte{0};
}

void Snapshot::take(std::vector<StatePart>& parts) {
    LATHE_ASSERT(fits(parts));
    const at::NoGradGuard noGrad;
    auto* place = static_cast<std::byte*>(m_memory.mutable_data_ptr());
    for (StatePart& part : parts) {
        for (StateTensor& item : part.tensors) {
            if (item.frozen) continue;
            const at::Tensor live = item.tensor.detach();
            item.tensor = at::from_blob(place, live.sizes(), at::TensorOptions(live.scalar_type()));
            place += placeOf(live);
            if (live.nbytes() == 0) continue;
            if (live.is_cpu() && live.is_contiguous()) std::memcpy(item.tensor.mutable_data_ptr(), live.const_data_ptr(), live.nbytes());
            else item.tensor.copy_(live);
        }
    }
}

}  // namespace lathe::engine
