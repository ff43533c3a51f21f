// A running session as a TensorBoard event file beside its own record: every point as it is recorded, so that a
// TensorBoard that is open on the folder follows. Only looks: where the file cannot be written, training goes on.
// Thread: that of the session.
#pragma once

#include "live/segment.h"
#include "rundir/run_folder.h"
#include "tensorboard/event_writer.h"

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <utility>

namespace lathe::launch {

/// Where telemetry.tensorboard sends the files of a run: "true": its own folder tensorboard/; else a folder of the run's
/// name in the one that is named (absolute, or below the workspace). Empty: nowhere.
std::filesystem::path liveEventFolder(const rundir::RunFolder& run, const std::string& setting);

class LiveEvents {
public:
    /// `firstStep`: of the session; where it goes on from an earlier one, what that one had from this step on counts no more.
    static Result<LiveEvents> open(const std::filesystem::path& folder, const rundir::SessionRecord& session, std::int64_t firstStep);

    void take(int ring, const live::Frame& frame);
    /// After an error there is nothing more to be had of it.
    Result<void> flush() { return m_writer.flush(); }
    const std::filesystem::path& file() const { return m_file; }

private:
    LiveEvents(std::filesystem::path file, tensorboard::EventWriter writer) : m_file(std::move(file)), m_writer(std::move(writer)) {}

    std::filesystem::path m_file;
    tensorboard::EventWriter m_writer;
    std::map<std::pair<int, std::uint16_t>, std::string> m_names;  ///< of series, by ring and number
};

}  // namespace lathe::launch
