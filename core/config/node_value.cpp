#include "config/node_value.h"

#include "config/config_paths.h"

namespace lathe::config {
namespace {

bool isTextual(FieldType type) {
    return type == FieldType::Text || type == FieldType::Path || type == FieldType::Choice || type == FieldType::TextList || type == FieldType::Interval;
}

Error shapeError(const Field& field, const std::string& what) {
    return {ErrorCode::Config, field.label + ": " + what + "; write for example " + field.name + ": " + (field.example.empty() ? "\"\"" : field.example), field.key(), {}};
}

Result<Value> scalarValue(const Field& field, const YamlNode& node) {
    if (node.quoted && !isTextual(field.type))
        return shapeError(field, "a text in quotation marks (\"" + node.text.substr(0, 40) + "\") stands where " +
                                     (field.type == FieldType::Bool ? "true or false" : "a number") + " is expected");
    if (node.quoted && field.type == FieldType::TextList) {
        Value one = std::vector<std::string>{node.text};
        LATHE_TRY(checkValue(field, one));
        return one;
    }
    return readValue(field, node.text);
}

Result<Value> nullValue(const Field& field) {
    switch (field.type) {
    case FieldType::OptionalInteger:
    case FieldType::OptionalNumber: return Value();
    case FieldType::Text:
    case FieldType::Path: return Value(std::string());
    case FieldType::TextList: return Value(std::vector<std::string>());
    case FieldType::IntegerList: return Value(std::vector<std::int64_t>());
    default: return shapeError(field, "the value is missing");
    }
}

/// "{pattern: head.*, lr_factor: 10}" as the text that it stands for.
Result<std::string> ruleText(const Field& field, const YamlNode& item) {
    const YamlNode* pattern = item.find("pattern");
    if (!pattern) return shapeError(field, "a group has no pattern");
    std::string text = pattern->text;
    for (const auto& [name, value] : item.entries) {
        if (value.kind != YamlNode::Kind::Scalar) return shapeError(field, "the " + name + " of a group is not a plain value");
        if (name != "pattern") text += " " + name + "=" + value.text;
    }
    return text;
}

Result<Value> listValue(const Field& field, const YamlNode& node) {
    std::vector<std::int64_t> numbers;
    std::vector<std::string> texts;
    for (const YamlNode& item : node.items) {
        if (item.kind == YamlNode::Kind::Map && field.key() == "optimizer.groups") {
            LATHE_TRY_ASSIGN(std::string text, ruleText(field, item));
            texts.push_back(std::move(text));
            continue;
        }
        if (item.kind != YamlNode::Kind::Scalar) return shapeError(field, "something in the list is not a plain value");
        if (field.type == FieldType::TextList) {
            texts.push_back(item.text);
            continue;
        }
        LATHE_TRY_ASSIGN(const Value one, scalarValue(field, item));
        const auto& read = std::get<std::vector<std::int64_t>>(one);
        if (read.size() != 1) return shapeError(field, "a list stands within the list");
        numbers.push_back(read.front());
    }
    Value value = field.type == FieldType::TextList ? Value(std::move(texts)) : Value(std::move(numbers));
    LATHE_TRY(checkValue(field, value));
    return value;
}

Result<Value> plainValue(const Field& field, const YamlNode& node) {
    const bool list = field.type == FieldType::IntegerList || field.type == FieldType::TextList;
    switch (node.kind) {
    case YamlNode::Kind::Null: return nullValue(field);
    case YamlNode::Kind::Scalar: return scalarValue(field, node);
    case YamlNode::Kind::List: return list ? listValue(field, node) : shapeError(field, "a list stands where one value is expected");
    case YamlNode::Kind::Map: break;
    }
    return shapeError(field, "keys stand where a value is expected");
}

}  // namespace

Result<Value> valueOfNode(const Field& field, const YamlNode& node, const std::filesystem::path& base) {
    auto value = plainValue(field, node);
    if (!value) {
        value.error().sentence += " (line " + std::to_string(node.line) + ")";
        return value;
    }
    if (field.type == FieldType::Path) return Value(absolutePath(std::get<std::string>(*value), base));
    return value;
}

}  // namespace lathe::config
