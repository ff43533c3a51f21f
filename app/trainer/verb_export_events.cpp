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

/// A folder that the person named: it must not hold event files yet.
static Result<void> prepare(const stdfs::path& folder) {
    LATHE_TRY(makeFolders(FileSystem::real(), folder));
    LATHE_TRY_ASSIGN(const auto found, tensorboard::findEventFolders(folder));
    if (found.withEvents.empty()) return {};
    return Error{ErrorCode::Exists, folder.string() + " holds event files already; name another folder, or they would be shown together", {}, {}};
}

static Result<tensorboard::ExportReport> writeTo(const Options& options, const rundir::RunFolder& run, const stdfs::path& folder) {
    LATHE_TRY_ASSIGN(const auto manifest, rundir::readManifest(run));
    LATHE_TRY_ASSIGN(const auto reader, store::RunReader::open(run.database()));
    return tensorboard::exportEvents(FileSystem::real(), *reader, {folder, manifest.host, options.allBranches, manifest.kind == rundir::RunKind::Imported});
}

/// The run's own folder of event files: the new ones are whole before the old ones go.
static Result<tensorboard::ExportReport> replaceOwn(const Options& options, const rundir::RunFolder& run) {
    FileSystem& fs = FileSystem::real();
    LATHE_TRY_ASSIGN(const auto lock, rundir::RunLock::acquire(run.exportLock()));
    LATHE_TRY(removeTree(fs, run.unfinishedExport()));
    LATHE_TRY(makeFolders(fs, run.unfinishedExport()));
    auto report = writeTo(options, run, run.unfinishedExport());
    if (!report) return static_cast<void>(removeTree(fs, run.unfinishedExport())), report;
    LATHE_TRY(makeFolders(fs, run.exportFolder()));
    LATHE_TRY(removeTree(fs, run.exportedEvents()));
    LATHE_TRY(fs.rename(run.unfinishedExport(), run.exportedEvents()));
    for (stdfs::path& file : report->files) file = run.exportedEvents() / file.lexically_relative(run.unfinishedExport());
    return report;
}

static Result<tensorboard::ExportReport> write(const Options& options, const rundir::RunFolder& run, const stdfs::path& folder) {
    if (options.tensorboard->empty()) return replaceOwn(options, run);
    LATHE_TRY(prepare(folder));
    return writeTo(options, run, folder);
}

/// What was written, and what was not.
static std::string sentence(const tensorboard::ExportReport& report, const stdfs::path& folder) {
    std::string out = report.points == 0 ? "There is no point to export; " + folder.string() + " holds no event files"
                                         : "Exported " + std::to_string(report.points) + (report.points == 1 ? " point" : " points") + " to " + folder.string() + "; tensorboard --logdir shows them";
    if (report.leftBehind > 0) out += ". " + std::to_string(report.leftBehind) + " of abandoned branches are not among them (--all-branches exports these, too)";
    return out;
}

ExitCode exportEventFiles(const Options& options) {
    const auto run = runToRead(options);
    if (!run) return fail(options, run.error());
    const rundir::RunFolder here(run->place());
    const stdfs::path folder = options.tensorboard->empty() ? here.exportedEvents() : stdfs::absolute(*options.tensorboard);
    const auto report = write(options, here, folder);
    if (!report) return fail(options, report.error());
    json files = json::array();
    for (const stdfs::path& file : report->files) files.push_back(file.string());
    if (options.json) printJson({{"folder", folder.string()}, {"points", report->points}, {"left_behind", report->leftBehind}, {"files", files}});
    else print(sentence(*report, folder));
    return ExitCode::Completed;
}

}  // namespace lathe::trainer
