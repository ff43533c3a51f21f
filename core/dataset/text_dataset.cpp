// A plain text file, of which rows of bytes are the samples.
#include "base/file_system.h"
#include "base/hash.h"
#include "base/number_text.h"
#include "config/utf8.h"
#include "dataset/byte_source.h"
#include "dataset/source.h"
#include "dataset/text_rows.h"
#include "dataset/wording.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <unistd.h>
#include <utility>

namespace lathe::dataset {
namespace {

class TextDataset final : public Dataset {
public:
    TextDataset(Info info, TextRows rows) : m_rows(std::move(rows)) { m_info = std::move(info); }

    const TextRows* text() const override { return &m_rows; }
    Result<void> input(std::int64_t sample, const Augmentation*, std::span<float> out) const override { return bytesOf(sample, out); }
    Result<void> input(std::int64_t sample, const Augmentation*, std::span<double> out) const override { return bytesOf(sample, out); }
    std::int64_t label(std::int64_t) const override { return -1; }
    std::span<const double> target(std::int64_t) const override { return {}; }
    double weight(std::int64_t sample) const override { return static_cast<double>(m_rows.weight(sample)); }
    std::string describe(std::int64_t sample) const override {
        const TextRows::Range row = m_rows.range(sample);
        return "bytes " + std::to_string(row.begin) + " to " + std::to_string(row.end - 1);
    }
    Result<Thumbnail> thumbnail(std::int64_t sample, int) const override {
        constexpr std::int64_t kShown = 240;
        const TextRows::Range row = m_rows.range(sample);
        Thumbnail thumbnail;
        thumbnail.where = describe(sample);
        thumbnail.answer = sample < m_rows.rows() - m_rows.heldOutRows() ? "train" : "held out";
        const auto* first = reinterpret_cast<const char*>(m_rows.text().data());
        for (const char c : config::repairedUtf8(std::string(first + row.begin, first + std::min(row.end, row.begin + kShown)))) {
            if (c == '\n') thumbnail.text += "↵";
            else thumbnail.text += static_cast<unsigned char>(c) < ' ' ? ' ' : c;
        }
        return thumbnail;
    }
    void hashInto(Hasher& hasher) const override {
        hasher.update(std::as_bytes(std::span(m_rows.text())));
        const std::int64_t facts[] = {m_rows.context(), m_rows.documents(), m_rows.heldOutRows()};
        hasher.update(std::as_bytes(std::span(facts)));
    }

private:
    template <typename Number>
    Result<void> bytesOf(std::int64_t sample, std::span<Number> out) const {
        const TextRows::Range row = m_rows.range(sample);
        LATHE_ASSERT(static_cast<std::int64_t>(out.size()) == m_rows.context());
        std::fill(out.begin(), out.end(), Number(0));
        for (std::int64_t i = row.begin; i < row.end; ++i) out[static_cast<std::size_t>(i - row.begin)] = m_rows.text()[static_cast<std::size_t>(i)];
        return {};
    }

