#include "actions.h"

#include "config/config.h"
#include "launch/worker_answer.h"
#include "output.h"
#include "problems.h"

#include <nlohmann/json.hpp>

#include <algorithm>

namespace lathe::trainer {

using nlohmann::json;

/// The groups of parameters, where the data say how large the model is.
static std::string groupsText(const config::RunConfig& config) {
    if (config.data.train.empty()) return {};
    const auto model = launch::describeConfig(config);
    if (!model) return {};
    std::string text;
    for (const json& group : model->value("groups", json::array()))
        text += "; " + group.value("name", std::string()) + ": " + group.value("text", std::string());
    return text;
}

ExitCode explain(const Options& options) {
    auto loaded = config::load(options.target);
    if (!loaded) return fail(options, loaded.error());
    config::applySettings(*loaded, options.settings);
    const std::vector<config::Problem> problems = config::check(*loaded);
    for (const config::Problem& problem : problems)
        if (problem.severity == config::Severity::Error && !problem.key.starts_with("data."))
            return fail(options, Error{ErrorCode::Config, problem.sentence, problem.key, {}});
    const auto events = launch::explainUpdate(loaded->config);
    if (!events) return fail(options, events.error());
    json list = json::array();
    int number = 0;
    for (plan::UpdateEvent event : *events) {
        if (event.name == "optimizer") event.detail += groupsText(loaded->config);
        list.push_back({{"event", event.name}, {"detail", event.detail}});
        if (options.json) continue;
        std::string line = (number < 9 ? " " : "") + std::to_string(number + 1) + "  " + event.name;
        line.resize(std::max<std::size_t>(line.size() + 1, 16), ' ');
        print(line + event.detail);
        ++number;
    }
    if (options.json) printJson(list);
    return ExitCode::Completed;
}

}  // namespace lathe::trainer
