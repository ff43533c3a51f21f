#include "engine/checkpoint/checkpoint_reader.h"

#include "base/hash.h"
#include "engine/checkpoint/tensor_file.h"

#include <algorithm>
#include <cstring>
#include <set>

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

Result<void> verifyFile(const rundir::FileEntry& entry, std::span<const std::byte> bytes) {
    if (bytes.size() != entry.bytes)
        return Error{ErrorCode::Corrupt, entry.name + " has " + std::to_string(bytes.size()) + " bytes instead of " + std::to_string(entry.bytes), {}, {}};
    if (hashHex(bytes) != entry.hash)
        return Error{ErrorCode::Corrupt, entry.name + " is damaged: its content does not match its checksum. Choose another checkpoint", {}, {}};
    return {};
}

Result<Verified> verified(const stdfs::path& folder, const CheckProgress& progress) {
    Verified all;
    LATHE_TRY_ASSIGN(all.loaded.manifest, rundir::readCheckpoint(folder));
    std::uint64_t total = 0, done = 0;
    for (const rundir::FileEntry& entry : all.loaded.manifest.files) total += entry.bytes;
    bool hasRecord = false;
    for (const rundir::FileEntry& entry : all.loaded.manifest.files) {
        LATHE_TRY_ASSIGN(std::unique_ptr<MappedFile> file, MappedFile::open(folder, entry.name));
        LATHE_TRY(verifyFile(entry, file->bytes()));
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
Result<void> compare(const Verified& checkpoint, const std::vector<StateTensor>& wanted, bool exact) {
    std::map<std::string, const rundir::TensorEntry*> have;
    for (const rundir::TensorEntry& entry : checkpoint.loaded.manifest.tensors) have[entry.name] = &entry;
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
        LATHE_TRY(checkPieces(checkpoint, entry));
        have.erase(found);
    }
    if (exact)
        for (const auto& [name, entry] : have) problems.push_back(name + " is not in this run");
    if (problems.empty()) return {};
    return Error{ErrorCode::Corrupt, "The checkpoint does not fit this run's model and optimizer: " + listed(problems), {}, {}};
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

void copyAll(const Verified& checkpoint, const std::vector<StateTensor>& wanted) {
    std::map<std::string, const rundir::TensorEntry*> have;
    for (const rundir::TensorEntry& entry : checkpoint.loaded.manifest.tensors) have[entry.name] = &entry;
    for (const StateTensor& item : wanted) copyTensor(checkpoint, *have.at(item.name), item.tensor);
}

}  // namespace

Result<LoadedCheckpoint> loadCheckpoint(const stdfs::path& folder, TrainState& state, const CheckProgress& progress) {
    auto load = [&]() -> Result<LoadedCheckpoint> {
        LATHE_TRY_ASSIGN(Verified checkpoint, verified(folder, progress));
        const std::vector<StateTensor> wanted = state.tensors();
        LATHE_TRY(compare(checkpoint, wanted, true));
        LATHE_TRY(state.setValues(checkpoint.loaded.record.state));
        copyAll(checkpoint, wanted);
        if (const std::string digest = state.digest(); digest != checkpoint.loaded.manifest.stateDigest)
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
        LATHE_TRY(compare(checkpoint, wanted, false));
        copyAll(checkpoint, wanted);
        return std::move(checkpoint.loaded);
    };
    auto loaded = load();
    if (!loaded.ok()) return std::move(loaded).error().in("while loading the weights of checkpoint " + folder.filename().string());
    return loaded;
}

}  // namespace lathe::engine
