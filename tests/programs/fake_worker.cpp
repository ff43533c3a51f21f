// A worker that plays a script instead of training: what the supervisor is tested with, without LibTorch.
// $LATHE_FAKE_SCRIPT holds steps separated by ';':
//   points N        N updates, one row of values each
//   until N         updates up to attempt N
//   leave F         a child that stays, its pid in F
//   crashonce F N   signal N, unless the file F is there; makes it
//   train           updates until a stop or the end of the supervisor, as the contract says
//   work            updates up to the session's run.max_updates, a checkpoint every 20, as training would; then it completes
//   save            a checkpoint, published as the contract says
//   savebest        the same, as the best one so far
//   partial         begins a checkpoint and leaves it
//   metric V        eval/accuracy of the next checkpoints
//   best V          tells the best value so far
//   end STATE CODE  the "ended" event, then exit with CODE
//   exit CODE       without a word
//   signal N        ends itself with a signal
//   say TEXT        to standard error, which is the rank's log
//   warn TEXT       a "warning" event
//   flood N         N MiB to standard error
//   deaf            ignores everything but SIGKILL from here on, for ever
//   hold FILE       waits until FILE exists
//   saving FILE     the same, as one that saves and is alive, whoever is gone
//   rank K STEP     a step of rank K alone
#include "base/clock.h"
#include "base/file_system.h"
#include "base/hash.h"
#include "base/number_text.h"
#include "config/config.h"
#include "live/segment.h"
#include "live/spill.h"
#include "rundir/checkpoint_manifest.h"
#include "rundir/json_reader.h"
#include "rundir/run_folder.h"
#include "rundir/safetensors_header.h"

#include <nlohmann/json.hpp>

#include <atomic>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <poll.h>
#include <sstream>
#include <sys/resource.h>
#include <unistd.h>

using namespace lathe;
using nlohmann::json;
namespace stdfs = std::filesystem;

static std::atomic<int> g_signals{0};

class FakeWorker {
public:
    FakeWorker(const stdfs::path& run, int session, int rank, int segmentFd)
        : m_run(rundir::RunFolder(run).held()), m_session(session), m_rank(rank), m_workers(rundir::RunLock::acquire(m_run.workersLock(), true)),
          m_segment(live::Segment::open(segmentFd, true)) {
        if (!m_workers || !m_segment) std::_Exit(99);
        m_spiller = std::make_unique<live::Spiller>(**m_segment, m_rank, m_run.spill(), session);
        const auto record = rundir::readSession(m_run, session);
        if (record && !record->checkpoint.empty() && !record->weightsOnly)
            m_counters = rundir::readCheckpoint(m_run.checkpoints() / record->checkpoint)->counters;
        for (const char* name : {"train/loss", "train/lr"}) {
            live::encode(live::SeriesFrame{m_nextId++, name, ""}, m_payload);
            write(live::FrameType::Series);
        }
        event("plan", "", {{"planned_updates", 1000}, {"classes", {"a", "b"}}, {"input", {{"images", false}, {"mean", {0.5}}, {"deviation", {2.0}}}}});
        event("environment", "", {{"threads", "2"}});
    }

    void play(const std::string& script) {
        std::istringstream steps(script);
        for (std::string step; std::getline(steps, step, ';');) {
            std::istringstream words(step);
            std::string verb;
            words >> verb;
            perform(verb, words);
        }
    }

private:
    void perform(const std::string& verb, std::istringstream& words) {
        std::string text;
        int number = 0;
        if (verb == "points") {
            for (words >> number; number > 0; --number) {
                update();
                if (number % 100 == 0) pauseFor(1);  // no training is faster than its spiller
            }
        } else if (verb == "until") {
            for (words >> number; m_counters.updateAttempts.value() < number;) update();
        } else if (verb == "leave") {
            words >> text;
            const pid_t child = ::fork();
            while (child == 0) ::pause();
            static_cast<void>(replaceFile(FileSystem::real(), text, std::to_string(child)));
        } else if (verb == "crashonce") {
            words >> text >> number;
            if (stdfs::exists(text)) return;
            static_cast<void>(replaceFile(FileSystem::real(), text, "crashed"));
            crash(number);
        } else if (verb == "train") {
            train();
        } else if (verb == "work") {
            const auto config = config::load(m_run.sessionYaml(m_session).string());
            train(config.ok() ? config->config.run.maxUpdates.value_or(1) : 1, 20);
            save("end");
            end("completed", 0);
        } else if (verb == "save") {
            save("asked");
        } else if (verb == "savebest") {
            m_best = true;
            save("best");
            m_best = false;
        } else if (verb == "partial") {
            static_cast<void>(FileSystem::real().makeFolder(m_run.checkpoints() / ("." + name())));
        } else if (verb == "metric") {
            words >> m_metric;
        } else if (verb == "best") {
            words >> text;
            event("best", "", {{"metric", "eval/accuracy"}, {"value", text}, {"step", m_counters.globalStep.value()}, {"higher_is_better", true}});
        } else if (verb == "end") {
            std::getline(words >> std::ws, text, ',');
            words >> number;
            end(text, number);
        } else if (verb == "exit") {
            words >> number;
            std::_Exit(number);
        } else if (verb == "signal") {
            words >> number;
            crash(number);
        } else if (verb == "say") {
            std::getline(words >> std::ws, text);
            std::fprintf(stderr, "%s\n", text.c_str());
        } else if (verb == "warn") {
            std::getline(words >> std::ws, text);
            event("warning", text, json::object());
        } else if (verb == "flood") {
            const std::string line(1023, 'x');
            for (words >> number, number *= 1024; number > 0; --number) std::fprintf(stderr, "%s\n", line.c_str());
            pauseFor(1500);
        } else if (verb == "deaf") {
            for (const int each : {SIGTERM, SIGINT, SIGHUP}) std::signal(each, SIG_IGN);
            while (true) pauseFor(50);
        } else if (verb == "hold") {
            words >> text;
            while (!stdfs::exists(text)) pauseFor(5);
        } else if (verb == "saving") {
            for (words >> text; !stdfs::exists(text); ::poll(nullptr, 0, 5)) beat(live::Phase::Saving);
        } else if (verb == "rank") {
            words >> number >> text;
            if (number == m_rank) perform(text, words);
        }
    }

