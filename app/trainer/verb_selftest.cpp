// What this machine must be able to do, tried for real in a scratch folder of the workspace.
#include "actions.h"

#include "base/file_system.h"
#include "launch/workers/worker_answer.h"
#include "live/segment.h"
#include "output.h"
#include "rundir/run_folder.h"
#include "store/run_store.h"

#include <nlohmann/json.hpp>

#include <array>
#include <functional>

namespace lathe::trainer {

using nlohmann::json;
namespace stdfs = std::filesystem;

static Error wrong(const std::string& sentence) { return {ErrorCode::Internal, sentence, {}, {}}; }

static Result<std::string> tryLocks(const stdfs::path& folder) {
    LATHE_TRY_ASSIGN(const auto lock, rundir::RunLock::acquire(folder / "lock"));
    if (!rundir::RunLock::isHeld(folder / "lock")) return wrong("A lock that is held is not seen; this file system cannot hold runs");
    if (rundir::RunLock::acquire(folder / "lock")) return wrong("A lock can be taken twice; this file system cannot hold runs");
    return std::string("locks hold");
}

static Result<std::string> tryMemory(const stdfs::path&) {
    LATHE_TRY_ASSIGN(const auto segment, live::Segment::create({}, "selftest"));
    const std::array<std::byte, 8> payload{};
    LATHE_TRY_ASSIGN(const auto sequence, segment->write(0, live::FrameType::Event, payload));
    if (segment->reader(0).read().frames.size() != 1) return wrong("A frame did not come back from shared memory");
    return "shared memory, frame " + std::to_string(sequence);
}

static Result<std::string> tryDatabase(const stdfs::path& folder) {
    {
        LATHE_TRY_ASSIGN(const auto writer, store::RunWriter::open(folder / "run.sqlite"));
        LATHE_TRY(writer->addCheckpoint({"s001-000000001", 1, 1, 1, 1, 1, false, false, "{}"}));
    }
    LATHE_TRY_ASSIGN(const auto reader, store::RunReader::open(folder / "run.sqlite"));
    LATHE_TRY_ASSIGN(const auto rows, reader->checkpoints());
    if (rows.size() != 1 || rows.front().folder != "s001-000000001") return wrong("A row did not come back from run.sqlite");
    LATHE_TRY(reader->verify());
    return std::string("run.sqlite");
}

static Result<std::string> tryDisk(const stdfs::path& folder) {
    FileSystem& fs = FileSystem::real();
    LATHE_TRY(replaceFile(fs, folder / "file", std::string(1u << 20, 'x')));
    LATHE_TRY_ASSIGN(const auto back, readFile(folder / "file", 2u << 20));
    if (back.size() != 1u << 20) return wrong("A file did not come back whole");
    LATHE_TRY_ASSIGN(const auto room, fs.freeBytes(folder));
    return "disk, " + std::to_string(room / 1'000'000'000) + " GB free";
}

/// A broken LibTorch shows here.
static Result<std::string> tryWorker(const stdfs::path&) {
    LATHE_TRY_ASSIGN(const json answer, launch::askWorker({"selftest"}));
    if (!answer.value("ok", false)) return wrong("The worker computes wrong: " + answer.dump());
    return "worker, LibTorch " + answer.value("libtorch", "?");
}

ExitCode selftest(const Options& options) {
    const auto workspace = workspaceOf(options);
    FileSystem& fs = FileSystem::real();
    const auto folder = workspace / (".selftest-" + rundir::newRunId());
    if (const auto made = makeFolders(fs, folder); !made) return fail(options, made.error());
    const std::array<std::pair<const char*, std::function<Result<std::string>(const stdfs::path&)>>, 5> tests = {
        {{"locks", tryLocks}, {"memory", tryMemory}, {"database", tryDatabase}, {"disk", tryDisk}, {"worker", tryWorker}}};
    json list = json::array();
    bool fine = true;
    for (const auto& [name, test] : tests) {
        const auto outcome = test(folder);
        fine = fine && outcome.ok();
        list.push_back({{"name", name}, {"ok", outcome.ok()}, {"text", outcome ? *outcome : outcome.error().text()}});
        if (!options.json) print(std::string(outcome ? "ok      " : "FAILED  ") + (outcome ? *outcome : outcome.error().text()));
    }
    if (const auto removed = removeTree(fs, folder); !removed) return fail(options, removed.error());
    if (options.json) printJson(list);
    return fine ? ExitCode::Completed : ExitCode::Failed;
}

}  // namespace lathe::trainer
