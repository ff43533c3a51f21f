// What happened in a run, in order: what its log, charts and banners are made from.
#include "actions.h"

#include "base/clock.h"
#include "base/number_text.h"
#include "launch/verbs/away.h"
#include "output.h"
#include "run_facts.h"
#include "store/run_store.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <set>

namespace lathe::trainer {

using nlohmann::json;

static json eventJson(const store::EventRow& row) {
    json facts = json::parse(row.event.json.empty() ? "{}" : row.event.json, nullptr, false);
    return {{"id", row.id}, {"session", row.event.session}, {"attempt", row.event.attempt}, {"step", row.event.step}, {"time", timeJson(row.event.wallNs)},
            {"kind", row.event.kind}, {"text", row.event.text}, {"facts", facts.is_object() ? std::move(facts) : json::object()}};
}

/// "threads 2, device cpu", lists and parts of facts as they are written.
static std::string factsText(const json& facts) {
    std::string text;
    for (const auto& [key, value] : facts.items())
        text += (text.empty() ? "" : ", ") + key + " " + (value.is_string() ? value.get<std::string>() : value.dump(-1, ' ', false, json::error_handler_t::replace));
    return text;
}

/// What has no sentence of its own is told by its facts.
static std::string lineOf(const json& event) {
    std::string step = "step " + event.at("step").dump(), kind = event.at("kind").get<std::string>(), said = event.at("text").get<std::string>();
    step.resize(std::max<std::size_t>(step.size(), 12), ' ');
    kind.resize(std::max<std::size_t>(kind.size(), 16), ' ');
    if (said.empty() && !event.at("facts").empty()) said = factsText(event.at("facts"));
    if (said.size() > 300) said = said.substr(0, 300) + " …";
    return (event.at("time").is_string() ? event.at("time").get<std::string>() : std::string("-")) + "  " + step + "  " + kind + "  " + said;
}

/// A kind that no event has is a mistake, and those that there are the answer to it.
static Result<void> checkKinds(const std::vector<std::string>& wanted, const std::set<std::string>& known) {
    for (const std::string& kind : wanted) {
        if (known.contains(kind)) continue;
        std::string all;
        for (const std::string& one : known) all += (all.empty() ? "" : ", ") + one;
        return Error{ErrorCode::NotFound, "No event of the kind \"" + kind.substr(0, 80) + "\" has happened; there are " + (all.empty() ? "none at all" : all), {}, {}};
    }
    return {};
}

ExitCode events(const Options& options) {
    const auto run = targetRun(options);
    if (!run) return fail(options, run.error());
    const auto since = options.since ? launch::momentFrom(*options.since, Clock::system().wallNs()) : Result<std::int64_t>(0);
    if (!since) return fail(options, since.error());
    const auto reader = store::RunReader::open(run->database());
    if (!reader) return fail(options, reader.error());
    json list = json::array();
    std::set<std::string> known;
    for (std::int64_t after = 0;;) {
        const auto rows = (*reader)->events(after);
        if (!rows) return fail(options, rows.error());
        if (rows->empty()) break;
        for (const store::EventRow& row : *rows) {
            after = row.id;
            known.insert(row.event.kind);
            const bool isWanted = options.kinds.empty() || std::find(options.kinds.begin(), options.kinds.end(), row.event.kind) != options.kinds.end();
            if (isWanted && row.event.wallNs >= *since) list.push_back(eventJson(row));
        }
    }
    if (const auto fine = checkKinds(options.kinds, known); !fine) return fail(options, fine.error());
    if (options.json) {
        printJson(list);
        return ExitCode::Completed;
    }
    for (const json& event : list) print(lineOf(event));
    if (list.empty()) tell(options.since ? "Nothing has happened since then" : "Nothing has happened yet");
    return ExitCode::Completed;
}

}  // namespace lathe::trainer
