#include "launch/session/published_checkpoints.h"

#include "base/clock.h"
#include "base/file_system.h"
#include "base/log.h"
#include "launch/session/retention.h"
#include "rundir/checkpoint_manifest.h"

#include <vector>

namespace lathe::launch {

/// Whether two paths lead to one folder.
static bool isSameFolder(const std::filesystem::path& one, const std::filesystem::path& other) {
    std::error_code ignored;
    return std::filesystem::equivalent(one, other, ignored);
}

void PublishedCheckpoints::reReadOlder() {
    for (const rundir::CheckpointInfo& info : rundir::listCheckpoints(m_session.run.checkpoints()))
        if (info.problem.empty() && info.verifiedNs == 0) m_verifier.add(info.folder);
}

bool PublishedCheckpoints::look(double activeSeconds) {
    const bool isSaved = seeToSave(activeSeconds);
    return bookReRead() || isSaved;
}

bool PublishedCheckpoints::seeToSave(double activeSeconds) {
    if (m_session.book.saves() == m_savesSeen) return false;
    m_savesSeen = m_session.book.saves();
    m_verifier.forget(m_session.book.lastCheckpoint());   // one of that name may have been replaced
    if (const auto named = rundir::parseCheckpointName(m_session.book.lastCheckpoint())) m_safe.step = named->step.value();
    m_safe.activeSeconds = activeSeconds;
    applyRule();
    return true;
}

/// What stays and was not re-read yet is put in line for it.
void PublishedCheckpoints::applyRule() {
    std::vector<std::string> inUse = {m_session.book.lastCheckpoint()};
    if (!m_session.record.checkpoint.empty()) inUse.push_back(m_session.record.checkpoint);
    const AppliedRetention applied = applyRetention(FileSystem::real(), m_session.run, m_session.config, m_session.writer, inUse);
    for (const std::string& folder : applied.notReRead) m_verifier.add(folder);
    if (!applied.done && m_keepFails.came(applied.done.error().text(), Clock::system().wallNs())) log::warning(applied.done.error().text());
    if (const auto over = applied.done ? m_keepFails.over() : std::nullopt) log::info(*over);
}

/// Keeps what re-reading found with the checkpoint that was read, whatever has its name by now; a damaged one is told.
bool PublishedCheckpoints::bookReRead() {
    const auto findings = m_verifier.take();
    if (findings.empty()) return false;
    for (const Verifier::Finding& finding : findings) {
        if (!isSameFolder(finding.place(), m_session.run.checkpoints() / finding.folder)) {   // removed or replaced meanwhile
            m_verifier.forget(finding.folder);
            continue;
        }
        const auto written = rundir::writeVerified(FileSystem::real(), finding.place(), finding.found, Clock::system().wallNs());
        if (!written) log::warning(written.error().text());
        if (!finding.found.ok())
            m_tell("Checkpoint " + finding.folder + " was re-read and is damaged: " + finding.found.badFiles.front().text() + ". It is no longer offered; older ones are kept");
    }
    if (m_savesSeen > 0) applyRule();   // the rule is applied after saves
    return true;
}

}  // namespace lathe::launch
