// What the supervisor does about checkpoints that its worker has published: the rule that removes old ones, and re-reading.
#include "launch/session/session.h"

#include "base/clock.h"
#include "base/file_system.h"
#include "base/log.h"
#include "launch/session/retention.h"
#include "rundir/checkpoint_manifest.h"

namespace lathe::launch {

void Session::afterCheckpoint() {
    if (m_book->saves() == m_savesSeen) return;
    m_savesSeen = m_book->saves();
    m_verifier.forget(m_book->lastCheckpoint());   // one of that name may have been replaced
    if (const auto named = rundir::parseCheckpointName(m_book->lastCheckpoint())) m_safeStep = named->step.value();
    m_safeSeconds = m_summary.activeSeconds;
    tidyCheckpoints();
    m_summaryDue = true;
}

/// The rule is applied, and what was not re-read yet is put in line for it.
void Session::tidyCheckpoints() {
    std::vector<std::string> inUse = {m_book->lastCheckpoint()};
    if (!m_record.checkpoint.empty()) inUse.push_back(m_record.checkpoint);
    const AppliedRetention applied = applyRetention(FileSystem::real(), m_run, m_config, *m_writer, inUse);
    for (const std::string& folder : applied.notReRead) m_verifier.add(folder);
    if (!applied.done && m_keepFails.came(applied.done.error().text(), Clock::system().wallNs())) log::warning(applied.done.error().text());
    if (const auto over = applied.done ? m_keepFails.over() : std::nullopt) log::info(*over);
}

/// Whether two paths lead to one folder.
static bool isSameFolder(const std::filesystem::path& one, const std::filesystem::path& other) {
    std::error_code ignored;
    return std::filesystem::equivalent(one, other, ignored);
}

/// What earlier sessions left no time for.
void Session::reReadOlder() {
    if (isProgram()) return;
    for (const rundir::CheckpointInfo& info : rundir::listCheckpoints(m_run.checkpoints()))
        if (info.problem.empty() && info.verifiedNs == 0) m_verifier.add(info.folder);
}

/// Keeps what re-reading found with the checkpoint that was read, whatever has its name by now; a damaged one is said.
void Session::bookVerified() {
    const auto findings = m_verifier.take();
    if (findings.empty()) return;
    for (const Verifier::Finding& finding : findings) {
        if (!isSameFolder(finding.place(), m_run.checkpoints() / finding.folder)) {   // removed or replaced meanwhile
            m_verifier.forget(finding.folder);
            continue;
        }
        const auto written = rundir::writeVerified(FileSystem::real(), finding.place(), finding.found, Clock::system().wallNs());
        if (!written) log::warning(written.error().text());
        if (!finding.found.ok())
            tellEvent("checkpoint_damaged", "Checkpoint " + finding.folder + " was re-read and is damaged: " + finding.found.badFiles.front().text() + ". It is no longer offered; older ones are kept");
    }
    if (m_savesSeen > 0) tidyCheckpoints();   // the rule is applied after saves
    m_summaryDue = true;
}

}  // namespace lathe::launch
