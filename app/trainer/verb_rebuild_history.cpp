#include "actions.h"

#include "output.h"
#include "store/history.h"

#include <nlohmann/json.hpp>

namespace lathe::trainer {

ExitCode rebuildHistory(const Options& options) {
    const auto workspace = workspaceOf(options);
    const auto history = store::History::open(workspace);
    if (const auto rebuilt = history->rebuild(); !rebuilt) return fail(options, rebuilt.error());
    const auto rows = history->rows();
    if (!rows) return fail(options, rows.error());
    if (options.json) printJson({{"workspace", workspace.string()}, {"runs", rows->size()}});
    else print("The index of " + workspace.string() + " holds " + std::to_string(rows->size()) + " runs");
    return ExitCode::Completed;
}

}  // namespace lathe::trainer
