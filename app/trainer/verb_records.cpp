// What a program logged beside its curves: tables, histograms, texts, pictures, summary values, checkpoints of its own.
#include "actions.h"

#include "base/bytes.h"
#include "base/file_system.h"
#include "output.h"
#include "rundir/json_reader.h"
#include "run_facts.h"
#include "store/run_store.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <span>

namespace lathe::trainer {

using live::FrameType;
using nlohmann::json;

static constexpr std::uint64_t kMostBytes = 64u << 20;
static constexpr std::size_t kAtOnce = 256;

static json histogramJson(const std::string& content) {
    ByteReader in(std::as_bytes(std::span(content)));
    const std::size_t bins = in.get<std::uint32_t>();
    if (!in.ok() || in.left() != (2 * bins + 1) * sizeof(double)) return nullptr;
    json edges = json::array(), counts = json::array();
    for (std::size_t i = 0; i <= bins; ++i) edges.push_back(rundir::numberJson(in.get<double>()));
    for (std::size_t i = 0; i < bins; ++i) counts.push_back(rundir::numberJson(in.get<double>()));
    return {{"edges", edges}, {"counts", counts}};
}

/// The content as a JSON value; of a picture its file.
static Result<json> contentJson(const rundir::RunFolder& run, const live::RecordFrame& record) {
    if (record.type == FrameType::Image) return json((rundir::RunFolder(run.place()).blobs() / record.blob).string());
    std::string content = record.content;
    if (!record.blob.empty()) {
        LATHE_TRY_ASSIGN(content, readFile(run.blobs() / record.blob, kMostBytes));
    }
    if (record.type == FrameType::Text) return json(content);
    if (record.type == FrameType::Histogram) return histogramJson(content);
    return rundir::parseStrict(content, "The " + std::string(live::recordWord(record.type)) + " \"" + record.name + "\"");
}

static Result<bool> printRecords(const Options& options, const rundir::RunFolder& run, const store::RunReader& reader, const store::RecordSummary& what, bool first) {
    std::int64_t after = 0;
    while (true) {
        LATHE_TRY_ASSIGN(const auto rows, reader.records(what.type, what.name, after, kAtOnce));
        if (rows.empty()) return first;
        for (const store::RecordRow& row : rows) {
            const live::RecordFrame& record = row.record;
            after = row.id;
            json out = {{"type", live::recordWord(record.type)}, {"name", record.name}, {"session", record.session}, {"step", record.step}, {"wall", timeJson(record.wallNs)}};
            const auto content = contentJson(run, record);
            if (content) out["content"] = *content;
            else out["problem"] = content.error().text();
            if (options.json) print((first ? "" : ",") + out.dump());
            else if (!content) print("step " + std::to_string(record.step) + ": " + content.error().text());
            else print("step " + std::to_string(record.step) + ": " + (content->is_string() ? content->get<std::string>() : content->dump()));
            first = false;
        }
    }
}

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

ExitCode records(const Options& options) {
    const auto run = targetRun(options);
    if (!run) return fail(options, run.error());
    const auto reader = store::RunReader::open(run->database());
    if (!reader) return fail(options, reader.error());
    const auto names = (*reader)->recordNames();
    if (!names) return fail(options, names.error());
    if (options.more.empty()) return list(options, *names);
    for (const std::string& wanted : options.more) {
        const bool known = std::any_of(names->begin(), names->end(), [&](const auto& one) { return one.name == wanted; });
        if (!known) return fail(options, Error{ErrorCode::NotFound, "Nothing called \"" + wanted + "\" was logged; lathe-trainer records " + options.target + " lists what was", {}, {}});
    }
    if (options.json) print("[");
    bool first = true;
    for (const std::string& wanted : options.more) {
        for (const auto& one : *names) {
            if (one.name != wanted) continue;
            const auto printed = printRecords(options, *run, **reader, one, first);
            if (!printed) return fail(options, printed.error());
            first = *printed;
        }
    }
    if (options.json) print("]");
    return ExitCode::Completed;
}

}  // namespace lathe::trainer
