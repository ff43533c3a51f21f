#include "rundir/json_reader.h"

#include "base/number_text.h"

#include <nlohmann/json.hpp>

#include <cmath>
#include <limits>
#include <set>

namespace lathe::rundir {

using nlohmann::json;

static constexpr int kMaxDepth = 16;

Result<json> parseStrict(std::string_view text, const std::string& what) {
    std::string problem;
    std::vector<std::set<std::string>> keys;
    const json::parser_callback_t watch = [&](int depth, json::parse_event_t event, json& parsed) {
        if (event == json::parse_event_t::object_start || event == json::parse_event_t::array_start) {
            keys.emplace_back();
            if (depth >= kMaxDepth && problem.empty()) problem = "more than 16 levels deep";
        } else if (event == json::parse_event_t::object_end || event == json::parse_event_t::array_end) {
            keys.pop_back();
        } else if (event == json::parse_event_t::key && problem.empty()) {
            const auto& key = parsed.get_ref<const std::string&>();
            if (!keys.back().insert(key).second) problem = "\"" + key.substr(0, 100) + "\" stands there twice";
        }
        return problem.empty();
    };
    json value = json::parse(text, watch, false);
    if (problem.empty() && value.is_discarded()) problem = "not valid JSON";
    if (!problem.empty()) return Error{ErrorCode::Corrupt, what + " cannot be used: " + problem, {}, {}};
    return value;
}

JsonReader::JsonReader(const json& object, std::string file, std::string prefix)
    : m_object(&object), m_file(std::move(file)), m_prefix(std::move(prefix)) {
    if (!object.is_object()) fail("", "must be an object");
}

void JsonReader::fail(const std::string& key, const std::string& rule) {
    if (m_problem) return;
    const std::string field = key.empty() && m_prefix.empty() ? "its content" : "\"" + m_prefix + key + "\"";
    m_problem = Error{ErrorCode::Corrupt, m_file + " cannot be used: " + field + " " + rule, {}, {}};
}

void JsonReader::absorb(const JsonReader& part) {
    if (!m_problem) m_problem = part.m_problem;
}

Result<void> JsonReader::check() const {
    if (m_problem) return Error(*m_problem);
    return {};
}

const json* JsonReader::find(const char* key, bool required, const char* rule) {
    if (m_problem) return nullptr;
    const auto found = m_object->find(key);
    if (found != m_object->end() && !found->is_null()) return &*found;
    if (required) fail(key, std::string("is missing, ") + rule);
    return nullptr;
}

bool JsonReader::has(const char* key) const {
    if (!m_object->is_object()) return false;
    const auto found = m_object->find(key);
    return found != m_object->end() && !found->is_null();
}

static constexpr const char* kText = "must be text";
static constexpr const char* kInteger = "must be an integer";
static constexpr const char* kNumber = "must be a number";

static std::optional<std::int64_t> integerOf(const json& value) {
    if (value.is_number_unsigned()) {
        const auto number = value.get<std::uint64_t>();
        if (number > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) return std::nullopt;
        return static_cast<std::int64_t>(number);
    }
    if (value.is_number_integer()) return value.get<std::int64_t>();
    return std::nullopt;
}

static std::optional<double> numberOf(const json& value) {
    if (value.is_number()) return value.get<double>();
    if (value.is_string()) return readDouble(value.get_ref<const std::string&>());
    return std::nullopt;
}

std::string JsonReader::text(const char* key) {
    const json* value = find(key, true, kText);
    if (value != nullptr && !value->is_string()) fail(key, kText);
    return value != nullptr && value->is_string() ? value->get<std::string>() : std::string();
}

std::string JsonReader::text(const char* key, std::string fallback) {
    return find(key, false, kText) == nullptr ? std::move(fallback) : text(key);
}

std::int64_t JsonReader::integer(const char* key) {
    const json* value = find(key, true, kInteger);
    if (value == nullptr) return 0;
    const auto number = integerOf(*value);
    if (!number) fail(key, kInteger);
    return number.value_or(0);
}

std::int64_t JsonReader::integer(const char* key, std::int64_t fallback) {
    return find(key, false, kInteger) == nullptr ? fallback : integer(key);
}

std::uint64_t JsonReader::count(const char* key) {
    const std::int64_t value = integer(key);
    if (value < 0) fail(key, "must be at least 0");
    return value < 0 ? 0 : static_cast<std::uint64_t>(value);
}

int JsonReader::small(const char* key) {
    const std::int64_t value = integer(key);
    if (value >= 0 && value <= 1'000'000'000) return static_cast<int>(value);
    fail(key, "must be from 0 to 1000000000");
    return 0;
}

int JsonReader::small(const char* key, int fallback) {
    return find(key, false, kInteger) == nullptr ? fallback : small(key);
}

double JsonReader::number(const char* key, double fallback) {
    const json* value = find(key, false, kNumber);
    if (value == nullptr) return fallback;
    const auto number = numberOf(*value);
    if (!number) fail(key, kNumber);
    return number.value_or(fallback);
}

bool JsonReader::flag(const char* key, bool fallback) {
    const json* value = find(key, false, "must be true or false");
    if (value == nullptr) return fallback;
    if (!value->is_boolean()) fail(key, "must be true or false");
    return value->is_boolean() ? value->get<bool>() : fallback;
}

const json* JsonReader::array(const char* key) {
    const json* value = find(key, false, "must be a list");
    if (value != nullptr && !value->is_array()) fail(key, "must be a list");
    return value != nullptr && value->is_array() ? value : nullptr;
}

const json* JsonReader::object(const char* key) {
    const json* value = find(key, false, "must be an object");
    if (value != nullptr && !value->is_object()) fail(key, "must be an object");
    return value != nullptr && value->is_object() ? value : nullptr;
}

std::vector<std::string> JsonReader::texts(const char* key) {
    std::vector<std::string> out;
    const json* list = array(key);
    for (std::size_t i = 0; list != nullptr && i < list->size(); ++i) {
        const json& item = (*list)[i];
        if (!item.is_string()) fail(std::string(key) + "[" + std::to_string(i) + "]", kText);
        else out.push_back(item.get<std::string>());
    }
    return out;
}

std::vector<std::int64_t> JsonReader::integers(const char* key) {
    std::vector<std::int64_t> out;
    find(key, true, "must be a list of integers");
    const json* list = array(key);
    for (std::size_t i = 0; list != nullptr && i < list->size(); ++i) {
        const auto item = integerOf((*list)[i]);
        if (!item) fail(std::string(key) + "[" + std::to_string(i) + "]", kInteger);
        else out.push_back(*item);
    }
    return out;
}

std::map<std::string, std::string> JsonReader::textMap(const char* key) {
    std::map<std::string, std::string> out;
    const json* map = object(key);
    if (map == nullptr) return out;
    for (const auto& [name, item] : map->items()) {
        if (!item.is_string()) fail(std::string(key) + "." + name, kText);
        else out.emplace(name, item.get<std::string>());
    }
    return out;
}

std::map<std::string, double> JsonReader::numberMap(const char* key) {
    std::map<std::string, double> out;
    const json* map = object(key);
    if (map == nullptr) return out;
    for (const auto& [name, item] : map->items()) {
        const auto number = numberOf(item);
        if (!number) fail(std::string(key) + "." + name, kNumber);
        else out.emplace(name, *number);
    }
    return out;
}

Result<void> checkFormat(const json& object, const std::string& file, int known) {
    JsonReader reader(object, file);
    const int format = reader.small("format");
    LATHE_TRY(reader.check());
    if (format > known) {
        return Error{ErrorCode::Version, file + " was written in format " + std::to_string(format) + ", this program knows up to "
                     + std::to_string(known) + "; open it with a newer Lathe", {}, {}};
    }
    if (format < 1) return Error{ErrorCode::Corrupt, file + " cannot be used: \"format\" must be at least 1", {}, {}};
    return {};
}

json numberJson(double value) {
    return std::isfinite(value) ? json(value) : json(exactText(value));
}

json countersJson(const Counters& counters) {
    return {{"micro_step", counters.microStep.value()}, {"update_attempts", counters.updateAttempts.value()},
            {"global_step", counters.globalStep.value()}, {"skipped_updates", counters.skippedUpdates.value()},
            {"samples", counters.samples.value()}, {"tokens", counters.tokens.value()},
            {"epoch", counters.epoch.value()}, {"plan_entry", counters.planEntry.value()}};
}

Counters readCounters(JsonReader& parent, const char* key) {
    const json* object = parent.object(key);
    if (object == nullptr) return {};
    JsonReader reader(*object, parent.file(), std::string(key) + ".");
    const auto read = [&](const char* name) {
        const std::int64_t value = reader.integer(name, 0);
        if (value < 0) reader.fail(name, "must be at least 0");
        return value;
    };
    Counters out;
    out.microStep = MicroStep(read("micro_step"));
    out.updateAttempts = UpdateAttempt(read("update_attempts"));
    out.globalStep = GlobalStep(read("global_step"));
    out.skippedUpdates = SkippedUpdates(read("skipped_updates"));
    out.samples = SampleCount(read("samples"));
    out.tokens = TokenCount(read("tokens"));
    out.epoch = Epoch(read("epoch"));
    out.planEntry = PlanEntry(read("plan_entry"));
    parent.absorb(reader);
    return out;
}

std::string jsonText(const json& value) {
    return value.dump(2, ' ', false, json::error_handler_t::replace) + "\n";
}

}  // namespace lathe::rundir
