// What `run` and `check` look at alike before anything is made.
#pragma once

#include "actions.h"
#include "base/result.h"
#include "config/config.h"

#include <vector>

namespace lathe::trainer {

/// config::load of the target. Data in its place (a folder of class folders, a CSV or IDX file) are a Usage error with the
/// whole command that learns from them.
Result<config::Loaded> loadTarget(const Options& options);

/// Puts in where runs go: --workspace, else $LATHE_WORKSPACE, else output_dir of the flat form, else ~/lathe. Gives what is
/// to be told about output_dir, or nothing.
std::vector<config::Problem> chooseWorkspace(Options& options, const config::Loaded& loaded);

}  // namespace lathe::trainer
