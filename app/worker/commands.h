// The verbs of lathe-worker.
#pragma once

#include "base/exit_code.h"

#include <string>
#include <vector>

namespace lathe::worker {

using Arguments = std::vector<std::string>;  ///< what follows the verb

ExitCode train(const Arguments& arguments);
ExitCode describe(const Arguments& arguments);
ExitCode explain(const Arguments& arguments);
ExitCode curve(const Arguments& arguments);
ExitCode eval(const Arguments& arguments);
ExitCode selftest(const Arguments& arguments);

}  // namespace lathe::worker
