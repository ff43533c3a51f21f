// The hook that hears what people and the system ask for: the control block, stop signals, the end of the supervisor.
#pragma once

#include "engine/session/frame_writer.h"
#include "engine/session/pulse.h"
#include "engine/train/hooks.h"

namespace lathe::engine {

class Steering final : public Hook {
public:
    /// `tells`: of the first rank, which speaks for all.
    Steering(live::Segment& segment, Pulse& pulse, FrameWriter& frames, bool tells = true);
    std::string_view hookName() const override { return "steering"; }
    bool required() const override { return true; }
    void at(const HookContext& context, Wishes& wishes) override;
    void waitWhilePaused(Wishes& wishes) override;

    /// What ends the session as of now, if anything does. Also for the time before the loop runs.
    std::optional<Ending> stopAsked();

private:
    void poll(Wishes& wishes);
    void handOver(Wishes& wishes);
    void readControl();

    live::Segment& m_segment;
    Pulse& m_pulse;
    FrameWriter& m_frames;
    live::Control m_control;
    std::int64_t m_savesDone = 0;
    bool m_paused = false;
    const bool m_tells;
    Counters m_counters;
};

}  // namespace lathe::engine
