// The recorder's reading of frames: stores each of them and keeps what the summary, the status and the exit record need.
// Used by the live supervisor, and by whoever takes in the frames that a lost supervisor left.
// Thread: one.
#pragma once

#include "launch/process/recurring_problem.h"
#include "launch/run/session_end.h"
#include "live/segment.h"
#include "rundir/run_folder.h"
#include "store/run_store.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace lathe::launch {

class FrameBook {
public:
    /// `writer` and `summary` outlive the book. `summary` holds what earlier sessions left; its counters say where this
    /// one stands, and its task whose frames these are.
    FrameBook(store::RunWriter& writer, rundir::Summary& summary, int session);

    /// Of a session that others recorded the first part of: what they took and later frames build on, names of series and
    /// surroundings. Damage in it is logged.
    Result<void> recall(const rundir::RunFolder& run);
    void take(int ring, const live::Frame& frame);
    /// Makes durable what was taken, and with it, all or nothing, the summary as it is then: recordedSummary().
    Result<void> flush();

    const std::optional<Ended>& ended(int rank = 0) const;
    const std::map<std::string, std::string>& environment() const { return m_environment; }
    std::int64_t lastAttempt() const { return m_lastAttempt; }
    std::int64_t lastStep() const { return m_lastStep; }
    /// The session as run.sqlite keeps it. The steps of a program that is not ours are those of its points.
    store::SessionRow row(const rundir::SessionRecord& record) const;
    std::int64_t activeNs() const { return m_activeNs; }                  ///< of this session
    int saves() const { return m_saves; }                                 ///< checkpoints published in this session
    int failedSaves() const { return m_failedSaves; }
    const std::string& lastCheckpoint() const { return m_lastCheckpoint; }
    const std::string& lastSaveProblem() const { return m_saveProblem; }  ///< empty after a save that went well
    /// What a person at a terminal should read, of the frames or from elsewhere.
    void say(const std::string& sentence);
    /// … since the last call.
    std::vector<std::string> takeSaid() { return std::exchange(m_said, {}); }
    std::optional<double> last(const std::string& series) const;
    /// Why the worker has paused by itself since the last call (may be empty); nothing where it has not.
    std::optional<std::string> takeHold() { return std::exchange(m_holds, std::nullopt); }

private:
    Result<void> recallFrom(const store::RunReader& reader);
    Result<void> recallSteps(const store::RunReader& reader);
    void noteProgramSteps(std::int64_t first, std::int64_t last);
    void know(int ring, std::uint16_t id, const std::string& name) { m_series[{ring, id}] = {name, nullptr, isLoss(ring, name)}; }
    static bool isLoss(int ring, const std::string& name);
    void takePoints(int ring, const live::Frame& frame);
    void takeEvent(int ring, const live::Frame& frame);
    void bookCheckpoint(const live::EventFrame& event);
    void bookBest(const live::EventFrame& event);
    void bookPlan(const live::EventFrame& event);
    void bookFailedSave(const live::EventFrame& event);
    void bookEnvironment(const live::EventFrame& event);
    void bookEnded(int rank, const live::EventFrame& event);
    void considerBest(const std::string& series, double value, std::int64_t step);
    void addToSparkline(std::int64_t step, double loss);

    store::RunWriter& m_writer;
    rundir::Summary& m_summary;
    const int m_session;
    const double m_activeBefore;
    struct Series {
        std::string name;
        double* last = nullptr;   ///< its place in the summary once it has a point
        bool isLoss = false;
    };
    std::map<std::pair<int, std::uint16_t>, Series> m_series;
    std::map<int, std::optional<Ended>> m_ended;   ///< by rank
    std::map<std::string, std::string> m_environment;
    std::string m_lastCheckpoint, m_saveProblem;
    RecurringProblem m_savesFail{"saves could not be made"};
    std::vector<std::string> m_said;
    std::int64_t m_lastAttempt = 0, m_lastStep = 0, m_activeNs = 0;
    std::optional<std::pair<std::int64_t, std::int64_t>> m_programSteps;
    std::optional<std::string> m_holds;
    const bool m_fromProgram;     ///< not our trainer: attempts only count arrivals
    std::int64_t m_stride = 1;    ///< steps between points of the sparkline
    int m_saves = 0, m_failedSaves = 0;
};

/// The run's summary as it was when the newest points of a session became durable. It goes with them; summary.json is older or
/// newer by up to a second when its writer dies. Nothing where that session recorded nothing.
Result<std::optional<rundir::Summary>> recordedSummary(const rundir::RunFolder& run, int session);
/// Of a run's summary what its frames have made of it, but for the time that was spent.
void takeProgress(rundir::Summary& summary, rundir::Summary from);

}  // namespace lathe::launch
