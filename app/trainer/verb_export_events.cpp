// Any run as TensorBoard event files: its surviving line, and abandoned branches where asked for.
#include "actions.h"

#include "base/file_system.h"
#include "output.h"
#include "store/run_store.h"
#include "tensorboard/event_folder.h"
#include "tensorboard/export_events.h"

#include <nlohmann/json.hpp>

namespace lathe::trainer {

namespace stdfs = std::filesystem;
using nlohmann::json;

/// The run's own folder is made anew each time; another one must not hold event files yet.
static Result<stdfs::path> target(const Options& options, const rundir::RunFolder& run) {
    FileSystem& fs = FileSystem::real();
    std::error_code ignored;
    if (options.tensorboard->empty()) {
        const stdfs::path folder = run.exportFolder() / "tensorboard";
        if (stdfs::exists(folder, ignored)) LATHE_TRY(removeTree(fs, folder));
        LATHE_TRY(makeFolders(fs, folder));
        return folder;
    }
    const stdfs::path folder = stdfs::absolute(*options.tensorboard);
    LATHE_TRY(makeFolders(fs, folder));
    LATHE_TRY_ASSIGN(const auto found, tensorboard::findEventFolders(folder));
    if (found.withEvents.empty()) return folder;
    return Error{ErrorCode::Exists, folder.string() + " holds event files already; name another folder, or they would be shown together", {}, {}};
}

static Result<tensorboard::ExportReport> write(const Options& options, const rundir::RunFolder& run, stdfs::path& folder) {
    LATHE_TRY_ASSIGN(const auto manifest, rundir::readManifest(run));
    LATHE_TRY_ASSIGN(const auto reader, store::RunReader::open(run.database()));
    LATHE_TRY_ASSIGN(folder, target(options, run));
    return tensorboard::exportEvents(FileSystem::real(), *reader, {folder, manifest.host, options.allBranches, manifest.kind == rundir::RunKind::Imported});
}

ExitCode exportEventFiles(const Options& options) {
    const auto run = targetRun(options);
    if (!run) return fail(options, run.error());
    stdfs::path folder;
    const auto report = write(options, rundir::RunFolder(run->place()), folder);
    if (!report) return fail(options, report.error());
    json files = json::array();
    for (const stdfs::path& file : report->files) files.push_back(file.string());
    if (options.json) printJson({{"folder", folder.string()}, {"points", report->points}, {"files", files}});
    else print("Exported " + std::to_string(report->points) + " points to " + folder.string() + "; tensorboard --logdir shows them");
    return ExitCode::Completed;
}

}  // namespace lathe::trainer
