#include "rundir/tensor_files.h"

namespace lathe::rundir {

std::string tensorFileName(std::string_view kind, std::size_t number) {
    const std::string digits = std::to_string(number);
    return std::string(kind) + "-" + std::string(digits.size() < 5 ? 5 - digits.size() : 0, '0') + digits + ".safetensors";
}

bool isTensorFileOf(std::string_view kind, std::string_view file) { return file.starts_with(std::string(kind) + "-"); }

}  // namespace lathe::rundir
