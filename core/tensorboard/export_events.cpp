#include "tensorboard/export_events.h"

#include "tensorboard/event.h"
#include "tensorboard/event_folder.h"
#include "tensorboard/event_writer.h"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <utility>

namespace lathe::tensorboard {

namespace stdfs = std::filesystem;

namespace {

/// The files of the surviving line and of what was abandoned, each made with its first point.
class Files {
public:
    Files(FileSystem& fs, const ExportOptions& options, const std::vector<store::SessionRow>& sessions) : m_fs(fs), m_options(options) {
        for (const store::SessionRow& row : sessions) m_rows[row.number] = row;
        for (const store::LinePart& part : store::survivingLine(sessions)) m_line[part.session] = part.lastAttempt;
        std::int64_t newest = 0;
        for (auto& [number, row] : m_rows) newest = m_seconds[number] = std::max(newest, row.startedNs / 1'000'000'000);
    }

    Result<void> add(const std::string& series, const store::Point& point) {
        const auto line = m_line.find(point.session);
        const bool survives = line != m_line.end() && point.attempt <= line->second;
        if (!survives && !m_options.allBranches) return ++m_report.leftBehind, Result<void>();
        LATHE_TRY_ASSIGN(EventWriter* writer, writerOf(point, survives));
        writer->scalar(wallSecondsOf(point.wallNs), point.step, series, point.value);
        ++m_report.points;
        return {};
    }

    Result<ExportReport> finish() {
        for (auto& [key, writer] : m_writers) LATHE_TRY(writer.flush());
        std::sort(m_report.files.begin(), m_report.files.end());
        return std::move(m_report);
    }

private:
    Result<EventWriter*> writerOf(const store::Point& point, bool survives) {
        const auto key = std::pair(survives, point.session);
        if (const auto known = m_writers.find(key); known != m_writers.end()) return &known->second;
        stdfs::path folder = m_options.folder;
        if (!survives) {
            folder /= "branch-" + std::to_string(point.session);
            LATHE_TRY(makeFolders(m_fs, folder));
        }
        const stdfs::path file = folder / sessionFileName(m_seconds[point.session], m_options.host, point.session);
        LATHE_TRY_ASSIGN(EventWriter writer, EventWriter::create(m_fs, file, wallSecondsOf(m_rows[point.session].startedNs), survives ? restartStep(point.session) : std::nullopt));
        m_report.files.push_back(file);
        return &m_writers.emplace(key, std::move(writer)).first->second;
    }

    std::optional<std::int64_t> restartStep(std::int32_t session) const {
        const auto row = m_rows.find(session);
        if (row == m_rows.end() || row->second.parentSession == 0) return std::nullopt;
        if (m_options.stepsAreAttempts && row->second.parentAttempt >= row->second.firstStep) return std::nullopt;
        return row->second.firstStep;
    }

    FileSystem& m_fs;
    const ExportOptions& m_options;
    std::map<std::int32_t, store::SessionRow> m_rows;
    std::map<std::int32_t, std::int64_t> m_line, m_seconds;
    std::map<std::pair<bool, std::int32_t>, EventWriter> m_writers;
    ExportReport m_report;
};

}  // namespace

Result<ExportReport> exportEvents(FileSystem& fs, const store::RunReader& reader, const ExportOptions& options) {
    LATHE_TRY_ASSIGN(const auto sessions, reader.sessions());
    LATHE_TRY_ASSIGN(const auto series, reader.series());
    Files files(fs, options, sessions);
    for (const store::SeriesSummary& each : series) {  // one series in memory at a time: readers keep each by itself
        LATHE_TRY_ASSIGN(const auto points, reader.points(each.name, store::RunReader::Line::All));
        for (const store::Point& point : points) LATHE_TRY(files.add(each.name, point));
    }
    return files.finish();
}

}  // namespace lathe::tensorboard
