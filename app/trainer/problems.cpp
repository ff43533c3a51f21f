#include "problems.h"

#include "output.h"

#include <nlohmann/json.hpp>

namespace lathe::trainer {

using nlohmann::json;

static const char* word(config::Severity severity) {
    switch (severity) {
        case config::Severity::Notice: return "notice";
        case config::Severity::Warning: return "warning";
        case config::Severity::Error: return "error";
    }
    return "error";
}

void tellProblems(const std::vector<config::Problem>& problems) {
    for (const config::Problem& problem : problems)
        tell(std::string(word(problem.severity)) + ": " + (problem.key.empty() ? "" : problem.key + ": ") + problem.sentence);
}

json problemsJson(const std::vector<config::Problem>& problems) {
    json list = json::array();
    for (const config::Problem& problem : problems)
        list.push_back({{"key", problem.key}, {"severity", word(problem.severity)}, {"sentence", problem.sentence}});
    return list;
}

ExitCode failWith(const Options& options, const std::vector<config::Problem>& problems) {
    tellProblems(problems);
    if (options.json) printJson({{"error", {{"code", "config"}, {"sentence", "The configuration cannot be used"}, {"problems", problemsJson(problems)}}}});
    return ExitCode::Usage;
}

}  // namespace lathe::trainer
