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
    if (!options.json) {
        print(config::referenceText());
        return ExitCode::Completed;
    }
    json list = json::array();
    for (const config::Section& section : config::Schema::builtin().sections()) {
        for (const config::Field& field : section.fields) list.push_back(fieldJson(field));
    }
    printJson(list);
    return ExitCode::Completed;
}

}  // namespace lathe::trainer
