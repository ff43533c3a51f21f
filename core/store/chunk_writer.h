// The points of one flush on their way into the database: whole chunks, the tail blob, and the tails that are no longer
// needed. Works inside the caller's transaction and changes nothing in memory, so that a failed flush can be repeated.
// Thread: that of the connection.
#pragma once

#include "base/result.h"
#include "store/row_group.h"
#include "store/sqlite.h"

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace lathe::store {

/// A tail blob in the database: up to which row it holds each group.
struct TailNote {
    std::int64_t id = 0;
    std::vector<std::pair<std::int64_t, std::int64_t>> ends;  ///< group, row after the last one
};

/// Numbers given out so far in the database.
struct Numbers {
    std::int64_t axis = 0, chunk = 0, tail = 0, group = 0;
};

/// What the database holds after the flush; valid once the transaction is committed.
struct StoredState {
    Numbers numbers;
    std::vector<TailNote> tails;
    std::vector<std::size_t> closed;  ///< rows closed at the front of each group
};

/// `tails` and `numbers` as they are now.
Result<StoredState> storePoints(Database& db, Codec& codec, const std::vector<std::unique_ptr<RowGroup>>& groups,
                                const Numbers& numbers, const std::vector<TailNote>& tails);

/// The database as a writer finds it: the numbers, and every readable tail as sealed groups. A tail that cannot be read
/// is left where it is and logged.
struct FoundState {
    Numbers numbers;
    std::vector<TailNote> tails;
    std::vector<RowGroup> groups;
};
Result<FoundState> findPoints(Database& db, Codec& codec);

/// Row after the last one of `group` that lies in a closed chunk.
Result<std::int64_t> closedRows(Database& db, std::int64_t group);

}  // namespace lathe::store
