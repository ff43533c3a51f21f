#include "actions.h"

#include "launch/run/run_summary.h"
#include "output.h"
#include "store/history.h"

#include <nlohmann/json.hpp>

#include <filesystem>

namespace lathe::trainer {

/// The index is made of summaries: those that were lost are made again first.
static int mendSummaries(const std::filesystem::path& workspace) {
    int mended = 0;
    for (const rundir::RunFolder& run : rundir::listRuns(workspace)) {
        const auto done = launch::mendSummary(run);
        if (!done) tell(run.name() + " has no readable summary.json: " + done.error().text());
        else if (*done) ++mended;
    }
    return mended;
}

ExitCode rebuildHistory(const Options& options) {
    const auto workspace = workspaceOf(options);
    const int mended = mendSummaries(workspace);
    const auto history = store::History::open(workspace);
    if (const auto rebuilt = history->rebuild(); !rebuilt) return fail(options, rebuilt.error());
    const auto rows = history->rows();
    if (!rows) return fail(options, rows.error());
    const std::string made = mended == 0 ? std::string() : "; " + std::to_string(mended) + (mended == 1 ? " summary was" : " summaries were") + " made again from the record";
    if (options.json) printJson({{"workspace", workspace.string()}, {"runs", rows->size()}, {"summaries_mended", mended}});
    else print("The index of " + workspace.string() + " holds " + std::to_string(rows->size()) + " runs" + made);
    return ExitCode::Completed;
}

}  // namespace lathe::trainer
