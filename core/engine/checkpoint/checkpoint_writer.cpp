#include "engine/checkpoint/checkpoint_writer.h"

#include "base/clock.h"
#include "base/number_text.h"

#include <chrono>
#include <string_view>

namespace lathe::engine {
namespace {

namespace stdfs = std::filesystem;

/// A tensor file ends before it exceeds this; a single tensor may.
constexpr std::uint64_t kShardBytes = std::uint64_t{4} << 30;
/// For manifest, trainer.json, folders and what the file system needs for itself.
constexpr std::uint64_t kSmallFilesBytes = 1u << 20;

/// Begins the name of a checkpoint that a new one of the same name is about to replace.
constexpr std::string_view kAside = ".old-";

std::string kindOf(const StateTensor& tensor) {
    if (tensor.frozen) return "frozen";
    if (tensor.role == "parameter" || tensor.role == "buffer") return "model";
    return tensor.role;
}

std::string shardName(const std::string& kind, std::size_t number) {
    std::string digits = std::to_string(number);
    return kind + "-" + std::string(digits.size() < 5 ? 5 - digits.size() : 0, '0') + digits + ".safetensors";
}

/// Removes an unfinished folder unless it was published.
class Unfinished {
public:
    Unfinished(FileSystem& fs, stdfs::path folder) : m_fs(fs), m_folder(std::move(folder)) {}
    ~Unfinished() {
        if (!m_folder.empty()) static_cast<void>(removeTree(m_fs, m_folder));
    }
    void keep() { m_folder.clear(); }

private:
    FileSystem& m_fs;
    stdfs::path m_folder;
};

}  // namespace

CheckpointWriter::CheckpointWriter(FileSystem& fs, CheckpointPlace place, const TrainState& state, TrainerRecord record, RecordingHooks hooks)
    : m_fs(fs), m_place(std::move(place)), m_state(state), m_record(std::move(record)), m_hooks(std::move(hooks)) {
    clearLeftovers();
    if (m_place.previous.empty()) return;
    if (auto manifest = rundir::readCheckpoint(m_place.folder / m_place.previous)) m_previousFiles = std::move(manifest->files);
}

/// What a process that died left: unfinished folders go, one that was moved aside comes back where nothing replaced it.
void CheckpointWriter::clearLeftovers() {
    const auto names = listFolder(m_place.folder);
    if (!names.ok()) return;
    for (const std::string& name : *names) {
        const bool isAside = name.starts_with(kAside);
        const std::string original = isAside ? name.substr(kAside.size()) : name.substr(1);
        if (!name.starts_with('.') || !rundir::parseCheckpointName(original)) continue;
        std::error_code ignored;
        const bool isMissing = !stdfs::exists(stdfs::symlink_status(m_place.folder / original, ignored));
        if (!isAside || !isMissing || !m_fs.rename(m_place.folder / name, m_place.folder / original).ok())
            static_cast<void>(removeTree(m_fs, m_place.folder / name));
    }
}

Result<SaveOutcome> CheckpointWriter::save(const SaveRequest& request) {
    const auto start = std::chrono::steady_clock::now();
    const GlobalStep step = request.progress.counters.globalStep;
    SaveOutcome outcome{.folder = rundir::checkpointName(m_place.session, step), .reason = request.reason, .isBest = request.isBest, .metrics = request.metrics};
    std::vector<Shard> parts = shards();
    for (Shard& shard : parts) findUnchanged(shard);
    LATHE_TRY(checkSpace(parts));

    const stdfs::path temporary = m_place.folder / ("." + outcome.folder);
    std::error_code ignored;
    if (stdfs::exists(stdfs::symlink_status(temporary, ignored))) LATHE_TRY(removeTree(m_fs, temporary));
    LATHE_TRY(m_fs.makeFolder(temporary));
    Unfinished unfinished(m_fs, temporary);
    LATHE_TRY_ASSIGN(std::vector<rundir::FileEntry> files, writeFiles(temporary, parts, request, outcome));
    LATHE_TRY(m_fs.syncFolder(temporary));
    LATHE_TRY(m_hooks.beforePublish(step));
    LATHE_TRY(publish(temporary, outcome.folder));
    unfinished.keep();
    m_place.previous = outcome.folder;
    m_previousFiles = std::move(files);
    outcome.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return outcome;
}

std::vector<CheckpointWriter::Shard> CheckpointWriter::shards() const {
    std::vector<Shard> all;
    std::map<std::string, std::pair<std::size_t, std::size_t>> open;  // kind -> index of its last shard, number of shards
    std::map<std::string, std::uint64_t> bytes;
    for (const StateTensor& item : m_state.tensors()) {
        const std::string kind = kindOf(item);
        const bool isNew = !open.contains(kind) || bytes[kind] + item.tensor.nbytes() > kShardBytes;
        if (isNew) {
            const std::size_t number = open.contains(kind) ? open[kind].second : 0;
            all.push_back({shardName(kind, number), {}, item.frozen, {}, {}});
            open[kind] = {all.size() - 1, number + 1};
            bytes[kind] = 0;
        }
        all[open[kind].first].tensors.emplace_back(item.name, item.tensor);
        bytes[kind] += item.tensor.nbytes();
    }
    return all;
}

void CheckpointWriter::findUnchanged(Shard& shard) const {
    if (!shard.frozen || m_previousFiles.empty()) return;
    const rundir::FileEntry now = describeTensorFile(shard.tensors, shard.name);
    for (const rundir::FileEntry& file : m_previousFiles) {
        if (file.hash != now.hash || file.bytes != now.bytes) continue;
        shard.linkFrom = file.name;
        shard.unchanged = now;
    }
}

Result<void> CheckpointWriter::checkSpace(const std::vector<Shard>& parts) const {
    std::uint64_t need = kSmallFilesBytes;
    for (const Shard& shard : parts) need += shard.linkFrom.empty() ? tensorFileBytes(shard.tensors) : 0;
    LATHE_TRY_ASSIGN(const std::uint64_t have, m_fs.freeBytes(m_place.folder));
    if (have >= need) return {};
    return Error{ErrorCode::NoSpace, "There is no space for a checkpoint: need " + diskText(need) + ", have " + diskText(have) + " in " +
                 m_place.folder.string() + ". Free some, or lower checkpoint.keep_last", {}, {}};
}

Result<std::vector<rundir::FileEntry>> CheckpointWriter::writeFiles(const stdfs::path& folder, std::vector<Shard>& parts, const SaveRequest& request, SaveOutcome& outcome) {
    rundir::CheckpointManifest manifest = manifestOf(parts, request);
    for (const Shard& shard : parts) {
        if (!shard.linkFrom.empty() && m_fs.link(m_place.folder / m_place.previous / shard.linkFrom, folder / shard.name).ok()) {
            outcome.linkedBytes += shard.unchanged.bytes;
            manifest.files.push_back(shard.unchanged);
            continue;
        }
        LATHE_TRY_ASSIGN(rundir::FileEntry entry, writeTensorFile(m_fs, folder, shard.name, shard.tensors));
        manifest.files.push_back(std::move(entry));
    }
    m_record.state = m_state.values();
    m_record.probe = request.probe;
    const std::string record = trainerRecordJson(m_record);
    if (record.size() > kMaxTrainerRecordBytes)
        return Error{ErrorCode::Internal, "trainer.json would have " + std::to_string(record.size()) + " bytes; larger state belongs into tensors", {}, {}};
    LATHE_TRY_ASSIGN(const std::unique_ptr<HashingFile> file, HashingFile::create(m_fs, folder / "trainer.json", record.size()));
    LATHE_TRY(file->write(std::as_bytes(std::span(record))));
    LATHE_TRY_ASSIGN(rundir::FileEntry entry, file->finish("trainer.json"));
    manifest.files.push_back(std::move(entry));
    for (const rundir::FileEntry& written : manifest.files) outcome.bytes += written.bytes;

    const std::string text = rundir::manifestJson(manifest);
    LATHE_TRY_ASSIGN(const std::unique_ptr<OutputFile> last, m_fs.create(folder / "manifest.json"));
    LATHE_TRY(last->write(std::as_bytes(std::span(text))));
    LATHE_TRY(last->sync());
    LATHE_TRY(last->close());
    return std::move(manifest.files);
}

rundir::CheckpointManifest CheckpointWriter::manifestOf(const std::vector<Shard>& parts, const SaveRequest& request) const {
    rundir::CheckpointManifest manifest;
    manifest.runId = m_place.runId;
    manifest.session = m_place.session;
    manifest.counters = request.progress.counters;
    manifest.wallNs = Clock::system().wallNs();
    manifest.configHash = m_place.configHash;
    manifest.layout = m_place.layout;
    manifest.stateDigest = m_state.digest();
    manifest.lastFrame = m_hooks.lastFrames();
    for (const auto& [name, value] : request.metrics) manifest.metrics["eval/" + name] = exactText(value);
    manifest.evaluationPending = request.progress.evaluationPending;
    manifest.best = request.isBest;
    std::map<std::string, std::string> fileOf;
    for (const Shard& shard : parts)
        for (const auto& [name, tensor] : shard.tensors) fileOf[name] = shard.name;
    for (const StateTensor& item : m_state.tensors()) {
        const std::vector<std::int64_t> shape = item.tensor.sizes().vec();
        manifest.tensors.push_back({item.name, item.role, dtypeWord(item.tensor.scalar_type()), shape,
                                    {{fileOf[item.name], item.name, std::vector<std::int64_t>(shape.size(), 0), shape}}});
    }
    return manifest;
}

Result<void> CheckpointWriter::publish(const stdfs::path& temporary, const std::string& name) {
    const stdfs::path target = m_place.folder / name, aside = m_place.folder / (std::string(kAside) + name);
    std::error_code ignored;
    const bool replaces = stdfs::exists(stdfs::symlink_status(target, ignored));
    if (replaces) LATHE_TRY(m_fs.rename(target, aside));
    if (auto renamed = m_fs.rename(temporary, target); !renamed.ok()) {
        if (replaces) static_cast<void>(m_fs.rename(aside, target));
        return renamed;
    }
    LATHE_TRY(m_fs.syncFolder(m_place.folder));
    return replaces ? removeTree(m_fs, aside) : Result<void>();
}

}  // namespace lathe::engine
