#include "actions.h"

#include "config/config.h"
#include "output.h"

#include <nlohmann/json.hpp>

namespace lathe::trainer {

using nlohmann::json;

static json fieldJson(const config::Field& field) {
    return {{"key", field.key()}, {"label", field.label}, {"help", field.help}, {"unit", field.unit},
            {"default", config::valueText(field.defaultValue)}, {"example", field.example}, {"choices", field.choices},
            {"minimum", field.minimum ? json(*field.minimum) : json()}, {"maximum", field.maximum ? json(*field.maximum) : json()}};
}

ExitCode configReference(const Options& options) {
    const auto text = options.target.empty() ? Result<std::string>(config::referenceText()) : config::referenceText(options.target);
    if (!text) return fail(options, text.error());
    if (!options.json) {
        print(*text);
        return ExitCode::Completed;
    }
    json list = json::array();
    for (const config::Section& section : config::Schema::builtin().sections()) {
        for (const config::Field& field : section.fields)
            if (options.target.empty() || section.name == options.target || field.key() == options.target) list.push_back(fieldJson(field));
    }
    printJson(list);
    return ExitCode::Completed;
}

}  // namespace lathe::trainer
