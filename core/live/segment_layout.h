// The bytes of the shared memory, as FORMAT.md states them. Private to this folder.
//
// Everything that two processes touch is a 64-bit word accessed atomically. A frame lies in its ring as 8-byte words:
//   word 0: payload bytes (low 32 bits) | type (next 16) | zero      word 1: sequence      then the payload, zero-padded
// A writer first moves `oldest` past the frames that it is about to overwrite, then copies, then moves `written`.
// A reader copies first and then looks at `oldest`: whatever lies before it may be torn and is thrown away.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace lathe::live::layout {

using Word = std::atomic<std::uint64_t>;
static_assert(Word::is_always_lock_free && sizeof(Word) == 8);

constexpr std::uint64_t kMagic = 0x474553454854414Cull;  // "LATHESEG" as little-endian bytes
constexpr std::uint32_t kVersion = 1;
constexpr std::size_t kPage = 4096;
constexpr std::size_t kTokenBytes = 64;

struct Header {
    std::uint64_t magic;
    std::uint32_t version;
    std::uint32_t writers;
    std::uint64_t ringBytes;
    std::uint64_t totalBytes;
    std::int64_t ownerPid;
    std::int64_t createdMonotonicNs;
    char token[kTokenBytes];
    std::uint64_t checksum;  ///< XXH3-64 of the bytes before it
};
static_assert(sizeof(Header) <= kPage);

/// A record that one process changes and others read: `version` is odd while it changes.
template <std::size_t N>
struct Guarded {
    Word version;
    Word words[N];
};

constexpr std::size_t kHeartbeatWords = 15;
constexpr std::size_t kControlWords = 4;  ///< before the recorded sequences

struct alignas(64) WriterSlot {
    Guarded<kHeartbeatWords> heartbeat;
    // The writer's line:
    alignas(64) Word written;   ///< bytes of whole frames since the ring began
    Word oldest;                ///< position of the oldest frame that is still whole
    Word lastSequence;
    Word spillSettled;
    // The recorder's line:
    alignas(64) Word recorderBytes;
    Word recordedSequence;      ///< Control::recordedSeq of this ring
};
static_assert(sizeof(WriterSlot) == 256);

struct ControlBlock {
    Guarded<kControlWords> request;
};

constexpr std::size_t kControlOffset = kPage;
constexpr std::size_t kSlotsOffset = 2 * kPage;
constexpr std::size_t ringsOffset(std::size_t writers) {
    return (kSlotsOffset + writers * sizeof(WriterSlot) + kPage - 1) / kPage * kPage;
}
constexpr std::size_t totalBytes(std::size_t writers, std::size_t ringBytes) {
    return ringsOffset(writers) + writers * ringBytes;
}

constexpr std::size_t kFrameHeaderBytes = 16;
constexpr std::size_t frameBytes(std::size_t payloadBytes) { return kFrameHeaderBytes + (payloadBytes + 7) / 8 * 8; }

/// Requires: one writing thread.
template <std::size_t N>
void store(Guarded<N>& guarded, const std::uint64_t (&values)[N]) {
    const std::uint64_t version = guarded.version.load(std::memory_order_relaxed);
    guarded.version.store(version + 1, std::memory_order_relaxed);
    std::atomic_thread_fence(std::memory_order_release);
    for (std::size_t i = 0; i < N; ++i) guarded.words[i].store(values[i], std::memory_order_relaxed);
    guarded.version.store(version + 2, std::memory_order_release);
}

/// False when it was being changed each time it was looked at.
template <std::size_t N>
bool load(const Guarded<N>& guarded, std::uint64_t (&values)[N]) {
    for (int attempt = 0; attempt < 100; ++attempt) {
        const std::uint64_t before = guarded.version.load(std::memory_order_acquire);
        if (before & 1) continue;
        for (std::size_t i = 0; i < N; ++i) values[i] = guarded.words[i].load(std::memory_order_relaxed);
        std::atomic_thread_fence(std::memory_order_acquire);
        if (guarded.version.load(std::memory_order_relaxed) == before) return true;
    }
    return false;
}

}  // namespace lathe::live::layout
