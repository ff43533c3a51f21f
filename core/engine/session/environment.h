// Device, threads, and the record of what must be equal for bit-equal numbers.
#pragma once

#include "config/sections.h"
#include "engine/checkpoint/trainer_record.h"

#include <torch/types.h>

#include <string>
#include <vector>

namespace lathe::engine {

/// device::deviceOfRank() as a device of LibTorch, set up for it. The error says why it cannot be used.
Result<at::Device> chooseDevice(const config::ParallelSection& section, int rank = 0, int world = 1);
/// parallel.determinism, for the whole process; before LibTorch looks for devices.
void applyDeterminism(const config::ParallelSection& section);
/// parallel.threads, else OMP_NUM_THREADS, else this rank's share of the physical cores it may use; set for LibTorch and
/// returned.
int applyThreads(const config::ParallelSection& section, int ranks);
/// What a step frees the process keeps for the next one (up to 1 GiB), instead of having the kernel clear new pages each time:
/// about 4 % of a GPT step on the CPU. For the whole process.
void keepFreedMemory();

Environment environmentRecord(const config::RunConfig& config, at::Device device, int threads, const std::string& precision, const std::string& layout);
/// "threads 2 → 4", one for each difference.
std::vector<std::string> environmentDifferences(const Environment& before, const Environment& now);

}  // namespace lathe::engine
