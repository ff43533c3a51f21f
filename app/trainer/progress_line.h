// One line on a terminal that keeps being rewritten; single lines now and then where standard error is no terminal.
#pragma once

#include "launch/session/supervisor.h"

#include <cstdint>
#include <string>

namespace lathe::trainer {

/// "step 120/900 · loss 0.4312 · eta 1 min 12 s · rate 3e-4 · 5210 samples/s", or what is being done before there are
/// steps. What matters most comes first: a narrow terminal leaves out the last parts.
std::string progressText(const launch::Glance& glance);

class ProgressLine {
public:
    ProgressLine();
    /// `curve`: a line above it, only on a terminal.
    void show(const launch::Glance& glance, const std::string& curve = {});
    /// Output of the run's own program, to standard output, above the line.
    void print(const std::string& output);
    void finish();  ///< leaves the line as it is and goes to the next

private:
    bool m_terminal;
    std::string m_shown;
    bool m_curve = false;   ///< a curve stands above the line
    std::int64_t m_shownNs = 0;
};

}  // namespace lathe::trainer
