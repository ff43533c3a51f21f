#include "dataset/csv_reader.h"

#include "base/number_text.h"
#include "dataset/wording.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

namespace lathe::dataset {
namespace {

constexpr std::size_t kBlockBytes = std::size_t{1} << 18;
constexpr std::size_t kMaxCellBytes = std::size_t{1} << 20;
constexpr std::size_t kMaxColumns = 100'000;
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

}  // namespace

std::string_view trimmed(std::string_view cell) {
    while (!cell.empty() && (cell.front() == ' ' || cell.front() == '\t')) cell.remove_prefix(1);
    while (!cell.empty() && (cell.back() == ' ' || cell.back() == '\t')) cell.remove_suffix(1);
    return cell;
}

std::optional<double> cellNumber(std::string_view cell) {
    const auto number = readDouble(trimmed(cell));
    return number && std::isfinite(*number) ? number : std::nullopt;
}

CsvReader::CsvReader(ByteSource source, std::string key)
    : m_source(std::move(source)), m_key(std::move(key)), m_block(kBlockBytes) {}

Error CsvReader::error(const std::string& sentence, std::int64_t line) const {
    return dataError("Line " + std::to_string(line) + " of " + m_source.path().string() + " " + sentence, m_key);
}

Result<CsvReader> CsvReader::open(const std::filesystem::path& path, const std::string& key) {
    auto source = ByteSource::open(path);
    if (!source.ok()) {
        Error error = std::move(source).error();
        error.key = key;
        return error;
    }
    CsvReader reader(std::move(*source), key);
    LATHE_TRY(reader.readHeader());
    return reader;
}

Result<int> CsvReader::peek() {
    if (m_at == m_end) {
        LATHE_TRY_ASSIGN(m_end, m_source.read(std::as_writable_bytes(std::span(m_block))));
        m_at = 0;
        if (m_end == 0) return -1;
    }
    return static_cast<unsigned char>(m_block[m_at]);
}

std::string& CsvReader::newCell() {
    if (m_count == m_cells.size()) m_cells.emplace_back();
    m_cells[m_count].clear();
    return m_cells[m_count++];
}

Result<void> CsvReader::endLine() {
    LATHE_TRY_ASSIGN(const int first, peek());
    if (first < 0) return {};
    take();
    if (first == '\r') {
        LATHE_TRY_ASSIGN(const int second, peek());
        if (second == '\n') take();
    }
    ++m_line;
    return {};
}

Result<void> CsvReader::readQuoted(std::string& cell) {
    const std::int64_t begin = m_line;
    take();
    while (true) {
        LATHE_TRY_ASSIGN(const int c, peek());
        if (c < 0) return error("opens a quote (\") that is never closed", begin);
        take();
        if (c == '"') {
            LATHE_TRY_ASSIGN(const int following, peek());
            if (following != '"') break;
            take();
        }
        if (c == '\n') ++m_line;
        cell += static_cast<char>(c);
        if (cell.size() > kMaxCellBytes) return error("opens a quote (\") that runs over more than 1 MiB: close it", begin);
    }
    LATHE_TRY_ASSIGN(const int after, peek());
    if (after >= 0 && after != ',' && after != '\r' && after != '\n')
        return error("has text behind a closing quote: write a quote inside a quoted cell twice (\"\")", m_line);
    return {};
}

Result<void> CsvReader::readCell(std::string& cell) {
    LATHE_TRY_ASSIGN(const int first, peek());
    if (first == '"') return readQuoted(cell);
    while (true) {
        LATHE_TRY_ASSIGN(const int c, peek());
        if (c < 0 || c == ',' || c == '\r' || c == '\n') return {};
        if (c == 0) return error("holds a zero byte: the file is no text in UTF-8 (save it as CSV UTF-8)", m_line);
        cell += static_cast<char>(c);
        take();
        if (cell.size() > kMaxCellBytes) return error("has a cell longer than 1 MiB: this is no CSV file", m_line);
    }
}

Result<bool> CsvReader::readRecord() {
    m_count = 0;
    while (true) {  // empty lines
        LATHE_TRY_ASSIGN(const int c, peek());
        if (c < 0) return false;
        if (c != '\r' && c != '\n') break;
        LATHE_TRY(endLine());
    }
    m_recordLine = m_line;
    while (true) {
        LATHE_TRY(readCell(newCell()));
        if (m_count > kMaxColumns) return error("has more than 100,000 cells", m_recordLine);
        LATHE_TRY_ASSIGN(const int c, peek());
        if (c != ',') break;
        take();
    }
    LATHE_TRY(endLine());
    return true;
}

Result<void> CsvReader::readHeader() {
    LATHE_TRY(peek());
    const std::string_view begin(m_block.data(), std::min<std::size_t>(m_end, 3));
    if (begin == kByteOrderMark) m_at += 3;
    const std::string name = m_source.path().string();
    LATHE_TRY_ASSIGN(const bool any, readRecord());
    if (!any) return dataError(name + " is empty: a CSV file begins with a line of column names", m_key);
    for (const std::string& cell : cells()) m_header.emplace_back(trimmed(cell));
    if (std::all_of(m_header.begin(), m_header.end(), [](const std::string& cell) { return readDouble(cell).has_value(); }))
        return dataError(name + " seems to have no line of column names: its first line is numbers (" +
                             shortList(m_header, 4) + "). Add a first line such as x1,x2,y",
                         m_key);
    for (const char separator : {';', '\t'})
        if (m_header.size() == 1 && m_header[0].find(separator) != std::string::npos)
            return dataError(name + " seems to separate its columns by " + (separator == ';' ? "semicolons" : "tabs") +
                                 ": save it with commas (and decimal points)",
                             m_key);
    std::set<std::string_view> seen;
    for (const std::string& column : m_header)
        if (!column.empty() && !seen.insert(column).second)
            return dataError(name + " has two columns named " + inQuotes(column) + ": rename one", m_key);
    return {};
}

Result<bool> CsvReader::next() {
    LATHE_TRY_ASSIGN(const bool any, readRecord());
    if (any && m_count != m_header.size())
        return error("has " + countOf(static_cast<std::int64_t>(m_count), "cell", "cells") + ", the header has " +
                         std::to_string(m_header.size()) + ": every line needs one cell for each column",
                     m_recordLine);
    return any;
}

}  // namespace lathe::dataset
