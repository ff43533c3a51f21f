#include "live/segment.h"

#include "base/clock.h"
#include "base/hash.h"
#include "live/segment_layout.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <string>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace lathe::live {

using namespace layout;

std::string_view name(Phase phase) {
    constexpr std::array kNames{"starting", "loading data", "building the model", "loading the checkpoint", "first update",
                                "training", "evaluating",   "saving",             "paused",                 "finishing",
                                "ended"};
    const auto index = static_cast<std::size_t>(phase);
    return index < kNames.size() ? kNames[index] : "unknown";
}

std::string_view name(Activity activity) {
    constexpr std::array kNames{"", "reading a batch", "forward and backward", "reduce gradients", "exchange with the other ranks", "apply the update"};
    const auto index = static_cast<std::size_t>(activity);
    return index < kNames.size() ? kNames[index] : "";
}

struct Segment::Impl {
    int fd = -1;
    std::byte* base = nullptr;
    std::size_t bytes = 0;
    std::size_t writers = 0;
    std::size_t ringBytes = 0;
    bool writable = false;

    ~Impl() {
        if (base) ::munmap(base, bytes);
        if (fd >= 0) ::close(fd);
    }
    Header& header() const { return *reinterpret_cast<Header*>(base); }
    ControlBlock& control() const { return *reinterpret_cast<ControlBlock*>(base + kControlOffset); }
    WriterSlot& slot(int ring) const {
        LATHE_ASSERT(ring >= 0 && static_cast<std::size_t>(ring) < writers);
        return reinterpret_cast<WriterSlot*>(base + kSlotsOffset)[ring];
    }
    /// The word of a ring at a byte position of its whole life; a whole word of this ring even where a hostile writer says
    /// that a frame begins in the middle of one.
    Word& word(int ring, std::uint64_t position) const {
        std::byte* start = base + ringsOffset(writers) + static_cast<std::size_t>(ring) * ringBytes;
        return *reinterpret_cast<Word*>(start + (position & (ringBytes - sizeof(Word))));
    }
};

namespace {

std::uint64_t headerChecksum(const Header& header) {
    return hash64(std::as_bytes(std::span(reinterpret_cast<const char*>(&header), offsetof(Header, checksum))));
}

Error badSegment(const std::string& why) {
    return {ErrorCode::Corrupt, "The shared memory of this run cannot be used: " + why, {}, {}};
}

struct FrameHead {
    std::uint32_t payloadBytes = 0;
    FrameType type = FrameType::Points;
    std::uint64_t sequence = 0;
};

FrameHead readHead(std::uint64_t first, std::uint64_t sequence) {
    return {static_cast<std::uint32_t>(first), static_cast<FrameType>(first >> 32 & 0xFFFF), sequence};
}

}  // namespace

Segment::Segment(std::unique_ptr<Impl> impl) : m_impl(std::move(impl)) {}
Segment::~Segment() = default;

