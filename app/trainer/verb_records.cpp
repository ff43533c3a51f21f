// What a program logged beside its curves: tables, histograms, texts, pictures, summary values, checkpoints of its own.
#include "actions.h"

#include "config/config.h"
#include "config/series_names.h"
#include "launch/run/run_settings.h"
#include "launch/run/standing.h"
#include "output.h"
#include "record_files.h"
#include "run_facts.h"
#include "rundir/json_reader.h"
#include "store/record_content.h"
#include "store/run_store.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <iterator>
#include <functional>
#include <optional>

namespace lathe::trainer {

using live::FrameType;
using nlohmann::json;

static constexpr std::size_t kAtOnce = 256;

/// The content as a JSON value; of a picture its file.
static Result<json> contentJson(const rundir::RunFolder& run, const live::RecordFrame& record, const std::string& content) {
    if (record.type == FrameType::Image) return json((rundir::RunFolder(run.place()).blobs() / record.blob).string());
    if (record.type == FrameType::Text) return json(content);
    if (live::recordKind(record.type)->isJson) return rundir::parseStrict(content, "The " + std::string(live::recordWord(record.type)) + " \"" + record.name + "\"");
    LATHE_TRY_ASSIGN(const auto histogram, store::parseHistogram(content));
    json out = {{"edges", json::array()}, {"counts", json::array()}};
    for (const double edge : histogram.edges) out["edges"].push_back(rundir::numberJson(edge));
    for (const double count : histogram.counts) out["counts"].push_back(rundir::numberJson(count));
    return out;
}

/// Every record of a name, oldest first, or those of one step.
static Result<void> visit(const store::RunReader& reader, const store::RecordSummary& what, const std::optional<std::int64_t>& step,
                          const std::function<void(const live::RecordFrame&)>& take) {
    std::int64_t after = 0;
    while (step) {
        LATHE_TRY_ASSIGN(const auto places, reader.recordPlaces(what.type, what.name, after));
        if (places.empty()) return {};
        for (const store::RecordPlace& place : places) {
            after = place.id;
            if (place.step != *step) continue;
            LATHE_TRY_ASSIGN(const auto row, reader.record(place.id));
            if (row) take(row->record);
        }
    }
    while (true) {
        LATHE_TRY_ASSIGN(const auto rows, reader.records(what.type, what.name, after, kAtOnce));
        if (rows.empty()) return {};
        for (const store::RecordRow& row : rows) {
            after = row.id;
            take(row.record);
        }
    }
}

/// Prints records one by one, or writes each as a file.
class Printer {
public:
    /// `named`: records of several names come, so that each line says which it is of.
    Printer(const Options& options, const rundir::RunFolder& run, std::optional<RecordFiles> files, bool named) : m_options(options), m_run(run), m_files(std::move(files)), m_named(named) {
        if (m_options.json) print("[");
    }
    void take(const live::RecordFrame& record) {
        json out = {{"type", live::recordWord(record.type)}, {"name", record.name}, {"session", record.session}, {"step", record.step}, {"wall", timeJson(record.wallNs)}};
        const auto said = saidBy(record);
        if (said) out[m_files ? "file" : "content"] = *said;
        else out["problem"] = said.error().text();
        m_problems += said ? 0 : 1;
        const std::string before = (m_named ? record.name + ", " : std::string()) + "step " + std::to_string(record.step) + ": ";
        if (m_options.json) print((m_count == 0 ? "" : ",") + out.dump());
        else if (!said) tell(before + said.error().text());
        else print(before + (said->is_string() ? said->get<std::string>() : said->dump()));
        ++m_count;
    }
    ExitCode finish() {
        if (m_options.json) print("]");
        if (m_count == 0) tell("There is no such record at that step");
        return m_problems > 0 ? ExitCode::Failed : ExitCode::Completed;
    }

private:
    Result<json> saidBy(const live::RecordFrame& record) {
        LATHE_TRY_ASSIGN(const std::string content, store::recordContent(m_run, record));
        if (!m_files) return contentJson(m_run, record, content);
        LATHE_TRY_ASSIGN(const auto file, m_files->write(record, content));
        return json(file.string());
    }

    const Options& m_options;
    const rundir::RunFolder& m_run;
    std::optional<RecordFiles> m_files;
    const bool m_named;
    std::size_t m_count = 0, m_problems = 0;
};

static ExitCode list(const Options& options, const std::vector<store::RecordSummary>& names) {
    if (options.json) {
        json out = json::array();
        for (const auto& one : names) out.push_back(recordJson(one));
        printJson(out);
        return ExitCode::Completed;
    }
    for (const auto& one : names) print(recordLine(one));
    if (names.empty()) tell("Nothing was logged beside the curves");
    return ExitCode::Completed;
}

/// Also by the name as the script gave it, which may not be fit to be shown.
static bool isCalled(const store::RecordSummary& record, const std::string& name) { return record.name == name || record.name == config::cleanSeriesName(name); }

/// What a run that is up has not logged yet may come.
static Error notLogged(const Options& options, const rundir::RunFolder& run, const std::string& name) {
    const std::string head = "Nothing called \"" + name.substr(0, 200) + "\" was logged";
    const auto config = rundir::isAlive(launch::standingOf(run).state) ? launch::configOf(run, std::max(1, rundir::newestSession(run))) : Result<config::RunConfig>(Error{});
    const auto every = config && !config::isCommand(*config) ? config::toValues(*config) : config::Values();
    const auto found = every.find("evaluation.every");
    const std::string when = found == every.end() ? "" : " yet; what an evaluation writes comes with the first one (evaluation.every: " + config::valueText(found->second) + ")";
    return {ErrorCode::NotFound, head + when + "; lathe-trainer records " + options.target + " lists what was", {}, {}};
}

ExitCode records(const Options& options) {
    const auto run = runToRead(options);
    if (!run) return fail(options, run.error());
    const auto reader = store::RunReader::open(run->database());
    if (!reader) return fail(options, reader.error());
    const auto names = (*reader)->recordNames();
    if (!names) return fail(options, names.error());
    if (options.more.empty() && !options.step && options.out.empty()) return list(options, *names);
    for (const std::string& wanted : options.more) {
        const bool known = std::any_of(names->begin(), names->end(), [&](const auto& one) { return isCalled(one, wanted); });
        if (!known) return fail(options, notLogged(options, *run, wanted));
    }
    std::optional<RecordFiles> files;
    if (!options.out.empty()) {
        auto made = RecordFiles::into(options.out);
        if (!made) return fail(options, made.error());
        files = std::move(*made);
    }
    std::vector<store::RecordSummary> chosen;
    std::copy_if(names->begin(), names->end(), std::back_inserter(chosen), [&](const store::RecordSummary& one) {
        return options.more.empty() || std::any_of(options.more.begin(), options.more.end(), [&](const std::string& name) { return isCalled(one, name); });
    });
    Printer printer(options, *run, std::move(files), chosen.size() > 1);
    for (const auto& one : chosen) {
        const auto visited = visit(**reader, one, options.step, [&](const live::RecordFrame& record) { printer.take(record); });
        if (!visited) return fail(options, visited.error());
    }
    return printer.finish();
}

}  // namespace lathe::trainer
