#include "launch/session/session_recorder.h"

#include "base/clock.h"
#include "base/log.h"
#include "launch/run/session_row.h"

#include <algorithm>
#include <array>
#include <sys/vfs.h>
#include <unistd.h>

namespace lathe::launch {

static bool isOnNetwork(const std::filesystem::path& folder) {
    struct statfs info {};
    if (::statfs(folder.c_str(), &info) != 0) return false;
    constexpr std::array<std::uint32_t, 5> kKinds = {0x6969, 0xff534d42, 0xfe534d42, 0x0bd00bd0, 0x47504653};  // NFS, CIFS, SMB2, Lustre, GPFS
    return std::find(kKinds.begin(), kKinds.end(), static_cast<std::uint32_t>(info.f_type)) != kKinds.end();
}

Result<void> SessionRecorder::begin() {
    LATHE_TRY_ASSIGN(m_writer, store::RunWriter::open(m_run.database(), isOnNetwork(m_run.root())));
    LATHE_TRY(m_writer->beginSession(rowOf(m_record)));
    m_book = std::make_unique<FrameBook>(*m_writer, m_summary, m_session);
    return {};
}

Result<void> SessionRecorder::openMemory(int ranks, const std::string& token) {
    live::Segment::Shape shape;
    shape.writers = ranks + 1;
    LATHE_TRY_ASSIGN(m_segment, live::Segment::create(shape, token));
    for (int ring = 0; ring < m_segment->writers(); ++ring) m_feeds.emplace_back(*m_segment, ring, m_run.spill(), m_session);
    m_control.recordedSeq.assign(m_feeds.size(), 0);
    return {};
}

void SessionRecorder::openEvents(const std::filesystem::path& folder, std::int64_t firstStep) {
    auto opened = LiveEvents::open(folder, m_record, firstStep);
    if (opened) m_events.emplace(std::move(*opened));
    else tell("warning", "No TensorBoard events are written: " + opened.error().text());
}

void SessionRecorder::tell(const std::string& kind, const std::string& text, const std::string& json) {
    live::EventFrame event;
    event.session = m_session;
    event.attempt = m_book->lastAttempt();
    event.step = m_book->lastStep();
    event.wallNs = Clock::system().wallNs();
    event.kind = kind;
    event.text = text;
    event.json = json;
    std::vector<std::byte> payload;
    live::encode(event, payload);
    if (const auto written = m_segment->write(ownRing(), live::FrameType::Event, payload); !written) log::warning(written.error().text());
    log::info(text);
}

void SessionRecorder::beat() {
    live::Heartbeat own;
    own.phase = live::Phase::Training;
    own.attempt = m_book->lastAttempt();
    own.step = m_book->lastStep();
    own.monotonicNs = Clock::system().monotonicNs();
    own.pid = ::getpid();
    own.lostFrames = m_lost;
    m_segment->beat(ownRing(), own);
}

void SessionRecorder::setWishes(const live::Control& wishes) {
    std::vector<std::uint64_t> recorded = std::move(m_control.recordedSeq);
    m_control = wishes;
    m_control.recordedSeq = std::move(recorded);
    m_segment->setControl(m_control);
}

void SessionRecorder::drain(bool all) {
    for (std::size_t ring = 0; ring < m_feeds.size(); ++ring) {
        for (int batches = 0; all || batches < 16; ++batches) {
            const live::RingFeed::Batch batch = m_feeds[ring].read(1u << 20, all);
            m_lost += batch.lost;
            for (const live::Frame& frame : batch.frames) {
                m_book->take(static_cast<int>(ring), frame);
                if (m_events) m_events->take(static_cast<int>(ring), frame);
            }
            if (batch.frames.empty()) break;
        }
    }
    if (m_book->activeNs() > 0) m_timeLeft.add(m_book->lastStep(), static_cast<double>(m_book->activeNs()) / 1e9);
}

/// What is durable is also reported as taken: frames that only this process's memory holds can still be spilled.
void SessionRecorder::flush() {
    std::vector<std::uint64_t> positions;
    for (const live::RingFeed& feed : m_feeds) positions.push_back(feed.position());
    if (const auto flushed = m_events ? m_events->flush() : Result<void>(); !flushed) {
        m_events.reset();
        tell("warning", "No more TensorBoard events are written: " + flushed.error().text());
    }
    if (const auto flushed = m_book->flush(); !flushed) {
        if (m_problem != flushed.error().text()) log::error(flushed.error().text());
        m_problem = flushed.error().text();
        return;
    }
    m_problem.clear();
    for (std::size_t ring = 0; ring < m_feeds.size(); ++ring) {
        const int number = static_cast<int>(ring);
        m_control.recordedSeq[ring] = m_writer->recordedSequence(number, m_session);
        m_segment->setRecorderBytes(number, positions[ring]);
    }
    m_segment->setControl(m_control);
    if (m_whenRecorded) m_whenRecorded(m_control.recordedSeq.front());
}

void SessionRecorder::recordFor(std::int64_t durable) {
    if (durable == m_durableSeen) return;
    m_durableSeen = durable;
    drain(false);
    flush();
}

void SessionRecorder::bookFirstStep() {
    if (!m_problem.empty()) return;
    const store::SessionRow row = m_book->row(m_record);
    if (m_bookedFirst == row.firstStep || m_book->lastAttempt() == 0) return;
    m_bookedFirst = row.firstStep;
    if (const auto booked = m_writer->bookEnd(row); !booked) log::warning(booked.error().text());
}

EndOfRecording SessionRecorder::end() const {
    return {m_writer.get(), m_book ? m_book->row(m_record) : rowOf(m_record), !m_problem.empty()};
}

}  // namespace lathe::launch
