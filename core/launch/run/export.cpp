#include "launch/run/export.h"

#include "base/file_system.h"
#include "base/number_text.h"
#include "base/program_paths.h"
#include "dataset/picture.h"
#include "launch/run/checkpoint_choice.h"
#include "launch/run/exported_weights.h"
#include "launch/run/run_settings.h"
#include "rundir/checkpoint_manifest.h"
#include "rundir/json_reader.h"
#include "store/run_store.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <map>

namespace lathe::launch {

using nlohmann::json;
namespace stdfs = std::filesystem;

/// What the worker told of data and model before its first update.
static Result<json> planFacts(const rundir::RunFolder& run) {
    LATHE_TRY_ASSIGN(const auto reader, store::RunReader::open(run.database()));
    LATHE_TRY_ASSIGN(const auto events, reader->events(0, 1'000'000));
    for (auto row = events.rbegin(); row != events.rend(); ++row) {
        if (row->event.kind != "plan") continue;
        json facts = json::parse(row->event.json, nullptr, false);
        if (facts.is_object() && facts.contains("input") && facts["input"].is_object()) return facts;
    }
    return Error{ErrorCode::NotFound, run.name() + " has no record of its data: it never began to train", {}, {}};
}

static json preprocessingJson(const config::RunConfig& config, const json& input) {
    json out = input;
    if (input.value("images", false)) {
        out["resize"] = config.data.resize;
        out["normalize"] = config.data.normalize;
        if (config.data.normalize == "imagenet") {
            const dataset::ImagenetScale scale = dataset::imagenetScale(input.value("channels", 3));
            out["mean"] = scale.mean;
            out["deviation"] = scale.deviation;
        }
    }
    return out;
}

static json metricNumbers(const std::map<std::string, std::string>& metrics) {
    json out = json::object();
    for (const auto& [name, text] : metrics) {
        const auto value = readDouble(text);
        out[name] = value ? rundir::numberJson(*value) : json(text);
    }
    return out;
}

static json modelJson(const config::RunConfig& config, const std::string& checkpoint, const rundir::CheckpointManifest& manifest, bool means) {
    return {{"name", config.model.name}, {"task", config.task.name}, {"hidden_layers", config.model.hidden.size()}, {"stem", config.model.stem}, {"heads", config.model.heads},
            {"weights", means ? "ema" : "trained"}, {"run", manifest.runId}, {"checkpoint", checkpoint}, {"step", manifest.counters.globalStep.value()}, {"metrics", metricNumbers(manifest.metrics)}};
}

/// Reads every byte. What holds weights must be whole; what else is damaged is told.
static Result<std::vector<std::string>> damageBesideWeights(const stdfs::path& folder, const rundir::CheckpointManifest& manifest, bool means) {
    LATHE_TRY_ASSIGN(const auto exported, exportedTensors(manifest, means));
    LATHE_TRY_ASSIGN(const rundir::Verification checked, rundir::verifyCheckpoint(folder));
    std::vector<std::string> out;
    for (const rundir::BadFile& bad : checked.badFiles) {
        const bool holdsWeights = std::any_of(exported.begin(), exported.end(), [&](const auto& tensor) {
            return std::any_of(tensor.second->pieces.begin(), tensor.second->pieces.end(), [&](const rundir::Piece& piece) { return piece.file == bad.name; });
        });
        if (holdsWeights)
            return Error{ErrorCode::Corrupt, "The weights of " + folder.filename().string() + " are damaged and were not exported: " + bad.text()
                         + ". Export another checkpoint (RUN@STEP)", {}, {}};
        out.push_back(bad.text());
    }
    return out;
}

/// Gives what of the checkpoint is damaged but was not needed.
static Result<std::vector<std::string>> writeExport(const rundir::RunFolder& run, const std::string& checkpoint, ExportedWeights weights, const stdfs::path& folder) {
    FileSystem& fs = FileSystem::real();
    const auto from = run.checkpoints() / checkpoint;
    LATHE_TRY_ASSIGN(const auto manifest, rundir::readCheckpoint(from));
    LATHE_TRY_ASSIGN(const auto config, configOf(run, std::max(rundir::parseCheckpointName(checkpoint)->session, 1)));
    const bool means = weights == ExportedWeights::Means || (weights == ExportedWeights::AsEvaluated && config.optimizer.ema && config.evaluation.weights == "ema");
    LATHE_TRY_ASSIGN(auto damage, damageBesideWeights(from, manifest, means));
    LATHE_TRY_ASSIGN(const json facts, planFacts(run));
    LATHE_TRY_ASSIGN(const std::string loader, readFile(resourceFolder() / "export" / "load.py", 1u << 20));
    LATHE_TRY(fs.makeFolder(folder));
    LATHE_TRY(writeWeights(fs, from, manifest, means, folder / "model.safetensors"));
    LATHE_TRY(replaceFile(fs, folder / "classes.json", rundir::jsonText(facts.value("classes", json::array()))));
    LATHE_TRY(replaceFile(fs, folder / "preprocessing.json", rundir::jsonText(preprocessingJson(config, facts["input"]))));
    LATHE_TRY(replaceFile(fs, folder / "model.json", rundir::jsonText(modelJson(config, checkpoint, manifest, means))));
    LATHE_TRY(replaceFile(fs, folder / "load.py", loader));
    return damage;
}

/// The new export is whole before the old one goes.
Result<std::vector<std::string>> exportCheckpoint(const rundir::RunFolder& run, const std::string& checkpoint, ExportedWeights weights) {
    FileSystem& fs = FileSystem::real();
    LATHE_TRY_ASSIGN(const auto lock, rundir::RunLock::acquire(run.exportLock()));
    const stdfs::path unfinished = run.unfinishedExport();
    LATHE_TRY(removeTree(fs, unfinished));
    auto written = writeExport(run, checkpoint, weights, unfinished);
    if (!written) {
        static_cast<void>(removeTree(fs, unfinished));
        return written;
    }
    LATHE_TRY(removeTree(fs, run.exportFolder()));
    LATHE_TRY(fs.rename(unfinished, run.exportFolder()));
    return written;
}

Result<std::string> exportBest(const rundir::RunFolder& run) {
    const auto best = bestCheckpoint(run);
    if (!best) return best.error();
    LATHE_TRY(exportCheckpoint(run, *best));
    return "The weights of the best evaluation, those of " + *best + ", are left in " + run.exportFolder().filename().string();
}

}  // namespace lathe::launch
