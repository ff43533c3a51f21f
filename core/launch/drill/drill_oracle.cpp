#include "launch/drill/drill_oracle.h"

#include "base/file_system.h"
#include "launch/run/checkpoint_choice.h"
#include "rundir/checkpoint_manifest.h"
#include "store/run_store.h"

#include <algorithm>
#include <array>
#include <bit>
#include <string_view>

namespace lathe::launch {
namespace {

namespace stdfs = std::filesystem;
using store::RunReader;

constexpr std::array kExact = {"train/loss", "train/lr", "train/grad_norm"};

std::vector<store::Point> pointsOf(const rundir::RunFolder& run, const char* series, RunReader::Line line) {
    const auto reader = RunReader::open(run.database());
    auto points = reader ? (*reader)->points(series, line) : Result<std::vector<store::Point>>(reader.error());
    return points ? std::move(*points) : std::vector<store::Point>();
}

/// Where two series part, or empty.
std::string partingOf(const std::vector<store::Point>& killed, const std::vector<store::Point>& straight, std::int64_t updates) {
    const auto whole = static_cast<std::size_t>(updates);
    if (killed.size() != whole || straight.size() != whole)
        return "has " + std::to_string(killed.size()) + " points where " + std::to_string(whole) + " updates were made (the undisturbed run: " + std::to_string(straight.size()) + ")";
    for (std::size_t i = 0; i < whole; ++i) {
        const bool isSame = killed[i].step == straight[i].step && killed[i].attempt == straight[i].attempt
                            && std::bit_cast<std::uint64_t>(killed[i].value) == std::bit_cast<std::uint64_t>(straight[i].value);
        if (!isSame) return "differs from the undisturbed run at update " + std::to_string(i + 1);
    }
    return {};
}

std::map<std::string, std::string> tensorHashes(const rundir::CheckpointManifest& manifest) {
    std::map<std::string, std::string> hashes;
    for (const rundir::FileEntry& file : manifest.files)
        if (file.name.ends_with(".safetensors")) hashes[file.name] = file.hash;
    return hashes;
}

bool isTemporary(const stdfs::path& file) {
    const std::string name = file.filename().string();
    static constexpr std::array kNames = {"live.json", "control.sock", "producer.sock", "reserve", "reserve.record", "run.sqlite-wal", "run.sqlite-shm", "run.sqlite-journal"};
    if (std::find(kNames.begin(), kNames.end(), name) != kNames.end()) return true;
    static constexpr std::array kBeginnings = {".new-", ".s", ".old-", "ranks-"};
    const bool begins = std::any_of(kBeginnings.begin(), kBeginnings.end(), [&](std::string_view begin) { return name.starts_with(begin); });
    return begins || name.find(".tmp-") != std::string::npos || file.parent_path().filename() == "spill";
}

}  // namespace

std::size_t recordedPoints(const rundir::RunFolder& run) { return pointsOf(run, kExact.front(), RunReader::Line::All).size(); }

Findings afterKill(const rundir::RunFolder& run, std::size_t pointsBefore, int& verified) {
    Findings found;
    std::error_code ignored;
    if (stdfs::exists(run.database(), ignored)) {
        const auto reader = RunReader::open(run.database());
        const auto checked = reader ? (*reader)->verify() : Result<void>(reader.error());
        if (!checked && pointsBefore > 0) found.push_back("The record is damaged: " + checked.error().text());
    }
    if (const std::size_t now = recordedPoints(run); now < pointsBefore)
        found.push_back("Of " + std::to_string(pointsBefore) + " recorded points " + std::to_string(now) + " are left");
    const bool wasUp = rundir::RunLock::isHeld(run.lock());
    for (const auto& info : rundir::listCheckpoints(run.checkpoints())) {
        if (info.folder.starts_with('.')) continue;  // unfinished: never loaded
        const auto read = rundir::verifyCheckpoint(run.checkpoints() / info.folder);
        std::error_code unknown;   // a supervisor that goes on may have removed it by the rule meanwhile, its name first
        const bool isGone = !stdfs::exists(run.checkpoints() / info.folder, unknown);
        if (isGone && (wasUp || rundir::RunLock::isHeld(run.lock()))) continue;
        ++verified;
        if (!read) found.push_back(read.error().text());
        else if (!read->ok()) found.push_back("Checkpoint " + info.folder + ": " + read->badFiles.front().text());
    }
    return found;
}

/// The newest update attempt of each session that is recorded.
static std::map<int, std::int64_t> attemptsRecorded(const rundir::RunFolder& run) {
    std::map<int, std::int64_t> newest;
    for (const store::Point& point : pointsOf(run, kExact.front(), RunReader::Line::All)) newest[point.session] = std::max(newest[point.session], point.attempt);
    return newest;
}

Findings endsToldWrong(const rundir::RunFolder& run, const std::map<int, Expected>& killed) {
    using rundir::State;
    Findings found;
    const auto recorded = attemptsRecorded(run);
    for (int session = 1; session <= rundir::newestSession(run); ++session) {
        const auto record = rundir::readSession(run, session);
        const std::string which = "Session " + std::to_string(session);
        if (!record) {
            found.push_back(record.error().text());
            continue;
        }
        if (!record->state) {
            found.push_back(which + " has no end");
            continue;
        }
        const auto points = recorded.find(session);
        if (points != recorded.end() && record->counters && record->counters->updateAttempts.value() != points->second)
            found.push_back(which + " is told as having made update " + std::to_string(record->counters->updateAttempts.value()) + ", and its record ends at " + std::to_string(points->second));
        const auto how = killed.find(session);
        if (how == killed.end()) continue;
        const bool isTrue = (how->second.worker && *record->state == State::Killed) || (how->second.supervisor && *record->state == State::Interrupted);
        if (!isTrue) found.push_back(which + " was ended by SIGKILL and is told as " + std::string(rundir::name(*record->state)) + " (" + record->why + ")");
    }
    return found;
}

Findings differences(const rundir::RunFolder& killed, const rundir::RunFolder& straight, std::int64_t updates) {
    Findings found;
    for (const char* series : kExact) {
        const auto mine = pointsOf(killed, series, RunReader::Line::Surviving), other = pointsOf(straight, series, RunReader::Line::Surviving);
        if (series != kExact.front() && mine.empty() && other.empty()) continue;  // not every worker measures it
        const std::string parting = partingOf(mine, other, updates);
        if (!parting.empty()) found.push_back(std::string(series) + " " + parting);
    }
    const auto mine = rundir::readCheckpoint(killed.checkpoints() / newestOnLine(killed)), other = rundir::readCheckpoint(straight.checkpoints() / newestOnLine(straight));
    if (!mine || !other) found.push_back("The last checkpoint cannot be read: " + (mine ? other : mine).error().text());
    else if (tensorHashes(*mine) != tensorHashes(*other) || mine->stateDigest != other->stateDigest)
        found.push_back("The last checkpoint's weights or optimizer state differ from the undisturbed run's");
    return found;
}

Findings leftFiles(const stdfs::path& workspace) {
    Findings found;
    std::error_code problem;
    for (stdfs::recursive_directory_iterator it(workspace, problem), end; !problem && it != end; it.increment(problem))
        if (isTemporary(it->path())) found.push_back(it->path().lexically_relative(workspace).string());
    for (const rundir::RunFolder& run : rundir::listRuns(workspace)) {
        for (const auto& lock : {run.lock(), run.workersLock()})
            if (rundir::RunLock::isHeld(lock)) found.push_back("a lock that is held: " + lock.lexically_relative(workspace).string());
    }
    return found;
}

std::vector<std::string> namedMemory() {
    auto names = listFolder("/dev/shm");
    if (!names) return {};
    std::erase_if(*names, [](const std::string& name) { return name.find("lathe") == std::string::npos; });
    return std::move(*names);
}

}  // namespace lathe::launch
