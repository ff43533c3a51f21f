// The folder that other programs use a model from: plain safetensors, class names, preprocessing, a loader in Python.
// Thread: functions without shared state; the export's lock keeps other processes out.
#pragma once

#include "base/result.h"
#include "rundir/run_folder.h"

#include <string>
#include <vector>

namespace lathe::launch {

/// Those that were trained, their running mean, or whichever the run's configuration evaluates.
enum class ExportedWeights { AsEvaluated, Trained, Means };

/// Replaces the run's export by that of a checkpoint (a folder's name): the new one is whole before the old one goes. Gives
/// what of the checkpoint is damaged but was not needed; Corrupt where weights are, Busy while another process exports, NotFound where means
/// are asked for and none were kept.
Result<std::vector<std::string>> exportCheckpoint(const rundir::RunFolder& run, const std::string& checkpoint, ExportedWeights weights = ExportedWeights::AsEvaluated);

/// For evaluation.restore_best: exports the best checkpoint. A sentence of what was done; NotFound where no usable
/// checkpoint has a value to be the best by.
Result<std::string> exportBest(const rundir::RunFolder& run);

}  // namespace lathe::launch
