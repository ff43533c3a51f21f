// Several ranks as threads of one process.
#pragma once

#include "engine/parallel/data_parallel.h"

#include <ATen/Parallel.h>

#include <QTemporaryDir>

#include <chrono>
#include <functional>
#include <string>
#include <thread>
#include <vector>

namespace lathe::engine::test {

/// Runs `body` once a rank, all at the same time.
inline void asRanks(const config::ParallelSection& section, const std::function<void(Parallel&)>& body) {
    const QTemporaryDir folder;
    const RankPlace place{.world = static_cast<int>(section.ranks), .rendezvous = folder.filePath("ranks").toStdString(), .timeout = std::chrono::seconds(60)};
    std::vector<std::thread> threads;
    for (int rank = 0; rank < place.world; ++rank)
        threads.emplace_back([&, rank, mine = place]() mutable {
            at::set_num_threads(1);
            mine.rank = rank;
            const auto parallel = makeParallel(section, mine).value();
            body(*parallel);
        });
    for (std::thread& thread : threads) thread.join();
}

inline config::ParallelSection ranks(int world) {
    config::ParallelSection section;
    section.ranks = world;
    return section;
}

}  // namespace lathe::engine::test
