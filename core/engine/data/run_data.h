// The data of a run, opened once: datasets, the part of each that trains and evaluates, and what is measured on the
// training part alone.
// Thread: immutable after opening.
#pragma once

#include "base/result.h"
#include "config/sections.h"
#include "dataset/dataset.h"
#include "engine/model/model.h"

#include <memory>
#include <vector>

namespace lathe::engine {

/// Called now and then while samples are read; false ends the reading with ErrorCode::Stopped.
using LoadProgress = dataset::Progress;

/// Mean and deviation of each feature (1 where a feature is constant).
struct Standardization {
    std::vector<double> mean, deviation;
};

/// Over exactly these samples, population deviation, in double.
Result<Standardization> measure(const dataset::Dataset& dataset, const std::vector<std::int64_t>& ids,
                                const LoadProgress& progress = {});

/// Some samples of a dataset as a model sees them.
struct DataPart {
    std::shared_ptr<const dataset::Dataset> dataset;
    std::vector<std::int64_t> ids;                          ///< entry of the order -> sample id
    std::shared_ptr<const Standardization> standardization; ///< null: inputs as they are
};

struct RunData {
    DataPart train;
    DataPart eval;  ///< no ids: nothing is held out, no evaluation

    ModelShape modelShape(std::int64_t outputs) const;
};

/// How much of the data is read: all of it, or what dataset::survey() reads.
enum class Reading { Whole, Survey };

/// Opens data.train and data.eval (or holds out data.eval_fraction), checks that training has samples. Nothing is measured
/// in a survey.
Result<RunData> openRunData(const config::RunConfig& config, const LoadProgress& progress = {}, Reading reading = Reading::Whole);

}  // namespace lathe::engine
