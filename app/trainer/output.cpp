#include "output.h"

#include "base/clock.h"
#include "base/program_paths.h"
#include "launch/run/settle.h"
#include "launch/run/standing.h"
#include "launch/session/notify.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdio>

namespace lathe::trainer {

using nlohmann::json;

ExitCode fail(const Options& options, const Error& error) {
    tell(error.text());
    if (options.json) {
        json facts = {{"code", name(error.code)}, {"sentence", shownPaths(error.sentence)}};
        if (!error.key.empty()) facts["key"] = error.key;
        printJson({{"error", facts}});
    }
    // What was named on the command line does not exist.
    return error.code == ErrorCode::NotFound ? ExitCode::Usage : exitCodeOf(error.code);
}

std::string printable(std::string text) {
    const auto isControl = [](char c) { return (static_cast<unsigned char>(c) < ' ' && c != '\n' && c != '\t') || c == 0x7f; };
    std::replace_if(text.begin(), text.end(), isControl, '?');
    for (std::size_t at = 0; (at = text.find('\xc2', at)) != std::string::npos; ++at)  // U+0080 … U+009F: controls of eight bits
        if (at + 1 < text.size() && static_cast<unsigned char>(text[at + 1]) < 0xa0) text.replace(at, 2, "?");
    return text;
}

void print(const std::string& text) {
    const std::string safe = printable(text);
    std::fwrite(safe.data(), 1, safe.size(), stdout);
    std::fputc('\n', stdout);
}

void tell(const std::string& text) {
    std::fflush(stdout);
    const std::string safe = printable(text);
    std::fwrite(safe.data(), 1, safe.size(), stderr);
    std::fputc('\n', stderr);
}

void printJson(const json& value) {
    print(value.dump(-1, ' ', false, json::error_handler_t::replace));
}

std::filesystem::path workspaceOf(const Options& options) { return workspaceFolder(options.workspace); }

/// To "RUN@STEP" in the place of a run, where there is that run.
static Error runIsMeant(const Options& options, Error error) {
    const std::size_t at = options.target.rfind('@');
    if (at == std::string::npos || at == 0) return error;
    const std::string run = options.target.substr(0, at);
    if (!rundir::findRun(workspaceOf(options), run)) return error;
    return {ErrorCode::Usage, "\"" + options.target + "\" names a checkpoint, and a run is asked for here: " + run, {}, {}};
}

Result<rundir::RunFolder> targetRun(const Options& options) {
    const auto run = rundir::findRun(workspaceOf(options), options.target);
    if (!run) return runIsMeant(options, run.error());
    return run->held();
}

static bool isUp(const rundir::RunFolder& run) {
    const rundir::State state = launch::standingOf(run).state;
    return (rundir::isAlive(state) && state != rundir::State::Queued) || launch::isUnsettled(run);
}

Result<rundir::RunFolder> runThatIsUp(const Options& options) {
    if (options.target != "latest") return targetRun(options);
    const std::vector<rundir::RunFolder> all = rundir::listRuns(workspaceOf(options));
    const auto up = std::find_if(all.begin(), all.end(), isUp);
    if (up == all.end()) return targetRun(options);
    if (up != all.begin() && !options.json) tell(displayName(*up) + " (" + up->name() + ") is the newest run that is up");
    return up->held();
}

Result<rundir::RunFolder> runToRead(const Options& options) {
    LATHE_TRY_ASSIGN(rundir::RunFolder run, targetRun(options));
    if (const std::string missing = launch::settleToRead(run); !missing.empty()) tell(missing);
    return run;
}

std::string displayName(const rundir::RunFolder& run) {
    if (const auto user = rundir::readUser(run); user && user->name) return *user->name;
    const auto manifest = rundir::readManifest(run);
    return manifest && !manifest->name.empty() ? manifest->name : run.name();
}

std::string endedNote(const rundir::RunFolder& run) {
    const auto record = rundir::readSession(run, rundir::newestSession(run));
    constexpr std::int64_t kAtMostNs = (launch::kNotifySeconds + 1) * std::int64_t{1'000'000'000};
    const bool hasJustEnded = record && record->state && Clock::system().wallNs() - record->endedNs < kAtMostNs;
    return hasJustEnded && rundir::RunLock::isHeld(run.lock()) ? launch::notificationNote() : std::string();
}

}  // namespace lathe::trainer
