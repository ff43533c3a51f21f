#include "engine/session/steering.h"

#include <nlohmann/json.hpp>

#include <chrono>
#include <thread>

namespace lathe::engine {

Steering::Steering(live::Segment& segment, Pulse& pulse, FrameWriter& frames, bool tells)
    : m_segment(segment), m_pulse(pulse), m_frames(frames), m_tells(tells) {}

void Steering::at(const HookContext& context, Wishes& wishes) {
    m_counters = *context.counters;
    if (context.point == Point::Update || context.point == Point::EvalBatch || context.point == Point::TrainStart || context.point == Point::AfterSave)
        poll(wishes);
}

void Steering::readControl() {
    if (m_segment.controlNumber() == m_control.number) return;
    m_control = m_segment.control();
    m_pulse.acknowledge(m_control.number);
}

std::optional<Ending> Steering::stopAsked() {
    readControl();
    if (m_control.stop == live::Control::Stop::Discard) return Ending{rundir::State::Stopped, "Stopped without saving, as asked", false};
    if (m_control.stop == live::Control::Stop::SaveAndStop) return Ending{rundir::State::Stopped, "Stopped, as asked", true};
    if (Pulse::stopSignals() > 0) return Ending{rundir::State::Stopped, "Stopped by a signal", true};
    if (m_pulse.supervisorLost()) return Ending{rundir::State::Interrupted, "The supervisor was lost", true};
    return std::nullopt;
}

void Steering::poll(Wishes& wishes) {
    if (auto stop = stopAsked(); stop && (!wishes.stop || !stop->save)) wishes.stop = std::move(stop);
    wishes.pause = m_control.pause;
    if (m_control.saveRequests > m_savesDone) wishes.save = true;
    m_savesDone = m_control.saveRequests;
}

/// What paused by itself is held by the supervisor from then on, so that a person ends it as any other pause.
void Steering::handOver(Wishes& wishes) {
    if (m_tells) m_frames.event("holds", wishes.holdWhy, {}, m_counters);
    while (!m_control.pause && !wishes.stop) {
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
        poll(wishes);
    }
}

void Steering::waitWhilePaused(Wishes& wishes) {
    const bool holds = wishes.hold;
    if (!m_paused && m_tells) m_frames.event("paused", holds ? "Paused by itself: " + (wishes.holdWhy.empty() ? "a hook asked for it" : wishes.holdWhy) + "; unpause goes on" : "Paused, as asked", {}, m_counters);
    m_paused = true;
    m_pulse.phase(live::Phase::Paused);
    if (holds) handOver(wishes);
    do {
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
        poll(wishes);
    } while (wishes.pause && !wishes.stop && !wishes.save);
    m_paused = wishes.pause && !wishes.stop;
    if (!m_paused && m_tells) m_frames.event("resumed", "Going on", {}, m_counters);
}

}  // namespace lathe::engine
