#include "parts.h"

#include "base/file_system.h"
#include "base/hash.h"
#include "launch/command/git_state.h"
#include "rundir/checkpoint_manifest.h"
#include "rundir/run_folder.h"
#include "rundir/safetensors_header.h"

#include <array>
#include <unistd.h>

namespace lathe::fuzz {
namespace {

// ---- checkpoints

bool readSafetensors(Input input) {
    const auto header = rundir::parseSafetensorsHeader(textOf(input), input.size(), "fuzz");
    if (!header.ok()) return false;
    for (const auto& [name, range] : header->tensors)
        promise(range.begin <= range.end && range.end <= input.size() && rundir::tensorBytes(range.dtype, range.shape) == range.end - range.begin, "tensors lie inside their file");
    return true;
}
std::string safetensorsFile() {
    std::vector<std::pair<std::string, rundir::TensorRange>> tensors = {{"a", {"F32", {2, 3}, 0, 0}}, {"b", {"I64", {2}, 0, 0}}, {"c", {"BOOL", {0}, 0, 0}}};
    std::string file = rundir::makeSafetensorsHeader(tensors, {{"format", "pt"}});
    file.resize(tensors.back().second.end, 'x');
    return file;
}
std::vector<std::string> safetensorsSeeds() { return {safetensorsFile()}; }

rundir::CheckpointManifest manifestFor(const std::string& tensors) {
    rundir::CheckpointManifest manifest;
    manifest.runId = "abcdefghijkl";
    manifest.session = 1;
    manifest.counters.globalStep = GlobalStep(10);
    manifest.counters.updateAttempts = UpdateAttempt(10);
    manifest.lastFrame[0] = 7;
    manifest.metrics["eval/loss"] = "0.5";
    manifest.layout = "single";
    manifest.files = {{"model-00000.safetensors", tensors.size(), hashHex(std::as_bytes(std::span(tensors)))}};
    for (const auto& [name, dtype, shape] : {std::tuple<const char*, const char*, std::vector<std::int64_t>>{"a", "F32", {2, 3}}, {"b", "I64", {2}}, {"c", "BOOL", {0}}})
        manifest.tensors.push_back({name, "parameter", dtype, shape, {{"model-00000.safetensors", name, std::vector<std::int64_t>(shape.size(), 0), shape}}});
    return manifest;
}
bool readManifest(Input input) {
    std::string given = textOf(input);
    const auto manifest = rundir::parseManifest(given);
    if (!manifest.ok()) {
        // Whoever makes a manifest can seal it as well: what lies behind the seal is read too.
        if (given.find("\n}") != std::string::npos) static_cast<void>(rundir::parseManifest(rundir::sealed(std::move(given))));
        return false;
    }
    const std::string text = rundir::manifestJson(*manifest);
    const auto again = rundir::parseManifest(text);
    promise(again.ok() && rundir::manifestJson(*again) == text, "a manifest that was written reads back equal");
    return true;
}
std::vector<std::string> manifestSeeds() { return {rundir::manifestJson(manifestFor(safetensorsFile()))}; }

/// A checkpoint whose tensor file is the input: nothing but the very file that was saved is taken.
bool readCheckpoint(Input input) {
    static const stdfs::path folder = [] {
        const stdfs::path made = memory().path() / "s001-000000010";
        stdfs::create_directory(made);
        const std::string manifest = rundir::manifestJson(manifestFor(safetensorsFile()));
        memory().put("s001-000000010/manifest.json", std::as_bytes(std::span(manifest)));
        return made;
    }();
    memory().put("s001-000000010/model-00000.safetensors", input);
    const auto verified = rundir::verifyCheckpoint(folder);
    return verified.ok() && verified->ok();
}

// ---- records of a run: the first byte says which

constexpr std::array kRecords = {"run.json", "sessions/1.json", "live.json", "user.json", "summary.json", "settings.json"};

bool readRecord(Input input) {
    static const rundir::RunFolder run = [] {
        stdfs::create_directories(memory().path() / "run" / "sessions");
        return rundir::RunFolder(memory().path() / "run");
    }();
    if (input.empty()) return false;
    const std::size_t which = static_cast<std::size_t>(input[0]) % kRecords.size();
    const stdfs::path file = memory().put(stdfs::path("run") / kRecords[which], input.subspan(1));
    const auto accepted = [&] {
        switch (which) {
            case 0: return rundir::readManifest(run).ok();
            case 1: return rundir::readSession(run, 1).ok();
            case 2: return rundir::readLive(run).ok();
            case 3: return rundir::readUser(run).ok();
            case 4: return rundir::readSummary(run).ok() && rundir::readSummaryOrMake(run).ok();
            default: return rundir::readSettings(run).ok();
        }
    }();
    ::unlink(file.c_str());
    return accepted;
}
std::vector<std::string> recordSeeds() {
    const rundir::RunFolder run(memory().path() / "written");
    stdfs::create_directories(run.sessions());
    FileSystem& fs = FileSystem::real();
    rundir::RunManifest manifest;
    manifest.id = "abcdefghijkl";
    manifest.name = "x";
    manifest.parent = rundir::Parent{"bbbbbbbbbbbb", "s001-000000010", "fork"};
    rundir::SessionRecord session;
    session.verb = "start";
    session.expected = {{1, rundir::windowText(5), "0.5", "1"}};
    session.state = rundir::State::Killed;
    session.signal = 9;
    session.counters.emplace();
    rundir::Summary summary;
    summary.id = manifest.id;
    summary.last["train/loss"] = 0.5;
    summary.best = rundir::BestValue{"accuracy", 0.9, 3, true};
    summary.sparkline = {{1, 0.5}};
    const bool written = rundir::writeManifest(fs, run, manifest).ok() && rundir::writeSession(fs, run, session).ok() && rundir::writeSummary(fs, run, summary).ok()
                         && rundir::writeLive(fs, run, {{"h", "b", 5, 6, "t"}, {{"h", "b", 7, 8, "t"}}, 1, 2}).ok()
                         && rundir::editUser(fs, run, [](rundir::UserRecord& user) { user.tags = {"a"}; }).ok() && rundir::writeSettings(fs, run, {{"lr", "1"}}).ok();
    promise(written, "the records can be written");
    std::vector<std::string> all;
    for (std::size_t i = 0; i < kRecords.size(); ++i) all.push_back(std::string(1, static_cast<char>(i)) + readFile(run.root() / kRecords[i], 1u << 20).value());
    return all;
}

// ---- the repository that a person's own program lies in: its index

bool readGit(Input input) {
    static const stdfs::path work = [] {
        const std::string head = std::string(40, 'a') + "\n";
        stdfs::create_directories(memory().path() / "work" / ".git");
        memory().put("work/.git/HEAD", bytesOf(head));
        return memory().path() / "work";
    }();
    memory().put("work/.git/index", input);
    const auto state = launch::gitStateOf(work);
    return state && !state->dirty.starts_with("unknown");
}
std::vector<std::string> gitSeeds() {
    std::vector<std::string> all;
    for (const char version : {2, 4}) {
        std::string index{"DIRC\0\0\0", 7};
        index += version;
        index += std::string("\0\0\0\2", 4);
        for (const std::string path : {"a", "b.py"}) {
            std::string entry(62, '\1');
            entry[61] = static_cast<char>(path.size());
            entry[60] = 0;
            if (version == 4) entry += path == "a" ? '\0' : '\1';  // how much of the path before is not shared
            entry += path + '\0';
            while (version != 4 && entry.size() % 8 != 0) entry += '\0';
            index += entry;
        }
        all.push_back(index + std::string("TREE\0\0\0\3\0-1", 11) + std::string(20, 'h'));
    }
    return all;
}

}  // namespace

std::vector<Target> runTargets() {
    return {{"safetensors", readSafetensors, safetensorsSeeds}, {"manifest", readManifest, manifestSeeds, true}, {"checkpoint", readCheckpoint, safetensorsSeeds, true},
            {"record", readRecord, recordSeeds}, {"git", readGit, gitSeeds}};
}

}  // namespace lathe::fuzz
