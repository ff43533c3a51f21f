#include "launch/import/import_sources.h"

#include "base/clock.h"
#include "base/file_system.h"
#include "base/lasting.h"
#include "launch/process/identity.h"
#include "launch/run/settle.h"

#include <algorithm>

namespace lathe::launch {

static FileSystem& disk() { return FileSystem::real(); }

static Result<ImportSources::Taken> makeRun(const std::filesystem::path& workspace, const std::filesystem::path& folder, const std::string& name) {
    rundir::RunManifest manifest;
    manifest.kind = rundir::RunKind::Imported;
    manifest.source = folder.string();
    manifest.id = rundir::newRunId();
    manifest.name = name;
    manifest.createdNs = Clock::system().wallNs();
    manifest.host = hostName();
    manifest.program = std::string("Lathe ") + LATHE_VERSION;
    rundir::Summary summary;
    summary.id = manifest.id;
    summary.name = name;
    summary.task = rundir::kImportedTask;
    summary.createdNs = summary.startedNs = summary.updatedNs = manifest.createdNs;
    std::optional<rundir::RunLock> lock;
    LATHE_TRY_ASSIGN(rundir::RunFolder run, rundir::createRun(disk(), workspace, manifest, {}, [&](const rundir::RunFolder& unfinished) -> Result<void> {
        LATHE_TRY_ASSIGN(lock, rundir::RunLock::acquire(unfinished.lock()));
        return rundir::writeSummary(disk(), unfinished, summary);
    }));
    return ImportSources::Taken{std::move(run), std::move(*lock), true};
}

Result<ImportSources::Taken> ImportSources::take(const std::filesystem::path& folder, const std::string& name) {
    LATHE_TRY(makeFolders(disk(), m_workspace));
    // Two imports at the same time must not make two runs of one folder.
    LATHE_TRY_ASSIGN(const rundir::RunLock one, rundir::RunLock::acquireWithin(rundir::importLock(m_workspace), 10'000));
    LATHE_TRY_ASSIGN(const auto known, runOf(folder));
    if (!known) return makeRun(m_workspace, folder, name);
    LATHE_TRY_ASSIGN(rundir::RunLock lock, takeRun(*known));
    return Taken{*known, std::move(lock), false};
}

/// A run whose run.json cannot be read just now: its summary tells what is no import.
static bool mayBeImported(const rundir::RunFolder& run) {
    const auto summary = rundir::readSummary(run);
    return !summary || summary->task.empty() || summary->task == rundir::kImportedTask;
}

static Error unknownSource(const rundir::RunFolder& run, const std::filesystem::path& folder, const Error& problem) {
    return {problem.code, "It cannot be told whether " + run.name() + " was made from " + shownPath(folder.native()) + ": " + problem.text() +
            ". Make that file readable, or move the run's folder out of the workspace, and import again", {}, {}};
}

Result<std::optional<rundir::RunFolder>> ImportSources::runOf(const std::filesystem::path& folder) {
    LATHE_TRY_ASSIGN(const auto names, rundir::readRunFolderNames(m_workspace));
    for (const std::string& name : names) {
        if (m_seen.contains(name)) continue;
        rundir::RunFolder run = rundir::runNamed(m_workspace, name);
        const auto manifest = rundir::readManifest(run);
        if (!manifest && !isLasting(manifest.error()) && mayBeImported(run)) return unknownSource(run, folder, manifest.error());
        m_seen.insert(name);
        if (manifest && manifest->kind == rundir::RunKind::Imported) m_made[manifest->source].push_back({manifest->createdNs, std::move(run)});
    }
    const auto found = m_made.find(folder.string());
    if (found == m_made.end()) return std::optional<rundir::RunFolder>();
    std::vector<Made>& made = found->second;
    std::erase_if(made, [](const Made& one) {
        std::error_code ignored;
        return !std::filesystem::exists(one.run.runJson(), ignored);
    });
    const auto newest = std::max_element(made.begin(), made.end(), [](const Made& a, const Made& b) { return a.createdNs < b.createdNs; });
    return newest == made.end() ? std::optional<rundir::RunFolder>() : std::optional(newest->run);
}

}  // namespace lathe::launch
