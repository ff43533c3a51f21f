// Turning what a record says into what is painted, off the GUI thread.
#pragma once

#include "session/run_records.h"

namespace lathe::session {

/// Reads and takes apart one record. Blocks on the disk.
ShownRecord readShown(const rundir::RunFolder& run, const store::RecordRow& row);
/// The newest record of each name of a collected kind as one table. Blocks on the disk.
ShownRecord readCollected(const rundir::RunFolder& run, live::FrameType type);
/// PNG or JPEG by its first bytes, of a size that fits; else an empty picture and a sentence.
QImage decodePicture(const std::string& bytes, QString& problem);

}  // namespace lathe::session
