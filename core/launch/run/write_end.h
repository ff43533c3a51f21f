// Writes down how a session ended: one order for the supervisor, which was there, and for whoever settles what a lost one left.
// Thread: any, of the holder of the run's lock.
#pragma once

#include "base/file_system.h"
#include "rundir/run_folder.h"
#include "store/run_store.h"

namespace lathe::launch {

/// The recorder of the session, and its row there.
struct EndOfRecording {
    store::RunWriter* writer = nullptr;   ///< none where it could not be opened
    store::SessionRow row;
    bool isStuck = false;                 ///< its last points could not be stored: the row comes before another try
    bool isOwing = false;                 ///< something is left to be done by whoever takes the run next: live.json stays
};

/// Record, summary (left out without an id), and the row, which comes last since the points with it take what room there is.
/// Each is tried. Then live.json goes, but where one of them could not be written it stays: by it whoever comes next knows
/// that the session was up, and settles it. The first error.
Result<void> writeEnd(FileSystem& fs, const rundir::RunFolder& run, const rundir::SessionRecord& record, const rundir::Summary& summary, const EndOfRecording& recording);

}  // namespace lathe::launch
