#include "live/spill.h"

#include "base/bytes.h"
#include "base/file_system.h"
#include "base/hash.h"
#include "base/log.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <fcntl.h>
#include <iterator>
#include <mutex>
#include <thread>
#include <unistd.h>
#include <utility>

namespace lathe::live {
namespace {

constexpr std::uint64_t kSpillMagic = 0x4C5053454854414Cull;  // "LATHESPL"
constexpr std::uint32_t kSpillVersion = 1;
constexpr std::size_t kSpillHeaderBytes = 20;
constexpr std::size_t kRecordHeaderBytes = 16;
constexpr std::uint64_t kMaxSpillBytes = 16ull << 30;
constexpr auto kLookEvery = std::chrono::milliseconds(10);
constexpr auto kAfterFailure = std::chrono::milliseconds(500);

void appendRecord(const Frame& frame, Bytes& out) {
    const std::size_t begin = out.size();
    put(out, static_cast<std::uint32_t>(frame.payload.size()));
    put(out, static_cast<std::uint16_t>(frame.type));
    put(out, std::uint16_t{0});
    put(out, frame.sequence);
    putBytes(out, frame.payload);
    put(out, hash64(std::span(out).subspan(begin)));
}

Bytes spillHeader(int session, int ring) {
    Bytes bytes;
    put(bytes, kSpillMagic);
    put(bytes, kSpillVersion);
    put(bytes, static_cast<std::int32_t>(session));
    put(bytes, static_cast<std::int32_t>(ring));
    return bytes;
}

}  // namespace

std::string spillName(int session, int ring) {
    std::string number = std::to_string(session);
    number.insert(0, number.size() < 3 ? 3 - number.size() : 0, '0');
    return "s" + number + "-r" + std::to_string(ring) + ".spill";
}

struct Spiller::Impl {
    Segment& segment;
    const int ring;
    const std::filesystem::path folder;
    const int session;

    std::mutex mutex;  // guards the part and the reader: helper thread and flushAll()
    std::condition_variable wake;
    bool ending = false;
    struct Part {
        std::unique_ptr<OutputFile> file;
        std::filesystem::path path;
        std::uint64_t first = 0;   ///< sequence of its first frame; 0: none is in it yet
    } part;
    RingReader reader;
    bool isFailing = false;        ///< told already
    std::atomic<std::uint64_t> spilled{0}, lost{0};
    std::thread thread;

    Impl(Segment& s, int r, std::filesystem::path f, int n)
        : segment(s), ring(r), folder(std::move(f)), session(n), reader(s.reader(r)), thread([this] { watch(); }) {}

    void watch() {
        std::unique_lock lock(mutex);
        auto lookEvery = kLookEvery;
        while (!wake.wait_for(lock, lookEvery, [this] { return ending; })) {
            const std::uint64_t taken = std::max(segment.recorderBytes(ring), reader.position());
            const std::uint64_t written = segment.writtenBytes(ring);
            if (written > taken && written - taken > segment.ringBytes() / 2) lookEvery = spillUnrecorded().ok() ? kLookEvery : kAfterFailure;
        }
    }

    Result<void> spillUnrecorded() {
        const std::uint64_t recorded = segment.recordedSequence(ring);
        if (recorded + 1 > reader.nextSequence()) reader = segment.reader(ring, recorded + 1);
        Result<void> outcome;
        while (outcome.ok()) {
            const RingReader::Batch batch = reader.read();
            lost += batch.lapped;
            if (batch.frames.empty()) break;
            outcome = append(batch.frames);
            if (outcome.ok()) spilled += batch.frames.size();
            else leavePart(part.first > 0 && !part.file->sync().ok() ? part.first : batch.frames.front().sequence);
        }
        segment.setSpillSettled(ring, reader.nextSequence() - 1);
        if (!outcome.ok() && !isFailing) log::error(outcome.error().text());
        isFailing = !outcome.ok();
        return outcome;
    }

    Result<void> append(const std::vector<Frame>& frames) {
        if (!part.file) LATHE_TRY(begin());
        Bytes bytes;
        for (const Frame& frame : frames) appendRecord(frame, bytes);
        LATHE_TRY(part.file->write(bytes));
        if (part.first == 0) part.first = frames.front().sequence;
        return {};
    }

    Result<void> begin() {
        part.path = folder / spillName(session, ring);
        auto made = FileSystem::real().create(part.path);
        for (int n = 1; !made.ok() && made.error().code == ErrorCode::Exists && n < 1000; ++n) {
            part.path = folder / (spillName(session, ring) + "." + std::to_string(n));
            made = FileSystem::real().create(part.path);
        }
        if (!made.ok()) return std::move(made).error();
        part.file = std::move(made).value();
        return part.file->write(spillHeader(session, ring));
    }

    /// A torn record ends a file for readers, and one whose sync failed is not trusted: the next frames, beginning with this
    /// one while it still stands in the ring, go into a new file.
    void leavePart(std::uint64_t next) {
        if (part.file && part.first == 0) static_cast<void>(FileSystem::real().remove(part.path));
        part = {};
        reader = segment.reader(ring, next);
    }

