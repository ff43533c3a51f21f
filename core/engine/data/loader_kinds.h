// The ways of loading behind Loader::open. Internal to engine/data.
#pragma once

#include "engine/data/batch_cursor.h"
#include "engine/data/loader.h"
#include "engine/data/part_reader.h"

namespace lathe::engine {

/// Over this rank's micro-batches; over all of them where windows are not foreseen.
inline BatchCursor cursorOf(const LoaderSettings& settings) {
    if (settings.foreseesWindows) return {settings.shape, settings.sharing};
    plan::OrderShape each = settings.shape;
    each.accumulation = plan::fixedWindows(1);
    return {each, {}};
}

/// Everything in one tensor on the device; a batch is a view of it (in order) or a selection of rows (shuffled). Pictures
/// of values v / 255 are kept as bytes.
Result<std::unique_ptr<Loader>> openMemoryLoader(PartReader reader, LoaderSettings settings, const LoadProgress& progress);

/// Samples read when they are due, by own threads or in the caller.
std::unique_ptr<Loader> openStreamLoader(PartReader reader, LoaderSettings settings);

/// Rows of a text. Requires: part.dataset->text().
std::unique_ptr<Loader> openTextLoader(DataPart part, const LoaderSettings& settings);

}  // namespace lathe::engine
