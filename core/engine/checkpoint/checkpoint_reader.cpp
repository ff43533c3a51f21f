#include "engine/checkpoint/checkpoint_reader.h"

#include "base/file_system.h"
#include "base/in_order.h"
#include "engine/checkpoint/tensor_file.h"
#include "engine/train/guard.h"
#include "rundir/checkpoint_content.h"

#include <algorithm>
#include <thread>

namespace lathe::engine {
namespace {

namespace stdfs = std::filesystem;

constexpr const char* kRecordFile = "trainer.json";
/// Hashed while it lies in the processor's cache.
constexpr std::size_t kBlockBytes = 256u << 10;

/// An opened checkpoint whose every byte has been compared with its hashes.
struct Verified {
    LoadedCheckpoint loaded;
    std::map<std::string, rundir::WholeFile> files;
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

/// Threads that read: more have little to win, since memory is what they wait for.
std::size_t readers() { return std::clamp(std::thread::hardware_concurrency(), 1u, 4u); }

Result<TrainerRecord> readRecord(const Verified& checkpoint) {
    const auto& files = checkpoint.loaded.manifest.files;
    const auto entry = std::find_if(files.begin(), files.end(), [](const rundir::FileEntry& file) { return file.name == kRecordFile; });
    if (entry == files.end()) return Error{ErrorCode::Corrupt, std::string("The checkpoint has no ") + kRecordFile, {}, {}};
    if (entry->bytes > kMaxTrainerRecordBytes) return Error{ErrorCode::Corrupt, std::string(kRecordFile) + " is too long to be one", {}, {}};
    std::string text(static_cast<std::size_t>(entry->bytes), '\0');
    LATHE_TRY(readAt(checkpoint.files.at(entry->name).file.get(), 0, std::as_writable_bytes(std::span(text)), entry->name));
    return parseTrainerRecord(text);
}

Result<Verified> verified(const stdfs::path& folder, const CheckProgress& progress) {
    Verified all;
    LATHE_TRY_ASSIGN(all.loaded.manifest, rundir::readCheckpoint(folder));
    const std::vector<rundir::FileEntry>& files = all.loaded.manifest.files;
    std::uint64_t total = 0, done = 0;
    for (const rundir::FileEntry& entry : files) total += entry.bytes;
    std::vector<rundir::WholeFile> whole(files.size());
    const auto open = [&](std::size_t i) {
        return guarded("reading a file of a checkpoint", [&]() -> Result<void> {
            LATHE_TRY_ASSIGN(whole[i], rundir::openWhole(folder, files[i], all.loaded.manifest));
            return {};
        });
    };
    const auto tell = [&](std::size_t i) -> Result<void> {
        done += files[i].bytes;
        if (progress) progress(done, total);
        return {};
    };
    if (auto opened = inOrder(files.size(), readers(), open, tell); !opened.ok()) {
        Error error = std::move(opened).error();
        if (error.code == ErrorCode::Corrupt) error.sentence += ". Choose another checkpoint";
        return error;
    }
    for (std::size_t i = 0; i < files.size(); ++i) all.files[files[i].name] = std::move(whole[i]);
    LATHE_TRY_ASSIGN(all.loaded.record, readRecord(all));
    return all;
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

/// A tensor of the checkpoint and where it goes, or a part of it: what is read at once.
struct Block {
    std::size_t index;                   ///< of the tensor in the list of what is wanted
    const rundir::TensorEntry* from;
    at::Tensor to;
    std::size_t begin, bytes;            ///< within the tensor
    bool isPlain;                        ///< its bytes lie in main memory as they do in the file
};

std::vector<Block> blocksOf(const rundir::CheckpointManifest& manifest, const std::vector<StateTensor>& wanted) {
    std::map<std::string, const rundir::TensorEntry*> have;
    for (const rundir::TensorEntry& entry : manifest.tensors) have[entry.name] = &entry;
    std::vector<Block> blocks;
    for (std::size_t i = 0; i < wanted.size(); ++i) {
        const at::Tensor to = wanted[i].tensor.detach();
        const rundir::TensorEntry* from = have.at(wanted[i].name);
        const bool isPlain = to.is_cpu() && to.is_contiguous() && from->pieces.size() == 1;
        const std::size_t all = to.nbytes(), each = isPlain ? kBlockBytes : all;
        std::size_t begin = 0;
        do {
            blocks.push_back({i, from, to, begin, std::min(each, all - begin), isPlain});
            begin += each;
        } while (begin < all);
    }
    return blocks;
}

Result<void> readPiece(const Verified& checkpoint, const rundir::Piece& piece, std::size_t begin, std::span<std::byte> to) {
    const rundir::WholeFile& whole = checkpoint.files.at(piece.file);
    return readAt(whole.file.get(), whole.header.tensors.at(piece.key).begin + begin, to, piece.file);
}

std::span<std::byte> placeOf(const Block& block) { return {static_cast<std::byte*>(block.to.mutable_data_ptr()) + block.begin, block.bytes}; }

Result<void> readBlock(const Verified& checkpoint, const Block& block) {
    if (block.isPlain) return readPiece(checkpoint, block.from->pieces.front(), block.begin, placeOf(block));
    const at::NoGradGuard noGrad;
    for (const rundir::Piece& piece : block.from->pieces) {
        const at::Tensor host = at::empty(piece.shape, at::TensorOptions(block.to.scalar_type()));
        LATHE_TRY(readPiece(checkpoint, piece, 0, {static_cast<std::byte*>(host.mutable_data_ptr()), host.nbytes()}));
        at::Tensor place = block.to;
        for (std::size_t axis = 0; axis < piece.shape.size(); ++axis)
            place = place.narrow(static_cast<std::int64_t>(axis), piece.offset[axis], piece.shape[axis]);
        place.copy_(host);
    }
    return {};
}

/// `arrived` is called with each block in order, once it lies where it belongs and mostly while the processor has it in its cache.
Result<void> readAll(const Verified& checkpoint, const std::vector<StateTensor>& wanted, const std::function<void(const Block&)>& arrived = [](const Block&) {}) {
    const std::vector<Block> blocks = blocksOf(checkpoint.loaded.manifest, wanted);
    return inOrder(blocks.size(), readers(),
        [&](std::size_t i) { return guarded("reading a tensor", [&] { return readBlock(checkpoint, blocks[i]); }); },
        [&](std::size_t i) { return guarded("comparing a tensor", [&]() -> Result<void> { arrived(blocks[i]); return {}; }); });
}

/// Returns the digest of the state as it is then. Requires: its values are set.
Result<std::string> readAndDigest(const Verified& checkpoint, const TrainState& state) {
    const std::vector<StatePart> parts = state.parts();
    const std::vector<StateTensor> tensors = state.tensors();
    StateDigest digest;
    std::size_t part = 0, first = 0;   // the part that begins next, and its first tensor
    const auto beginParts = [&](std::size_t tensor) {
        for (; part < parts.size() && first <= tensor; first += parts[part++].tensors.size()) digest.begin(parts[part]);
    };
    LATHE_TRY(readAll(checkpoint, tensors, [&](const Block& block) {
        if (block.begin == 0) {
            beginParts(block.index);
            digest.add(tensors[block.index]);
        }
        if (block.isPlain) return digest.bytes(placeOf(block));
        const at::Tensor plain = plainTensor(block.to);
        digest.bytes(bytesOf(plain));
    }));
    beginParts(tensors.size());
    return digest.hex();
}

}  // namespace

Result<LoadedCheckpoint> loadCheckpoint(const stdfs::path& folder, TrainState& state, const CheckProgress& progress) {
    auto load = [&]() -> Result<LoadedCheckpoint> {
        LATHE_TRY_ASSIGN(Verified checkpoint, verified(folder, progress));
        LATHE_TRY(compare(checkpoint.loaded.manifest, state.tensors(), true));
        LATHE_TRY(state.setValues(checkpoint.loaded.record.state));
        LATHE_TRY_ASSIGN(const std::string digest, readAndDigest(checkpoint, state));
        if (digest != checkpoint.loaded.manifest.stateDigest)
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
        LATHE_TRY(compare(checkpoint.loaded.manifest, wanted, false));
        LATHE_TRY(readAll(checkpoint, wanted));
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
    LATHE_TRY_ASSIGN(const std::string text, readFile(folder / kRecordFile, kMaxTrainerRecordBytes));
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
