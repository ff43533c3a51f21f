// CSV as RFC 4180 says: commas; cells may stand in double quotes and then hold commas, line ends and doubled quotes. Text
// is UTF-8. Also read: semicolons or tabs between cells (the header line tells, where it is not given), LF, CRLF and CR
// line ends, a UTF-8 byte order mark, gzip. Empty lines are skipped.
// The file is streamed: memory is one block and one record, however long the file is.
// Thread: one reader at a time.
#pragma once

#include "base/result.h"
#include "dataset/byte_source.h"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace lathe::dataset {

class CsvReader {
public:
    /// Opens the file and reads its header line. Errors carry `key`. `separator` as data.separator.
    static Result<CsvReader> open(const std::filesystem::path& path, const std::string& key, const std::string& separator = "auto");

    const std::vector<std::string>& header() const { return m_header; }  ///< trimmed; a name may be empty, none stands twice
    /// The cells of the next record, valid until the next call, as many as the header has; false at the end.
    Result<bool> next();
    std::span<const std::string> cells() const { return std::span(m_cells).first(m_count); }
    std::int64_t line() const { return m_recordLine; }                   ///< where the record begins; the header is line 1

private:
    CsvReader(ByteSource source, std::string key);

    Result<void> readHeader(const std::string& separator);
    char separatorOfHeader() const;
    void checkText();
    Result<bool> readRecord();
    void readPlain(std::string& cell);
    void readQuoted(std::string& cell);
    void endLine();
    std::string& newCell();
    int peek() { return m_at != m_end || refill() ? static_cast<unsigned char>(m_block[m_at]) : -1; }  ///< next byte, -1 at the end
    void take() { ++m_at; }
    bool refill();
    /// The first failure is kept, and what follows reads as the end of the file.
    void fail(const std::string& sentence, std::int64_t line);

    ByteSource m_source;
    std::string m_key;
    char m_separator = ',';
    std::vector<std::string> m_header;
    std::vector<std::string> m_cells;  ///< reused from record to record; the first m_count count
    std::size_t m_count = 0;
    std::vector<char> m_block;
    std::size_t m_at = 0, m_end = 0;
    std::optional<Error> m_failure;
    std::int64_t m_line = 1, m_recordLine = 1;
};

/// A cell as a finite number; spaces around it do not count.
std::optional<double> cellNumber(std::string_view cell);
std::string_view trimmed(std::string_view cell);

}  // namespace lathe::dataset
