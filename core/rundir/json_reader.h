// Strict reading of JSON records from files: valid UTF-8, no duplicate keys, bounded depth, and every field of the
// type it must have. Fields that are not asked for are ignored, so that newer programs may add some.
// Thread: plain values.
#pragma once

#include "base/counters.h"
#include "base/result.h"
#include "rundir/memory_record.h"

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace lathe::rundir {

/// At most 16 levels. `what` names the file in the sentence (Corrupt).
Result<nlohmann::json> parseStrict(std::string_view text, const std::string& what);

/// Reads the fields of one JSON object. The first problem is kept and given by check(); after it every read returns
/// a default, so that a record is read in one go and judged once.
class JsonReader {
public:
    /// `object` must outlive the reader. `file` and `prefix` ("workers[0].") name the place in sentences.
    JsonReader(const nlohmann::json& object, std::string file, std::string prefix = {});

    bool has(const char* key) const;  ///< present and not null
    std::string text(const char* key);
    std::string text(const char* key, std::string fallback);
    std::int64_t integer(const char* key);
    std::int64_t integer(const char* key, std::int64_t fallback);
    std::uint64_t count(const char* key);  ///< an integer >= 0
    int small(const char* key);            ///< 0 … 1,000,000,000
    int small(const char* key, int fallback);
    double number(const char* key, double fallback);  ///< also "nan", "inf", "-inf" as text
    bool flag(const char* key, bool fallback);
    std::vector<std::string> texts(const char* key);            ///< empty when absent
    std::vector<std::int64_t> integers(const char* key);        ///< required
    std::map<std::string, std::string> textMap(const char* key);///< empty when absent
    std::map<std::string, double> numberMap(const char* key);   ///< empty when absent
    const nlohmann::json* array(const char* key);               ///< null when absent or wrong
    const nlohmann::json* object(const char* key);              ///< null when absent or wrong

    void fail(const std::string& key, const std::string& rule);
    void absorb(const JsonReader& part);  ///< takes over the problem of a reader of a nested object
    Result<void> check() const;
    const std::string& file() const { return m_file; }

private:
    const nlohmann::json* find(const char* key, bool required, const char* rule);

    const nlohmann::json* m_object;
    std::string m_file, m_prefix;
    std::optional<Error> m_problem;
};

/// Refuses what a newer program wrote (Version, naming both numbers) and what has no format at all (Corrupt).
Result<void> checkFormat(const nlohmann::json& object, const std::string& file, int known);
/// A number, or its name as text where JSON has no word for it.
nlohmann::json numberJson(double value);

nlohmann::json countersJson(const Counters& counters);
Counters readCounters(JsonReader& reader, const char* key);
nlohmann::json memoryJson(const MemoryRecord& record);
MemoryRecord readMemory(JsonReader& reader);
/// Indented text with a final newline.
std::string jsonText(const nlohmann::json& value);

}  // namespace lathe::rundir
