// trainer.json of a checkpoint: everything small that a resume needs, with floats as exact text.
// Thread: plain values.
#pragma once

#include "base/result.h"
#include "engine/train/probe.h"
#include "engine/train/train_state.h"

#include <map>
#include <string>
#include <string_view>

namespace lathe::engine {

/// What must be equal for bit-equal numbers: "LibTorch" -> "2.11.0", "threads" -> "2" …
using Environment = std::map<std::string, std::string>;

struct TrainerRecord {
    std::map<std::string, StateValues> state;  ///< by registry entry
    Probe probe;
    Environment environment;
    std::string configYaml;                    ///< effective configuration of the session that saved
    std::string dataFingerprint;
};

constexpr std::size_t kMaxTrainerRecordBytes = 1u << 20;

std::string trainerRecordJson(const TrainerRecord& record);
Result<TrainerRecord> parseTrainerRecord(std::string_view json);

}  // namespace lathe::engine
