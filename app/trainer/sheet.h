// The answer to --dry-run of the verbs that go on from a checkpoint.
#pragma once

#include "actions.h"
#include "launch/verbs/resume_sheet.h"

namespace lathe::trainer {

/// Tells what would happen and writes nothing. Exit code 0 when it would start, else that of the reason.
ExitCode tellSheet(const Options& options, const rundir::RunFolder& run, launch::GoOn verb, const std::string& checkpoint);

}  // namespace lathe::trainer
