#include "dataset/csv_reader.h"

#include "base/number_text.h"
#include "config/utf8.h"
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

void CsvReader::fail(const std::string& sentence, std::int64_t line) {
    if (!m_failure) m_failure = dataError("Line " + std::to_string(line) + " of " + m_source.path().string() + " " + sentence, m_key);
    m_at = m_end = 0;
}

bool CsvReader::refill() {
    if (m_failure) return false;
    auto got = m_source.read(std::as_writable_bytes(std::span(m_block)));
    if (!got.ok()) {
        m_failure = std::move(got).error();
        m_failure->key = m_key;
    }
    m_at = 0;
    m_end = m_failure ? 0 : *got;
    return m_end > 0;
}

Result<CsvReader> CsvReader::open(const std::filesystem::path& path, const std::string& key, const std::string& separator) {
    auto source = ByteSource::open(path);
    if (!source.ok()) {
        Error error = std::move(source).error();
        error.key = key;
        return error;
    }
    CsvReader reader(std::move(*source), key);
    LATHE_TRY(reader.readHeader(separator));
    return reader;
}

std::string& CsvReader::newCell() {
    if (m_count == m_cells.size()) m_cells.emplace_back();
    m_cells[m_count].clear();
    return m_cells[m_count++];
}

void CsvReader::endLine() {
    const int first = peek();
    if (first < 0) return;
    take();
    if (first == '\r' && peek() == '\n') take();
    ++m_line;
}

void CsvReader::readQuoted(std::string& cell) {
    const std::int64_t begin = m_line;
    take();
    while (true) {
        const int c = peek();
        if (c < 0) return fail("opens a quote (\") that is never closed", begin);
        take();
        if (c == '"') {
            if (peek() != '"') break;
            take();
        }
        if (c == '\n') ++m_line;
        cell += static_cast<char>(c);
        if (cell.size() > kMaxCellBytes) return fail("opens a quote (\") that runs over more than 1 MiB: close it", begin);
    }
    const int after = peek();
    if (after >= 0 && after != m_separator && after != '\r' && after != '\n')
        fail("has text behind a closing quote: write a quote inside a quoted cell twice (\"\")", m_line);
}

void CsvReader::readPlain(std::string& cell) {
    while (peek() >= 0) {
        const char* begin = m_block.data() + m_at;
        const char* end = std::find_if(begin, static_cast<const char*>(m_block.data() + m_end),
                                       [separator = m_separator](char c) { return c == separator || c == '\n' || c == '\r' || c == 0; });
        cell.append(begin, end);
        m_at += static_cast<std::size_t>(end - begin);
        if (cell.size() > kMaxCellBytes) return fail("has a cell longer than 1 MiB: this is no CSV file", m_line);
        if (m_at == m_end) continue;
        if (*end == 0) fail("holds a zero byte: the file is no text in UTF-8 (save it as CSV UTF-8)", m_line);
        return;
    }
}

Result<bool> CsvReader::readRecord() {
    m_count = 0;
    while (peek() == '\r' || peek() == '\n') endLine();
    m_recordLine = m_line;
    if (peek() >= 0) {
        while (true) {
            std::string& cell = newCell();
            if (peek() == '"') readQuoted(cell);
            else readPlain(cell);
            if (m_count > kMaxColumns) fail("has more than 100,000 cells", m_recordLine);
            if (peek() != m_separator) break;
            take();
        }
        endLine();
        checkText();
    }
    if (m_failure) return *m_failure;
    return m_count > 0;
}

/// Numbers, most of what there is, are passed over quickly.
void CsvReader::checkText() {
    for (std::size_t c = 0; c < m_count; ++c) {
        const std::string& cell = m_cells[c];
        const bool plain = std::all_of(cell.begin(), cell.end(), [](char byte) { return static_cast<unsigned char>(byte) < 0x80; });
        if (plain || config::firstBadUtf8(cell) == std::string_view::npos) continue;
        const std::string column = c < m_header.size() ? "column " + inQuotes(m_header[c]) : "column " + std::to_string(c + 1);
        return fail("has letters in " + column + " that are no UTF-8: save the file as UTF-8", m_recordLine);
    }
}

/// What stands most often between the names of the header line, in the part of it that is in the first block.
char CsvReader::separatorOfHeader() const {
    std::size_t commas = 0, semicolons = 0, tabs = 0;
    bool quoted = false, any = false;
    for (std::size_t at = m_at; at < m_end; ++at) {
        const char c = m_block[at];
        if (c == '"') quoted = !quoted;
        if (!quoted && (c == '\n' || c == '\r')) {
            if (any) break;
            continue;
        }
        any = true;
        if (quoted) continue;
        commas += c == ',' ? 1 : 0;
        semicolons += c == ';' ? 1 : 0;
        tabs += c == '\t' ? 1 : 0;
    }
    if (tabs > 0 && tabs >= commas && tabs >= semicolons) return '\t';  // names hold no tabs
    return semicolons > commas ? ';' : ',';
}

Result<void> CsvReader::readHeader(const std::string& separator) {
    static_cast<void>(peek());  // fills the block
    const std::string_view begin(m_block.data(), std::min<std::size_t>(m_end, 3));
    if (begin == kByteOrderMark) m_at += 3;
    m_separator = separator == "comma" ? ',' : separator == "semicolon" ? ';' : separator == "tab" ? '\t' : separatorOfHeader();
    const std::string name = m_source.path().string();
    LATHE_TRY_ASSIGN(const bool any, readRecord());
    if (!any) return dataError(name + " is empty: a CSV file begins with a line of column names", m_key);
    for (const std::string& cell : cells()) m_header.emplace_back(trimmed(cell));
    if (std::all_of(m_header.begin(), m_header.end(), [](const std::string& cell) { return readDouble(cell).has_value(); }))
        return dataError(name + " seems to have no line of column names: its first line is numbers (" +
                             shortList(m_header, 4) + "). Add a first line such as x1,x2,y",
                         m_key);
    std::set<std::string_view> seen;
    for (const std::string& column : m_header)
        if (!column.empty() && !seen.insert(column).second)
            return dataError(name + " has two columns named " + inQuotes(column) + ": rename one", m_key);
    return {};
}

Result<bool> CsvReader::next() {
    LATHE_TRY_ASSIGN(const bool any, readRecord());
    if (!any || m_count == m_header.size()) return any;
    fail("has " + countOf(static_cast<std::int64_t>(m_count), "cell", "cells") + ", the header has " +
             std::to_string(m_header.size()) + ": every line needs one cell for each column",
         m_recordLine);
    return *m_failure;
}

}  // namespace lathe::dataset
