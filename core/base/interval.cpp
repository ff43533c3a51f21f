#include "base/interval.h"

#include <array>
#include <charconv>
#include <utility>

namespace lathe {
namespace {

struct UnitWord {
    std::string_view word;
    Interval::Unit unit;
    std::int64_t factor;
};

constexpr std::array kUnitWords{
    UnitWord{"", Interval::Unit::Updates, 1},          UnitWord{"update", Interval::Unit::Updates, 1},
    UnitWord{"updates", Interval::Unit::Updates, 1},   UnitWord{"step", Interval::Unit::Updates, 1},
    UnitWord{"steps", Interval::Unit::Updates, 1},     UnitWord{"epoch", Interval::Unit::Epochs, 1},
    UnitWord{"epochs", Interval::Unit::Epochs, 1},     UnitWord{"s", Interval::Unit::Seconds, 1},
    UnitWord{"min", Interval::Unit::Seconds, 60},      UnitWord{"h", Interval::Unit::Seconds, 3600},
};

std::string_view trimmed(std::string_view text) {
    while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
    while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
    return text;
}

Error badInterval(std::string_view text) {
    return {ErrorCode::Config,
            "\"" + std::string(text.substr(0, 40)) +
                "\" is not an interval; write for example 100 updates, 1 epoch, 10 min or never",
            {},
            {}};
}

}  // namespace

Result<Interval> parseInterval(std::string_view text) {
    const std::string_view all = trimmed(text);
    if (all == "never") return Interval{};
    std::int64_t count = 0;
    const auto [end, problem] = std::from_chars(all.data(), all.data() + all.size(), count);
    if (problem != std::errc{} || count <= 0) return badInterval(text);
    const std::string_view word = trimmed(all.substr(static_cast<std::size_t>(end - all.data())));
    for (const UnitWord& unit : kUnitWords) {
        if (unit.word != word) continue;
        std::int64_t total = 0;
        if (__builtin_mul_overflow(count, unit.factor, &total)) return badInterval(text);
        return Interval{unit.unit, total};
    }
    return badInterval(text);
}

std::string toText(const Interval& interval) {
    const auto counted = [&](std::int64_t count, const char* one, const char* many) {
        return std::to_string(count) + " " + (count == 1 ? one : many);
    };
    switch (interval.unit) {
    case Interval::Unit::Never: return "never";
    case Interval::Unit::Updates: return counted(interval.count, "update", "updates");
    case Interval::Unit::Epochs: return counted(interval.count, "epoch", "epochs");
    case Interval::Unit::Seconds:
        if (interval.count % 3600 == 0) return std::to_string(interval.count / 3600) + " h";
        if (interval.count % 60 == 0) return std::to_string(interval.count / 60) + " min";
        return std::to_string(interval.count) + " s";
    }
    return "never";
}

}  // namespace lathe
