// Thread: plain values.
#pragma once

#include <cstddef>
#include <string>

namespace lathe::engine {

/// What an evaluation tells beside numbers, recorded under its name: a table as JSON (live/FORMAT.md), or a text.
struct EvaluationRecord {
    enum class Kind { Table, Text };
    Kind kind = Kind::Text;
    std::string name;
    std::string content;   ///< at most kMostRecordBytes
};
inline constexpr std::size_t kMostRecordBytes = 60'000;

}  // namespace lathe::engine
