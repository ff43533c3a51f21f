// A recorder in the test's own process: what programs send to its socket lands in the run.sqlite of a fixture run, as under
// a supervisor.
#pragma once

#include "fixture_run.h"
#include "launch/run/frame_book.h"
#include "launch/run/program_frames.h"
#include "live/spill.h"

#include <QtCore/QProcess>
#include <QtTest/QTest>

#include <atomic>
#include <filesystem>
#include <mutex>
#include <optional>
#include <poll.h>
#include <string>
#include <thread>
#include <vector>

namespace lathe::tests {

class ProgramHost {
public:
    explicit ProgramHost(const std::filesystem::path& workspace) : run(workspace, "script") {
        run.beginSession(1);
        m_summary.id = "abcdefghijkl";
        m_summary.name = "script";
        m_summary.task = rundir::kCommandTask;
        m_segment = std::move(live::Segment::create({2, 4u << 20}, "abcdefghijkl-1")).value();
        m_feed.emplace(*m_segment, 0, run.folder().spill(), 1);
        m_book.emplace(run.writer(), m_summary, 1);
        m_frames = std::move(launch::ProgramFrames::listen(run.folder(), m_summary, *m_segment, 0, 1)).value();
        for (const auto& [name, value] : m_frames->environment()) environment.emplace_back(name, value);
        m_thread = std::thread([this] { serve(); });
    }
    ~ProgramHost() { stop(); }

    /// Ends as a supervisor that is killed: nothing more is taken.
    void stop() {
        if (!m_thread.joinable()) return;
        m_ending = true;
        m_thread.join();
        drain();
        m_frames->tellTheRest();
        drain();
        m_frames.reset();
        run.flush();
    }
    /// As if the machine had no time for it: nothing is taken until it goes on.
    void hold(bool held) {
        const std::lock_guard lock(m_mutex);
        m_held = held;
    }
    /// As if the disk were full: what is taken does not become safe.
    void keepUnsafe() {
        const std::lock_guard lock(m_mutex);
        m_unsafe = true;
    }
    void ask(live::Control::Stop stop, std::int64_t saves) {
        const std::lock_guard lock(m_mutex);
        m_control.stop = stop;
        m_control.saveRequests = saves;
    }
    struct Facts {
        int producers = 0, connections = 0;
        std::int64_t saved = 0;
        std::uint64_t missing = 0;
        bool listensForStop = false;
        std::optional<launch::ProgramFrames::Goodbye> goodbye;
    };
    Facts facts() {
        const std::lock_guard lock(m_mutex);
        return {m_frames->producers(), m_frames->connections(), m_frames->savedRequests(), m_frames->missing(), m_frames->listensForStop(), m_frames->goodbye()};
    }
    std::uint64_t lost() const { return m_lost; }   ///< frames that were overwritten; after stop()
    std::string variable(const std::string& name) const {
        for (const auto& [known, value] : environment)
            if (known == name) return value;
        return {};
    }
    std::vector<store::Point> points(const std::string& series) {
        stop();
        const auto reader = store::RunReader::open(run.folder().database());
        const auto found = (*reader)->points(series, store::RunReader::Line::All);
        return found ? *found : std::vector<store::Point>();
    }
    std::vector<store::EventRow> events(const std::string& kind) {
        stop();
        const auto reader = store::RunReader::open(run.folder().database());
        auto all = std::move((*reader)->events()).value();
        std::erase_if(all, [&](const store::EventRow& row) { return row.event.kind != kind; });
        return all;
    }
    const rundir::Summary& summary() {
        stop();
        return m_summary;
    }

    FixtureRun run;
    std::vector<std::pair<std::string, std::string>> environment;

private:
    void drain() {
        const auto batch = m_feed->read(64u << 20, true);
        m_lost += batch.lost;
        for (const live::Frame& frame : batch.frames) m_book->take(0, frame);
    }
    void serve() {
        while (!m_ending) {
            pollfd wait{m_frames->pollFd(), POLLIN, 0};
            ::poll(&wait, 1, 5);
            const std::lock_guard lock(m_mutex);
            if (m_held) continue;
            m_frames->poll();
            m_frames->setWishes(m_control);
            drain();
            if (m_unsafe) continue;
            run.flush();
            m_frames->acknowledge(run.writer().recordedSequence(0, 1));
        }
    }

    rundir::Summary m_summary;
    std::unique_ptr<live::Segment> m_segment;
    std::optional<live::RingFeed> m_feed;
    std::optional<launch::FrameBook> m_book;
    std::unique_ptr<launch::ProgramFrames> m_frames;
    std::mutex m_mutex;
    live::Control m_control;
    std::atomic<bool> m_ending{false};
    bool m_held = false, m_unsafe = false;
    std::uint64_t m_lost = 0;
    std::thread m_thread;
};

}  // namespace lathe::tests
