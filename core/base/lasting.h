// Whether what could not be read will ever be there again.
// Thread: a pure function.
#pragma once

#include "base/error.h"

namespace lathe {

/// The file is damaged or not there: it tells nothing, and no later try will find more. Of all other errors (a disk that fails
/// just now, a right that is missing, no memory or descriptor left, a newer program's file) the file may tell everything:
/// nothing is decided, written or removed as if it did not exist.
inline bool isLasting(const Error& error) { return error.code == ErrorCode::Corrupt || error.code == ErrorCode::NotFound; }

}  // namespace lathe
