// A trial of everything: a few real updates, an evaluation and a save, then as many updates more after a resume.
#pragma once

#include "actions.h"
#include "launch/session/supervisor.h"

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <functional>

namespace lathe::trainer {

/// Supervises the prepared session and, when it has completed, one more of the same run that makes `updates` more from its
/// checkpoint. `first`: options of the first session; only its glance goes for the second one too.
/// Where that is a trial by its record (rundir::SessionRecord) the second one is, too; else run.max_updates is raised.
ExitCode superviseTrial(const launch::SupervisorOptions& first, rundir::RunLock lock, std::int64_t updates);

/// What a trial in `run` showed: {ok, problem, updates, eval_samples, checkpoint_bytes, resume, samples_per_second, seconds}.
nlohmann::json trialJson(const rundir::RunFolder& run);
/// The same in sentences.
std::vector<std::string> trialSentences(const nlohmann::json& facts);

/// check --dry-run: makes the trial of a checked configuration in a scratch workspace and tells what came of it.
ExitCode dryRun(const Options& options, const config::RunConfig& config);

}  // namespace lathe::trainer
