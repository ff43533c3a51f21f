#include "engine/checkpoint/checkpoint_reader.h"

#include "base/file_system.h"
#include "engine/checkpoint/tensor_file.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <future>
#include <limits>
#include <thread>

namespace lathe::engine {
namespace {

namespace stdfs = std::filesystem;

struct MappedTensors {
    std::unique_ptr<MappedFile> file;
    rundir::SafetensorsHeader header;
};

/// An opened checkpoint whose every byte has been compared with its hashes.
struct Verified {
    LoadedCheckpoint loaded;
    std::map<std::string, MappedTensors> tensorFiles;
};

std::string shapeText(const std::vector<std::int64_t>& shape) {
    std::string text;
    for (const std::int64_t size : shape) text += (text.empty() ? "" : " x ") + std::to_string(size);
    return "[" + text + "]";
}

/// "a; b; c and 12 more"
std::string listed(const std::vector<std::string>& problems) {
    constexpr std::size_t kShown = 12;
    std::string text;
    for (std::size_t i = 0; i < problems.size() && i < kShown; ++i) text += (i ? "; " : "") + problems[i];
    if (problems.size() > kShown) text += "; and " + std::to_string(problems.size() - kShown) + " more";
    return text;
}

Result<std::unique_ptr<MappedFile>> verifiedFile(const stdfs::path& folder, const rundir::FileEntry& entry) {
    LATHE_TRY_ASSIGN(std::unique_ptr<MappedFile> file, MappedFile::open(folder, entry.name));
    if (file->bytes().size() != entry.bytes)
        return Error{ErrorCode::Corrupt, entry.name + " has " + std::to_string(file->bytes().size()) + " bytes instead of " + std::to_string(entry.bytes), {}, {}};
    if (file->hash() != entry.hash)
        return Error{ErrorCode::Corrupt, entry.name + " is damaged: its content does not match its checksum. Choose another checkpoint", {}, {}};
    return file;
}

/// Verifies files in their order, a few at the same time, each on a thread of its own.
class Verifying {
public:
    Verifying(const stdfs::path& folder, const std::vector<rundir::FileEntry>& files) : m_folder(folder), m_files(files) {
        const std::size_t atOnce = std::clamp(std::thread::hardware_concurrency(), 1u, 4u);
        while (m_running.size() < std::min(atOnce, files.size())) begin();
    }
    /// The next one, and another one is begun.
    Result<std::unique_ptr<MappedFile>> next() {
        auto file = m_running[m_taken++].get();
        if (m_running.size() < m_files.size()) begin();
        return file;
    }

private:
    void begin() {
        m_running.push_back(std::async(std::launch::async, verifiedFile, m_folder, std::cref(m_files[m_running.size()])));
    }
    const stdfs::path& m_folder;
    const std::vector<rundir::FileEntry>& m_files;
    std::vector<std::future<Result<std::unique_ptr<MappedFile>>>> m_running;   ///< of the first files in order
    std::size_t m_taken = 0;
};

Result<Verified> verified(const stdfs::path& folder, const CheckProgress& progress) {
    Verified all;
    LATHE_TRY_ASSIGN(all.loaded.manifest, rundir::readCheckpoint(folder));
    const std::vector<rundir::FileEntry>& files = all.loaded.manifest.files;
    std::uint64_t total = 0, done = 0;
    for (const rundir::FileEntry& entry : files) total += entry.bytes;
    bool hasRecord = false;
    Verifying verifying(folder, files);
    for (const rundir::FileEntry& entry : files) {
        LATHE_TRY_ASSIGN(std::unique_ptr<MappedFile> file, verifying.next());
        done += entry.bytes;
        if (progress) progress(done, total);
        const std::string_view text(reinterpret_cast<const char*>(file->bytes().data()), file->bytes().size());
        if (entry.name == "trainer.json") {
            LATHE_TRY_ASSIGN(all.loaded.record, parseTrainerRecord(text));
            hasRecord = true;
        } else if (entry.name.ends_with(".safetensors")) {
            LATHE_TRY_ASSIGN(rundir::SafetensorsHeader header, rundir::parseSafetensorsHeader(text, text.size(), entry.name));
            all.tensorFiles[entry.name] = {std::move(file), std::move(header)};
        }
    }
    if (!hasRecord) return Error{ErrorCode::Corrupt, "The checkpoint has no trainer.json", {}, {}};
    return all;
}

Result<void> checkPieces(const Verified& checkpoint, const rundir::TensorEntry& entry) {
    for (const rundir::Piece& piece : entry.pieces) {
        const auto file = checkpoint.tensorFiles.find(piece.file);
        const auto found = file == checkpoint.tensorFiles.end() ? nullptr : &file->second.header.tensors;
        if (!found || !found->contains(piece.key))
            return Error{ErrorCode::Corrupt, piece.file + " does not hold “" + piece.key + "”, which the manifest places there", {}, {}};
        const rundir::TensorRange& range = found->at(piece.key);
        if (range.dtype != entry.dtype || range.shape != piece.shape)
            return Error{ErrorCode::Corrupt, piece.file + " holds “" + piece.key + "” in another type or shape than the manifest says", {}, {}};
    }
    return {};
}

/// All differences between what is wanted and what the manifest has. `exact`: nothing else may be there.
Result<void> compare(const rundir::CheckpointManifest& manifest, const std::vector<StateTensor>& wanted, bool exact) {
    std::map<std::string, const rundir::TensorEntry*> have;
    for (const rundir::TensorEntry& entry : manifest.tensors) have[entry.name] = &entry;
    std::vector<std::string> problems;
    for (const StateTensor& item : wanted) {
        const auto found = have.find(item.name);
        if (found == have.end()) {
            problems.push_back(item.name + " is missing");
            continue;
        }
        const rundir::TensorEntry& entry = *found->second;
        const std::string dtype = dtypeWord(item.tensor.scalar_type());
        if (entry.shape != item.tensor.sizes().vec())
            problems.push_back(item.name + " has shape " + shapeText(entry.shape) + ", this model needs " + shapeText(item.tensor.sizes().vec()));
        else if (entry.dtype != dtype)
            problems.push_back(item.name + " is " + entry.dtype + ", this run needs " + dtype + " (precision.mode)");
        have.erase(found);
    }
    if (exact)
        for (const auto& [name, entry] : have) problems.push_back(name + " is not in this run");
    if (problems.empty()) return {};
    return Error{ErrorCode::Corrupt, "The checkpoint does not fit this run's model and optimizer: " + listed(problems), {}, {}};
}

/// The same, and that the files hold what the manifest says of these tensors.
Result<void> compareAll(const Verified& checkpoint, const std::vector<StateTensor>& wanted, bool exact) {
    LATHE_TRY(compare(checkpoint.loaded.manifest, wanted, exact));
    for (const rundir::TensorEntry& entry : checkpoint.loaded.manifest.tensors)
        if (std::any_of(wanted.begin(), wanted.end(), [&](const StateTensor& item) { return item.name == entry.name; })) LATHE_TRY(checkPieces(checkpoint, entry));
    return {};
}

void copyTensor(const Verified& checkpoint, const rundir::TensorEntry& entry, at::Tensor target) {
    const at::NoGradGuard noGrad;
    for (const rundir::Piece& piece : entry.pieces) {
        const MappedTensors& file = checkpoint.tensorFiles.at(piece.file);
        const rundir::TensorRange& range = file.header.tensors.at(piece.key);
        at::Tensor place = target.detach();
        for (std::size_t axis = 0; axis < piece.shape.size(); ++axis)
            place = place.narrow(static_cast<std::int64_t>(axis), piece.offset[axis], piece.shape[axis]);
        const bool isPlain = place.is_cpu() && place.is_contiguous();   // else by way of a tensor that is
        const at::Tensor block = isPlain ? place : at::empty(piece.shape, at::TensorOptions(target.scalar_type()));
        if (block.nbytes() > 0) std::memcpy(block.mutable_data_ptr(), file.file->bytes().data() + range.begin, block.nbytes());
        if (!isPlain) place.copy_(block);
    }
}

void copyAll(const Verified& checkpoint, const std::vector<StateTensor>& wanted, const std::function<void()>& copied = [] {}) {
    std::map<std::string, const rundir::TensorEntry*> have;
    for (const rundir::TensorEntry& entry : checkpoint.loaded.manifest.tensors) have[entry.name] = &entry;
    for (const StateTensor& item : wanted) {
        copyTensor(checkpoint, *have.at(item.name), item.tensor);
        copied();
    }
}

/// Tensors that were copied so far; whoever reads them waits for each.
class Copied {
public:
    void one() { set(m_count + 1); }
    /// Nobody waits any longer.
    void all() { set(std::numeric_limits<std::size_t>::max()); }
    void await(std::size_t index) const {
        for (std::size_t now = m_count; now <= index; now = m_count) m_count.wait(now);
    }

private:
    void set(std::size_t count) {
        m_count = count;
        m_count.notify_all();
    }
    std::atomic<std::size_t> m_count{0};
};

/// As TrainState::digest(), a tensor behind the copying.
std::string digestOf(const std::vector<StatePart>& parts, const Copied& copied) {
    StateDigest digest;
    std::size_t index = 0;
    for (const StatePart& part : parts) {
        digest.begin(part);
        for (const StateTensor& item : part.tensors) {
            copied.await(index++);
            digest.add(item);
            const at::Tensor plain = plainTensor(item.tensor);
            digest.bytes(bytesOf(plain));
        }
    }
    return digest.hex();
}

/// Returns the digest of the state as it is then, made on another thread meanwhile. Requires: its values are set.
std::string copyAndDigest(const Verified& checkpoint, const TrainState& state) {
    const std::vector<StatePart> parts = state.parts();
    Copied copied;
    auto digest = std::async(std::launch::async, [&] { return digestOf(parts, copied); });
    struct AtLast {   // also where copying fails
        Copied& copied;
        ~AtLast() { copied.all(); }
    };
    {
        const AtLast atLast{copied};
        copyAll(checkpoint, state.tensors(), [&] { copied.one(); });
    }
    return digest.get();
}

}  // namespace

Result<LoadedCheckpoint> loadCheckpoint(const stdfs::path& folder, TrainState& state, const CheckProgress& progress) {
    auto load = [&]() -> Result<LoadedCheckpoint> {
        LATHE_TRY_ASSIGN(Verified checkpoint, verified(folder, progress));
        LATHE_TRY(compareAll(checkpoint, state.tensors(), true));
        LATHE_TRY(state.setValues(checkpoint.loaded.record.state));
        if (const std::string digest = copyAndDigest(checkpoint, state); digest != checkpoint.loaded.manifest.stateDigest)
            return Error{ErrorCode::Corrupt, "The restored state differs from what was saved (digest " + digest + " instead of " +
                         checkpoint.loaded.manifest.stateDigest + ")", {}, {}};
        return std::move(checkpoint.loaded);
    };
    auto loaded = load();
    if (!loaded.ok()) return std::move(loaded).error().in("while loading checkpoint " + folder.filename().string());
    return loaded;
}

Result<LoadedCheckpoint> loadCheckpointWeights(const stdfs::path& folder, const std::vector<StateTensor>& wanted, const CheckProgress& progress) {
    auto load = [&]() -> Result<LoadedCheckpoint> {
        LATHE_TRY_ASSIGN(Verified checkpoint, verified(folder, progress));
        LATHE_TRY(compareAll(checkpoint, wanted, false));
        copyAll(checkpoint, wanted);
        return std::move(checkpoint.loaded);
    };
    auto loaded = load();
    if (!loaded.ok()) return std::move(loaded).error().in("while loading the weights of checkpoint " + folder.filename().string());
    return loaded;
}

/// Small files only: what is too large for a record is none.
static Result<LoadedCheckpoint> readSmall(const stdfs::path& folder) {
    LoadedCheckpoint loaded;
    LATHE_TRY_ASSIGN(loaded.manifest, rundir::readCheckpoint(folder));
    LATHE_TRY_ASSIGN(const std::string text, readFile(folder / "trainer.json", kMaxTrainerRecordBytes));
    LATHE_TRY_ASSIGN(loaded.record, parseTrainerRecord(text));
    return loaded;
}

Result<LoadedCheckpoint> fitCheckpoint(const stdfs::path& folder, TrainState& state) {
    auto fit = [&]() -> Result<LoadedCheckpoint> {
        LATHE_TRY_ASSIGN(LoadedCheckpoint loaded, readSmall(folder));
        LATHE_TRY(compare(loaded.manifest, state.tensors(), true));
        LATHE_TRY(state.setValues(loaded.record.state));
        return loaded;
    };
    auto fitted = fit();
    if (!fitted.ok()) return std::move(fitted).error().in("while loading checkpoint " + folder.filename().string());
    return fitted;
}

Result<void> fitCheckpointWeights(const stdfs::path& folder, const std::vector<StateTensor>& wanted) {
    const auto manifest = rundir::readCheckpoint(folder);
    auto fits = manifest.ok() ? compare(*manifest, wanted, false) : Result<void>(manifest.error());
    if (!fits.ok()) return std::move(fits).error().in("while loading the weights of checkpoint " + folder.filename().string());
    return {};
}

}  // namespace lathe::engine
