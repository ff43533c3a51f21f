// What a record says: read from where it lies (run.sqlite or blobs/) and taken apart. Layouts in live/FORMAT.md. All of it
// comes from a program that is not ours: sizes, hashes and shapes are checked, and no link is followed.
// Thread: functions without shared state; they block on the disk.
#pragma once

#include "base/result.h"
#include "live/frame.h"
#include "rundir/run_folder.h"

#include <cstdint>
#include <string>
#include <vector>

namespace lathe::store {

constexpr std::uint64_t kMostRecordBytes = 64u << 20;  ///< a larger content is not read

/// The bytes, also where they lie in blobs/. NotFound when that file is missing, Corrupt when it is damaged or too large.
Result<std::string> recordContent(const rundir::RunFolder& run, const live::RecordFrame& record);

/// The other way: a content that is large, or a picture, goes to blobs/ under its hash, and the frame holds only that.
Result<void> putAside(const rundir::RunFolder& run, live::RecordFrame& record);

/// Counts between edges: one edge more than counts. Edges never fall and are finite; counts may be any numbers.
struct HistogramContent {
    std::vector<double> edges, counts;
};
Result<HistogramContent> parseHistogram(const std::string& content);

struct RecordCell {
    std::string text;
    bool isNumber = false;
};

/// Cells as they are to be read: texts as they stand, numbers by their exact text, null empty, anything else as JSON.
struct TableContent {
    std::vector<std::string> columns;
    std::vector<std::vector<RecordCell>> rows;   ///< each as long as `columns`, or longer where it says more
};
Result<TableContent> parseTable(const std::string& content);

/// The value of a summary, for people.
Result<RecordCell> parseSummaryValue(const std::string& content);

/// A checkpoint file that a program keeps itself.
struct OwnCheckpoint {
    std::string path;
    std::int64_t bytes = 0;
    std::vector<std::pair<std::string, std::string>> metrics;  ///< name, exact text
};
Result<OwnCheckpoint> parseOwnCheckpoint(const std::string& content);

}  // namespace lathe::store
