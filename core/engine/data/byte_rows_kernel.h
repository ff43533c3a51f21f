// Rows of bytes as numbers v / 255, free of LibTorch.
#pragma once

#include <cstdint>

namespace lathe::engine {

/// out[i][j] = rows[index[i]][j] / 255, correctly rounded. Rows are `width` long. Thread: pure.
void selectByteRows(const std::uint8_t* rows, std::int64_t width, const std::int64_t* index, std::int64_t count, float* out);
void selectByteRows(const std::uint8_t* rows, std::int64_t width, const std::int64_t* index, std::int64_t count, double* out);

}  // namespace lathe::engine