    TextRows m_rows;
};

Result<void> refuseFolder(const Source& source) {
    std::error_code problem;
    if (!std::filesystem::is_directory(source.path, problem)) return {};
    return dataError(source.path.string() + " is a folder, and a text is one file: choose the file", source.key);
}

Result<std::vector<std::uint8_t>> readAll(const Source& source) {
    constexpr std::size_t kPiece = 1u << 20;
    LATHE_TRY(refuseFolder(source));
    LATHE_TRY_ASSIGN(ByteSource file, ByteSource::open(source.path));
    std::vector<std::uint8_t> text;
    while (true) {
        const std::size_t have = text.size();
        text.resize(have + kPiece);
        LATHE_TRY_ASSIGN(const std::size_t got, file.read(std::as_writable_bytes(std::span(text).subspan(have))));
        text.resize(have + got);
        if (got < kPiece) break;
        LATHE_TRY(source.report(static_cast<std::int64_t>(text.size()), 0));
        LATHE_TRY(checkMemory(source.path, static_cast<double>(text.size()), source.key));
    }
    return text;
}

/// First bytes of the documents: after each line end, or after each run of line ends that holds an empty line.
std::vector<std::int64_t> documentStarts(const std::vector<std::uint8_t>& text, const std::string& rule) {
    std::vector<std::int64_t> starts{0};
    if (rule == "file") return starts;
    for (std::size_t i = 0; i + 1 < text.size(); ++i) {
        if (text[i] != '\n') continue;
        const bool isEmptyLine = i == 0 || text[i - 1] == '\n' || (text[i - 1] == '\r' && i > 1 && text[i - 2] == '\n');
        const bool goesOn = text[i + 1] == '\n' || text[i + 1] == '\r';   // more empty lines belong to the same end
        if (rule == "line" || (isEmptyLine && !goesOn)) starts.push_back(static_cast<std::int64_t>(i) + 1);
    }
    return starts;
}

/// First byte of the held-out part: the last `fraction` of the bytes, from the beginning of a document on where one begins there.
std::int64_t heldOutFrom(std::int64_t size, const std::vector<std::int64_t>& starts, double fraction) {
    if (!(fraction > 0)) return size;
    const std::int64_t wanted = std::clamp<std::int64_t>(size - std::llround(fraction * static_cast<double>(size)), 2, size - 2);
    const auto next = std::lower_bound(starts.begin(), starts.end(), wanted);
    return next == starts.end() || *next + 2 > size ? wanted : *next;
}

Result<void> checkLength(const Source& source, std::int64_t size) {
    const std::string name = source.path.string();
    if (size == 0) return dataError(name + " is empty: choose a file with text", source.key);
    const bool trains = source.key == "data.train";
    const std::int64_t least = trains ? source.data.context + 1 : 2;
    if (size >= least) return {};
    if (!trains) return dataError(name + " holds " + countOf(size, "byte", "bytes") + ", and it takes two to foretell one from the other", source.key);
    return dataError(name + " holds " + countOf(size, "byte", "bytes") + ", and a context of " + std::to_string(source.data.context) + " needs " + std::to_string(least) +
                         ": lower data.context or choose a longer text", "data.context");
}

}  // namespace

Result<void> glanceAtText(const Source& source) {
    LATHE_TRY(refuseFolder(source));
    LATHE_TRY_ASSIGN(const OpenFile file, openRegular(source.path));
    std::array<unsigned char, 2> first{};
    const ssize_t got = ::pread(file.descriptor, first.data(), first.size(), 0);
    ::close(file.descriptor);
    const bool isPacked = got == 2 && first[0] == 0x1f && first[1] == 0x8b;
    return isPacked ? Result<void>() : checkLength(source, static_cast<std::int64_t>(file.bytes));
}

Result<std::unique_ptr<Dataset>> openText(const Source& source) {
    if (source.task.name != "language")
        return Error{ErrorCode::Config, "A text has neither classes nor targets for the task " + source.task.name + ": set task.name to language and model.name to gpt", "task.name", {}};
    LATHE_TRY_ASSIGN(std::vector<std::uint8_t> text, readAll(source));
    const auto size = static_cast<std::int64_t>(text.size());
    LATHE_TRY(checkLength(source, size));
    std::vector<std::int64_t> starts = documentStarts(text, source.data.documents);
    const bool holdsOut = source.like == nullptr && source.data.eval.empty() && size >= 4;
    const std::int64_t cut = holdsOut ? heldOutFrom(size, starts, source.data.evalFraction) : size;
    TextRows rows(std::move(text), std::move(starts), cut, source.data.context);
    Info info;
    info.format = "text";
    info.samples = rows.rows();
    info.bytes = size;
    info.documents = rows.documents();
    info.context = rows.context();
    info.heldOut = rows.heldOutRows();
    info.heldOutBytes = size - cut;
    info.holdsZeroBytes = std::find(rows.text().begin(), rows.text().end(), 0) != rows.text().end();
    info.weighted = true;
    LATHE_TRY(source.report(info.samples, info.samples));
    return std::unique_ptr<Dataset>(std::make_unique<TextDataset>(std::move(info), std::move(rows)));
}

}  // namespace lathe::dataset
