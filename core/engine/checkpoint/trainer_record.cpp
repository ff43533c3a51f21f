#include "engine/checkpoint/trainer_record.h"

#include "rundir/json_reader.h"

#include <nlohmann/json.hpp>

namespace lathe::engine {
namespace {

using nlohmann::json;

constexpr int kFormat = 1;
constexpr const char* kFile = "trainer.json";

}  // namespace

std::string trainerRecordJson(const TrainerRecord& record) {
    const json object = {{"format", kFormat},
                         {"state", record.state},
                         {"probe", {{"samples", record.probe.samples}, {"loss", record.probe.loss}, {"grad_norm", record.probe.gradNorm}}},
                         {"environment", record.environment},
                         {"config", record.configYaml},
                         {"data_fingerprint", record.dataFingerprint}};
    return rundir::jsonText(object);
}

Result<TrainerRecord> parseTrainerRecord(std::string_view text) {
    LATHE_TRY_ASSIGN(const json object, rundir::parseStrict(text, kFile));
    LATHE_TRY(rundir::checkFormat(object, kFile, kFormat));
    rundir::JsonReader reader(object, kFile);
    TrainerRecord record;
    if (const json* state = reader.object("state")) {
        rundir::JsonReader entries(*state, kFile, "state.");
        for (const auto& [name, unused] : state->items()) record.state[name] = entries.textMap(name.c_str());
        reader.absorb(entries);
    }
    if (const json* probe = reader.object("probe")) {
        rundir::JsonReader part(*probe, kFile, "probe.");
        record.probe = {part.text("samples"), part.text("loss"), part.text("grad_norm")};
        reader.absorb(part);
    }
    record.environment = reader.textMap("environment");
    record.configYaml = reader.text("config");
    record.dataFingerprint = reader.text("data_fingerprint");
    LATHE_TRY(reader.check());
    return record;
}

}  // namespace lathe::engine