    Result<void> flushAll() {
        LATHE_TRY(spillUnrecorded());
        if (!part.file) return {};
        auto synced = part.file->sync();
        if (!synced.ok()) leavePart(part.first);
        return synced;
    }
};

Spiller::Spiller(Segment& segment, int ring, std::filesystem::path folder, int session)
    : m_impl(std::make_unique<Impl>(segment, ring, std::move(folder), session)) {}

Spiller::~Spiller() {
    {
        const std::lock_guard lock(m_impl->mutex);
        m_impl->ending = true;
    }
    m_impl->wake.notify_one();
    m_impl->thread.join();
}

std::uint64_t Spiller::spilledFrames() const { return m_impl->spilled; }
std::uint64_t Spiller::lostFrames() const { return m_impl->lost; }

Result<void> Spiller::flushAll() {
    const std::lock_guard lock(m_impl->mutex);
    return m_impl->flushAll();
}

static Result<std::vector<Frame>> readOneSpill(const std::filesystem::path& file, std::uint64_t fromSequence) {
    LATHE_TRY_ASSIGN(const std::string content, readFile(file, kMaxSpillBytes));
    const std::span<const std::byte> bytes = std::as_bytes(std::span(content));
    ByteReader header(bytes.first(std::min(bytes.size(), kSpillHeaderBytes)));
    std::vector<Frame> frames;
    const auto magic = header.get<std::uint64_t>();
    const auto version = header.get<std::uint32_t>();
    if (bytes.size() < kSpillHeaderBytes) return frames;  // torn before the first record
    if (magic != kSpillMagic) return Error{ErrorCode::Corrupt, file.string() + " is not a spill file", {}, {}};
    if (version > kSpillVersion)
        return Error{ErrorCode::Version, file.string() + " was written by a newer Lathe; update this one", {}, {}};
    std::size_t at = kSpillHeaderBytes;
    while (bytes.size() - at >= kRecordHeaderBytes + sizeof(std::uint64_t)) {
        ByteReader wire(bytes.subspan(at));
        const std::size_t length = wire.get<std::uint32_t>();
        const auto type = static_cast<FrameType>(wire.get<std::uint16_t>());
        wire.get<std::uint16_t>();
        const auto sequence = wire.get<std::uint64_t>();
        if (length > bytes.size() - at - kRecordHeaderBytes - sizeof(std::uint64_t)) break;
        const auto record = bytes.subspan(at, kRecordHeaderBytes + length);
        ByteReader tail(bytes.subspan(at + record.size()));
        if (tail.get<std::uint64_t>() != hash64(record)) break;
        if (sequence >= fromSequence) {
            const auto payload = record.subspan(kRecordHeaderBytes);
            frames.push_back({type, sequence, {payload.begin(), payload.end()}});
        }
        at += record.size() + sizeof(std::uint64_t);
    }
    return frames;
}

Result<std::vector<Frame>> readSpill(const std::filesystem::path& file, std::uint64_t fromSequence) {
    LATHE_TRY_ASSIGN(std::vector<Frame> frames, readOneSpill(file, fromSequence));
    // Later parts exist only where writing failed in between.
    for (int n = 1; n < 1000; ++n) {
        const std::filesystem::path part = file.string() + "." + std::to_string(n);
        std::error_code ignored;
        if (!std::filesystem::exists(part, ignored)) break;
        LATHE_TRY_ASSIGN(std::vector<Frame> more, readOneSpill(part, frames.empty() ? fromSequence : frames.back().sequence + 1));
        std::move(more.begin(), more.end(), std::back_inserter(frames));
    }
    return frames;
}

RingFeed::RingFeed(const Segment& segment, int ring, std::filesystem::path folder, int session, std::uint64_t fromSequence)
    : m_segment(segment), m_ring(ring), m_file(std::move(folder) / spillName(session, ring)),
      m_reader(segment.reader(ring, fromSequence)), m_next(std::max<std::uint64_t>(fromSequence, 1)) {}

RingFeed::Batch RingFeed::read(std::size_t maxBytes, bool final) {
    Batch batch;
    if (m_held.empty()) m_held = m_reader.read(maxBytes).frames;
    for (auto it = m_held.begin(); it != m_held.end(); ++it) {
        if (it->sequence > m_next) {
            if (!final && m_segment.spillSettled(m_ring) + 1 < it->sequence) {  // the writer is still at it
                m_held.erase(m_held.begin(), it);
                return batch;
            }
            auto spilled = readSpill(m_file, m_next);
            if (!spilled.ok() && spilled.error().code != ErrorCode::NotFound) log::error(spilled.error().text());
            if (spilled.ok())
                for (Frame& frame : *spilled) {
                    if (frame.sequence >= it->sequence || frame.sequence < m_next) continue;
                    batch.lost += frame.sequence - m_next;
                    m_next = frame.sequence + 1;
                    batch.frames.push_back(std::move(frame));
                }
            batch.lost += it->sequence - m_next;
        }
        m_next = it->sequence + 1;
        batch.frames.push_back(std::move(*it));
    }
    m_held.clear();
    return batch;
}

}  // namespace lathe::live
