#include "launch/run/exported_weights.h"

#include "base/file_system.h"
#include "rundir/run_folder.h"
#include "rundir/safetensors_header.h"

#include <algorithm>
#include <cerrno>
#include <map>
#include <span>
#include <unistd.h>

namespace lathe::launch {
namespace {

struct Source {
    int fd = -1;
    rundir::SafetensorsHeader header;
};

/// The open files of a checkpoint, each opened once.
class Sources {
public:
    explicit Sources(std::filesystem::path folder) : m_folder(std::move(folder)) {}
    ~Sources() {
        for (const auto& [name, source] : m_open) ::close(source.fd);
    }
    Sources(const Sources&) = delete;
    Sources& operator=(const Sources&) = delete;

    Result<const Source*> at(const std::string& name) {
        if (const auto known = m_open.find(name); known != m_open.end()) return &known->second;
        LATHE_TRY_ASSIGN(const int fd, rundir::openBelow(m_folder, name));
        Source& source = m_open[name];
        source.fd = fd;
        LATHE_TRY_ASSIGN(source.header, rundir::readSafetensorsHeader(fd, name));
        return &source;
    }

private:
    std::filesystem::path m_folder;
    std::map<std::string, Source> m_open;
};

/// Where a tensor of the checkpoint lies.
struct Place {
    const Source* source = nullptr;
    rundir::TensorRange range;
};

Result<Place> placeOf(const rundir::TensorEntry& tensor, Sources& sources) {
    if (tensor.pieces.size() != 1)
        return Error{ErrorCode::Unsupported, "\"" + tensor.name + "\" lies in " + std::to_string(tensor.pieces.size()) + " pieces; only checkpoints of one rank can be exported", {}, {}};
    const rundir::Piece& piece = tensor.pieces.front();
    LATHE_TRY_ASSIGN(const Source* source, sources.at(piece.file));
    const auto found = source->header.tensors.find(piece.key);
    if (found == source->header.tensors.end() || found->second.dtype != tensor.dtype || found->second.shape != tensor.shape)
        return Error{ErrorCode::Corrupt, piece.file + " does not hold \"" + piece.key + "\" as the manifest says", {}, {}};
    return Place{source, found->second};
}

Result<void> copyRange(const Place& place, OutputFile& out) {
    std::vector<std::byte> buffer(1u << 20);
    for (std::uint64_t at = place.range.begin; at < place.range.end;) {
        const std::size_t wanted = std::min<std::uint64_t>(buffer.size(), place.range.end - at);
        const ssize_t got = ::pread(place.source->fd, buffer.data(), wanted, static_cast<off_t>(at));
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return fileError("read", "a tensor file of the checkpoint", got < 0 ? errno : EIO);
        LATHE_TRY(out.write(std::span(buffer).first(static_cast<std::size_t>(got))));
        at += static_cast<std::uint64_t>(got);
    }
    return {};
}

}  // namespace

Result<std::vector<std::pair<std::string, const rundir::TensorEntry*>>> exportedTensors(const rundir::CheckpointManifest& manifest, bool means) {
    std::map<std::string, const rundir::TensorEntry*> meanOf;
    for (const rundir::TensorEntry& tensor : manifest.tensors)
        if (means && tensor.role == "ema") meanOf[tensor.name] = &tensor;
    if (means && meanOf.empty())
        return Error{ErrorCode::NotFound, "This checkpoint holds no running mean of the weights: optimizer.ema was off", "optimizer.ema", {}};
    std::vector<std::pair<std::string, const rundir::TensorEntry*>> all;
    for (const rundir::TensorEntry& tensor : manifest.tensors) {
        if (tensor.role != "parameter" && tensor.role != "buffer") continue;
        const auto mean = meanOf.find(tensor.name + "/ema");
        all.emplace_back(tensor.name, mean == meanOf.end() ? &tensor : mean->second);
    }
    return all;
}

Result<void> writeWeights(FileSystem& fs, const std::filesystem::path& checkpoint, const rundir::CheckpointManifest& manifest,
                          bool means, const std::filesystem::path& file) {
    Sources sources(checkpoint);
    std::vector<std::pair<std::string, rundir::TensorRange>> tensors;
    std::vector<Place> places;
    LATHE_TRY_ASSIGN(const auto exported, exportedTensors(manifest, means));
    for (const auto& [name, tensor] : exported) {
        LATHE_TRY_ASSIGN(const Place place, placeOf(*tensor, sources));
        tensors.emplace_back(name, rundir::TensorRange{tensor->dtype, tensor->shape, 0, 0});
        places.push_back(place);
    }
    const std::string header = rundir::makeSafetensorsHeader(tensors, {{"format", "pt"}});
    LATHE_TRY_ASSIGN(const auto out, fs.create(file));
    LATHE_TRY(out->reserve(tensors.empty() ? header.size() : tensors.back().second.end));
    LATHE_TRY(out->write(std::as_bytes(std::span(header))));
    for (const Place& place : places) LATHE_TRY(copyRange(place, *out));
    LATHE_TRY(out->sync());
    return out->close();
}

}  // namespace lathe::launch
