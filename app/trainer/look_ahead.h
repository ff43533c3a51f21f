// Whether a configuration can be run, decided in one place: what `check` tells and `run` refuses before there is a run.
#pragma once

#include "base/counters.h"
#include "config/config.h"

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace lathe::trainer {

struct Outlook {
    std::vector<config::Problem> problems;    ///< of the configuration, its data, weights, plug-ins, device and disk
    std::vector<config::Problem> doubts;      ///< warnings that a run says itself once it is up: curves and ramps of another length
    std::vector<std::string> sentences;       ///< what is known beside them
    std::optional<GlobalStep> plannedUpdates; ///< where the data say so
    bool isUnanswered = false;                ///< the worker did not answer in time: there may be more problems, or none
};

/// Everything: the data are read here as well, every picture decoded, so that there is something to tell of them.
enum class Depth { WhatRefuses, Everything };

/// Blocks while a worker looks at data and model (lathe-worker describe), without training.
Outlook lookAhead(const config::Loaded& loaded, const std::filesystem::path& workspace, Depth depth);

}  // namespace lathe::trainer
