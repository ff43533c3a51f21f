#include "live/spill.h"

#include "base/bytes.h"
#include "base/file_system.h"
#include "base/hash.h"
#include "base/log.h"
#include "base/number_text.h"

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
constexpr std::uint64_t kMaxSpillBytes = 16ull << 30, kMostSearched = 1ull << 30;
constexpr int kMostParts = 1000;
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
        for (int n = 1; !made.ok() && made.error().code == ErrorCode::Exists && n < kMostParts; ++n) {
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

Result<std::vector<SpillFile>> spillFiles(const std::filesystem::path& folder, int session) {
    std::vector<SpillFile> out;
    const auto names = listFolder(folder);
    if (!names && names.error().code == ErrorCode::NotFound) return out;
    if (!names) return names.error();
    const std::string begin = spillName(session, 0).substr(0, spillName(session, 0).find("0.spill")), end = ".spill";
    for (const std::string& name : *names) {
        const std::size_t dot = name.find(end);
        if (!name.starts_with(begin) || dot == std::string::npos) continue;
        const auto ring = readInteger(std::string_view(name).substr(begin.size(), dot - begin.size()));
        const std::string_view tail = std::string_view(name).substr(dot + end.size());
        const auto part = tail.empty() ? 0 : tail.front() == '.' ? readInteger(tail.substr(1)) : std::nullopt;
        if (ring && part && *ring >= 0 && *ring < Segment::kMaxWriters && *part >= 0 && *part < kMostParts) out.push_back({static_cast<int>(*ring), static_cast<int>(*part), folder / name});
    }
    std::sort(out.begin(), out.end(), [](const SpillFile& a, const SpillFile& b) { return std::pair(a.ring, a.part) < std::pair(b.ring, b.part); });
    return out;
}

namespace {

struct Record {
    FrameType type = FrameType::Points;
    std::uint64_t sequence = 0;
    std::span<const std::byte> payload;
    std::size_t bytes = 0;            ///< of all of it
};

bool runsPastTheEnd(std::span<const std::byte> bytes) {
    constexpr std::size_t kLeast = kRecordHeaderBytes + sizeof(std::uint64_t);
    return bytes.size() < kLeast || ByteReader(bytes).get<std::uint32_t>() > bytes.size() - kLeast;
}

/// The whole record that begins here, if one does.
std::optional<Record> recordAt(std::span<const std::byte> bytes) {
    if (runsPastTheEnd(bytes)) return std::nullopt;
    ByteReader wire(bytes);
    const std::size_t length = wire.get<std::uint32_t>();
    Record record;
    record.type = static_cast<FrameType>(wire.get<std::uint16_t>());
    wire.get<std::uint16_t>();
    record.sequence = wire.get<std::uint64_t>();
    const auto hashed = bytes.first(kRecordHeaderBytes + length);
    record.payload = hashed.subspan(kRecordHeaderBytes);
    record.bytes = hashed.size() + sizeof(std::uint64_t);
    if (ByteReader(bytes.subspan(hashed.size())).get<std::uint64_t>() != hash64(hashed)) return std::nullopt;
    return record;
}

/// How far behind the beginning of `bytes` the next whole record begins; at their end where there is none. Looks only so far
/// that a file made for it cannot keep its reader busy.
std::size_t nextRecord(std::span<const std::byte> bytes) {
    std::uint64_t work = 0;
    for (std::size_t at = 1; at < bytes.size() && work < kMostSearched; ++at) {
        const auto rest = bytes.subspan(at);
        if (runsPastTheEnd(rest)) continue;
        work += ByteReader(rest).get<std::uint32_t>() + kRecordHeaderBytes;
        if (recordAt(rest)) return at;
    }
    return bytes.size();
}

}  // namespace

Result<Spilled> readSpillFile(const std::filesystem::path& file, std::uint64_t fromSequence) {
    const auto content = readFile(file, kMaxSpillBytes);
    if (!content && content.error().code == ErrorCode::Corrupt) return Spilled{{}, content.error()};
    if (!content) return content.error();
    const std::span<const std::byte> bytes = std::as_bytes(std::span(*content));
    Spilled out;
    if (bytes.size() < kSpillHeaderBytes) return out;  // torn before the first record
    ByteReader header(bytes);
    const auto magic = header.get<std::uint64_t>();
    const auto version = header.get<std::uint32_t>();
    if (magic != kSpillMagic) out.damage = Error{ErrorCode::Corrupt, file.string() + " is not a spill file", {}, {}};
    if (out.damage) return out;
    if (version > kSpillVersion)
        return Error{ErrorCode::Version, file.string() + " was written by a newer Lathe; update this one", {}, {}};
    for (std::size_t at = kSpillHeaderBytes; at < bytes.size();) {
        const auto rest = bytes.subspan(at);
        if (const auto record = recordAt(rest)) {
            at += record->bytes;
            if (record->sequence < fromSequence) continue;
            out.frames.push_back({record->type, record->sequence, {record->payload.begin(), record->payload.end()}});
            fromSequence = record->sequence + 1;
            continue;
        }
        const std::size_t next = nextRecord(rest);
        const bool isEmpty = std::all_of(rest.begin(), rest.end(), [](std::byte byte) { return byte == std::byte{0}; });   // room that was never written to
        const bool isTorn = next == rest.size() && (isEmpty || runsPastTheEnd(rest));
        if (!isTorn && !out.damage) out.damage = Error{ErrorCode::Corrupt, file.string() + " is damaged at byte " + std::to_string(at), {}, {}};
        at += next;
    }
    return out;
}

Result<Spilled> readSpill(const std::filesystem::path& folder, int session, int ring, std::uint64_t fromSequence) {
    LATHE_TRY_ASSIGN(const auto files, spillFiles(folder, session));
    Spilled all;
    for (const SpillFile& part : files) {
        if (part.ring != ring) continue;
        auto one = readSpillFile(part.file, all.frames.empty() ? fromSequence : all.frames.back().sequence + 1);
        if (!one && one.error().code == ErrorCode::NotFound) continue;   // taken in meanwhile
        if (!one) return std::move(one).error();
        std::move(one->frames.begin(), one->frames.end(), std::back_inserter(all.frames));
        if (one->damage && !all.damage) all.damage = std::move(one->damage);
    }
    return all;
}

RingFeed::RingFeed(const Segment& segment, int ring, std::filesystem::path folder, int session, std::uint64_t fromSequence)
    : m_segment(segment), m_ring(ring), m_folder(std::move(folder)), m_session(session),
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
            auto spilled = readSpill(m_folder, m_session, m_ring, m_next);
            if (!spilled.ok()) log::error(spilled.error().text());
            else if (spilled->damage) log::error(spilled->damage->text());
            if (spilled.ok())
                for (Frame& frame : spilled->frames) {
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
