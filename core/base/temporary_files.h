// What replaceFile() leaves where its process dies in the middle: "<file>.tmp-<pid>-<number>".
#pragma once

#include "base/file_system.h"

#include <filesystem>
#include <functional>
#include <string_view>

namespace lathe {

/// Removes those in a folder that were to become a file which `of` says yes to; what cannot be removed is logged and stays.
/// Requires: the lock under which these files are written. Then none of them has a writer that lives; their pid says nothing,
/// since it may have gone to somebody else, or be another machine's.
void removeTemporaries(FileSystem& fs, const std::filesystem::path& folder, const std::function<bool(std::string_view file)>& of);

}  // namespace lathe
