#include "tensorboard/event_writer.h"

#include "tensorboard/event.h"
#include "tensorboard/record_file.h"

#include <limits>
#include <utility>

namespace lathe::tensorboard {

static constexpr std::size_t kFlushBytes = 1u << 20;
// A value that no float reaches becomes infinite, any other the nearest one.
static_assert(std::numeric_limits<float>::is_iec559);

Result<EventWriter> EventWriter::create(FileSystem& fs, const std::filesystem::path& file, double wallSeconds, std::optional<std::int64_t> restartStep) {
    LATHE_TRY_ASSIGN(std::unique_ptr<OutputFile> out, fs.create(file));
    EventWriter writer(std::move(out));
    encodeFileVersion(writer.m_payload, wallSeconds, restartStep.value_or(0));
    writer.add();
    if (restartStep) {
        encodeStart(writer.m_payload, wallSeconds, *restartStep);
        writer.add();
    }
    LATHE_TRY(writer.flush());
    return writer;
}

void EventWriter::add() { frameRecord(m_pending, m_payload); }

void EventWriter::scalar(double wallSeconds, std::int64_t step, std::string_view tag, double value) {
    if (m_problem) return;
    encodeScalar(m_payload, wallSeconds, step, tag, static_cast<float>(value));
    add();
    if (m_pending.size() < kFlushBytes) return;
    if (auto flushed = flush(); !flushed) m_problem = std::move(flushed).error();
}

Result<void> EventWriter::flush() {
    if (m_problem) return Error(*m_problem);
    if (m_pending.empty()) return {};
    if (auto written = m_file->write(m_pending); !written) {
        m_problem = std::move(written).error();
        return Error(*m_problem);
    }
    m_pending.clear();
    return {};
}

}  // namespace lathe::tensorboard
