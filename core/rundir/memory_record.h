// What is written down when memory runs out: what was asked for, what there was, the piece of work that did it, and what
// would help, as changes of the configuration. Part of a session's exit record, of the "ended" event of a worker (without
// remedies) and of the "out_of_memory" event; FORMAT.md has the JSON.
// Thread: plain values.
#pragma once

#include "base/error.h"
#include "base/result.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace lathe::rundir {

/// One way to need less memory.
struct Remedy {
    struct Edit {
        std::string key, from, to;     ///< texts as --set takes them
        bool operator==(const Edit&) const = default;
    };
    std::vector<Edit> edits;
    std::string cost;                  ///< what it costs, as a part of a sentence
    bool whenGoingOn = false;          ///< may change when the run goes on from a checkpoint; else in a new run only

    bool operator==(const Remedy&) const = default;
};

struct MemoryRecord {
    MemoryFacts facts;
    int rank = 0;
    bool killed = false;               ///< the system ended the process: nothing is known of the request
    std::int64_t attempt = 0;          ///< update attempt that was being made; 0: none
    std::int64_t epoch = 0;
    std::int64_t microStep = 0, microSteps = 0;  ///< within the window, from 1; 0: it was none
    std::vector<std::int64_t> shape;   ///< of the micro-batch's input, the first is its samples; empty: it was none
    std::vector<std::int64_t> samples; ///< ids in the micro-batch, at most kMostSamples
    std::vector<Remedy> remedies;      ///< those that can be enough first, of these the one that costs least

    static constexpr std::size_t kMostSamples = 1000;
};

/// "The GPU's memory ran out while computing an update: 2.0 GiB more were asked for, 120.0 MiB of 16.0 GiB were free, 15.1 GiB
/// at its peak; in micro-step 2 of 4 of update attempt 121, 8 samples (8 x 3 x 224 x 224)".
std::string sentenceOf(const MemoryRecord& record);
/// "data.batch_size 32 → 16, accumulation.micro_batches 1 → 2: the same update but for rounding".
std::string sentenceOf(const Remedy& remedy);

}  // namespace lathe::rundir
