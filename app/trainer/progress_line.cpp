#include "progress_line.h"

#include "base/clock.h"
#include "base/number_text.h"
#include "output.h"
#include "rundir/run_folder.h"

#include <algorithm>
#include <cstdio>
#include <string_view>
#include <sys/ioctl.h>
#include <unistd.h>

namespace lathe::trainer {

static constexpr std::int64_t kPlainEveryNs = 5'000'000'000;

std::string progressText(const launch::Glance& glance) {
    std::string text = std::to_string(glance.step);
    if (glance.plannedSteps) text += "/" + std::to_string(*glance.plannedSteps);
    text = glance.loss ? "step " + text : std::string(rundir::name(glance.state));
    if (!glance.phase.empty() && glance.phase != "training" && glance.phase != text && !(glance.state == rundir::State::Paused && glance.phase.starts_with("paused"))) text += " · " + glance.phase;
    if (glance.loss) text += " · loss " + shortText(*glance.loss);
    if (glance.stopping) text += " · " + launch::sentenceOf(*glance.stopping);
    else if (glance.state == rundir::State::Paused) text += " · paused";
    else if (glance.loss && rundir::isAlive(glance.state))
        text += " · eta " + (glance.secondsLeft ? durationText(*glance.secondsLeft) : glance.plannedSteps ? "measuring" : "unknown");
    if (glance.learningRate) text += " · rate " + shortText(*glance.learningRate, 3);
    if (glance.samplesPerSecond) text += " · " + shortText(*glance.samplesPerSecond, 3) + " samples/s";
    return text;
}

ProgressLine::ProgressLine() : m_terminal(::isatty(STDERR_FILENO) == 1) {}

/// Columns that a text takes: continuation bytes of UTF-8 take none.
static std::size_t widthOf(const std::string& text) {
    return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }));
}

/// Without what does not fit: the last parts first, then letters.
static std::string fitted(std::string text, std::size_t columns) {
    static constexpr std::string_view kBetween = " · ";
    while (widthOf(text) > columns) {
        std::size_t end = text.rfind(kBetween);
        if (end == std::string::npos) {
            end = text.size() - 1;
            while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;
        }
        text.erase(end);
    }
    return text;
}

void ProgressLine::show(const launch::Glance& glance, const std::string& curve) {
    std::string text = progressText(glance);
    const std::int64_t now = Clock::system().monotonicNs();
    const std::string back = !m_terminal ? "" : m_curve ? "\r\033[1A\033[J" : "\r\033[J";
    if (!glance.said.empty()) std::fputs(back.c_str(), stderr);
    for (const std::string& sentence : glance.said) std::fprintf(stderr, "%s\n", printable(sentence).c_str());
    if (!m_terminal) {
        if (text == m_shown || (m_shownNs != 0 && now - m_shownNs < kPlainEveryNs && rundir::isAlive(glance.state))) return;
        std::fprintf(stderr, "%s\n", text.c_str());
    } else {
        winsize window{};
        const std::size_t columns = ::ioctl(STDERR_FILENO, TIOCGWINSZ, &window) == 0 && window.ws_col > 10 ? window.ws_col : 80;
        if (glance.said.empty()) std::fputs(back.c_str(), stderr);
        m_curve = !curve.empty() && widthOf(curve) < columns;
        if (m_curve) std::fprintf(stderr, "%s\n", curve.c_str());
        std::fputs(fitted(text, columns - 1).c_str(), stderr);
    }
    std::fflush(stderr);
    m_shown = std::move(text);
    m_shownNs = now;
}

void ProgressLine::print(const std::string& output) {
    if (output.empty()) return;
    if (m_terminal) std::fputs(m_curve ? "\r\033[1A\033[J" : "\r\033[J", stderr);
    m_curve = false;
    std::fwrite(output.data(), 1, output.size(), stdout);
    if (m_terminal && output.back() != '\n') std::fputc('\n', stdout);
    std::fflush(stdout);
}

void ProgressLine::finish() {
    if (m_terminal && !m_shown.empty()) std::fputc('\n', stderr);
    m_shown.clear();
    m_curve = false;
}

}  // namespace lathe::trainer
