// Problems of a configuration for people and as JSON.
#pragma once

#include "actions.h"
#include "config/config.h"

#include <nlohmann/json_fwd.hpp>

#include <vector>

namespace lathe::trainer {

/// "error: optimizer.learning_rate: …" each on a line of standard error.
void tellProblems(const std::vector<config::Problem>& problems);
/// [{key, severity, sentence}]
nlohmann::json problemsJson(const std::vector<config::Problem>& problems);
/// All of them, then the exit code of a bad configuration.
ExitCode failWith(const Options& options, const std::vector<config::Problem>& problems);

}  // namespace lathe::trainer
