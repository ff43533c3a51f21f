#include "launch/run/write_end.h"

#include "base/lasting.h"
#include "base/log.h"

#include <utility>

namespace lathe::launch {

Result<void> writeEnd(FileSystem& fs, const rundir::RunFolder& run, const rundir::SessionRecord& record, const rundir::Summary& summary, const EndOfRecording& recording) {
    Result<void> whole;
    const auto note = [&whole](Result<void> step) {
        const bool isDone = step.ok();
        if (!isDone && !whole) log::error(step.error().text());
        else if (!isDone) whole = std::move(step);
        return isDone;
    };
    note(rundir::writeSession(fs, run, record));
    if (!summary.id.empty()) note(rundir::writeSummary(fs, run, summary));
    bool isWritten = whole.ok();
    if (recording.writer) {
        const bool isBooked = recording.isStuck && note(recording.writer->bookEnd(recording.row));
        auto ended = recording.writer->endSession(recording.row);
        isWritten = isWritten && (isBooked || ended || isLasting(ended.error()));   // no later try writes into what is damaged
        note(std::move(ended));
    }
    if (isWritten && !recording.isOwing) note(rundir::removeLive(fs, run));
    return whole;
}

}  // namespace lathe::launch