    static void crash(int number) {
        const rlimit none{0, 0};
        ::setrlimit(RLIMIT_CORE, &none);
        std::signal(number, SIG_DFL);  // a sanitizer catches some of them
        ::raise(number);
    }

    /// Until the supervisor is gone, at most so long; not without any rest where it is gone already.
    static void pauseFor(int milliseconds) {
        pollfd lifeline{4, POLLIN, 0};
        if (::poll(&lifeline, 1, milliseconds) > 0) ::poll(nullptr, 0, 1);
    }
    std::string name() const { return rundir::checkpointName(m_session, m_counters.globalStep); }

    void write(live::FrameType type) {
        if (!(*m_segment)->write(m_rank, type, m_payload)) std::_Exit(98);
    }

    void event(const std::string& kind, const std::string& text, const json& facts) {
        live::EventFrame frame{m_session, m_counters.updateAttempts.value(), m_counters.globalStep.value(), Clock::system().wallNs(), kind, text, facts.dump()};
        live::encode(frame, m_payload);
        write(live::FrameType::Event);
    }

    void beat(live::Phase phase) {
        live::Heartbeat beat;
        beat.phase = phase;
        beat.attempt = m_counters.updateAttempts.value();
        beat.step = m_counters.globalStep.value();
        beat.monotonicNs = Clock::system().monotonicNs();
        beat.durableCheckpoints = m_durable;
        beat.spilledFrames = m_spiller->spilledFrames();
        beat.lostFrames = m_spiller->lostFrames();
        beat.pid = ::getpid();
        (*m_segment)->beat(m_rank, beat);
    }

    void update() {
        m_counters.microStep = m_counters.microStep.next();
        m_counters.updateAttempts = m_counters.updateAttempts.next();
        m_counters.globalStep = m_counters.globalStep.next();
        live::PointsFrame frame;
        frame.session = m_session;
        frame.attempt = m_counters.updateAttempts.value();
        frame.step = m_counters.globalStep.value();
        frame.activeNs = frame.attempt * 1'000'000;
        frame.wallNs = Clock::system().wallNs();
        frame.items = {{0, 1.0 / static_cast<double>(frame.step)}, {1, 3e-4}};
        live::encode(frame, m_payload);
        write(live::FrameType::Points);
        beat(live::Phase::Training);
    }

    bool supervisorGone() const {
        pollfd lifeline{4, POLLIN, 0};
        return ::poll(&lifeline, 1, 0) > 0;
    }

    void train(std::int64_t upTo = INT64_MAX, std::int64_t saveEvery = INT64_MAX) {
        while (m_counters.globalStep.value() < upTo) {
            const live::Control control = (*m_segment)->control();
            if (g_signals > 1) std::_Exit(5);
            if (supervisorGone()) {
                save("stop");
                end("interrupted", 5);
            }
            if (control.stop == live::Control::Stop::Discard) end("stopped", 4);
            if (control.stop == live::Control::Stop::SaveAndStop || g_signals > 0) {
                if (m_saved != name()) save("stop");
                end("stopped", 4);
            }
            if (control.saveRequests > m_savesDone) {
                ++m_savesDone;
                save("asked");
            }
            if (control.pause) beat(live::Phase::Paused);
            else update();
            if (!control.pause && m_counters.globalStep.value() % saveEvery == 0) save("interval");
            pauseFor(1);
        }
    }

