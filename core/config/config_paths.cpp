#include "config/config_paths.h"

#include "base/program_paths.h"

#include <string_view>

namespace lathe::config {
namespace {

constexpr std::string_view kResources = "$resources/";

std::string resourcePrefix() {
    return std::filesystem::absolute(resourceFolder()).lexically_normal().string() + "/";
}

}  // namespace

std::string absolutePath(const std::string& written, const std::filesystem::path& base) {
    if (written.empty()) return {};
    const std::filesystem::path path = written.starts_with(kResources)
        ? std::filesystem::path(resourcePrefix() + written.substr(kResources.size()))
        : std::filesystem::absolute(base) / written;
    std::string text = path.lexically_normal().string();
    while (text.size() > 1 && text.back() == '/') text.pop_back();
    return text;
}

std::string writtenPath(const std::string& absolute) {
    const std::string prefix = resourcePrefix();
    if (!absolute.starts_with(prefix)) return absolute;
    return std::string(kResources) + absolute.substr(prefix.size());
}

}  // namespace lathe::config
