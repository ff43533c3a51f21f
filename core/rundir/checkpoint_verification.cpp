// What re-reading a checkpoint found, kept beside its manifest.
#include "rundir/checkpoint_manifest.h"

#include "base/file_system.h"
#include "rundir/json_reader.h"

#include <nlohmann/json.hpp>

namespace lathe::rundir {

namespace stdfs = std::filesystem;
using nlohmann::json;

static constexpr const char* kFile = "verified.json";
static constexpr std::uint64_t kMaxBytes = 1u << 20;

Result<void> writeVerified(FileSystem& fs, const stdfs::path& folder, const Verification& found, std::int64_t wallNs) {
    json bad = json::array();
    for (const BadFile& file : found.badFiles) bad.push_back({{"name", file.name}, {"why", file.why}});
    return replaceFile(fs, folder / kFile, jsonText({{"format", kCheckpointFormat}, {"wall_ns", wallNs}, {"digest", found.digest}, {"bad_files", std::move(bad)}}));
}

std::optional<VerifiedRecord> readVerified(const stdfs::path& folder) {
    const auto text = readFile(folder / kFile, kMaxBytes);
    if (!text) return std::nullopt;
    const auto object = parseStrict(*text, kFile);
    if (!object || !checkFormat(*object, kFile, kCheckpointFormat)) return std::nullopt;
    JsonReader reader(*object, kFile);
    VerifiedRecord record;
    record.wallNs = reader.integer("wall_ns");
    const json* bad = reader.array("bad_files");
    for (std::size_t i = 0; bad && i < bad->size(); ++i) {
        if (!(*bad)[i].is_object()) return std::nullopt;
        JsonReader file((*bad)[i], kFile, "bad_files.");
        record.badFiles.push_back({file.text("name"), file.text("why")});
        reader.absorb(file);
    }
    if (!bad || !reader.check()) return std::nullopt;
    return record;
}

}  // namespace lathe::rundir
