#include "actions.h"

#include "base/clock.h"
#include "base/file_system.h"
#include "base/number_text.h"
#include "launch/run/checkpoint_choice.h"
#include "output.h"
#include "rundir/checkpoint_manifest.h"

#include <nlohmann/json.hpp>

namespace lathe::trainer {

using nlohmann::json;

/// RUN@WHICH and the like, or the folder of a checkpoint. One that is named by its folder need not be usable.
static Result<std::filesystem::path> checkpointFolder(const Options& options) {
    std::error_code ignored;
    const std::filesystem::path given = std::filesystem::path(options.target);
    const bool isNamedSo = rundir::parseCheckpointName(given.filename().string()).has_value();
    if (std::filesystem::is_directory(given, ignored) && (isNamedSo || std::filesystem::exists(given / "manifest.json", ignored)))
        return std::filesystem::absolute(options.target, ignored).lexically_normal();
    LATHE_TRY_ASSIGN(const auto found, launch::findAnyCheckpoint(workspaceOf(options), options.target));
    return found.first.checkpoints() / found.second;
}

/// Damage is kept with the checkpoint, so that nobody offers it; what was damaged and is whole now (the file was put back, the
/// disk could be read again) can be used again.
static void noteDamage(const std::filesystem::path& folder, const rundir::Verification& found) {
    const auto before = rundir::readVerified(folder);
    if (found.ok() && (!before || before->badFiles.empty())) return;
    const rundir::RunFolder run(folder.parent_path().parent_path());
    if (!rundir::readManifest(run)) return;  // a copy somewhere else
    const auto lock = rundir::RunLock::acquire(run.lock());  // of a live run its supervisor has it
    const auto written = lock ? rundir::writeVerified(FileSystem::real(), folder, found, Clock::system().wallNs()) : Result<void>(lock.error());
    if (!written) tell("The list of checkpoints does not know of it: " + written.error().text());
}

ExitCode verify(const Options& options) {
    if (options.replay) return replay(options);
    const auto folder = checkpointFolder(options);
    if (!folder) return fail(options, folder.error());
    const auto checked = rundir::verifyCheckpoint(*folder);
    if (!checked) return fail(options, checked.error());
    noteDamage(*folder, *checked);
    std::vector<std::string> bad;
    for (const rundir::BadFile& file : checked->badFiles) bad.push_back(file.text());
    if (options.json) {
        printJson({{"checkpoint", folder->string()}, {"ok", checked->ok()}, {"files", checked->filesChecked}, {"bytes", checked->bytesChecked},
                   {"digest", checked->digest}, {"bad_files", bad}});
    } else {
        for (const std::string& file : bad) tell(file);
        print(folder->filename().string() + ": " + (checked->ok() ? "whole, " + std::to_string(checked->filesChecked) + " files, " + diskText(checked->bytesChecked) + ", digest " + checked->digest
                            : std::to_string(checked->badFiles.size()) + " of " + std::to_string(checked->filesChecked) + " files are bad; continue goes on from the newest that is whole"));
    }
    return checked->ok() ? ExitCode::Completed : ExitCode::Failed;
}

}  // namespace lathe::trainer
