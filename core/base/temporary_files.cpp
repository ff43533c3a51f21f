#include "base/temporary_files.h"

#include "base/log.h"

namespace lathe {

void removeTemporaries(FileSystem& fs, const std::filesystem::path& folder, const std::function<bool(std::string_view file)>& of) {
    const auto names = listFolder(folder);
    if (!names && names.error().code != ErrorCode::NotFound) log::warning(names.error().text());
    for (std::size_t i = 0; names && i < names->size(); ++i) {
        const std::string& name = (*names)[i];
        const std::size_t mark = name.rfind(".tmp-");
        if (mark == std::string::npos || !of(std::string_view(name).substr(0, mark))) continue;
        if (const auto removed = fs.remove(folder / name); !removed) log::warning(removed.error().text());
    }
}

}  // namespace lathe
