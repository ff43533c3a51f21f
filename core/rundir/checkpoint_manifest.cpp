#include "rundir/checkpoint_manifest.h"

#include "base/hash.h"
#include "base/number_text.h"
#include "rundir/json_reader.h"
#include "rundir/safetensors_header.h"

#include <nlohmann/json.hpp>

#include <array>
#include <cstdio>
#include <set>
#include <span>
#include <string_view>

namespace lathe::rundir {

using nlohmann::json;

static constexpr const char* kWhat = "manifest.json";
static constexpr std::size_t kMaxEntries = 1'000'000;

std::string checkpointName(int session, GlobalStep step) {
    std::array<char, 64> text{};
    std::snprintf(text.data(), text.size(), "s%03d-%09lld", session, static_cast<long long>(step.value()));
    return text.data();
}

std::optional<CheckpointName> parseCheckpointName(const std::string& name) {
    const std::size_t dash = name.find('-');
    if (name.size() > 32 || name.empty() || name.front() != 's' || dash == std::string::npos) return std::nullopt;
    const std::string first = name.substr(1, dash - 1), second = name.substr(dash + 1);
    if ((first + second).find_first_not_of("0123456789") != std::string::npos) return std::nullopt;
    const auto session = readInteger(first), step = readInteger(second);
    if (!session || !step || *session > 1'000'000) return std::nullopt;
    const CheckpointName out{static_cast<int>(*session), GlobalStep(*step)};
    if (checkpointName(out.session, out.step) != name) return std::nullopt;  // one spelling each
    return out;
}

static json pieceJson(const Piece& piece) {
    return {{"file", piece.file}, {"key", piece.key}, {"offset", piece.offset}, {"shape", piece.shape}};
}

std::string manifestJson(const CheckpointManifest& manifest) {
    json object = {{"format", kCheckpointFormat}, {"run", manifest.runId}, {"session", manifest.session},
                   {"counters", countersJson(manifest.counters)}, {"wall_ns", manifest.wallNs},
                   {"config_hash", manifest.configHash}, {"state_digest", manifest.stateDigest}, {"metrics", manifest.metrics},
                   {"evaluation_pending", manifest.evaluationPending}, {"best", manifest.best}, {"layout", manifest.layout}};
    object["last_frame"] = json::object();
    for (const auto& [ring, sequence] : manifest.lastFrame) object["last_frame"][std::to_string(ring)] = sequence;
    object["files"] = json::array();
    for (const FileEntry& file : manifest.files)
        object["files"].push_back({{"name", file.name}, {"bytes", file.bytes}, {"hash", file.hash}});
    object["tensors"] = json::array();
    for (const TensorEntry& tensor : manifest.tensors) {
        json pieces = json::array();
        for (const Piece& piece : tensor.pieces) pieces.push_back(pieceJson(piece));
        object["tensors"].push_back({{"name", tensor.name}, {"role", tensor.role}, {"dtype", tensor.dtype},
                                     {"shape", tensor.shape}, {"pieces", pieces}});
    }
    return sealed(object.dump(1, ' ', false, json::error_handler_t::replace));
}

// ---- the seal: ',\n "seal": "<hash of all bytes before this>"\n}\n'

static constexpr std::string_view kSeal = ",\n \"seal\": \"", kAfterSeal = "\"\n}\n";

static std::string sealFor(std::string_view before) {
    return std::string(kSeal) + hashHex(std::as_bytes(std::span(before))) + std::string(kAfterSeal);
}

std::string sealed(std::string text) {
    const std::size_t old = text.rfind(kSeal);
    text.erase(old != std::string::npos ? old : text.rfind("\n}"));
    return text + sealFor(text);
}

static Result<void> checkSeal(const std::string& text, const json& object) {
    const std::size_t seal = text.rfind(kSeal);
    const bool isKept = seal != std::string::npos && std::string_view(text).substr(seal) == sealFor(std::string_view(text).substr(0, seal));
    const bool isOld = object.value("format", 0) == 1 && !object.contains("seal");
    if (isKept || isOld) return {};
    return Error{ErrorCode::Corrupt, std::string(kWhat) + " differs from its checksum: the file was changed or the disk damaged it", {}, {}};
}

static bool isPlainFileName(const std::string& name) {
    return !name.empty() && name.size() <= 255 && name.front() != '.' && name.find_first_of(std::string("/\\\0", 3)) == std::string::npos;
}

static void readFiles(JsonReader& reader, CheckpointManifest& out) {
    const json* files = reader.array("files");
    if (files == nullptr || files->empty() || files->size() > kMaxEntries) return reader.fail("files", "must list the checkpoint's files");
    std::set<std::string> names;
    for (std::size_t i = 0; i < files->size(); ++i) {
        JsonReader part((*files)[i], reader.file(), "files[" + std::to_string(i) + "].");
        FileEntry entry{part.text("name"), part.count("bytes"), part.text("hash")};
        if (!isPlainFileName(entry.name)) part.fail("name", "must be a plain file name");
        if (!names.insert(entry.name).second) part.fail("name", "stands there twice");
        if (entry.hash.size() != 32 || entry.hash.find_first_not_of("0123456789abcdef") != std::string::npos)
            part.fail("hash", "must be 32 hexadecimal digits");
        reader.absorb(part);
        out.files.push_back(std::move(entry));
    }
}

/// The block must lie inside the tensor; returns its number of elements.
static std::int64_t checkPiece(const Piece& piece, const TensorEntry& tensor, JsonReader& reader) {
    bool fits = piece.offset.size() == tensor.shape.size() && piece.shape.size() == tensor.shape.size();
    std::int64_t elements = 1;
    for (std::size_t d = 0; fits && d < tensor.shape.size(); ++d) {
        fits = piece.offset[d] >= 0 && piece.shape[d] >= 0 && piece.shape[d] <= tensor.shape[d]
               && piece.offset[d] <= tensor.shape[d] - piece.shape[d];
        elements *= fits ? piece.shape[d] : 1;  // cannot overflow: each is at most the tensor's, whose product is checked
    }
    if (!fits) reader.fail("shape", "does not lie inside its tensor");
    return elements;
}

static bool overlap(const Piece& a, const Piece& b) {
    for (std::size_t d = 0; d < a.shape.size(); ++d) {
        if (a.offset[d] + a.shape[d] <= b.offset[d] || b.offset[d] + b.shape[d] <= a.offset[d]) return false;
    }
    return true;
}

static void readPieces(JsonReader& reader, TensorEntry& tensor, const std::set<std::string>& files) {
    const json* pieces = reader.array("pieces");
    if (pieces == nullptr || pieces->empty() || pieces->size() > 4096) return reader.fail("pieces", "must list where the tensor lies");
    std::int64_t covered = 0, elements = 1;
    for (const std::int64_t length : tensor.shape) elements *= length;
    for (std::size_t i = 0; i < pieces->size(); ++i) {
        JsonReader part((*pieces)[i], reader.file(), tensor.name + ".pieces[" + std::to_string(i) + "].");
        Piece piece{part.text("file"), part.text("key"), part.integers("offset"), part.integers("shape")};
        if (!files.contains(piece.file)) part.fail("file", "is not in the list of files");
        covered += checkPiece(piece, tensor, part);
        reader.absorb(part);
        if (!part.check()) return;
        for (const Piece& other : tensor.pieces) {
            if (elements > 0 && overlap(piece, other)) return reader.fail("pieces", "overlap each other");
        }
        tensor.pieces.push_back(std::move(piece));
    }
    if (covered != elements) reader.fail("pieces", "do not cover the tensor");
}

static void readTensors(JsonReader& reader, CheckpointManifest& out) {
    const json* tensors = reader.array("tensors");
    if (tensors == nullptr || tensors->size() > kMaxEntries) return reader.fail("tensors", "must list the checkpoint's tensors");
    std::set<std::string> files, names;
    for (const FileEntry& file : out.files) files.insert(file.name);
    for (std::size_t i = 0; i < tensors->size(); ++i) {
        JsonReader part((*tensors)[i], reader.file(), "tensors[" + std::to_string(i) + "].");
        TensorEntry tensor{part.text("name"), part.text("role"), part.text("dtype"), part.integers("shape"), {}};
        if (tensor.name.empty() || tensor.name.size() > 1024 || !names.insert(tensor.name).second)
            part.fail("name", "must be there once and be shorter than 1 KiB");
        if (!tensorBytes(tensor.dtype, tensor.shape)) part.fail("shape", "is not possible for its dtype");
        if (part.check()) readPieces(part, tensor, files);
        reader.absorb(part);
        if (!reader.check()) return;
        out.tensors.push_back(std::move(tensor));
    }
}

static void readLastFrames(JsonReader& reader, CheckpointManifest& out) {
    const json* rings = reader.object("last_frame");
    if (rings == nullptr) return;
    JsonReader part(*rings, reader.file(), "last_frame.");
    for (const auto& [ring, sequence] : rings->items()) {
        const auto number = readInteger(ring);
        if (!number || *number < 0 || *number > 65535) part.fail(ring, "is not a ring's number");
        else out.lastFrame[static_cast<int>(*number)] = part.count(ring.c_str());
    }
    reader.absorb(part);
}

Result<CheckpointManifest> parseManifest(const std::string& text) {
    LATHE_TRY_ASSIGN(const json object, parseStrict(text, kWhat));
    LATHE_TRY(checkFormat(object, kWhat, kCheckpointFormat));
    LATHE_TRY(checkSeal(text, object));
    JsonReader reader(object, kWhat);
    CheckpointManifest out;
    out.runId = reader.text("run", "");
    out.session = reader.small("session");
    out.counters = readCounters(reader, "counters");
    out.wallNs = reader.integer("wall_ns", 0);
    out.configHash = reader.text("config_hash", "");
    out.stateDigest = reader.text("state_digest", "");
    out.metrics = reader.textMap("metrics");
    out.evaluationPending = reader.flag("evaluation_pending", false);
    out.best = reader.flag("best", false);
    out.layout = reader.text("layout", "single");
    readLastFrames(reader, out);
    readFiles(reader, out);
    LATHE_TRY(reader.check());
    readTensors(reader, out);
    LATHE_TRY(reader.check());
    return out;
}

}  // namespace lathe::rundir
