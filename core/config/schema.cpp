#include "config/schema.h"

#include "config/describe.h"
#include "config/nearest.h"
#include "config/synonyms.h"
#include "config/sections.h"

#include <cmath>
#include <type_traits>

namespace lathe::config {
namespace {

template <typename M>
Value toValue(const M& member) {
    if constexpr (std::is_same_v<M, std::optional<std::int64_t>> || std::is_same_v<M, std::optional<double>>)
        return member ? Value(*member) : Value();
    else
        return Value(member);
}

template <typename M>
void assign(M& member, const Value& value) {
    if constexpr (std::is_same_v<M, std::optional<std::int64_t>> || std::is_same_v<M, std::optional<double>>) {
        if (std::holds_alternative<std::monostate>(value)) member.reset();
        else member = std::get<typename M::value_type>(value);
    } else {
        member = std::get<M>(value);
    }
}

template <typename M>
FieldType typeOf(const Facts& facts) {
    if constexpr (std::is_same_v<M, bool>) return FieldType::Bool;
    else if constexpr (std::is_same_v<M, std::int64_t>) return FieldType::Integer;
    else if constexpr (std::is_same_v<M, double>) return FieldType::Number;
    else if constexpr (std::is_same_v<M, Interval>) return FieldType::Interval;
    else if constexpr (std::is_same_v<M, std::vector<std::int64_t>>) return FieldType::IntegerList;
    else if constexpr (std::is_same_v<M, std::vector<std::string>>) return FieldType::TextList;
    else if constexpr (std::is_same_v<M, std::optional<std::int64_t>>) return FieldType::OptionalInteger;
    else if constexpr (std::is_same_v<M, std::optional<double>>) return FieldType::OptionalNumber;
    else return facts.isPath ? FieldType::Path : *facts.choices ? FieldType::Choice : FieldType::Text;
}

std::vector<std::string> splitBars(std::string_view text) {
    std::vector<std::string> parts;
    while (!text.empty()) {
        const std::size_t bar = text.find('|');
        parts.emplace_back(text.substr(0, bar));
        text.remove_prefix(bar == std::string_view::npos ? text.size() : bar + 1);
    }
    return parts;
}

/// Turns what describe() says of one section into fields.
template <typename S>
struct BuildFields {
    Section& section;
    S defaults{};

    template <typename M>
    void operator()(M S::*member, const char* key, const char* label, const char* help, const Facts& facts = {}) {
        Field field;
        field.section = section.name;
        field.name = key;
        field.label = label;
        field.help = help;
        field.unit = facts.unit;
        field.noneText = facts.none;
        field.shortName = facts.shortName;
        field.type = typeOf<M>(facts);
        field.isOpen = facts.open;
        field.multiline = facts.multiline;
        field.level = facts.level;
        field.applies = facts.applies;
        field.belongs = facts.belongs;
        if (std::isfinite(facts.minimum)) field.minimum = facts.minimum;
        if (std::isfinite(facts.maximum)) field.maximum = facts.maximum;
        field.minimumExclusive = facts.above;
        field.choices = splitBars(facts.choices);
        const std::string_view condition = facts.visibleIf;
        if (const std::size_t equals = condition.find('='); equals != std::string_view::npos) {
            field.visibleIfKey = condition.substr(0, equals);
            field.visibleIfValues = splitBars(condition.substr(equals + 1));
        }
        field.defaultValue = toValue(defaults.*member);
        field.example = *facts.example ? facts.example : valueText(field.defaultValue);
        section.fields.push_back(std::move(field));
    }
};

struct BuildSections {
    std::vector<Section> sections;

    template <typename S>
    void operator()(S RunConfig::*, const char* name, const char* label, const char* help) {
        Section& section = sections.emplace_back(Section{name, label, help, {}});
        BuildFields<S> build{section};
        describe(build, Of<S>{});
    }
};

/// Visits every member of every section of `config` as visit(dotted key, member).
template <typename Config, typename Visit>
struct EachMember {
    Config& config;
    Visit visit;

    EachMember(Config& of, Visit with) : config(of), visit(std::move(with)) {}

    template <typename S>
    void operator()(S RunConfig::*sectionMember, const char* sectionName, const char*, const char*) {
        auto& section = config.*sectionMember;
        auto field = [&]<typename M>(M S::*member, const char* key, const char*, const char*, const Facts& = {}) {
            visit(std::string(sectionName) + "." + key, section.*member);
        };
        describe(field, Of<S>{});
    }
};

}  // namespace

const Schema& Schema::builtin() {
    static const Schema schema = [] {
        BuildSections build;
        describeSections(build);
        return Schema(std::move(build.sections));
    }();
    return schema;
}

const Field* Schema::find(std::string_view key) const {
    for (const Section& section : m_sections) {
        if (!key.starts_with(section.name) || key.size() <= section.name.size() || key[section.name.size()] != '.') continue;
        for (const Field& field : section.fields)
            if (field.name == key.substr(section.name.size() + 1)) return &field;
    }
    return nullptr;
}

std::string Schema::nearest(std::string_view key) const {
    const std::size_t dot = key.find('.');
    std::string sectionName(dot == std::string_view::npos ? std::string_view() : key.substr(0, dot));
    const std::string_view fieldName = dot == std::string_view::npos ? key : key.substr(dot + 1);
    std::vector<std::string> sections, here, everywhere;
    for (const Section& section : m_sections) sections.push_back(section.name);
    if (const std::string close = nearestWord(sectionName, sections); !close.empty()) sectionName = close;
    for (const Section& section : m_sections) {
        for (const Field& field : section.fields) {
            // several sections have a "name": it says nothing about which one was meant
            if (field.name != "name" || section.name == sectionName) everywhere.push_back(field.name);
            if (section.name == sectionName) here.push_back(field.name);
        }
    }
    const std::string close = nearestWord(fieldName, here);
    if (close == fieldName) return sectionName + "." + close;
    const std::string anywhere = nearestWord(fieldName, everywhere);
    if (const std::string other = synonymOf(fieldName); !other.empty() && anywhere != fieldName && !other.ends_with("." + close)) return other;
    if (!close.empty() && anywhere != fieldName) return sectionName + "." + close;
    for (const Section& section : m_sections)
        for (const Field& field : section.fields)
            if (!anywhere.empty() && field.name == anywhere) return field.key();
    return {};
}

Values toValues(const RunConfig& config) {
    Values values;
    EachMember each{config, [&](std::string key, const auto& member) { values.emplace(std::move(key), toValue(member)); }};
    describeSections(each);
    return values;
}

RunConfig fromValues(const Values& values) {
    RunConfig config;
    EachMember each{config, [&](const std::string& key, auto& member) {
        const auto found = values.find(key);
        LATHE_ASSERT(found != values.end());
        assign(member, found->second);
    }};
    describeSections(each);
    return config;
}

}  // namespace lathe::config
