// What other trainers call our settings, for "did you mean".
// Thread: a pure function.
#pragma once

#include <string>
#include <string_view>

namespace lathe::config {

/// The key of ours for a word of others ("lr" -> "optimizer.learning_rate"; case, - and _ do not count), or empty.
std::string synonymOf(std::string_view word);

}  // namespace lathe::config
