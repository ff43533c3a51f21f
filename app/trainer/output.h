// How every verb answers: sentences on standard error, results on standard output, failures with the right exit code.
#pragma once

#include "actions.h"
#include "base/error.h"
#include "rundir/run_folder.h"

#include <nlohmann/json_fwd.hpp>

#include <filesystem>
#include <string>

namespace lathe::trainer {

/// Tells a failure: a sentence on standard error and, with --json, {"error": {…}} on standard output.
ExitCode fail(const Options& options, const Error& error);
/// One line of JSON on standard output.
void printJson(const nlohmann::json& value);
/// Without what would steer a terminal: what programs and files say is only ever shown.
std::string printable(std::string text);
void print(const std::string& text);  ///< standard output, with a newline; printable
void tell(const std::string& text);   ///< standard error, with a newline; printable

std::filesystem::path workspaceOf(const Options& options);
/// The run that options.target names, held: it may be moved meanwhile.
Result<rundir::RunFolder> targetRun(const Options& options);
/// The same for verbs that ask something of a run that is up: latest is the newest of those that are, which is told where it
/// is not the one made last. Where none is up it is the one made last.
Result<rundir::RunFolder> runThatIsUp(const Options& options);
/// The same for those who only read it: what a lost supervisor left is taken in first, or it is told that some is missing.
Result<rundir::RunFolder> runToRead(const Options& options);
/// The name that people gave a run, else the one it was made with.
std::string displayName(const rundir::RunFolder& run);
/// Of a run that has just ended and is still held: what its supervisor may be waiting for. Else empty.
std::string endedNote(const rundir::RunFolder& run);

}  // namespace lathe::trainer
