// One line on a terminal that keeps being rewritten; single lines now and then where standard error is no terminal.
#pragma once

#include "launch/supervisor.h"

#include <cstdint>
#include <string>

namespace lathe::trainer {

/// "120/900  loss 0.4312  rate 3e-4  5,210 samples/s  eta 1 min 12 s", or what is being done before there are steps.
std::string progressText(const launch::Glance& glance);

class ProgressLine {
public:
    ProgressLine();
    void show(const launch::Glance& glance);
    /// Output of the run's own program, to standard output, above the line.
    void print(const std::string& output);
    void finish();  ///< leaves the line as it is and goes to the next

private:
    bool m_terminal;
    std::string m_shown;
    std::int64_t m_shownNs = 0;
};

}  // namespace lathe::trainer
