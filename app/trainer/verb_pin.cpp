// pin and unpin: a pinned checkpoint is never removed by the rule that keeps the newest and the best, unless it is let go.
#include "actions.h"

#include "base/file_system.h"
#include "launch/run/checkpoint_choice.h"
#include "output.h"

#include <nlohmann/json.hpp>

#include <algorithm>

namespace lathe::trainer {

static ExitCode change(const Options& options, bool pinned) {
    const auto found = launch::findCheckpoint(workspaceOf(options), options.target);
    if (!found) return fail(options, found.error());
    const auto& [run, folder] = *found;
    const auto edited = rundir::editUser(FileSystem::real(), run, [&, name = folder](rundir::UserRecord& user) {
        std::erase(user.pinned, name);
        if (pinned) user.pinned.push_back(name);
        else std::erase(user.forked, name);
    });
    if (!edited) return fail(options, edited.error());
    if (options.json) printJson({{"folder", run.place().string()}, {"checkpoint", folder}, {"pinned", pinned}});
    else print((pinned ? "Pinned " : "Unpinned ") + folder + " of " + displayName(run));
    return ExitCode::Completed;
}

ExitCode pin(const Options& options) { return change(options, true); }
ExitCode unpin(const Options& options) { return change(options, false); }

}  // namespace lathe::trainer
