#include "actions.h"

#include "launch/run/checkpoint_choice.h"
#include "launch/workers/worker_answer.h"
#include "output.h"
#include "run_facts.h"

#include <nlohmann/json.hpp>

namespace lathe::trainer {

ExitCode eval(const Options& options) {
    const auto found = launch::holdCheckpoint(workspaceOf(options), options.target);
    if (!found) return fail(options, found.error());
    const auto answer = launch::askWorker({"eval", "--run", found->run.place().string(), "--checkpoint", found->folder});
    if (!answer) return fail(options, answer.error());
    if (options.json) {
        nlohmann::json facts = *answer;
        facts["metrics"] = metricsJson(facts.value("metrics", std::map<std::string, std::string>()));
        printJson(facts);
        return ExitCode::Completed;
    }
    print(found->folder + " of " + displayName(found->run) + ":");
    const nlohmann::json metrics = answer->value("metrics", nlohmann::json::object());
    for (const auto& [name, value] : metrics.items()) print("  " + name + " " + (value.is_string() ? value.get<std::string>() : value.dump()));
    for (const nlohmann::json& record : answer->value("records", nlohmann::json::array()))
        if (record.value("content", nlohmann::json()).is_string()) print("  " + record.value("name", std::string()) + ": " + record["content"].get<std::string>());
    return ExitCode::Completed;
}

}  // namespace lathe::trainer
