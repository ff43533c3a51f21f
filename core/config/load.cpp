// Reading: sections form, --set, files and presets.
#include "base/file_system.h"
#include "base/number_text.h"
#include "base/program_paths.h"
#include "config/command_text.h"
#include "config/config.h"
#include "config/config_paths.h"
#include "config/flat_form.h"
#include "config/nearest.h"
#include "config/synonyms.h"
#include "config/node_value.h"
#include "config/plugin_list.h"
#include "config/yaml_tree.h"

#include <algorithm>

namespace lathe::config {
namespace {

constexpr std::int64_t kFormat = 2, kOldestFormat = 1;
constexpr std::string_view kFormatKey = "format", kArgument = "argument.", kPlugins = "plugins.";

std::vector<std::string> sectionNames() {
    std::vector<std::string> names;
    for (const Section& section : Schema::builtin().sections()) names.push_back(section.name);
    return names;
}

const Section* findSection(std::string_view name) {
    for (const Section& section : Schema::builtin().sections())
        if (section.name == name) return &section;
    return nullptr;
}

std::string onLine(const YamlNode& node) { return " (line " + std::to_string(node.line) + ")"; }

std::string didYouMean(const std::string& near) { return near.empty() ? "" : "; did you mean " + near + "?"; }

/// The form that a file says it has; nothing when it is a newer one, in which case nothing else in it can be trusted.
std::optional<std::int64_t> formatOf(const YamlNode& root, std::vector<Problem>& problems) {
    const YamlNode* node = root.find(kFormatKey);
    if (!node) return kFormat;
    const auto number = node->kind == YamlNode::Kind::Scalar ? readInteger(node->text) : std::nullopt;
    if (number && *number >= kOldestFormat && *number <= kFormat) return number;
    if (number && *number > kFormat)
        problems.push_back({"", Severity::Error, "This configuration has format " + std::to_string(*number) + ", written by a newer Lathe; this version (" LATHE_VERSION
                                                 ") reads format " + std::to_string(kFormat) + ". Update Lathe, or write the settings anew"});
    else
        problems.push_back({"", Severity::Error, "format must be " + std::to_string(kFormat) + onLine(*node)});
    return std::nullopt;
}

/// The first setting of this name in any section: "name" is run.name.
std::string fieldCalled(const std::string& name) {
    for (const Section& section : Schema::builtin().sections())
        for (const Field& field : section.fields)
            if (field.name == name) return field.key();
    return {};
}

void unknownTopKey(const std::string& key, const YamlNode& node, std::vector<Problem>& problems) {
    std::string hint;
    if (const std::string own = ownKeyFor(key); !own.empty()) {
        const std::size_t dot = own.find('.');
        hint = "; here it stands as " + own.substr(dot + 1) + " in the section " + own.substr(0, dot);
    } else {
        const std::string field = fieldCalled(key), other = synonymOf(key);
        const std::string near = !field.empty() ? field : !other.empty() ? other : nearestWord(key, sectionNames());
        hint = near.empty() ? didYouMean(Schema::builtin().nearest(key)) : didYouMean(near);
    }
    problems.push_back({key, Severity::Error, "There is no section \"" + key + "\"" + onLine(node) + hint});
}

/// parallel.deterministic was a switch before it became a choice.
void readOldKey(std::string& name, YamlNode& node) {
    if (name != "deterministic" || (node.text != "true" && node.text != "false")) return;
    name = "determinism";
    node.text = node.text == "true" ? "exact" : "fast";
}

/// What is most like it in its own section, else elsewhere, else all that the section has.
std::string keyHint(const Section& section, const std::string& name) {
    std::vector<std::string> here;
    for (const Field& field : section.fields) here.push_back(field.name);
    const std::string key = section.name + "." + name;
    for (const std::string& meant : {synonymOf(key), synonymOf(name)})
        if (meant.starts_with(section.name + ".")) return didYouMean(meant);
    if (const std::string field = fieldCalled(name); !field.empty()) return didYouMean(field);
    if (const std::string near = nearestWord(name, here); !near.empty()) return didYouMean(section.name + "." + near);
    if (const std::string other = synonymOf(name); !other.empty()) return didYouMean(other);
    std::string all;
    for (const std::string& one : here) all += (all.empty() ? "" : ", ") + one;
    return "; it has " + all;
}

void readSection(const Section& section, const YamlNode& node, const std::filesystem::path& base, Values& values, std::vector<Problem>& problems) {
    if (node.kind == YamlNode::Kind::Null) return;
    if (node.kind != YamlNode::Kind::Map) {
        problems.push_back({section.name, Severity::Error, "The section " + section.name + " must hold keys, each on a line of its own" + onLine(node)});
        return;
    }
    for (auto [name, valueNode] : node.entries) {
        if (section.name == "parallel") readOldKey(name, valueNode);
        const std::string key = section.name + "." + name;
        const Field* field = Schema::builtin().find(key);
        if (!field) {
            problems.push_back({key, Severity::Error, "There is no key \"" + name + "\" in the section " + section.name + onLine(valueNode) + keyHint(section, name)});
            continue;
        }
        auto value = valueOfNode(*field, valueNode, base);
        if (value) values[key] = std::move(*value);
        else problems.push_back({key, Severity::Error, value.error().sentence});
    }
}

/// Each plug-in under its name: nothing, or a map of its settings.
void readPlugins(const YamlNode& node, Values& values, std::vector<Problem>& problems) {
    std::vector<std::string> items;
    const auto misplaced = [&](const std::string& name, const YamlNode& at) {
        problems.push_back({"plugins." + name, Severity::Error, "The plug-in " + name + " stands alone or holds its settings, each a single value" + onLine(at) +
                                                                     "; for example " + name + ": {every: 100}"});
    };
    for (const auto& [name, valueNode] : node.entries) {
        if (valueNode.kind != YamlNode::Kind::Null && valueNode.kind != YamlNode::Kind::Map) {
            misplaced(name, valueNode);
            continue;
        }
        setPlugin(items, name, {}, {});
        for (const auto& [key, setting] : valueNode.entries) {
            if (setting.kind == YamlNode::Kind::Scalar) setPlugin(items, name, key, setting.text);
            else misplaced(name, setting);
        }
    }
    values["plugins.use"] = std::move(items);
}

Loaded readSections(const YamlNode& root, const std::filesystem::path& base, std::int64_t format) {
    Loaded loaded;
    Values values = toValues(RunConfig{});
    if (format < 2) values["optimizer.decay_on"] = std::string("all");  // what it meant before one could choose
    for (const auto& [name, node] : root.entries) {
        if (name == kFormatKey) continue;
        if (name == "plugins" && node.kind == YamlNode::Kind::Map && node.find("use") == nullptr) readPlugins(node, values, loaded.problems);
        else if (const Section* section = findSection(name)) readSection(*section, node, base, values, loaded.problems);
        else unknownTopKey(name, node, loaded.problems);
    }
    loaded.config = fromValues(values);
    return loaded;
}

Loaded onlyProblem(std::string sentence) {
    Loaded loaded;
    loaded.problems.push_back({"", Severity::Error, std::move(sentence)});
    return loaded;
}

/// A setting among the arguments of a person's own command.
void applyArgument(const std::string& name, const std::string& value, Values& values, std::vector<Problem>& problems) {
    std::string& line = std::get<std::string>(values["command.line"]);
    const std::string key = std::string(kArgument) + name;
    if (line.empty()) {
        problems.push_back({key, Severity::Error, "There is no command whose arguments could be set; give one with --command"});
        return;
    }
    auto changed = name.empty() ? Result<std::string>(Error{ErrorCode::Config, "Write argument.name=value, for example argument.lr=3e-4", key, {}})
                                : withSetting(line, name, value);
    if (changed) line = std::move(*changed);
    else problems.push_back({key, Severity::Error, changed.error().sentence});
}

void applySetting(const std::string& setting, Values& values, std::vector<Problem>& problems) {
    const std::size_t equals = setting.find('=');
    if (equals == std::string::npos || equals == 0) {
        problems.push_back({setting.substr(0, 80), Severity::Error, "Cannot set \"" + setting.substr(0, 80) + "\": write section.key=value, for example optimizer.learning_rate=3e-4"});
        return;
    }
    const std::string key = setting.substr(0, equals);
    if (key.starts_with(kArgument)) return applyArgument(key.substr(kArgument.size()), setting.substr(equals + 1), values, problems);
    const std::size_t dot = key.starts_with(kPlugins) ? key.find('.', kPlugins.size()) : std::string::npos;
    if (dot != std::string::npos) {
        const std::string name = key.substr(kPlugins.size(), dot - kPlugins.size());
        return setPlugin(std::get<std::vector<std::string>>(values["plugins.use"]), name, key.substr(dot + 1), setting.substr(equals + 1));
    }
    const Field* field = Schema::builtin().find(key);
    if (!field) {
        problems.push_back({key, Severity::Error, "There is no setting \"" + key.substr(0, 80) + "\"" + didYouMean(Schema::builtin().nearest(key))});
        return;
    }
    std::erase_if(problems, [&](const Problem& problem) { return problem.key == key; });
    auto value = readValue(*field, std::string_view(setting).substr(equals + 1));
    if (!value) {
        problems.push_back({key, Severity::Error, value.error().sentence});
        return;
    }
    if (auto* path = std::get_if<std::string>(&*value); path && field->type == FieldType::Path)
        *path = absolutePath(*path, std::filesystem::current_path());
    values[key] = std::move(*value);
}

std::string titleOf(const std::filesystem::path& file) {
    const auto text = readFile(file, kMaxYamlBytes);
    if (!text || !text->starts_with("#")) return {};
    const std::string_view line = std::string_view(*text).substr(1, text->find('\n') - 1);
    const std::size_t first = line.find_first_not_of(' ');
    return first == std::string_view::npos ? std::string() : std::string(line.substr(first));
}

/// The file that a person means: a path that exists, or a preset's name.
Result<std::filesystem::path> findFile(const std::string& fileOrPreset) {
    std::error_code ignored;
    const std::vector<Preset> known = presets();
    for (const Preset& preset : known)
        if (preset.name == fileOrPreset && !std::filesystem::is_regular_file(fileOrPreset, ignored)) return preset.file;
    const bool looksLikePath = fileOrPreset.find('/') != std::string::npos || fileOrPreset.ends_with(".yaml") || fileOrPreset.ends_with(".yml");
    if (looksLikePath || std::filesystem::exists(fileOrPreset, ignored)) return std::filesystem::path(fileOrPreset);
    std::vector<std::string> names;
    std::string list;
    for (const Preset& preset : known) {
        names.push_back(preset.name);
        list += (list.empty() ? "" : ", ") + preset.name;
    }
    const std::string near = nearestWord(fileOrPreset, names);
    return Error{ErrorCode::NotFound, "There is no file and no preset \"" + fileOrPreset.substr(0, 200) + "\"" +
                                          (near.empty() ? "; presets are " + list : didYouMean(near)), {}, {}};
}

}  // namespace

bool hasErrors(const std::vector<Problem>& problems) {
    return std::any_of(problems.begin(), problems.end(), [](const Problem& problem) { return problem.severity == Severity::Error; });
}

Loaded parse(std::string_view yaml, const std::filesystem::path& base) {
    auto root = readYaml(yaml);
    if (!root) return onlyProblem(root.error().sentence);
    if (root->kind == YamlNode::Kind::Null) return onlyProblem("The configuration is empty; write sections such as data: and model:, or start from a preset");
    if (root->kind != YamlNode::Kind::Map) return onlyProblem("A configuration holds sections such as data: and model: at its top level; this file does not");
    Loaded refused;
    const auto format = formatOf(*root, refused.problems);
    if (!format) return refused;
    return looksFlat(*root) ? readFlatForm(*root, base) : readSections(*root, base, *format);
}

Result<Loaded> load(const std::string& fileOrPreset) {
    LATHE_TRY_ASSIGN(const std::filesystem::path file, findFile(fileOrPreset));
    auto text = readFile(file, kMaxYamlBytes);
    if (!text && text.error().code != ErrorCode::Corrupt) return std::move(text).error().in("while reading a configuration");
    Loaded loaded = text ? parse(*text, std::filesystem::absolute(file).parent_path())
                         : onlyProblem(file.string() + " is longer than 1 MiB, so it is not a configuration");
    loaded.preset = file.stem().string();
    return loaded;
}

Result<RunConfig> loadUsable(const std::string& fileOrPreset) {
    LATHE_TRY_ASSIGN(Loaded loaded, load(fileOrPreset));
    for (Problem& problem : loaded.problems) {
        if (problem.severity == Severity::Error)
            return Error{ErrorCode::Config, fileOrPreset + " cannot be used: " + problem.sentence, std::move(problem.key), {}};
    }
    return std::move(loaded.config);
}

void applySettings(Loaded& loaded, const std::vector<std::string>& settings) {
    Values values = toValues(loaded.config);
    for (const std::string& setting : settings) applySetting(setting, values, loaded.problems);
    loaded.config = fromValues(values);
}

void makeTrial(RunConfig& config, std::int64_t updates) {
    config.run.epochs.reset();
    config.run.maxUpdates = updates;
    config.evaluation.every = config.checkpoint.every = {Interval::Unit::Updates, updates};
    config.evaluation.maxBatches = updates;
    config.evaluation.patience.reset();
}

std::vector<Problem> check(const Loaded& loaded) {
    std::vector<Problem> all = loaded.problems;
    for (Problem& problem : validate(loaded.config)) {
        const bool told = std::any_of(all.begin(), all.end(), [&](const Problem& other) {
            return other.severity == Severity::Error && (other.key.empty() || other.key == problem.key);
        });
        if (!told) all.push_back(std::move(problem));
    }
    return all;
}

std::vector<Preset> presets() {
    std::vector<Preset> found;
    const std::filesystem::path folder = resourceFolder() / "presets";
    const auto names = listFolder(folder);
    if (!names) return found;
    for (const std::string& name : *names) {
        const std::filesystem::path file = folder / name;
        if (file.extension() != ".yaml") continue;
        std::string title = titleOf(file);
        found.push_back({file.stem().string(), title.empty() ? file.stem().string() : std::move(title), file});
    }
    return found;
}

}  // namespace lathe::config