    void save(const std::string& reason) {
        if (m_saved == name()) return;
        FileSystem& fs = FileSystem::real();
        const stdfs::path hidden = m_run.checkpoints() / ("." + name());
        std::vector<std::pair<std::string, rundir::TensorRange>> tensors = {{"weight", {"F32", {2}, 0, 0}}};
        std::string model = rundir::makeSafetensorsHeader(tensors, {});
        model.resize(tensors.front().second.end, static_cast<char>(m_counters.globalStep.value()));
        std::vector<std::pair<std::string, rundir::TensorRange>> states = {{"weight/exp_avg", {"F32", {2}, 0, 0}}};
        std::string optimizer = rundir::makeSafetensorsHeader(states, {});
        optimizer.resize(states.front().second.end, static_cast<char>(m_counters.globalStep.value()));
        rundir::CheckpointManifest manifest;
        if (const auto made = rundir::readManifest(m_run)) manifest.runId = made->id;
        manifest.session = m_session;
        manifest.counters = m_counters;
        manifest.wallNs = Clock::system().wallNs();
        manifest.lastFrame[m_rank] = (*m_segment)->lastSequence(m_rank);
        if (!m_metric.empty()) manifest.metrics["eval/accuracy"] = m_metric;
        manifest.best = m_best;
        manifest.files = {{"model-00000.safetensors", model.size(), hashHex(std::as_bytes(std::span(model)))},
                          {"optimizer-00000.safetensors", optimizer.size(), hashHex(std::as_bytes(std::span(optimizer)))}};
        manifest.tensors = {{"weight", "parameter", "F32", {2}, {{"model-00000.safetensors", "weight", {0}, {2}}}},
                            {"weight/exp_avg", "optimizer", "F32", {2}, {{"optimizer-00000.safetensors", "weight/exp_avg", {0}, {2}}}}};
        if (!fs.makeFolder(hidden) || !replaceFile(fs, hidden / "model-00000.safetensors", model)
            || !replaceFile(fs, hidden / "optimizer-00000.safetensors", optimizer)
            || !replaceFile(fs, hidden / "manifest.json", rundir::manifestJson(manifest))) {
            return event("save_failed", "The disk refused", {});
        }
        ++m_durable;
        while (!supervisorGone() && (*m_segment)->recordedSequence(m_rank) < manifest.lastFrame[m_rank]) {
            beat(live::Phase::Saving);
            pauseFor(1);
        }
        if (supervisorGone()) static_cast<void>(m_spiller->flushAll());
        if (!fs.rename(hidden, m_run.checkpoints() / name())) std::_Exit(97);
        m_saved = name();
        event("checkpoint", "Saved " + m_saved, {{"folder", m_saved}, {"bytes", model.size()}, {"reason", reason}, {"metrics", manifest.metrics},
                                                  {"best", m_best}, {"counters", rundir::countersJson(m_counters)}});
    }

    [[noreturn]] void end(const std::string& state, int code) {
        beat(live::Phase::Finishing);
        event("ended", "", {{"state", state}, {"why", "the script says so"}, {"counters", rundir::countersJson(m_counters)}, {"checkpoint", m_saved}});
        if (supervisorGone()) static_cast<void>(m_spiller->flushAll());
        m_spiller.reset();
        std::_Exit(code);
    }

    rundir::RunFolder m_run;
    int m_session, m_rank;
    Result<rundir::RunLock> m_workers;
    Result<std::unique_ptr<live::Segment>> m_segment;
    std::unique_ptr<live::Spiller> m_spiller;
    std::vector<std::byte> m_payload;
    std::uint16_t m_nextId = 0;
    Counters m_counters;
    std::int64_t m_durable = 0;
    std::string m_metric, m_saved;
    std::int64_t m_savesDone = 0;   // of those that were asked for, since the session began
    bool m_best = false;
};

int main(int argc, char** argv) {
    std::map<std::string, std::string> options;
    for (int i = 2; i + 1 < argc; i += 2) options[argv[i]] = argv[i + 1];
    const std::string verb = argc > 1 ? argv[1] : "";
    if (verb == "selftest") return std::puts(R"({"ok": true, "libtorch": "none"})") < 0;
    if (verb == "describe") return std::puts(R"({"parameters": 100, "bytes": {"weights": 400, "training": 1600}})") < 0;
    if (verb == "eval") return std::puts(R"({"metrics": {"eval/loss": "0.5"}})") < 0;
    for (const int number : {SIGTERM, SIGINT, SIGHUP}) std::signal(number, [](int) { ++g_signals; });
    const char* script = std::getenv("LATHE_FAKE_SCRIPT");
    FakeWorker worker(options["--run"], std::atoi(options["--session"].c_str()), std::atoi(options["--rank"].c_str()), std::atoi(options["--segment-fd"].c_str()));
    worker.play(script != nullptr ? script : "train");
    return 0;
}
