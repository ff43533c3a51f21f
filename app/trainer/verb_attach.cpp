// Watching a run in the terminal.
#include "actions.h"

#include "launch/run/session_end.h"
#include "launch/run/standing.h"
#include "launch/session/supervisor.h"
#include "launch/workers/stopping.h"
#include "live/control_socket.h"
#include "output.h"
#include "progress_line.h"
#include "run_facts.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <thread>

namespace lathe::trainer {

using nlohmann::json;

/// Eight heights of a block, one column a bucket of the curve.
static std::string curveText(const std::vector<std::pair<std::int64_t, double>>& points) {
    static constexpr std::array<const char*, 8> kBlocks = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
    if (points.empty()) return {};
    const auto [low, high] = std::minmax_element(points.begin(), points.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
    const double span = high->second - low->second;
    std::string out;
    for (const auto& [step, value] : points) {
        const double part = span > 0 ? (value - low->second) / span : 0;
        out += kBlocks[static_cast<std::size_t>(std::clamp(std::lround(part * 7), 0L, 7L))];
    }
    return out;
}

static std::optional<double> lastOf(const rundir::Summary& summary, const char* series) {
    const auto found = summary.last.find(series);
    return found == summary.last.end() ? std::nullopt : std::optional(found->second);
}

/// Status and summary as what the foreground shows.
static launch::Glance glanceOf(const json& status, const rundir::Summary& summary) {
    launch::Glance glance;
    glance.state = rundir::stateFrom(status.value("state", "")).value_or(summary.state);
    glance.phase = status.value("phase", "");
    if (status.value("total", 0) > 0) glance.phase += " " + std::to_string(status.value("done", 0)) + "/" + std::to_string(status.value("total", 0));
    glance.phase += launch::silenceText(status.value("silent_seconds", 0.0), status.value("silent_rank", -1));
    glance.step = status.contains("counters") ? status["counters"].value("global_step", std::int64_t{0}) : summary.counters.globalStep.value();
    if (status.contains("planned_updates")) glance.plannedSteps = status.value("planned_updates", std::int64_t{0});
    if (status.contains("seconds_left")) glance.secondsLeft = status.value("seconds_left", 0.0);
    glance.stopping = launch::stoppingOf(status);
    glance.loss = lastOf(summary, "train/loss");
    glance.learningRate = lastOf(summary, "train/lr");
    glance.samplesPerSecond = lastOf(summary, "train/samples_per_second");
    return glance;
}

/// Until it no longer answers; whether it did at all.
static bool watch(live::ControlClient& client, const rundir::RunFolder& run, bool asJson) {
    ProgressLine line;
    bool answered = false;
    while (true) {
        const auto reply = client.ask(live::Verb::Status);
        json status = reply ? json::parse(reply->json, nullptr, false) : json();
        if (!status.is_object()) break;
        if (status.contains("counters") && status["counters"].is_object()) leaveWhatIsExact(status["counters"]);
        answered = true;
        if (const auto summary = rundir::readSummary(run)) {
            if (asJson) printJson(status);
            else line.show(glanceOf(status, *summary), summary->sparkline.empty() ? std::string() : "loss " + curveText(summary->sparkline));
        }
        std::fflush(stdout);
        std::this_thread::sleep_for(std::chrono::milliseconds(asJson ? 1000 : 250));
    }
    line.finish();
    return answered;
}

/// A supervisor that is stopped or overloaded answers again one day; until then the person knows what is waited for.
static void watchUntilItEnds(const rundir::RunFolder& run, bool asJson) {
    using Time = std::chrono::steady_clock;
    auto heard = Time::now();
    bool told = false;
    while (rundir::RunLock::isHeld(run.lock())) {
        const auto client = live::ControlClient::connect(run.socket());
        if (client && watch(**client, run, asJson)) {
            heard = Time::now();
            told = false;
        } else if (!told && Time::now() - heard > std::chrono::seconds(2)) {
            const std::string ended = endedNote(run);
            tell(ended.empty() ? "The supervisor of " + displayName(run) + " holds the run but does not answer; waiting for it (Ctrl-C leaves the run as it is)" : ended);
            told = true;
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
}

/// Until it is started, or taken out.
static void waitForItsTurn(const rundir::RunFolder& run) {
    bool told = false;
    while (launch::standingOf(run).state == rundir::State::Queued) {
        if (!told) tell(displayName(run) + " waits in the queue (lathe-trainer queue) and is watched once it starts; Ctrl-C leaves it there");
        told = true;
        std::this_thread::sleep_for(std::chrono::milliseconds(200));
    }
}

ExitCode attach(const Options& options) {
    const auto run = runThatIsUp(options);
    if (!run) return fail(options, run.error());
    waitForItsTurn(*run);
    watchUntilItEnds(*run, options.json);
    const auto standing = launch::standingOf(*run);
    if (options.json) {
        printJson(resultJson(*run));
    } else {
        if (const auto summary = rundir::readSummary(*run); summary && !summary->sparkline.empty()) print("loss " + curveText(summary->sparkline));
        print(displayName(*run) + ": " + std::string(rundir::name(standing.state)) + (standing.why.empty() ? "" : ". " + standing.why));
    }
    // Nobody holds it any more: where that is no ending its supervisor was lost.
    return rundir::isAlive(standing.state) ? ExitCode::Interrupted : rundir::exitCodeOf(standing.state);
}

}  // namespace lathe::trainer
