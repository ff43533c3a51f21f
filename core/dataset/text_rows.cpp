#include "dataset/text_rows.h"

#include "base/error.h"

#include <algorithm>

namespace lathe::dataset {
namespace {

/// A last row of a single byte would have nothing to learn.
std::int64_t rowsOf(std::int64_t bytes, std::int64_t context) { return bytes < 2 ? 0 : (bytes - 1 + context - 1) / context; }

}  // namespace

TextRows::TextRows(std::vector<std::uint8_t> text, std::vector<std::int64_t> starts, std::int64_t cut, std::int64_t context)
    : m_text(std::move(text)), m_starts(std::move(starts)), m_cut(cut), m_context(context) {
    LATHE_ASSERT(context > 0 && cut >= 2 && (cut == size() || cut + 2 <= size()));
    m_trainRows = rowsOf(cut, context);
    m_heldOutRows = rowsOf(size() - cut, context);
}

bool TextRows::startsDocument(std::int64_t byte) const { return std::binary_search(m_starts.begin(), m_starts.end(), byte); }

TextRows::Range TextRows::range(std::int64_t index) const {
    LATHE_ASSERT(index >= 0 && index < rows());
    const std::int64_t begin = index < m_trainRows ? index * m_context : m_cut + (index - m_trainRows) * m_context;
    return {begin, std::min(begin + m_context, partEnd(index))};
}

void TextRows::read(std::int64_t index, const TextRow& out) const {
    const Range row = range(index);
    const std::int64_t partEnds = partEnd(index);
    auto nextStart = std::upper_bound(m_starts.begin(), m_starts.end(), row.begin);
    std::int64_t document = 0;
    for (std::int64_t i = 0; i < m_context; ++i) {
        const std::int64_t byte = row.begin + i;
        const auto place = static_cast<std::size_t>(i);
        if (byte >= row.end) {
            out.bytes[place] = 0;
            out.next[place] = kNothing;
            out.documents[place] = document + 1;
            continue;
        }
        if (nextStart != m_starts.end() && *nextStart == byte) {
            ++document;
            ++nextStart;
        }
        const bool isLast = byte + 1 == partEnds || (nextStart != m_starts.end() && *nextStart == byte + 1);
        out.bytes[place] = m_text[static_cast<std::size_t>(byte)];
        out.next[place] = isLast ? kNothing : static_cast<std::int64_t>(m_text[static_cast<std::size_t>(byte) + 1]);
        out.documents[place] = document;
    }
}

std::int64_t TextRows::weight(std::int64_t index) const {
    const Range row = range(index);
    // Documents that end within the row: those whose successor starts at one of its bytes but the first, or right after it.
    const auto ends = std::upper_bound(m_starts.begin(), m_starts.end(), row.end) - std::upper_bound(m_starts.begin(), m_starts.end(), row.begin);
    const bool endsThePart = row.end == partEnd(index) && !startsDocument(row.end);
    return row.end - row.begin - ends - (endsThePart ? 1 : 0);
}

}  // namespace lathe::dataset
