// A text as rows of bytes to learn from: which byte follows which, and where documents end.
//
// The bytes of all documents stand one after the other and are cut into rows of `context` bytes; nothing is left out and
// nothing comes twice. What is learned at a byte is the byte after it, so that the last byte of a document, and of the
// part, has nothing to be learned at. A row may hold the ends and beginnings of several documents: who reads it keeps them
// apart by the number of the document.
// Thread: immutable; any number of threads may read.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace lathe::dataset {

/// Of each byte of a row; all three spans of one length.
struct TextRow {
    std::span<std::int64_t> bytes;       ///< 0 behind the end of the part
    std::span<std::int64_t> next;        ///< the byte to be foretold, kNothing where there is none
    std::span<std::int64_t> documents;   ///< number of the document within the row, from 0; what lies behind the end is one of its own
};

class TextRows {
public:
    static constexpr std::int64_t kNothing = -100;

    /// `starts`: first bytes of the documents, ascending, the first one 0. `cut`: first byte of the held-out part, the size of
    /// the text where there is none. Requires: both parts of at least 2 bytes, or no second one.
    TextRows(std::vector<std::uint8_t> text, std::vector<std::int64_t> starts, std::int64_t cut, std::int64_t context);

    std::int64_t context() const { return m_context; }
    std::int64_t rows() const { return m_trainRows + m_heldOutRows; }
    std::int64_t heldOutRows() const { return m_heldOutRows; }   ///< the last ones
    std::int64_t documents() const { return static_cast<std::int64_t>(m_starts.size()); }
    const std::vector<std::uint8_t>& text() const { return m_text; }

    /// Requires: 0 <= index < rows(), spans of length context().
    void read(std::int64_t index, const TextRow& out) const;
    /// Bytes of it that have a next one.
    std::int64_t weight(std::int64_t index) const;
    /// Its first byte, and the one after its last.
    struct Range {
        std::int64_t begin = 0, end = 0;
    };
    Range range(std::int64_t index) const;

private:
    bool startsDocument(std::int64_t byte) const;
    std::int64_t partEnd(std::int64_t index) const { return index < m_trainRows ? m_cut : size(); }
    std::int64_t size() const { return static_cast<std::int64_t>(m_text.size()); }

    std::vector<std::uint8_t> m_text;
    std::vector<std::int64_t> m_starts;
    std::int64_t m_cut, m_context, m_trainRows, m_heldOutRows;
};

}  // namespace lathe::dataset
