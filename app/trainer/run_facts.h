// The JSON forms that scripts rely on: what a run is, made from its folder alone.
#pragma once

#include "rundir/run_folder.h"
#include "store/run_store.h"

#include <nlohmann/json_fwd.hpp>

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace lathe::trainer {

/// Takes out the counters that are known only where a checkpoint or an end told them (launch/run/whole_counters.h).
void leaveWhatIsExact(nlohmann::json& counters);
/// Last line of run, continue and the like: run, name, folder, state, exit {code, reason}, counters, best, checkpoints.
nlohmann::json resultJson(const rundir::RunFolder& run);
/// `show`: all there is to know about a run.
nlohmann::json showJson(const rundir::RunFolder& run);
/// What would have helped a run that memory ran out in, for people: a line each, with the verb that does it.
std::vector<std::string> remedyLines(const rundir::RunFolder& run);
/// One row of `runs`.
nlohmann::json rowJson(const rundir::RunFolder& run);
/// Whether a session that went on from a checkpoint does so exactly: {outcome, detail, compared}, null where nothing was told.
nlohmann::json newestReport(const rundir::RunFolder& run, int session);
/// "continues exactly (4 updates compared)", "differs at: loss, update 121", "not comparable: threads 2 → 4".
std::string reportText(const nlohmann::json& report);
nlohmann::json bestJson(const std::optional<rundir::BestValue>& best);
nlohmann::json checkpointsJson(const rundir::RunFolder& run);
/// Metrics as their manifests have them (exact text): numbers, "nan" and the like as text.
nlohmann::json metricsJson(const std::map<std::string, std::string>& metrics);
nlohmann::json seriesJson(const store::SeriesSummary& series);
nlohmann::json recordJson(const store::RecordSummary& record);
/// The same as a line for people.
std::string recordLine(const store::RecordSummary& record);
/// A number, "nan" and the like as text, null when there is none.
nlohmann::json optionalNumber(const std::optional<double>& value);
/// "2026-11-29T18:20:42Z", or null for 0.
nlohmann::json timeJson(std::int64_t wallNs);

}  // namespace lathe::trainer
