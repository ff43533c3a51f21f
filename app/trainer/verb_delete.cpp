// delete, trash and restore: runs and single checkpoints are only ever moved, by rename within the workspace, under names
// that tell whose they are: RUNFOLDER, or RUNFOLDER@CHECKPOINT. Links are moved and removed as links, never followed.
#include "actions.h"

#include "base/file_system.h"
#include "base/number_text.h"
#include "launch/run/checkpoint_choice.h"
#include "launch/run/settle.h"
#include "output.h"
#include "run_facts.h"
#include "rundir/checkpoint_manifest.h"
#include "rundir/trash.h"
#include "store/history.h"
#include "store/run_store.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <utility>

namespace lathe::trainer {

using nlohmann::json;

using rundir::trashOf;

static bool isFolder(const std::filesystem::path& place) {
    std::error_code ignored;
    return std::filesystem::symlink_status(place, ignored).type() == std::filesystem::file_type::directory;
}

/// A link in its place would have things leave the workspace, or have somebody else's things removed.
static Result<void> checkTrash(const std::filesystem::path& workspace) {
    std::error_code ignored;
    const auto trash = trashOf(workspace);
    if (isFolder(trash) || std::filesystem::symlink_status(trash, ignored).type() == std::filesystem::file_type::not_found) return {};
    return Error{ErrorCode::Usage, trash.string() + " is a link or a file, and the trash is a folder of the workspace; move it away, and what is deleted goes to a new one", {}, {}};
}

/// Begins and ends the names of what is being removed for good.
static std::string halfRemoved(const std::string& name) { return "." + name + ".removed"; }
static bool isHalfRemoved(const std::string& name) { return name.starts_with('.') && name.ends_with(".removed"); }

static Result<void> move(const std::filesystem::path& from, const std::filesystem::path& to) {
    FileSystem& fs = FileSystem::real();
    std::error_code ignored;
    LATHE_TRY(makeFolders(fs, to.parent_path()));
    if (std::filesystem::exists(to, ignored)) return Error{ErrorCode::Exists, to.string() + " is there already", {}, {}};
    LATHE_TRY(fs.rename(from, to));
    LATHE_TRY(fs.syncFolder(to.parent_path()));
    return fs.syncFolder(from.parent_path());
}

/// Whoever waits for what a lost supervisor left learns of it.
static launch::EndOfLeftovers told(const Options& options) {
    launch::EndOfLeftovers how;
    if (!options.json) how.tell = [](const std::string& text) { tell(text); };
    return how;
}

static ExitCode moved(const Options& options, const std::filesystem::path& to, const std::string& text) {
    if (options.json) printJson({{"folder", to.string()}, {"text", text}});
    else print(text);
    return ExitCode::Completed;
}

static std::filesystem::path trashOf(const std::filesystem::path& workspace, const rundir::RunFolder& run, const std::string& checkpoint) {
    return trashOf(workspace) / (run.name() + "@" + checkpoint);
}

/// What a link in the workspace points to has a name of its own, and is deleted by that.
static Result<void> refuseLink(const rundir::RunFolder& run) {
    std::error_code ignored;
    if (!std::filesystem::is_symlink(run.root(), ignored)) return {};
    return Error{ErrorCode::Usage, run.root().string() + " is a link; delete what it points to by its own name, or remove the link itself: rm " + run.root().string(), {}, {}};
}

/// Its curves stay, and so do files that other checkpoints share with it.
static Result<void> removeOne(const Options& options, const rundir::RunFolder& run, const std::string& folder) {
    const auto workspace = workspaceOf(options);
    LATHE_TRY(checkTrash(workspace));
    LATHE_TRY_ASSIGN(const auto lock, launch::takeRun(run, told(options)));
    LATHE_TRY_ASSIGN(const rundir::UserRecord user, rundir::readUser(run));
    if (std::find(user.pinned.begin(), user.pinned.end(), folder) != user.pinned.end())
        return Error{ErrorCode::Usage, folder + " is pinned; lathe-trainer unpin lets it go", {}, {}};
    LATHE_TRY_ASSIGN(const auto writer, store::RunWriter::open(run.database()));
    LATHE_TRY(move(run.checkpoints() / folder, trashOf(workspace, run, folder)));
    return writer->markCheckpointDeleted(folder);
}

static bool isBest(const rundir::RunFolder& run, const std::string& folder) {
    const auto all = rundir::listCheckpoints(run.checkpoints());
    return std::any_of(all.begin(), all.end(), [&](const auto& info) { return info.folder == folder && info.best; });
}

static ExitCode deleteCheckpoint(const Options& options) {
    const auto found = launch::findAnyCheckpoint(workspaceOf(options), options.target);
    if (!found) return fail(options, found.error());
    const auto& [run, folder] = *found;
    if (const auto own = refuseLink(run); !own) return fail(options, own.error());
    const bool best = isBest(run, folder);
    if (const auto removed = removeOne(options, run, folder); !removed) return fail(options, removed.error());
    if (options.json) printJson({{"folder", run.place().string()}, {"checkpoint", folder}, {"was_best", best}});
    else print("Moved checkpoint " + folder + " of " + displayName(run) + " to the trash" + (best ? "; it was the best one" : "") + "; lathe-trainer restore " + run.name() + "@" + folder + " brings it back");
    return ExitCode::Completed;
}

ExitCode deleteRun(const Options& options) {
    if (options.target.find('@') != std::string::npos) return deleteCheckpoint(options);
    const auto workspace = workspaceOf(options);
    if (const auto named = rundir::findRun(workspace, options.target); named)
        if (const auto own = refuseLink(*named); !own) return fail(options, own.error());
    const auto run = targetRun(options);
    if (!run) return fail(options, run.error());
    std::error_code ignored;
    if (!std::filesystem::equivalent(run->place().parent_path(), workspace / "runs", ignored))
        return fail(options, Error{ErrorCode::Usage, run->place().string() + " is not in the workspace " + workspace.string(), {}, {}});
    if (const auto whole = checkTrash(workspace); !whole) return fail(options, whole.error());
    const auto lock = launch::takeRun(*run, told(options));
    if (!lock) return fail(options, lock.error());
    const auto to = trashOf(workspace) / run->name();
    if (const auto done = move(run->place(), to); !done) return fail(options, done.error());
    if (const auto history = store::History::open(workspace)) static_cast<void>(history->forget(run->name()));
    return moved(options, to, "Moved to the trash: " + to.string() + "; lathe-trainer restore " + run->name() + " brings it back");
}

/// Runs in the trash look like runs in a workspace whose runs folder is called otherwise.
static bool isDeletedRun(const std::filesystem::path& place) {
    return isFolder(place) && !isHalfRemoved(place.filename().string()) && rundir::readManifest(rundir::RunFolder(place)).ok();
}

/// A folder RUNFOLDER@CHECKPOINT.
static bool isDeletedCheckpoint(const std::filesystem::path& place) {
    const std::string name = place.filename().string();
    const std::size_t at = name.rfind('@');
    return at != std::string::npos && isFolder(place) && rundir::parseCheckpointName(name.substr(at + 1)).has_value();
}

static std::vector<rundir::RunFolder> deletedRuns(const std::filesystem::path& workspace) {
    std::vector<rundir::RunFolder> out;
    const auto names = listFolder(trashOf(workspace));
    for (std::size_t i = 0; names && i < names->size(); ++i)
        if (isDeletedRun(trashOf(workspace) / (*names)[i])) out.emplace_back(trashOf(workspace) / (*names)[i]);
    return out;
}

/// Run folder and checkpoint.
static std::vector<std::pair<std::string, std::string>> deletedCheckpoints(const std::filesystem::path& workspace) {
    std::vector<std::pair<std::string, std::string>> out;
    const auto names = listFolder(trashOf(workspace));
    for (std::size_t i = 0; names && i < names->size(); ++i) {
        const std::string& name = (*names)[i];
        const std::size_t at = name.rfind('@');
        if (isDeletedCheckpoint(trashOf(workspace) / name)) out.emplace_back(name.substr(0, at), name.substr(at + 1));
    }
    return out;
}

/// Names in the trash: what delete moved there, and what else is there or was damaged since.
struct TrashContent {
    std::vector<std::string> deleted, foreign;
};

static Result<TrashContent> lookInto(const std::filesystem::path& trash) {
    TrashContent content;
    std::error_code ignored;
    if (std::filesystem::symlink_status(trash, ignored).type() == std::filesystem::file_type::not_found) return content;
    LATHE_TRY_ASSIGN(const auto names, listFolder(trash));
    for (const std::string& name : names) {
        if (isHalfRemoved(name)) continue;
        const bool isDeleted = isDeletedRun(trash / name) || isDeletedCheckpoint(trash / name);
        (isDeleted ? content.deleted : content.foreign).push_back(name);
    }
    return content;
}

static void tellForeign(const std::filesystem::path& trash, const std::vector<std::string>& foreign) {
    for (const std::string& name : foreign) tell((trash / name).string() + " is no run or checkpoint that was deleted; it is left alone");
}

/// Ends what an emptying began, also one that was cut off.
static Result<void> finishRemoving(const std::filesystem::path& trash) {
    std::error_code ignored;
    if (std::filesystem::symlink_status(trash, ignored).type() == std::filesystem::file_type::not_found) return {};
    LATHE_TRY_ASSIGN(auto names, listFolder(trash));
    std::erase_if(names, [](const std::string& name) { return !isHalfRemoved(name); });
    for (const std::string& name : names) LATHE_TRY(removeTree(FileSystem::real(), trash / name));
    return names.empty() ? Result<void>() : FileSystem::real().syncFolder(trash);
}

/// Only these names; none means all. What somebody agreed to is removed as they saw it, or nothing is.
static Result<void> narrow(TrashContent& content, const std::vector<std::string>& names) {
    if (names.empty()) return {};
    for (const std::string& name : names)
        if (std::find(content.deleted.begin(), content.deleted.end(), name) == content.deleted.end())
            return Error{ErrorCode::NotFound, "\"" + name.substr(0, 200) + "\" is not in the trash, so nothing was removed; lathe-trainer trash lists what is", {}, {}};
    std::erase_if(content.deleted, [&](const std::string& name) { return std::find(names.begin(), names.end(), name) == names.end(); });
    return {};
}

/// What `trash` lists, and nothing else. Every name goes before the first file does: nothing that is half there can be restored.
static Result<TrashContent> removeDeleted(const std::filesystem::path& trash, const std::vector<std::string>& names) {
    LATHE_TRY(finishRemoving(trash));
    LATHE_TRY_ASSIGN(TrashContent content, lookInto(trash));
    LATHE_TRY(narrow(content, names));
    if (content.deleted.empty()) return content;
    for (const std::string& name : content.deleted) LATHE_TRY(FileSystem::real().rename(trash / name, trash / halfRemoved(name)));
    LATHE_TRY(FileSystem::real().syncFolder(trash));
    LATHE_TRY(finishRemoving(trash));
    return content;
}

static ExitCode emptyTrash(const Options& options) {
    const auto trash = trashOf(workspaceOf(options));
    const auto removed = removeDeleted(trash, options.more);
    if (!removed) return fail(options, removed.error());
    tellForeign(trash, removed->foreign);
    const std::size_t count = removed->deleted.size();
    if (options.json) printJson({{"removed", count}});
    else print(count == 0 ? "The trash is empty" : "Removed " + std::to_string(count) + (count == 1 ? " thing" : " things") + " for good");
    return ExitCode::Completed;
}

ExitCode trash(const Options& options) {
    if (const auto whole = checkTrash(workspaceOf(options)); !whole) return fail(options, whole.error());
    if (options.empty) return emptyTrash(options);
    if (const auto finished = finishRemoving(trashOf(workspaceOf(options))); !finished) tell(finished.error().text());
    json list = json::array();
    for (const auto& run : deletedRuns(workspaceOf(options))) list.push_back(rowJson(run));
    const auto checkpoints = deletedCheckpoints(workspaceOf(options));
    for (const auto& [run, checkpoint] : checkpoints)
        if (options.json) list.push_back({{"folder", (trashOf(workspaceOf(options)) / (run + "@" + checkpoint)).string()}, {"run_folder", run}, {"checkpoint", checkpoint}});
    if (options.json) {
        printJson(list);
        return ExitCode::Completed;
    }
    for (const json& row : list)
        print(row.at("id").get<std::string>() + "  " + row.at("name").get<std::string>() + "  " + row.at("folder").get<std::string>());
    for (const auto& [run, checkpoint] : checkpoints) print(run + "@" + checkpoint);
    if (const auto content = lookInto(trashOf(workspaceOf(options)))) tellForeign(trashOf(workspaceOf(options)), content->foreign);
    if (list.empty() && checkpoints.empty()) print("The trash is empty");
    return ExitCode::Completed;
}

/// RUN@STEP or RUN@CHECKPOINT; of several with that step the newest.
static Result<std::pair<rundir::RunFolder, std::string>> findDeletedCheckpoint(const std::filesystem::path& workspace, const std::string& reference) {
    const std::size_t at = reference.rfind('@');
    LATHE_TRY_ASSIGN(rundir::RunFolder run, rundir::findRun(workspace, reference.substr(0, at)));
    const std::string which = reference.substr(at + 1);
    const auto step = readInteger(which);
    const auto all = deletedCheckpoints(workspace);
    for (auto it = all.rbegin(); it != all.rend(); ++it)
        if (it->first == run.name() && (it->second == which || (step && rundir::parseCheckpointName(it->second)->step.value() == *step))) return std::pair(std::move(run), it->second);
    return Error{ErrorCode::NotFound, "No checkpoint \"" + which.substr(0, 100) + "\" of " + displayName(run) + " is in the trash; lathe-trainer trash lists them", {}, {}};
}

static Result<void> bringBack(const Options& options, const rundir::RunFolder& run, const std::string& checkpoint) {
    LATHE_TRY_ASSIGN(const auto lock, launch::takeRun(run, told(options)));
    LATHE_TRY_ASSIGN(const auto writer, store::RunWriter::open(run.database()));
    LATHE_TRY(move(trashOf(workspaceOf(options), run, checkpoint), run.checkpoints() / checkpoint));
    return writer->markCheckpointDeleted(checkpoint, false);
}

static ExitCode restoreCheckpoint(const Options& options) {
    const auto workspace = workspaceOf(options);
    const auto found = findDeletedCheckpoint(workspace, options.target);
    if (!found) return fail(options, found.error());
    const auto& [run, checkpoint] = *found;
    if (const auto back = bringBack(options, run, checkpoint); !back) return fail(options, back.error());
    return moved(options, run.place() / "checkpoints" / checkpoint, "Restored checkpoint " + checkpoint + " of " + displayName(run));
}

ExitCode restore(const Options& options) {
    if (const auto whole = checkTrash(workspaceOf(options)); !whole) return fail(options, whole.error());
    if (options.target.find('@') != std::string::npos) return restoreCheckpoint(options);
    const auto workspace = workspaceOf(options);
    std::vector<rundir::RunFolder> found;
    for (const auto& run : deletedRuns(workspace)) {
        const auto manifest = rundir::readManifest(run);
        const bool hasId = manifest && manifest->id.starts_with(options.target);
        if (run.name() == options.target || hasId || displayName(run) == options.target) found.push_back(run);
    }
    if (found.size() != 1) {
        return fail(options, Error{found.empty() ? ErrorCode::NotFound : ErrorCode::Usage, (found.empty() ? "No run \"" : "Several runs fit \"")
                    + options.target + "\" in the trash; lathe-trainer trash lists them", {}, {}});
    }
    const auto to = workspace / "runs" / found.front().name();
    if (const auto done = move(found.front().root(), to); !done) return fail(options, done.error());
    if (const auto history = store::History::open(workspace)) static_cast<void>(history->update(found.front().name()));
    return moved(options, to, "Restored: " + to.string());
}

}  // namespace lathe::trainer
