#include "record_files.h"

#include "base/file_system.h"
#include "base/number_text.h"
#include "store/record_content.h"

namespace lathe::trainer {

using live::FrameType;

static constexpr std::size_t kMostName = 120;

/// A field of a CSV file (RFC 4180).
static std::string field(const std::string& text) {
    if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
    std::string quoted = "\"";
    for (const char c : text) quoted += c == '"' ? "\"\"" : std::string(1, c);
    return quoted + '"';
}

static Result<std::string> tableCsv(const std::string& content) {
    LATHE_TRY_ASSIGN(const auto table, store::parseTable(content));
    std::string out;
    for (std::size_t i = 0; i < table.columns.size(); ++i) out += (i > 0 ? "," : "") + field(table.columns[i]);
    out += "\r\n";
    for (const auto& row : table.rows) {
        for (std::size_t i = 0; i < row.size(); ++i) out += (i > 0 ? "," : "") + field(row[i].text);
        out += "\r\n";
    }
    return out;
}

static Result<std::string> histogramCsv(const std::string& content) {
    LATHE_TRY_ASSIGN(const auto histogram, store::parseHistogram(content));
    std::string out = "from,to,count\r\n";
    for (std::size_t i = 0; i < histogram.counts.size(); ++i)
        out += exactText(histogram.edges[i]) + "," + exactText(histogram.edges[i + 1]) + "," + exactText(histogram.counts[i]) + "\r\n";
    return out;
}

static const char* extensionOf(const live::RecordFrame& record, const std::string& content) {
    switch (record.type) {
        case FrameType::Text: return ".txt";
        case FrameType::Table:
        case FrameType::Histogram: return ".csv";
        case FrameType::Image: return content.starts_with("\xff\xd8") ? ".jpg" : ".png";
        default: return ".json";
    }
}

Result<RecordFiles> RecordFiles::into(const std::filesystem::path& folder) {
    LATHE_TRY(makeFolders(FileSystem::real(), folder));
    LATHE_TRY_ASSIGN(const auto inside, listFolder(folder));
    if (!inside.empty()) return Error{ErrorCode::Exists, folder.string() + " is not empty; name a new folder", {}, {}};
    return RecordFiles(folder);
}

std::string RecordFiles::freeName(const live::RecordFrame& record, const std::string& extension) {
    std::string word = record.name.substr(0, kMostName);
    for (char& c : word) {
        const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '.';
        if (!plain) c = '_';
    }
    if (word.empty() || word.front() == '.') word = '_' + word;
    const std::string stem = word + "-" + std::to_string(record.step);
    std::string name = stem + extension;
    for (int n = 2; !m_taken.insert(name).second; ++n) name = stem + "-" + std::to_string(n) + extension;
    return name;
}

Result<std::filesystem::path> RecordFiles::write(const live::RecordFrame& record, const std::string& content) {
    Result<std::string> bytes = record.type == FrameType::Table ? tableCsv(content) : record.type == FrameType::Histogram ? histogramCsv(content) : Result<std::string>(content);
    if (!bytes) return bytes.error();
    const std::filesystem::path file = m_folder / freeName(record, extensionOf(record, content));
    LATHE_TRY(replaceFile(FileSystem::real(), file, *bytes));
    return file;
}

}  // namespace lathe::trainer
