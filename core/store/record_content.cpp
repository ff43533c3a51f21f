#include "store/record_content.h"

#include "base/bytes.h"
#include "base/file_system.h"
#include "base/hash.h"
#include "base/number_text.h"
#include "rundir/json_reader.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <span>
#include <sys/stat.h>
#include <unistd.h>

namespace lathe::store {

using nlohmann::json;

static Error damaged(std::string_view what, std::string_view why) {
    return {ErrorCode::Corrupt, std::string(what) + " is damaged: " + std::string(why), {}, {}};
}

/// Reads a descriptor to its end and closes it.
static Result<std::string> readAndClose(int fd, const std::string& name) {
    std::string bytes;
    struct stat info {};
    if (::fstat(fd, &info) == 0 && static_cast<std::uint64_t>(info.st_size) <= kMostRecordBytes) bytes.resize(static_cast<std::size_t>(info.st_size));
    else return ::close(fd), damaged("blobs/" + name, "it is larger than anything that is recorded");
    std::size_t done = 0;
    while (done < bytes.size()) {
        const ssize_t got = ::read(fd, bytes.data() + done, bytes.size() - done);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) {
            const int problem = errno;
            return ::close(fd), fileError("read", "blobs/" + name, problem);
        }
        if (got == 0) break;
        done += static_cast<std::size_t>(got);
    }
    ::close(fd);
    bytes.resize(done);
    return bytes;
}

Result<std::string> recordContent(const rundir::RunFolder& run, const live::RecordFrame& record) {
    if (record.blob.empty()) return record.content;
    LATHE_TRY_ASSIGN(const int fd, rundir::openBelow(run.blobs(), record.blob));
    LATHE_TRY_ASSIGN(std::string bytes, readAndClose(fd, record.blob));
    if (hashHex(std::as_bytes(std::span(bytes))) != record.blob) return damaged("blobs/" + record.blob, "its bytes are not the ones that were recorded");
    return bytes;
}

Result<void> putAside(const rundir::RunFolder& run, live::RecordFrame& record) {
    if (record.content.size() <= live::kMostInlineBytes && record.type != live::FrameType::Image) return {};
    const std::string hash = hashHex(std::as_bytes(std::span(record.content)));
    const std::filesystem::path file = run.blobs() / hash;
    std::error_code ignored;
    if (!std::filesystem::exists(file, ignored)) {
        LATHE_TRY(makeFolders(FileSystem::real(), run.blobs()));
        LATHE_TRY(replaceFile(FileSystem::real(), file, record.content));
    }
    record.blob = hash;
    record.content.clear();
    return {};
}

Result<HistogramContent> parseHistogram(const std::string& content) {
    ByteReader in(std::as_bytes(std::span(content)));
    const std::size_t bins = in.get<std::uint32_t>();
    if (!in.ok() || bins == 0 || in.left() != (2 * bins + 1) * sizeof(double)) return damaged("The histogram", "its length and its number of bins differ");
    HistogramContent histogram;
    histogram.edges.reserve(bins + 1);
    histogram.counts.reserve(bins);
    for (std::size_t i = 0; i <= bins; ++i) histogram.edges.push_back(in.get<double>());
    for (std::size_t i = 0; i < bins; ++i) histogram.counts.push_back(in.get<double>());
    for (std::size_t i = 0; i <= bins; ++i) {
        if (!std::isfinite(histogram.edges[i])) return damaged("The histogram", "an edge is not a finite number");
        if (i > 0 && histogram.edges[i] < histogram.edges[i - 1]) return damaged("The histogram", "its edges do not grow");
    }
    return histogram;
}

static RecordCell cellOf(const json& value) {
    if (value.is_null()) return {};
    if (value.is_number_integer()) return {value.dump(), true};
    if (value.is_number()) return {exactText(value.get<double>()), true};
    if (!value.is_string()) return {value.dump(), false};
    std::string text = value.get<std::string>();
    const bool isNumber = text == "nan" || text == "inf" || text == "-inf";  // what JSON has no word for
    return {std::move(text), isNumber};
}

Result<TableContent> parseTable(const std::string& content) {
    LATHE_TRY_ASSIGN(const json value, rundir::parseStrict(content, "The table"));
    if (!value.is_object() || !value.contains("columns") || !value.contains("rows") || !value["columns"].is_array() || !value["rows"].is_array())
        return damaged("The table", "it has no columns and rows");
    TableContent table;
    for (const json& column : value["columns"]) table.columns.push_back(cellOf(column).text);
    for (const json& row : value["rows"]) {
        if (!row.is_array()) return damaged("The table", "a row is not a list");
        std::vector<RecordCell> cells;
        cells.reserve(std::max(row.size(), table.columns.size()));
        for (const json& cell : row) cells.push_back(cellOf(cell));
        if (cells.size() < table.columns.size()) cells.resize(table.columns.size());
        table.rows.push_back(std::move(cells));
    }
    return table;
}

Result<RecordCell> parseSummaryValue(const std::string& content) {
    LATHE_TRY_ASSIGN(const json value, rundir::parseStrict(content, "The value"));
    return cellOf(value);
}

Result<OwnCheckpoint> parseOwnCheckpoint(const std::string& content) {
    LATHE_TRY_ASSIGN(const json value, rundir::parseStrict(content, "The checkpoint's entry"));
    rundir::JsonReader reader(value, "The checkpoint's entry");
    OwnCheckpoint checkpoint;
    checkpoint.path = reader.text("path");
    checkpoint.bytes = reader.integer("bytes", 0);
    for (auto& [name, text] : reader.textMap("metrics")) checkpoint.metrics.emplace_back(name, text);
    LATHE_TRY(reader.check());
    return checkpoint;
}

}  // namespace lathe::store
