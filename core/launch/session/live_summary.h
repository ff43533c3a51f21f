// summary.json of a run that is up, which every list of runs reads: written at once where something came of what people wait
// for, else every second.
// Thread: that of the session; the clock comes from outside.
#pragma once

#include "launch/process/recurring_problem.h"
#include "rundir/run_folder.h"

#include <cstdint>
#include <string>

namespace lathe::launch {

class LiveSummary {
public:
    /// Both outlive this object.
    LiveSummary(const rundir::RunFolder& run, rundir::Summary& summary) : m_run(run), m_summary(summary) {}

    /// `why`: of the pause where it is one (the first, while it lasts), else what keeps it from getting on, or empty.
    void setState(rundir::State state, const std::string& why);
    /// Where there is something in it that people wait to see.
    void noteChange(bool isThere) { m_hasChanged = m_hasChanged || isThere; }
    bool isDue(std::int64_t nowNs) const;
    /// What fails is logged (once, until it is over) and tried again a second later.
    void write(std::int64_t nowNs, std::int64_t wallNs);

private:
    const rundir::RunFolder& m_run;
    rundir::Summary& m_summary;
    std::int64_t m_writtenNs = 0;
    bool m_hasChanged = true;
    RecurringProblem m_fails{"times summary.json could not be written"};
};

}  // namespace lathe::launch
