#include "launch/session/live_events.h"

#include "base/file_system.h"
#include "launch/process/identity.h"
#include "tensorboard/event.h"
#include "tensorboard/event_folder.h"

namespace lathe::launch {

std::filesystem::path liveEventFolder(const rundir::RunFolder& run, const std::string& setting) {
    if (setting.empty() || setting == "false") return {};
    const rundir::RunFolder here(run.place());
    if (setting == "true") return here.liveEvents();
    // An absolute one stays as it is; a run outside of any workspace has only the folder that it lies in.
    return (rundir::workspaceOf(here).value_or(here.root().parent_path()) / setting).lexically_normal() / here.name();
}

Result<LiveEvents> LiveEvents::open(const std::filesystem::path& folder, const rundir::SessionRecord& session, std::int64_t firstStep) {
    FileSystem& fs = FileSystem::real();
    LATHE_TRY(makeFolders(fs, folder));
    const auto file = folder / tensorboard::sessionFileName(session.startedNs / 1'000'000'000, hostName(), session.number);
    const std::optional<std::int64_t> restart = session.number > 1 ? std::optional(firstStep) : std::nullopt;
    LATHE_TRY_ASSIGN(auto writer, tensorboard::EventWriter::create(fs, file, tensorboard::wallSecondsOf(session.startedNs), restart));
    return LiveEvents(file, std::move(writer));
}

void LiveEvents::take(int ring, const live::Frame& frame) {
    if (frame.type == live::FrameType::Series) {
        if (const auto series = live::decodeSeries(frame.payload)) m_names[{ring, series->id}] = series->name;
    } else if (frame.type == live::FrameType::Points) {
        const auto points = live::decodePoints(frame.payload);
        if (!points) return;  // the recorder tells of it
        for (const auto& item : points->items) {
            if (const auto name = m_names.find({ring, item.series}); name != m_names.end())
                m_writer.scalar(tensorboard::wallSecondsOf(points->wallNs), points->step, name->second, item.value);
        }
    }
}

}  // namespace lathe::launch
