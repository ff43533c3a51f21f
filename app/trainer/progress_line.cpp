#include "progress_line.h"

#include "base/clock.h"
#include "base/number_text.h"
#include "rundir/run_folder.h"

#include <algorithm>
#include <cstdio>
#include <sys/ioctl.h>
#include <unistd.h>

namespace lathe::trainer {

static constexpr std::int64_t kPlainEveryNs = 5'000'000'000;

std::string progressText(const launch::Glance& glance) {
    std::string text = std::to_string(glance.step);
    if (glance.plannedSteps) text += "/" + std::to_string(*glance.plannedSteps);
    text = glance.loss ? "step " + text : std::string(rundir::name(glance.state));
    if (!glance.phase.empty() && glance.phase != "training" && glance.phase != text) text += " · " + glance.phase;
    if (glance.loss) text += " · loss " + shortText(*glance.loss);
    if (glance.learningRate) text += " · rate " + shortText(*glance.learningRate, 3);
    if (glance.samplesPerSecond) text += " · " + shortText(*glance.samplesPerSecond, 3) + " samples/s";
    if (!glance.stopping.empty()) return text + " · " + glance.stopping;
    if (glance.state == rundir::State::Paused) return text + " · paused";
    if (glance.loss && rundir::isAlive(glance.state))
        text += " · eta " + (glance.secondsLeft ? durationText(*glance.secondsLeft) : glance.plannedSteps ? "measuring" : "unknown");
    return text;
}

ProgressLine::ProgressLine() : m_terminal(::isatty(STDERR_FILENO) == 1) {}

void ProgressLine::show(const launch::Glance& glance) {
    std::string text = progressText(glance);
    const std::int64_t now = Clock::system().monotonicNs();
    for (const std::string& sentence : glance.said) std::fprintf(stderr, "%s%s\n", m_terminal ? "\r\033[K" : "", sentence.c_str());
    if (!m_terminal) {
        if (text == m_shown || (m_shownNs != 0 && now - m_shownNs < kPlainEveryNs && rundir::isAlive(glance.state))) return;
        std::fprintf(stderr, "%s\n", text.c_str());
    } else {
        winsize window{};
        const std::size_t columns = ::ioctl(STDERR_FILENO, TIOCGWINSZ, &window) == 0 && window.ws_col > 10 ? window.ws_col : 80;
        // Counted in characters, not bytes: continuation bytes of UTF-8 take no column.
        std::size_t width = 0, end = 0;
        for (; end < text.size(); ++end) {
            const bool begins = (static_cast<unsigned char>(text[end]) & 0xc0) != 0x80;
            if (begins && width + 1 >= columns) break;
            width += begins ? 1 : 0;
        }
        std::fprintf(stderr, "\r\033[K%s", text.substr(0, end).c_str());
    }
    std::fflush(stderr);
    m_shown = std::move(text);
    m_shownNs = now;
}

void ProgressLine::print(const std::string& output) {
    if (output.empty()) return;
    if (m_terminal) std::fputs("\r\033[K", stderr);
    std::fwrite(output.data(), 1, output.size(), stdout);
    if (m_terminal && output.back() != '\n') std::fputc('\n', stdout);
    std::fflush(stdout);
}

void ProgressLine::finish() {
    if (m_terminal && !m_shown.empty()) std::fputc('\n', stderr);
    m_shown.clear();
}

}  // namespace lathe::trainer
