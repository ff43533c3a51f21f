// Writing: canonical YAML, hash, differences, run names, the reference.
#include "base/hash.h"
#include "base/number_text.h"
#include "config/command_text.h"
#include "config/config.h"
#include "config/config_paths.h"
#include "config/plugin_list.h"
#include "config/synonyms.h"
#include "config/yaml_tree.h"

#include <algorithm>
#include <cctype>
#include <span>

namespace lathe::config {
namespace {

constexpr std::size_t kNameParts = 2, kLongestName = 80;

std::string yamlValue(const Field& field, const Value& value) {
    if (const auto* text = std::get_if<std::string>(&value)) return yamlText(field.type == FieldType::Path ? writtenPath(*text) : *text);
    if (const auto* numbers = std::get_if<std::vector<std::int64_t>>(&value)) return "[" + valueText(*numbers) + "]";
    if (const auto* texts = std::get_if<std::vector<std::string>>(&value)) {
        std::string list;
        for (const std::string& text : *texts) list += (list.empty() ? "" : ", ") + yamlText(text);
        return "[" + list + "]";
    }
    return valueText(value);
}

std::string lineOf(const Field& field, const Value& value) { return "  " + field.name + ": " + yamlValue(field, value) + "\n"; }

/// A part of a run's name: lower case, and nothing that a shell or a file system minds.
std::string nameSafe(std::string_view text) {
    std::string safe;
    for (const char c : text) {
        const char lower = c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
        const bool plain = (lower >= 'a' && lower <= 'z') || (lower >= '0' && lower <= '9') || lower == '.' || lower == '_';
        if (plain || lower == '-') safe += lower;
        else if (!safe.empty() && safe.back() != '-') safe += '-';
    }
    while (!safe.empty() && (safe.back() == '-' || safe.back() == '.')) safe.pop_back();
    return safe;
}

/// The exact text where that is short: 6e-4, not 0.0006.
std::string numberPart(double number) {
    constexpr std::size_t kShort = 6;
    const std::string exact = valueText(Value(number));
    return exact.size() <= kShort ? exact : shortText(number, 3);
}

/// "lr6e-4", "h64-64", "resnet18", "no-shuffle".
std::string namePart(const Field& field, const Value& value) {
    if (field.type == FieldType::Choice) return nameSafe(valueText(value));
    const std::string shortName = field.shortName.empty() ? field.name : field.shortName;
    if (const auto* on = std::get_if<bool>(&value)) return (*on ? "" : "no-") + nameSafe(shortName);
    if (const auto* number = std::get_if<double>(&value)) return nameSafe(shortName) + nameSafe(numberPart(*number));
    if (std::holds_alternative<std::monostate>(value)) return "no-" + nameSafe(shortName);
    return nameSafe(shortName) + nameSafe(valueText(value));
}

/// Settings that say what a run is, in contrast to where its files lie or how it is watched.
bool belongsInName(const Field& field) { return field.type == FieldType::Choice || !field.shortName.empty(); }

std::string applyText(Applies applies) {
    switch (applies) {
    case Applies::Start: return "fixed once the run has started";
    case Applies::Resume: return "may be changed when a run is continued";
    case Applies::NextUpdate: return "may be changed while it runs";
    }
    return {};
}

std::string joined(const std::vector<std::string>& words, const char* between) {
    std::string text;
    for (const std::string& word : words) text += (text.empty() ? "" : between) + word;
    return text;
}

std::string factsText(const Field& field) {
    std::vector<std::string> facts;
    if (!field.choices.empty()) facts.push_back("one of " + joined(field.choices, ", "));
    const auto bound = [](double value) { return valueText(Value(value)); };
    if (field.minimum) facts.push_back((field.minimumExclusive ? "above " : "at least ") + bound(*field.minimum));
    if (field.maximum) facts.push_back("at most " + bound(*field.maximum));
    if (!field.unit.empty()) facts.push_back("in " + field.unit);
    if (!field.noneText.empty()) facts.push_back("none: " + field.noneText);
    if (!field.example.empty() && field.example != valueText(field.defaultValue)) facts.push_back("for example " + field.example);
    if (!field.visibleIfKey.empty()) facts.push_back("matters when " + field.visibleIfKey + " is " + joined(field.visibleIfValues, " or "));
    facts.push_back(applyText(field.applies));
    return joined(facts, "; ");
}

/// Each plug-in under its name; as the list it is where that cannot be read.
std::string pluginLines(const PluginsSection& section) {
    const auto choices = pluginsOf(section);
    if (!choices) return lineOf(*Schema::builtin().find("plugins.use"), section.use);
    std::string lines;
    for (const PluginChoice& choice : *choices) {
        lines += "  " + choice.name + ":\n";
        for (const auto& [key, value] : choice.settings) lines += "    " + key + ": " + yamlText(value) + "\n";
    }
    return lines;
}

}  // namespace

std::string toYaml(const RunConfig& config) {
    const Values values = toValues(config);
    std::string text = "format: 2\n";
    for (const Section& section : Schema::builtin().sections()) {
        std::string lines;
        if (section.name == "plugins" && !isCommand(config)) lines = pluginLines(config.plugins);
        else for (const Field& field : section.fields)
            if (belongs(field, values)) lines += lineOf(field, values.find(field.key())->second);
        if (!lines.empty()) text += section.name + ":\n" + lines;
    }
    return text;
}

std::string configHash(const RunConfig& config) {
    const std::string text = toYaml(config);
    return hashHex(std::as_bytes(std::span(text)));
}

std::vector<Difference> diff(const RunConfig& left, const RunConfig& right) {
    const Values leftValues = toValues(left), rightValues = toValues(right);
    std::vector<Difference> differences;
    for (const Section& section : Schema::builtin().sections()) {
        for (const Field& field : section.fields) {
            const Value& a = leftValues.find(field.key())->second;
            const Value& b = rightValues.find(field.key())->second;
            if (a != b) differences.push_back({field.key(), valueText(a), valueText(b)});
        }
    }
    return differences;
}

bool isCommand(const RunConfig& config) { return !config.command.line.empty(); }

std::vector<std::pair<std::string, std::string>> comparedSettings(const RunConfig& config) {
    const Values values = toValues(config);
    std::vector<std::pair<std::string, std::string>> settings;
    for (const Section& section : Schema::builtin().sections()) {
        for (const Field& field : section.fields) {
            const std::string key = field.key();
            if (belongs(field, values) && key != "run.name" && key != "run.note" && key != "command.line")
                settings.emplace_back(key, valueText(values.find(key)->second));
        }
    }
    if (!isCommand(config)) return settings;
    const auto command = splitCommand(config.command.line);
    const CommandParts parts = command ? partsOf(*command) : CommandParts{config.command.line, {}, {}};
    settings.emplace_back("command.line", parts.line);
    for (const auto& [name, value] : parts.variables) settings.emplace_back("variable." + name, value);
    for (const auto& [name, value] : parts.settings) settings.emplace_back("argument." + name, value);
    return settings;
}

bool sameSetting(const std::string& left, const std::string& right) {
    if (left == right) return true;
    const auto one = readDouble(left), other = readDouble(right);
    return one && other && *one == *other;
}

/// What is told in a name everybody may read stands in window titles, paths and screenshots.
static bool mayBeSecret(const std::string& argument) {
    static constexpr std::array kSecret = {"token", "secret", "pass", "key", "auth", "cred"};
    std::string lower = argument;
    for (char& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    return std::any_of(kSecret.begin(), kSecret.end(), [&](const char* secret) { return lower.find(secret) != std::string::npos; });
}

static std::string commandRunName(const RunConfig& config) {
    const auto command = splitCommand(config.command.line);
    if (!command) return "command";
    std::string name = commandName(*command);
    std::size_t parts = 0;
    for (const auto& [key, value] : partsOf(*command).settings) {
        constexpr std::size_t kShort = 16;  // paths and texts say little in a name
        if (parts == kNameParts || value.size() > kShort || mayBeSecret(key) || value.find('/') != std::string::npos) continue;
        name += "-" + key + (value == "true" ? "" : value);
        ++parts;
    }
    return nameSafe(name.substr(0, kLongestName));
}

std::string suggestName(const std::string& preset, const RunConfig& base, const RunConfig& changed) {
    if (isCommand(changed)) return commandRunName(changed);
    const Values before = toValues(base), after = toValues(changed);
    std::string name = nameSafe(preset);
    if (name.empty()) name = nameSafe(changed.model.name);
    std::size_t parts = 0;
    for (const Section& section : Schema::builtin().sections()) {
        for (const Field& field : section.fields) {
            const Value& value = after.find(field.key())->second;
            if (parts == kNameParts || !belongsInName(field) || !isVisible(field, after) || value == before.find(field.key())->second) continue;
            name += "-" + namePart(field, value);
            ++parts;
        }
    }
    return nameSafe(name.substr(0, kLongestName));
}

static std::string referenceOf(const Field& field) {
    return "  # " + field.help + "\n  # " + factsText(field) + (field.level == Level::Advanced ? "; advanced" : "") + "\n" + lineOf(field, field.defaultValue);
}

Result<std::string> referenceText(const std::string& sectionOrKey) {
    for (const Section& section : Schema::builtin().sections()) {
        std::string text = "# " + section.help + "\n" + section.name + ":\n";
        bool isFound = section.name == sectionOrKey;
        for (const Field& field : section.fields) {
            if (section.name != sectionOrKey && field.key() != sectionOrKey) continue;
            text += referenceOf(field);
            isFound = true;
        }
        if (isFound) return text;
    }
    const std::string near = settingCalled(sectionOrKey);
    return Error{ErrorCode::Usage, "There is no section or setting \"" + sectionOrKey.substr(0, 80) + "\"" + (near.empty() ? "; lathe-trainer config-reference lists all" : "; did you mean " + near + "?"), {}, {}};
}

std::string settingCalled(const std::string& word) {
    std::string name = word;
    std::replace(name.begin(), name.end(), '-', '_');
    for (const Section& section : Schema::builtin().sections())
        for (const Field& field : section.fields)
            if (field.key() == name || field.name == name) return field.key();
    const std::string other = synonymOf(name);
    return other.empty() ? Schema::builtin().nearest(name) : other;
}

std::string referenceText() {
    std::string text =
        "# Every section and key of a run's configuration with its default. This text is itself a valid configuration.\n"
        "# Paths are relative to the file they stand in; intervals read 100 updates, 1 epoch, 10 min or never.\n\n"
        "format: 2\n";
    for (const Section& section : Schema::builtin().sections()) {
        text += "\n# " + section.help + "\n" + section.name + ":\n";
        for (const Field& field : section.fields) text += referenceOf(field);
    }
    return text;
}

}  // namespace lathe::config
