#include "actions.h"

#include "config/config.h"
#include "launch/run/run_settings.h"
#include "launch/run/undo.h"
#include "launch/workers/worker_answer.h"
#include "output.h"
#include "plan/length_doubts.h"
#include "problems.h"

#include <nlohmann/json.hpp>

#include <algorithm>

namespace lathe::trainer {

using nlohmann::json;

/// What the engine makes of it, where there are data: null else.
static json sessionOf(const config::RunConfig& config) {
    const auto session = config.data.train.empty() ? Result<json>(json()) : launch::describeSession(config);
    if (!session && session.error().code == ErrorCode::Timeout) tell(session.error().text());
    return session ? *session : json();
}

/// The length of the run, where the data say it.
static std::optional<GlobalStep> lengthOf(const json& session) {
    const json planned = session.is_object() ? session.value("planned_updates", json()) : json();
    return planned.is_number_integer() ? std::optional(GlobalStep(planned.get<std::int64_t>())) : std::nullopt;
}

/// The groups of parameters, where the data say how large the model is.
static std::string groupsText(const json& session) {
    std::string text;
    if (!session.is_object()) return text;
    for (const json& group : session.value("groups", json::array()))
        text += "; " + group.value("name", std::string()) + ": " + group.value("text", std::string());
    return text;
}

/// A configuration, or that of a run. What names both is a configuration.
static Result<config::Loaded> toExplain(const Options& options) {
    auto loaded = config::load(options.target);
    if (loaded || loaded.error().code != ErrorCode::NotFound) return loaded;
    const auto run = targetRun(options);
    if (!run) return loaded;
    config::Loaded own;
    LATHE_TRY(launch::refuseCommand(*run));
    LATHE_TRY_ASSIGN(own.config, launch::configOf(*run, launch::standingSession(*run)));
    return own;
}

ExitCode explain(const Options& options) {
    auto loaded = toExplain(options);
    if (!loaded) return fail(options, loaded.error());
    config::applySettings(*loaded, options.settings);
    const std::vector<config::Problem> problems = config::check(*loaded);
    for (const config::Problem& problem : problems)
        if (problem.severity == config::Severity::Error && !problem.key.starts_with("data."))
            return fail(options, Error{ErrorCode::Config, problem.sentence, problem.key, {}});
    const auto events = launch::explainUpdate(loaded->config);
    if (!events) return fail(options, events.error());
    const json session = sessionOf(loaded->config);
    json list = json::array();
    int number = 0;
    for (plan::UpdateEvent event : *events) {
        if (event.name == "optimizer") event.detail += groupsText(session);
        list.push_back({{"event", event.name}, {"detail", event.detail}});
        if (options.json) continue;
        std::string line = (number < 9 ? " " : "") + std::to_string(number + 1) + "  " + event.name;
        line.resize(std::max<std::size_t>(line.size() + 1, 16), ' ');
        print(line + event.detail);
        ++number;
    }
    std::vector<config::Problem> doubts;
    for (const plan::LengthDoubt& doubt : plan::lengthDoubts(loaded->config, lengthOf(session)))
        doubts.push_back({doubt.key, config::Severity::Warning, doubt.sentence});
    tellProblems(doubts);
    if (options.json) printJson(list);
    return ExitCode::Completed;
}

}  // namespace lathe::trainer
