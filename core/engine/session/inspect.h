// What can be asked of the engine without training: the size of a model, the metrics of a checkpoint, whether this
// installation computes right. Answers are JSON objects. Includes no LibTorch.
#pragma once

#include "base/result.h"

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace lathe::engine {

/// From where a session that is described would go on.
struct DescribedStart {
    std::filesystem::path checkpoint;   ///< folder; empty: from nothing
    bool weightsOnly = false, newCurve = false;
};

/// What a session with this configuration would be, by the code that would make it (Setup::outline): {"precision", "precision_why" (of auto, else empty), "parameters", "trainable",
/// "bytes" {"weights", "training", "trained"}, "updates_per_epoch", "planned_updates", "train_samples", "eval_samples", "tensors" [{"name", "shape", "block"}], "groups"}, and where it goes
/// on from a checkpoint "resume" {"curve", "warnings" (what it would tell), "not_comparable" (why it cannot be proved exact; empty where it can)}. Where it would be refused: {"refused" {"key", "sentence"}}.
Result<std::string> describeConfig(const std::string& fileOrPreset, const DescribedStart& start = {});

/// {"update" [{"event", "detail"}]}: plan::explainUpdate() with the words of plug-ins. No data are opened.
Result<std::string> explainConfig(const std::string& fileOrPreset);

/// {"factors" […]}: of the learning rate, after each of so many applied updates. No data are opened.
Result<std::string> curveOfConfig(const std::string& fileOrPreset, const std::vector<std::int64_t>& steps);

/// {"run", "checkpoint", "step", "metrics" {name: exact text}, "records" [{"name", "content"}], "samples", "seconds"}: the weights of a checkpoint on the
/// evaluation data of its run. `checkpoint`: folder name below checkpoints/.
Result<std::string> evaluateCheckpoint(const std::filesystem::path& run, const std::string& checkpoint);

const char* torchVersion();  ///< that this program was built with

/// {"libtorch", "ok", "checks" [{"name", "ok", "detail"}]}
std::string selftest();

}  // namespace lathe::engine
