#include "actions.h"

#include "launch/run/checkpoint_choice.h"
#include "output.h"
#include "sheet.h"
#include "start.h"

#include <optional>
#include <utility>

namespace lathe::trainer {

ExitCode startFromWeights(const Options& options) {
    std::optional<launch::HeldCheckpoint> found;
    if (auto held = launch::holdCheckpoint(workspaceOf(options), options.target)) found.emplace(std::move(*held));
    else return fail(options, held.error());
    if (options.dryRun) return tellSheet(options, found->run, launch::GoOn::StartFromWeights, found->folder);
    auto prepared = launch::prepareFromWeights(workspaceOf(options), found->run, found->folder, options.settings);
    found.reset();   // a supervisor in the background would go on holding it
    return start(options, std::move(prepared));
}

}  // namespace lathe::trainer
