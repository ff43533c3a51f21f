#include "output.h"

#include "base/program_paths.h"

#include <nlohmann/json.hpp>

#include <cstdio>

namespace lathe::trainer {

using nlohmann::json;

ExitCode exitCodeOf(const Error& error) {
    switch (error.code) {
        case ErrorCode::Usage:
        case ErrorCode::Config:
        case ErrorCode::NotFound: return ExitCode::Usage;
        case ErrorCode::Busy: return ExitCode::Busy;
        case ErrorCode::OutOfMemory: return ExitCode::OutOfMemory;
        case ErrorCode::Diverged: return ExitCode::Diverged;
        case ErrorCode::Stopped: return ExitCode::Stopped;
        default: return ExitCode::Failed;
    }
}

ExitCode fail(const Options& options, const Error& error) {
    tell(error.text());
    if (options.json) {
        json facts = {{"code", name(error.code)}, {"sentence", error.sentence}};
        if (!error.key.empty()) facts["key"] = error.key;
        printJson({{"error", facts}});
    }
    return exitCodeOf(error);
}

void print(const std::string& text) {
    std::fwrite(text.data(), 1, text.size(), stdout);
    std::fputc('\n', stdout);
}

void tell(const std::string& text) {
    std::fflush(stdout);
    std::fwrite(text.data(), 1, text.size(), stderr);
    std::fputc('\n', stderr);
}

void printJson(const json& value) {
    print(value.dump(-1, ' ', false, json::error_handler_t::replace));
}

std::filesystem::path workspaceOf(const Options& options) { return workspaceFolder(options.workspace); }

Result<rundir::RunFolder> targetRun(const Options& options) { return rundir::findRun(workspaceOf(options), options.target); }

std::string displayName(const rundir::RunFolder& run) {
    if (const auto user = rundir::readUser(run); user && user->name) return *user->name;
    const auto manifest = rundir::readManifest(run);
    return manifest && !manifest->name.empty() ? manifest->name : run.name();
}

}  // namespace lathe::trainer
