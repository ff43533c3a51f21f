// The command line: its words, and which action they call.
#pragma once

#include "actions.h"

namespace lathe::trainer {

/// Parses and acts; usage errors and --help are answered here.
ExitCode runCommandLine(int argc, char** argv);

}  // namespace lathe::trainer
