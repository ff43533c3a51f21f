// Names of a checkpoint's tensor files: "model-00000.safetensors", by the kind of what they hold.
// Thread: pure functions.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace lathe::rundir {

/// Kind of the tensors that no update can change, whose files are links to those of the checkpoint before.
inline constexpr std::string_view kFrozenTensors = "frozen";

/// "frozen-00002.safetensors": of the third file with tensors of this kind.
std::string tensorFileName(std::string_view kind, std::size_t number);
bool isTensorFileOf(std::string_view kind, std::string_view file);

}  // namespace lathe::rundir