Result<std::unique_ptr<Segment>> Segment::create(const Shape& shape, std::string_view token) {
    LATHE_ASSERT(shape.writers > 0 && shape.writers <= kMaxWriters);
    LATHE_ASSERT(std::has_single_bit(shape.ringBytes) && shape.ringBytes >= kPage && shape.ringBytes <= (1u << 30));
    LATHE_ASSERT(token.size() < kTokenBytes);
    auto impl = std::make_unique<Impl>();
    impl->fd = ::memfd_create("lathe-run", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (impl->fd < 0) return fileError("create", "shared memory", errno);
    impl->writers = static_cast<std::size_t>(shape.writers);
    impl->ringBytes = shape.ringBytes;
    impl->bytes = totalBytes(impl->writers, impl->ringBytes);
    impl->writable = true;
    // Reserved here, so that a full machine says so now and not as SIGBUS in the middle of training.
    if (::ftruncate(impl->fd, static_cast<off_t>(impl->bytes)) != 0 ||
        ::fallocate(impl->fd, 0, 0, static_cast<off_t>(impl->bytes)) != 0)
        return fileError("reserve " + std::to_string(impl->bytes >> 20) + " MiB of", "shared memory", errno);
    if (::fcntl(impl->fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0)
        return fileError("seal", "shared memory", errno);
    void* base = ::mmap(nullptr, impl->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, impl->fd, 0);
    if (base == MAP_FAILED) return fileError("map", "shared memory", errno);
    impl->base = static_cast<std::byte*>(base);
    Header& header = impl->header();
    header.magic = kMagic;
    header.version = kVersion;
    header.writers = static_cast<std::uint32_t>(shape.writers);
    header.ringBytes = shape.ringBytes;
    header.totalBytes = impl->bytes;
    header.ownerPid = ::getpid();
    header.createdMonotonicNs = Clock::system().monotonicNs();
    std::memcpy(header.token, token.data(), token.size());
    header.checksum = headerChecksum(header);
    impl->slot(0).lastSequence.store(shape.lastSequence, std::memory_order_relaxed);
    return std::unique_ptr<Segment>(new Segment(std::move(impl)));
}

Result<std::unique_ptr<Segment>> Segment::open(int fd, bool writable) {
    auto impl = std::make_unique<Impl>();
    impl->fd = fd;
    impl->writable = writable;
    struct stat info {};
    if (::fstat(fd, &info) != 0) return fileError("look at", "shared memory", errno);
    constexpr int kNeeded = F_SEAL_SHRINK | F_SEAL_GROW;
    const int seals = ::fcntl(fd, F_GET_SEALS);
    if (seals < 0 || (seals & kNeeded) != kNeeded) return badSegment("it is not sealed");
    if (info.st_size < static_cast<off_t>(kSlotsOffset)) return badSegment("it is too small");
    impl->bytes = static_cast<std::size_t>(info.st_size);
    void* base = ::mmap(nullptr, impl->bytes, writable ? PROT_READ | PROT_WRITE : PROT_READ, MAP_SHARED, fd, 0);
    if (base == MAP_FAILED) return fileError("map", "shared memory", errno);
    impl->base = static_cast<std::byte*>(base);
    const Header header = impl->header();
    if (header.magic != kMagic) return badSegment("it is not Lathe's");
    if (header.version > kVersion)
        return Error{ErrorCode::Version, "This run's shared memory has format " + std::to_string(header.version) +
                                             "; this program knows " + std::to_string(kVersion) + ". Update Lathe", {}, {}};
    if (header.checksum != headerChecksum(header)) return badSegment("its header is damaged");
    if (header.writers == 0 || header.writers > static_cast<std::uint32_t>(kMaxWriters) || !std::has_single_bit(header.ringBytes) || header.ringBytes < kPage ||
        header.ringBytes > (1u << 30) || totalBytes(header.writers, header.ringBytes) != impl->bytes)
        return badSegment("its sizes contradict each other");
    impl->writers = header.writers;
    impl->ringBytes = header.ringBytes;
    return std::unique_ptr<Segment>(new Segment(std::move(impl)));
}

int Segment::fd() const { return m_impl->fd; }
int Segment::writers() const { return static_cast<int>(m_impl->writers); }
std::size_t Segment::ringBytes() const { return m_impl->ringBytes; }
std::string Segment::token() const { return {m_impl->header().token, ::strnlen(m_impl->header().token, kTokenBytes)}; }

Result<int> Segment::readOnlyFd() const {
    const std::string self = "/proc/self/fd/" + std::to_string(m_impl->fd);
    const int fd = ::open(self.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0) return fileError("reopen", "shared memory", errno);
    return fd;
}

Result<std::uint64_t> Segment::write(int ring, FrameType type, std::span<const std::byte> payload) {
    LATHE_ASSERT(m_impl->writable);
    const std::size_t bytes = frameBytes(payload.size());
    if (bytes > m_impl->ringBytes / 4)
        return Error{ErrorCode::Usage, "A frame of " + std::to_string(payload.size()) + " bytes is too large for the ring; put it into blobs/", {}, {}};
    WriterSlot& slot = m_impl->slot(ring);
    const std::uint64_t start = slot.written.load(std::memory_order_relaxed);
    const std::uint64_t sequence = slot.lastSequence.load(std::memory_order_relaxed) + 1;
    std::uint64_t oldest = slot.oldest.load(std::memory_order_relaxed);
    if (start + bytes - oldest > m_impl->ringBytes) {
        while (start + bytes - oldest > m_impl->ringBytes)
            oldest += frameBytes(static_cast<std::uint32_t>(m_impl->word(ring, oldest).load(std::memory_order_relaxed)));
        slot.oldest.store(oldest, std::memory_order_relaxed);
        std::atomic_thread_fence(std::memory_order_release);
    }
    m_impl->word(ring, start).store(payload.size() | static_cast<std::uint64_t>(type) << 32, std::memory_order_relaxed);
    m_impl->word(ring, start + 8).store(sequence, std::memory_order_relaxed);
    for (std::size_t at = 0; at < payload.size(); at += 8) {
        std::uint64_t value = 0;
        std::memcpy(&value, payload.data() + at, std::min<std::size_t>(8, payload.size() - at));
        m_impl->word(ring, start + kFrameHeaderBytes + at).store(value, std::memory_order_relaxed);
    }
    slot.lastSequence.store(sequence, std::memory_order_relaxed);
    slot.written.store(start + bytes, std::memory_order_release);
    return sequence;
}

RingReader Segment::reader(int ring, std::uint64_t fromSequence) const {
    static_cast<void>(m_impl->slot(ring));
    return RingReader(this, ring, std::max<std::uint64_t>(fromSequence, 1));
}

RingReader::Batch RingReader::read(std::size_t maxBytes) {
    Batch batch;
    const Segment::Impl& impl = *m_segment->m_impl;
    const WriterSlot& slot = impl.slot(m_ring);
    const std::uint64_t written = slot.written.load(std::memory_order_acquire);
    std::size_t taken = 0;
    // A writer that laps this reader over and over must not keep it here for ever.
    for (int jumps = 0; m_position < written && taken < maxBytes && jumps < 8;) {
        const std::uint64_t oldest = slot.oldest.load(std::memory_order_acquire);
        if (m_position < oldest) {
            m_position = oldest;
            ++jumps;
            continue;
        }
        if (written - m_position > impl.ringBytes) {  // no honest writer says so: there is no room for that much
            m_position = written;
            break;
        }
        const FrameHead head = readHead(impl.word(m_ring, m_position).load(std::memory_order_relaxed),
                                        impl.word(m_ring, m_position + 8).load(std::memory_order_relaxed));
        const std::size_t bytes = frameBytes(head.payloadBytes);
        const bool fits = head.payloadBytes <= impl.ringBytes / 4 && bytes <= written - m_position;
        Frame frame{head.type, head.sequence, {}};
        if (fits && head.sequence >= m_next) {
            frame.payload.resize((head.payloadBytes + 7) / 8 * 8);
            for (std::size_t at = 0; at < frame.payload.size(); at += 8) {
                const std::uint64_t value = impl.word(m_ring, m_position + kFrameHeaderBytes + at).load(std::memory_order_relaxed);
                std::memcpy(frame.payload.data() + at, &value, 8);
            }
            frame.payload.resize(head.payloadBytes);
        }
        std::atomic_thread_fence(std::memory_order_acquire);
        if (slot.oldest.load(std::memory_order_relaxed) > m_position) continue;  // overwritten meanwhile: torn
        if (!fits) {  // no honest writer does this; skip to what is newest
            m_position = written;
            break;
        }
        m_position += bytes;
        if (head.sequence < m_next) continue;
        batch.lapped += head.sequence - m_next;
        m_next = head.sequence + 1;
        taken += bytes;
        batch.frames.push_back(std::move(frame));
    }
    return batch;
}

std::uint64_t Segment::lastSequence(int ring) const { return m_impl->slot(ring).lastSequence.load(std::memory_order_acquire); }
std::uint64_t Segment::writtenBytes(int ring) const { return m_impl->slot(ring).written.load(std::memory_order_acquire); }
std::uint64_t Segment::recorderBytes(int ring) const { return m_impl->slot(ring).recorderBytes.load(std::memory_order_acquire); }
void Segment::setRecorderBytes(int ring, std::uint64_t bytes) {
    m_impl->slot(ring).recorderBytes.store(bytes, std::memory_order_release);
}
std::uint64_t Segment::spillSettled(int ring) const { return m_impl->slot(ring).spillSettled.load(std::memory_order_acquire); }
void Segment::setSpillSettled(int ring, std::uint64_t sequence) {
    m_impl->slot(ring).spillSettled.store(sequence, std::memory_order_release);
}

void Segment::beat(int ring, const Heartbeat& beat) {
    const auto word = [](auto value) { return static_cast<std::uint64_t>(value); };
    const std::uint64_t words[kHeartbeatWords] = {
        word(beat.phase), word(beat.done), word(beat.total), word(beat.attempt), word(beat.step), word(beat.collective),
        word(beat.monotonicNs), word(beat.acknowledged), word(beat.durableCheckpoints), beat.spilledFrames, beat.lostFrames, word(beat.pid),
        word(beat.activity), word(beat.movedNs), 0};
    store(m_impl->slot(ring).heartbeat, words);
}

std::optional<Heartbeat> Segment::heartbeat(int ring) const {
    std::uint64_t words[kHeartbeatWords];
    if (!load(m_impl->slot(ring).heartbeat, words)) return std::nullopt;
    Heartbeat beat;
    beat.phase = static_cast<Phase>(words[0]);
    beat.done = static_cast<std::int64_t>(words[1]);
    beat.total = static_cast<std::int64_t>(words[2]);
    beat.attempt = static_cast<std::int64_t>(words[3]);
    beat.step = static_cast<std::int64_t>(words[4]);
    beat.collective = static_cast<std::int64_t>(words[5]);
    beat.monotonicNs = static_cast<std::int64_t>(words[6]);
    beat.acknowledged = static_cast<std::int64_t>(words[7]);
    beat.durableCheckpoints = static_cast<std::int64_t>(words[8]);
    beat.spilledFrames = words[9];
    beat.lostFrames = words[10];
    beat.pid = static_cast<std::int32_t>(words[11]);
    beat.activity = static_cast<Activity>(words[12]);
    beat.movedNs = static_cast<std::int64_t>(words[13]);
    return beat;
}

void Segment::setControl(const Control& control) {
    for (std::size_t ring = 0; ring < std::min(control.recordedSeq.size(), m_impl->writers); ++ring)
        m_impl->slot(static_cast<int>(ring)).recordedSequence.store(control.recordedSeq[ring], std::memory_order_release);
    const std::uint64_t words[kControlWords] = {
        static_cast<std::uint64_t>(control.number), static_cast<std::uint64_t>(control.stop), control.pause ? 1u : 0u,
        static_cast<std::uint64_t>(control.saveRequests)};
    store(m_impl->control().request, words);
}

Control Segment::control() const {
    Control control;
    std::uint64_t words[kControlWords] = {};
    if (load(m_impl->control().request, words)) {
        control.number = static_cast<std::int64_t>(words[0]);
        control.stop = static_cast<Control::Stop>(words[1]);
        control.pause = words[2] != 0;
        control.saveRequests = static_cast<std::int64_t>(words[3]);
    }
    control.recordedSeq.reserve(m_impl->writers);
    for (std::size_t ring = 0; ring < m_impl->writers; ++ring)
        control.recordedSeq.push_back(m_impl->slot(static_cast<int>(ring)).recordedSequence.load(std::memory_order_acquire));
    return control;
}

std::int64_t Segment::controlNumber() const {
    return static_cast<std::int64_t>(m_impl->control().request.words[0].load(std::memory_order_acquire));
}
std::uint64_t Segment::recordedSequence(int ring) const {
    return m_impl->slot(ring).recordedSequence.load(std::memory_order_acquire);
}

}  // namespace lathe::live
