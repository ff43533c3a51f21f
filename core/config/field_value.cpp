// One field's value: from text, to text, against its rule.
#include "base/number_text.h"
#include "config/nearest.h"
#include "config/plugin_list.h"
#include "config/schema.h"
#include "config/utf8.h"

#include <algorithm>
#include <cmath>

namespace lathe::config {
namespace {

constexpr std::size_t kMaxListItems = 1000;
constexpr std::size_t kMaxTextBytes = 16384;

bool isOptional(const Field& field) { return field.type == FieldType::OptionalInteger || field.type == FieldType::OptionalNumber; }

bool isWhole(const Field& field) {
    return field.type == FieldType::Integer || field.type == FieldType::OptionalInteger || field.type == FieldType::IntegerList;
}

std::string_view trimmed(std::string_view text) {
    constexpr std::string_view kBlank = " \t\r\n";
    const std::size_t first = text.find_first_not_of(kBlank);
    if (first == std::string_view::npos) return {};
    return text.substr(first, text.find_last_not_of(kBlank) - first + 1);
}

/// Exact, with the exponent as people write it: 3e-4, not 3e-04.
std::string tidyNumber(double number) {
    std::string text = exactText(number);
    const std::size_t e = text.find('e');
    if (e == std::string::npos) return text;
    std::size_t digit = e + 1;
    if (text[digit] == '+') text.erase(digit, 1);
    else if (text[digit] == '-') ++digit;
    while (text[digit] == '0' && digit + 1 < text.size()) text.erase(digit, 1);
    return text;
}

std::string boundText(const Field& field, double bound) {
    return isWhole(field) ? std::to_string(static_cast<std::int64_t>(bound)) : tidyNumber(bound);
}

/// "from 1 to 10", "above 0, up to 1000", "at least 1"; the technical limits of counts are not worth telling.
std::string rangeText(const Field& field) {
    constexpr double kNotTold = 1e9;
    const bool tellMaximum = field.maximum && *field.maximum < kNotTold;
    std::string text;
    if (field.minimum && field.minimumExclusive) text = "above " + boundText(field, *field.minimum);
    else if (field.minimum && tellMaximum) text = "from " + boundText(field, *field.minimum);
    else if (field.minimum) text = "of at least " + boundText(field, *field.minimum);
    if (tellMaximum) {
        if (field.minimumExclusive) text += ",";
        text += (text.empty() ? "up to " : field.minimumExclusive ? " up to " : " to ") + boundText(field, *field.maximum);
    }
    return text.empty() ? text : " " + text;
}

std::string joined(const std::vector<std::string>& words) {
    std::string text;
    for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
    return text;
}

std::string ruleText(const Field& field) {
    switch (field.type) {
    case FieldType::Bool: return "true or false";
    case FieldType::Integer: return "a whole number" + rangeText(field);
    case FieldType::Number: return "a number" + rangeText(field);
    case FieldType::OptionalInteger: return "none or a whole number" + rangeText(field);
    case FieldType::OptionalNumber: return "none or a number" + rangeText(field);
    case FieldType::IntegerList: return "a list of whole numbers" + rangeText(field);
    case FieldType::TextList: return "a list of names";
    case FieldType::Choice: return "one of " + joined(field.choices);
    case FieldType::Interval: return "an interval such as 100 updates, 1 epoch, 10 min or never";
    case FieldType::Text:
    case FieldType::Path: return "a text";
    }
    return {};
}

std::string shortened(std::string_view text) {
    constexpr std::size_t kShown = 40;
    std::size_t end = std::min(text.size(), kShown);
    while (end > 0 && end < text.size() && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;  // not inside a character
    std::string shown;
    for (const char c : text.substr(0, end)) shown += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
    return "\"" + shown + (end < text.size() ? "…" : "") + "\"";
}

/// "Batch size must be a whole number of at least 1, not "x"; for example 32".
Error broken(const Field& field, std::string_view given) {
    std::string sentence = field.label + " must be " + ruleText(field) + ", not " + (given.empty() ? "empty" : shortened(given));
    std::string hint;
    if (field.type == FieldType::Choice) {
        if (const std::string near = nearestWord(given, field.choices); !near.empty()) hint = "; did you mean " + near + "?";
    } else if (field.type != FieldType::Bool && field.type != FieldType::Interval) {
        hint = "; for example " + field.example;
    }
    return {ErrorCode::Config, sentence + hint, field.key(), {}};
}

bool inRange(const Field& field, double value) {
    if (!std::isfinite(value)) return false;
    if (field.minimum && (field.minimumExclusive ? value <= *field.minimum : value < *field.minimum)) return false;
    return !(field.maximum && value > *field.maximum);
}

Result<void> checkText(const Field& field, const std::string& text) {
    if (text.size() > kMaxTextBytes)
        return Error{ErrorCode::Config, field.label + " is longer than " + std::to_string(kMaxTextBytes) + " bytes; shorten it", field.key(), {}};
    if (firstBadUtf8(text) != std::string_view::npos)
        return Error{ErrorCode::Config, field.label + " is not UTF-8 text; type it again", field.key(), {}};
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        if ((byte < 0x20 && !(field.multiline && (c == '\n' || c == '\t'))) || byte == 0x7F)
            return Error{ErrorCode::Config, field.label + " holds a control character; remove it", field.key(), {}};
    }
    if (field.isOpen && !pluginOf(text).empty()) return {};
    if (field.type == FieldType::Choice && std::find(field.choices.begin(), field.choices.end(), text) == field.choices.end())
        return broken(field, text);
    return {};
}

/// Items between commas; an item in quotation marks keeps its commas and blanks ("" inside it is one mark).
Result<std::vector<std::string>> splitList(const Field& field, std::string_view text) {
    std::vector<std::string> items;
    text = trimmed(text);
    if (text.starts_with('[') && text.ends_with(']')) text = trimmed(text.substr(1, text.size() - 2));
    if (text.empty()) return items;
    for (bool more = true; more;) {
        std::string item;
        text = trimmed(text);
        if (text.starts_with('"')) {
            text.remove_prefix(1);
            for (;;) {
                const std::size_t mark = text.find('"');
                if (mark == std::string_view::npos) return broken(field, text);
                item += text.substr(0, mark);
                text.remove_prefix(mark + 1);
                if (!text.starts_with('"')) break;
                item += '"';
                text.remove_prefix(1);
            }
            text = trimmed(text);
            if (!text.empty() && !text.starts_with(',')) return broken(field, text);
        } else {
            const std::size_t comma = text.find(',');
            item = trimmed(text.substr(0, comma));
            if (item.empty()) return broken(field, text);
            text.remove_prefix(comma == std::string_view::npos ? text.size() : comma);
        }
        more = text.starts_with(',');
        if (more) text.remove_prefix(1);
        items.push_back(std::move(item));
    }
    return items;
}

Result<Value> readIntegers(const Field& field, std::string_view text) {
    LATHE_TRY_ASSIGN(const auto items, splitList(field, text));
    std::vector<std::int64_t> numbers;
    for (const std::string& item : items) {
        const auto number = readInteger(item);
        if (!number) return broken(field, item);
        numbers.push_back(*number);
    }
    return Value(std::move(numbers));
}

Result<Value> readUnchecked(const Field& field, std::string_view text) {
    const std::string_view word = trimmed(text);
    if (isOptional(field) && word == "none") return Value();
    switch (field.type) {
    case FieldType::Bool:
        if (word == "true" || word == "True" || word == "TRUE") return Value(true);
        if (word == "false" || word == "False" || word == "FALSE") return Value(false);
        return broken(field, word);
    case FieldType::Integer:
    case FieldType::OptionalInteger:
        if (const auto number = readInteger(word)) return Value(*number);
        return broken(field, word);
    case FieldType::Number:
    case FieldType::OptionalNumber:
        if (const auto number = readDouble(word)) return Value(*number);
        return broken(field, word);
    case FieldType::Interval: {
        auto interval = parseInterval(word);
        if (!interval) return broken(field, word);
        return Value(*interval);
    }
    case FieldType::IntegerList: return readIntegers(field, word);
    case FieldType::TextList: {
        LATHE_TRY_ASSIGN(auto items, splitList(field, word));
        return Value(std::move(items));
    }
    case FieldType::Choice: return Value(std::string(word));
    case FieldType::Text:
    case FieldType::Path: return Value(std::string(text));
    }
    return broken(field, word);
}

bool hasType(const Field& field, const Value& value) {
    switch (field.type) {
    case FieldType::Bool: return std::holds_alternative<bool>(value);
    case FieldType::Integer: return std::holds_alternative<std::int64_t>(value);
    case FieldType::Number: return std::holds_alternative<double>(value);
    case FieldType::OptionalInteger: return std::holds_alternative<std::monostate>(value) || std::holds_alternative<std::int64_t>(value);
    case FieldType::OptionalNumber: return std::holds_alternative<std::monostate>(value) || std::holds_alternative<double>(value);
    case FieldType::Interval: return std::holds_alternative<Interval>(value);
    case FieldType::IntegerList: return std::holds_alternative<std::vector<std::int64_t>>(value);
    case FieldType::TextList: return std::holds_alternative<std::vector<std::string>>(value);
    case FieldType::Choice:
    case FieldType::Text:
    case FieldType::Path: return std::holds_alternative<std::string>(value);
    }
    return false;
}

std::string listItemText(const std::string& item) {
    const bool plain = !item.empty() && item.find_first_of(",\"[]") == std::string::npos && trimmed(item) == item;
    if (plain) return item;
    std::string quoted = "\"";
    for (const char c : item) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
    return quoted + "\"";
}

}  // namespace

Result<void> checkValue(const Field& field, const Value& value) {
    if (!hasType(field, value)) return broken(field, valueText(value));
    if (const auto* text = std::get_if<std::string>(&value)) return checkText(field, *text);
    if (const auto* number = std::get_if<std::int64_t>(&value); number && !inRange(field, static_cast<double>(*number)))
        return broken(field, std::to_string(*number));
    if (const auto* number = std::get_if<double>(&value); number && !inRange(field, *number)) return broken(field, tidyNumber(*number));
    if (const auto* list = std::get_if<std::vector<std::int64_t>>(&value)) {
        if (list->size() > kMaxListItems) return broken(field, std::to_string(list->size()) + " items");
        for (const std::int64_t number : *list)
            if (!inRange(field, static_cast<double>(number))) return broken(field, std::to_string(number));
    }
    if (const auto* list = std::get_if<std::vector<std::string>>(&value))
        for (const std::string& item : *list) LATHE_TRY(checkText(field, item));
    return {};
}

Result<Value> readValue(const Field& field, std::string_view text) {
    LATHE_TRY_ASSIGN(Value value, readUnchecked(field, text));
    LATHE_TRY(checkValue(field, value));
    return value;
}

std::string valueText(const Value& value) {
    struct ToText {
        std::string operator()(std::monostate) const { return "none"; }
        std::string operator()(bool on) const { return on ? "true" : "false"; }
        std::string operator()(std::int64_t number) const { return std::to_string(number); }
        std::string operator()(double number) const { return tidyNumber(number); }
        std::string operator()(const std::string& text) const { return text; }
        std::string operator()(const Interval& interval) const { return toText(interval); }
        std::string operator()(const std::vector<std::int64_t>& list) const {
            std::string text;
            for (const std::int64_t number : list) text += (text.empty() ? "" : ", ") + std::to_string(number);
            return text;
        }
        std::string operator()(const std::vector<std::string>& list) const {
            std::string text;
            for (const std::string& item : list) text += (text.empty() ? "" : ", ") + listItemText(item);
            return text;
        }
    };
    return std::visit(ToText{}, value);
}

bool belongs(const Field& field, const Values& values) {
    if (field.belongs == Belongs::Both) return true;
    const auto line = values.find("command.line");
    const auto* text = line == values.end() ? nullptr : std::get_if<std::string>(&line->second);
    return (text != nullptr && !text->empty()) == (field.belongs == Belongs::Command);
}

bool isVisible(const Field& field, const Values& values) {
    if (!belongs(field, values)) return false;
    if (field.visibleIfKey.empty()) return true;
    const auto found = values.find(field.visibleIfKey);
    if (found == values.end()) return false;
    const std::string text = valueText(found->second);
    return std::find(field.visibleIfValues.begin(), field.visibleIfValues.end(), text) != field.visibleIfValues.end();
}

}  // namespace lathe::config
