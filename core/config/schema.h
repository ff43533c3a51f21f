// The schema: what describe() says about each field, as data. The form, YAML, validation, --set and the reference
// work on Schema + Value only, so that sections unknown to this program (from plug-ins) can be shown too.
// Thread: immutable after construction.
#pragma once

#include "base/interval.h"
#include "base/result.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace lathe::config {

struct RunConfig;

enum class FieldType { Bool, Integer, Number, Text, Path, Choice, Interval, IntegerList, TextList, OptionalInteger, OptionalNumber };
enum class Level { Basic, Advanced };
/// When a change made to a run that already exists takes effect.
enum class Applies { Start, Resume, NextUpdate };
/// Which runs a setting is for: Lathe's own training, a person's command (command.line is set), or both.
enum class Belongs { Training, Command, Both };

/// A field's value, one alternative for each kind of storage. std::monostate: optional and not set ("none").
using Value = std::variant<std::monostate, bool, std::int64_t, double, std::string, Interval,
                           std::vector<std::int64_t>, std::vector<std::string>>;

struct Field {
    std::string section;   ///< "optimizer"
    std::string name;      ///< "learning_rate"
    std::string label;     ///< "Learning rate"
    std::string help;      ///< one sentence
    std::string unit;      ///< "samples", "pixels", or empty
    std::string example;   ///< a valid value as text, "" where the empty text is the best one
    std::string noneText;  ///< what an unset optional means, for people: "no limit"
    std::string shortName; ///< in run names: "lr"; empty: the field's name
    FieldType type = FieldType::Text;
    bool isOpen = false;     ///< Choice that things of plug-ins add to: "plug-in/name"
    bool multiline = false;  ///< Text that may have several lines
    Level level = Level::Basic;
    Applies applies = Applies::Start;
    Belongs belongs = Belongs::Training;
    std::optional<double> minimum, maximum;  ///< inclusive
    bool minimumExclusive = false;
    std::vector<std::string> choices;        ///< Choice only
    std::string visibleIfKey;                ///< dotted key whose value decides, or empty
    std::vector<std::string> visibleIfValues;
    Value defaultValue;

    std::string key() const { return section + "." + name; }
};

struct Section {
    std::string name;   ///< "optimizer"
    std::string label;  ///< "Optimizer"
    std::string help;
    std::vector<Field> fields;
};

class Schema {
public:
    /// The built-in sections, in the order of RunConfig.
    static const Schema& builtin();

    const std::vector<Section>& sections() const { return m_sections; }
    const Field* find(std::string_view key) const;
    /// The known key most like `key`, or empty when none is close.
    std::string nearest(std::string_view key) const;

    explicit Schema(std::vector<Section> sections) : m_sections(std::move(sections)) {}

private:
    std::vector<Section> m_sections;
};

/// Values by dotted key, complete for the schema.
using Values = std::map<std::string, Value, std::less<>>;

Values toValues(const RunConfig& config);
/// Requires: the right alternative for each key (checkValue passed).
RunConfig fromValues(const Values& values);

/// Text as a person types it in a form field or after --set ("3e-4", "64, 64", "none") to a checked value;
/// the error is one sentence with the rule and a valid example.
Result<Value> readValue(const Field& field, std::string_view text);
/// The text that readValue() takes back to the same value.
std::string valueText(const Value& value);
/// Whether the value has the field's type and keeps its rule; the error is one sentence with the rule and an example.
Result<void> checkValue(const Field& field, const Value& value);
/// Whether the field is for a run of this kind; what is not stands in no file.
bool belongs(const Field& field, const Values& values);
/// Whether the field matters given the other values (it belongs, and its condition holds).
bool isVisible(const Field& field, const Values& values);

}  // namespace lathe::config
