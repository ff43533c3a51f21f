#include "session/run_facts.h"

#include "base/file_system.h"
#include "launch/run/run_summary.h"
#include "launch/run/standing.h"
#include "live/control_socket.h"
#include "rundir/trash.h"

#include <sys/stat.h>

namespace lathe::session {

namespace {

constexpr int kStatusPatienceMs = 1000;   // who does not answer is asked again at the next look

std::int64_t stampOf(const std::filesystem::path& folder) {
    struct stat info {};
    if (::stat(folder.c_str(), &info) != 0) return -1;
    return std::int64_t(info.st_mtim.tv_sec) * 1'000'000'000 + info.st_mtim.tv_nsec;
}

/// Changes with every checkpoint that appears or goes, and with what is written into one: that it was re-read.
std::int64_t stampOfCheckpoints(const std::filesystem::path& folder) {
    auto stamp = std::uint64_t(stampOf(folder));
    const auto names = listFolder(folder);
    for (std::size_t i = 0; names.ok() && i < names->size(); ++i) stamp = stamp * 31 + std::uint64_t(stampOf(folder / (*names)[i]));
    return std::int64_t(stamp);
}

}  // namespace

static std::string statusOf(const rundir::RunFolder& run) {
    const auto client = live::ControlClient::connect(run.socket());
    const auto reply = client.ok() ? (*client)->ask(live::Verb::Status, kStatusPatienceMs) : Result<live::Reply>(client.error());
    return reply.ok() ? reply->json : std::string();
}

/// A run that is held is followed wherever it is moved; one that is not is looked for in the trash.
static Whereabouts whereaboutsOf(const rundir::RunFolder& run) {
    std::error_code ignored;
    const std::filesystem::path place = run.place();
    const bool isThere = std::filesystem::is_directory(place, ignored), isBeingRemoved = place.filename().native().starts_with('.');
    if (isThere && !isBeingRemoved) return rundir::isInTrash(run) ? Whereabouts::InTrash : Whereabouts::InPlace;
    const auto deleted = rundir::trashOf(place.parent_path().parent_path()) / place.filename();
    return !isBeingRemoved && std::filesystem::is_directory(deleted, ignored) ? Whereabouts::InTrash : Whereabouts::Gone;
}

SessionMark markOf(const rundir::RunFolder& run) {
    const auto live = rundir::readLive(run);  // goes last: without it nothing more is written
    SessionMark mark{rundir::newestSession(run)};
    const auto record = rundir::readSession(run, mark.session);
    mark.ended = record.ok() && record->state && live.ok() && !*live;
    return mark;
}

Seen seen(const rundir::RunFolder& run) {
    Seen now{launch::standingOf(run)};
    if (!rundir::isAlive(now.state) || !now.onThisHost) return now;
    const std::string note = launch::supervisorNote(run);
    if (launch::isUnsettled(run)) {
        now.snag = Snag::Unsupervised;
    } else if (!note.empty()) {
        now.snag = Snag::NotRecorded;
        now.why = "Nothing is recorded, since its supervisor stands still: " + note;
    } else if (!now.why.empty() && (now.state == rundir::State::Running || now.state == rundir::State::Starting)) {
        now.snag = Snag::Hangs;
    }
    return now;
}

RunFacts lookAt(const rundir::RunFolder& run, std::int64_t checkpointsStamp, const std::vector<std::string>& pinned) {
    RunFacts facts;
    facts.whereabouts = whereaboutsOf(run);
    if (facts.whereabouts == Whereabouts::Gone) return facts;
    facts.mark = markOf(run);
    if (auto manifest = rundir::readManifest(run); manifest.ok()) facts.manifest = std::move(*manifest);
    else facts.problem = manifest.error().text();
    facts.standing = seen(run);
    if (auto live = rundir::readLive(run); live.ok()) facts.live = std::move(*live);
    if (auto summary = launch::summaryOf(run); summary.ok()) facts.summary = std::move(*summary);
    if (auto user = rundir::readUser(run); user.ok()) facts.user = std::move(*user);
    facts.checkpointsStamp = stampOfCheckpoints(run.checkpoints());
    if (rundir::isAlive(facts.standing.state) && facts.standing.onThisHost) facts.status = statusOf(run);
    if (facts.standing.state == rundir::State::OutOfMemory)
        if (auto record = rundir::readSession(run, facts.mark.session); record.ok()) facts.memory = std::move(record->memory);
    if (facts.checkpointsStamp != checkpointsStamp || facts.user.pinned != pinned) {
        facts.checkpoints = rundir::listCheckpoints(run.checkpoints(), facts.user.pinned);
        if (rundir::isAlive(facts.standing.state)) std::erase_if(*facts.checkpoints, [](const auto& info) { return info.folder.starts_with('.'); });  // just being written
        if (auto plan = launch::planRetention(run); plan.ok()) facts.plan = std::move(*plan);
    }
    return facts;
}

bool sameUser(const rundir::UserRecord& a, const rundir::UserRecord& b) {
    return a.name == b.name && a.note == b.note && a.tags == b.tags && a.star == b.star && a.archived == b.archived && a.pinned == b.pinned;
}

}  // namespace lathe::session
