#include "config/utf8.h"

namespace lathe::config {
namespace {

/// Bytes of the sequence that starts with `lead`, and what its second byte may be; length 0: not a lead byte.
struct Sequence {
    std::size_t length = 0;
    unsigned char low = 0x80, high = 0xBF;
};

Sequence sequenceOf(unsigned char lead) {
    if (lead < 0x80) return {1};
    if (lead >= 0xC2 && lead <= 0xDF) return {2};
    if (lead == 0xE0) return {3, 0xA0, 0xBF};
    if (lead == 0xED) return {3, 0x80, 0x9F};
    if (lead >= 0xE1 && lead <= 0xEF) return {3};
    if (lead == 0xF0) return {4, 0x90, 0xBF};
    if (lead >= 0xF1 && lead <= 0xF3) return {4};
    if (lead == 0xF4) return {4, 0x80, 0x8F};
    return {};
}

}  // namespace

std::size_t firstBadUtf8(std::string_view text) {
    const auto byteAt = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
    std::size_t at = 0;
    while (at < text.size()) {
        const Sequence sequence = sequenceOf(byteAt(at));
        if (sequence.length == 0 || text.size() - at < sequence.length) return at;
        if (sequence.length > 1 && (byteAt(at + 1) < sequence.low || byteAt(at + 1) > sequence.high)) return at;
        for (std::size_t i = 2; i < sequence.length; ++i)
            if ((byteAt(at + i) & 0xC0) != 0x80) return at;
        at += sequence.length;
    }
    return std::string_view::npos;
}

std::string repairedUtf8(std::string text) {
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t bad = firstBadUtf8(std::string_view(text).substr(at));
        if (bad == std::string_view::npos) break;
        text[at + bad] = '?';
        at += bad + 1;
    }
    return text;
}

}  // namespace lathe::config
