// What lies in the files of a checkpoint against what its manifest says: the one place that compares them. Files are read
// into memory, never mapped, so that one that the disk cannot give, or that is cut short meanwhile, is an error and no signal.
// Thread: functions without shared state.
#pragma once

#include "base/descriptor.h"
#include "rundir/checkpoint_manifest.h"
#include "rundir/safetensors_header.h"

#include <filesystem>

namespace lathe::rundir {

/// Opens a listed file of the size that the manifest says.
Result<Descriptor> openListed(const std::filesystem::path& folder, const FileEntry& entry);

/// A listed file that was whole when it was read: every byte is in its hash, and every piece that the manifest places in it
/// is there with its type and shape.
struct WholeFile {
    Descriptor file;
    SafetensorsHeader header;   ///< of a tensor file
};
Result<WholeFile> openWhole(const std::filesystem::path& folder, const FileEntry& entry, const CheckpointManifest& manifest, const Reading& reading = {});

}  // namespace lathe::rundir
