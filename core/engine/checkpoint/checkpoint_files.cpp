#include "engine/checkpoint/checkpoint_files.h"

#include "base/number_text.h"
#include "rundir/checkpoint_publishing.h"
#include "rundir/tensor_files.h"

#include <algorithm>
#include <utility>

namespace lathe::engine {
namespace {

namespace stdfs = std::filesystem;

/// A tensor file ends before it exceeds this; a single tensor may.
constexpr std::uint64_t kShardBytes = std::uint64_t{4} << 30;
/// Hashed twice and written while it lies in the processor's cache.
constexpr std::size_t kBlockBytes = 512u << 10;

std::string kindOf(const StateTensor& tensor) {
    if (tensor.frozen) return std::string(rundir::kFrozenTensors);
    if (tensor.role == "parameter" || tensor.role == "buffer") return "model";
    return tensor.role;
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

CheckpointFiles::CheckpointFiles(FileSystem& fs, CheckpointPlace place, TrainerRecord record, const RecordingHooks& hooks)
    : m_fs(fs), m_place(std::move(place)), m_record(std::move(record)), m_hooks(hooks) {
    rundir::clearUnfinished(m_fs, m_place.folder);
    if (m_place.previous.empty()) return;
    if (auto manifest = rundir::readCheckpoint(m_place.folder / m_place.previous)) m_previousFiles = std::move(manifest->files);
}

/// What re-reading has found damaged is not linked again.
void CheckpointFiles::dropDamaged() {
    const auto read = m_previousFiles.empty() ? std::nullopt : rundir::readVerified(m_place.folder / m_place.previous);
    for (std::size_t i = 0; read && i < read->badFiles.size(); ++i)
        std::erase_if(m_previousFiles, [&](const rundir::FileEntry& file) { return file.name == read->badFiles[i].name; });
}

Result<SaveOutcome> CheckpointFiles::write(SavedMoment moment) {
    SaveOutcome outcome{.folder = rundir::checkpointName(m_place.session, moment.counters.globalStep), .reason = moment.reason, .counters = moment.counters,
                        .isBest = moment.isBest, .metrics = moment.metrics};
    Shards shards = shardsOf(moment.parts);
    dropDamaged();
    LATHE_TRY(checkSpace(shards, moment.counters));

    const stdfs::path temporary = m_place.folder / ("." + outcome.folder);
    std::error_code ignored;
    if (stdfs::exists(stdfs::symlink_status(temporary, ignored))) LATHE_TRY(removeTree(m_fs, temporary));
    LATHE_TRY(m_fs.makeFolder(temporary));
    Unfinished unfinished(m_fs, temporary);
    LATHE_TRY(open(temporary, shards, outcome));
    LATHE_TRY_ASSIGN(std::string digest, pour(moment.parts, shards));
    LATHE_TRY_ASSIGN(std::vector<rundir::FileEntry> files, finish(temporary, shards, outcome));
    LATHE_TRY_ASSIGN(rundir::FileEntry record, writeRecord(temporary, moment));
    files.push_back(std::move(record));
    LATHE_TRY(writeManifest(temporary, moment, shards, std::move(digest), files));
    LATHE_TRY(m_fs.syncFolder(temporary));
    LATHE_TRY(m_hooks.beforePublish(moment.lastFrames));
    LATHE_TRY(rundir::publishCheckpoint(m_fs, m_place.folder, outcome.folder));
    unfinished.keep();
    for (const rundir::FileEntry& file : files) outcome.bytes += file.bytes;
    m_newest = m_place.previous = outcome.folder;
    m_newestAttempt = moment.counters.updateAttempts;
    m_previousFiles = std::move(files);
    outcome.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - moment.began).count();
    return outcome;
}

CheckpointFiles::Shards CheckpointFiles::shardsOf(const std::vector<StatePart>& parts) {
    struct Open {
        std::size_t shard = 0, count = 0;      ///< the last one of its kind, and how many there are
        std::uint64_t bytes = 0;
    };
    Shards shards;
    std::map<std::string, Open> kinds;
    for (const StatePart& part : parts) {
        for (const StateTensor& item : part.tensors) {
            const std::string name = kindOf(item);
            Open& kind = kinds[name];
            if (kind.count == 0 || kind.bytes + item.tensor.nbytes() > kShardBytes) {
                shards.all.push_back({rundir::tensorFileName(name, kind.count), {}, item.frozen, nullptr, {}});
                kind = {shards.all.size() - 1, kind.count + 1, 0};
            }
            kind.bytes += item.tensor.nbytes();
            shards.all[kind.shard].tensors.emplace_back(item.name, item.tensor);
            shards.of.push_back(kind.shard);
        }
    }
    return shards;
}

/// Name of the file of the previous checkpoint with the same content; null: there is none.
const std::string* CheckpointFiles::sameAsBefore(const rundir::FileEntry& entry) const {
    for (const rundir::FileEntry& file : m_previousFiles)
        if (file.hash == entry.hash && file.bytes == entry.bytes) return &file.name;
    return nullptr;
}

/// What no update changes is hashed once.
rundir::FileEntry CheckpointFiles::entryOf(const Shard& shard) {
    if (!shard.frozen) return describeTensorFile(shard.tensors, shard.name);
    const auto known = m_frozen.find(shard.name);
    return known != m_frozen.end() ? known->second : m_frozen.emplace(shard.name, describeTensorFile(shard.tensors, shard.name)).first->second;
}

/// Also finds out which files need no room: those that cannot have changed, or hardly, since the previous checkpoint.
Result<void> CheckpointFiles::checkSpace(Shards& shards, const Counters& counters) {
    std::uint64_t need = rundir::kSmallFilesBytes;
    for (Shard& shard : shards.all) {
        if (!m_previousFiles.empty() && (shard.frozen || m_newestAttempt == counters.updateAttempts)) shard.entry = entryOf(shard);
        if (!sameAsBefore(shard.entry)) need += tensorFileBytes(shard.tensors);
    }
    LATHE_TRY_ASSIGN(const std::uint64_t have, m_fs.freeBytes(m_place.folder));
    if (have < need) return noSpace(need, have);
    return {};
}

Error CheckpointFiles::noSpace(std::uint64_t need, std::uint64_t have) const {
    return {ErrorCode::NoSpace, "There is no space for a checkpoint: need " + diskText(need) + ", have " + diskText(have) + " in " + m_place.folder.string() +
            (have < need ? ", " + std::to_string(need - have) + " bytes are missing" : "") + ". Free some, or lower checkpoint.keep_last", {}, {}};
}

/// Every file is there with its room reserved before the first byte is written.
Result<void> CheckpointFiles::open(const stdfs::path& folder, Shards& shards, SaveOutcome& outcome) {
    for (Shard& shard : shards.all) {
        const std::string* same = sameAsBefore(shard.entry);
        if (same && m_fs.link(m_place.folder / m_place.previous / *same, folder / shard.name).ok()) {
            outcome.linkedBytes += shard.entry.bytes;
            continue;
        }
        const std::uint64_t need = tensorFileBytes(shard.tensors);
        auto file = HashingFile::create(m_fs, folder / shard.name, need);
        if (!file.ok() && file.error().code == ErrorCode::NoSpace) {
            const auto have = m_fs.freeBytes(m_place.folder);
            return noSpace(need, have.ok() ? *have : 0).in(file.error().text());
        }
        if (!file.ok()) return std::move(file).error();
        shard.file = std::move(file).value();
        const std::string header = tensorFileHeader(shard.tensors);
        LATHE_TRY(shard.file->write(std::as_bytes(std::span(header))));
    }
    return {};
}

/// One pass over all bytes: into the digest of the state, and into the file they belong to. Returns the digest.
Result<std::string> CheckpointFiles::pour(const std::vector<StatePart>& parts, Shards& shards) {
    StateDigest digest;
    auto shard = shards.of.begin();
    for (const StatePart& part : parts) {
        digest.begin(part);
        for (const StateTensor& item : part.tensors) {
            HashingFile* file = shards.all[*shard++].file.get();
            digest.add(item);
            const at::Tensor plain = plainTensor(item.tensor);
            for (std::span<const std::byte> rest = bytesOf(plain); !rest.empty();) {
                const auto block = rest.first(std::min(rest.size(), kBlockBytes));
                rest = rest.subspan(block.size());
                digest.bytes(block);
                if (file) LATHE_TRY(file->write(block));
            }
        }
    }
    return digest.hex();
}

/// Syncs and closes what was written. What turns out to be the same as before takes no room of its own.
Result<std::vector<rundir::FileEntry>> CheckpointFiles::finish(const stdfs::path& folder, Shards& shards, SaveOutcome& outcome) {
    std::vector<rundir::FileEntry> files;
    for (Shard& shard : shards.all) {
        if (shard.file) {
            LATHE_TRY_ASSIGN(shard.entry, shard.file->finish(shard.name));
            const std::string* same = sameAsBefore(shard.entry);
            const stdfs::path twin = folder / (shard.name + ".same");
            if (same && m_fs.link(m_place.folder / m_place.previous / *same, twin).ok()) {
                LATHE_TRY(m_fs.rename(twin, folder / shard.name));
                outcome.linkedBytes += shard.entry.bytes;
            }
        }
        files.push_back(shard.entry);
    }
    return files;
}

Result<rundir::FileEntry> CheckpointFiles::writeRecord(const stdfs::path& folder, SavedMoment& moment) {
    m_record.state.clear();
    for (StatePart& part : moment.parts) m_record.state[part.name] = std::move(part.values);
    m_record.probe = moment.probe;
    const std::string record = trainerRecordJson(m_record);
    if (record.size() > kMaxTrainerRecordBytes)
        return Error{ErrorCode::Internal, "trainer.json would have " + std::to_string(record.size()) + " bytes; larger state belongs into tensors", {}, {}};
    LATHE_TRY_ASSIGN(const std::unique_ptr<HashingFile> file, HashingFile::create(m_fs, folder / "trainer.json", record.size()));
    LATHE_TRY(file->write(std::as_bytes(std::span(record))));
    return file->finish("trainer.json");
}

Result<void> CheckpointFiles::writeManifest(const stdfs::path& folder, const SavedMoment& moment, const Shards& shards, std::string digest,
                                            const std::vector<rundir::FileEntry>& files) {
    rundir::CheckpointManifest manifest;
    manifest.runId = m_place.runId;
    manifest.session = m_place.session;
    manifest.counters = moment.counters;
    manifest.wallNs = moment.wallNs;
    manifest.configHash = m_place.configHash;
    manifest.layout = m_place.layout;
    manifest.stateDigest = std::move(digest);
    manifest.lastFrame = moment.lastFrames;
    for (const auto& [name, value] : moment.metrics) manifest.metrics["eval/" + name] = exactText(value);
    manifest.evaluationPending = moment.evaluationPending;
    manifest.best = moment.isBest;
    manifest.files = files;
    auto shard = shards.of.begin();
    for (const StatePart& part : moment.parts) {
        for (const StateTensor& item : part.tensors) {
            const std::vector<std::int64_t> shape = item.tensor.sizes().vec();
            manifest.tensors.push_back({item.name, item.role, dtypeWord(item.tensor.scalar_type()), shape,
                                        {{shards.all[*shard++].name, item.name, std::vector<std::int64_t>(shape.size(), 0), shape}}});
        }
    }
    const std::string text = rundir::manifestJson(manifest);
    LATHE_TRY_ASSIGN(const std::unique_ptr<OutputFile> last, m_fs.create(folder / "manifest.json"));
    LATHE_TRY(last->write(std::as_bytes(std::span(text))));
    LATHE_TRY(last->sync());
    return last->close();
}

}  // namespace lathe::engine
