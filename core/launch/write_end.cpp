#include "launch/write_end.h"

#include "base/log.h"

#include <utility>

namespace lathe::launch {

Result<void> writeEnd(FileSystem& fs, const rundir::RunFolder& run, const rundir::SessionRecord& record, const rundir::Summary& summary, const EndOfRecording& recording) {
    Result<void> whole;
    const auto note = [&whole](Result<void> step) {
        if (step) return;
        if (whole) whole = std::move(step);
        else log::error(step.error().text());
    };
    note(rundir::writeSession(fs, run, record));
    if (!summary.id.empty()) note(rundir::writeSummary(fs, run, summary));
    const bool isWritten = whole.ok();
    if (recording.writer && recording.isStuck) note(recording.writer->bookEnd(recording.row));
    if (recording.writer) note(recording.writer->endSession(recording.row));
    if (isWritten) note(rundir::removeLive(fs, run));
    return whole;
}

}  // namespace lathe::launch
