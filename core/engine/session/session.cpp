#include "engine/session/session.h"

#include "base/log.h"
#include "config/config.h"
#include "engine/checkpoint/checkpoint_reader.h"
#include "engine/checkpoint/checkpoint_writer.h"
#include "engine/session/resume.h"
#include "engine/session/setup.h"
#include "engine/session/steering.h"
#include "engine/session/telemetry.h"
#include "engine/train/guard.h"
#include "live/spill.h"
#include "rundir/json_reader.h"

#include <nlohmann/json.hpp>

#include <chrono>
#include <thread>

namespace lathe::engine {
namespace {

using nlohmann::json;

/// Frames that a stopped recorder does not take are spilled after so long, and the checkpoint is published.
constexpr auto kRecorderPatience = std::chrono::seconds(2);

Ending endingOf(const Error& error) {
    const std::string text = error.text();
    const bool namesKey = error.key.empty() || text.find(error.key) != std::string::npos;
    Ending ending{rundir::State::Failed, namesKey ? text : text + " (" + error.key + ")", false};
    if (error.code == ErrorCode::OutOfMemory) ending.state = rundir::State::OutOfMemory;
    if (error.code == ErrorCode::Stopped) ending = {rundir::State::Stopped, "Stopped, as asked, before the first update", false};
    return ending;
}

class Session {
public:
    Session(const SessionArguments& arguments, std::unique_ptr<live::Segment> segment)
        : m_run(rundir::RunFolder(arguments.run).held()), m_number(arguments.session), m_segment(std::move(segment)), m_pulse(*m_segment, arguments.rank, arguments.lifelineFd),
          m_frames(*m_segment, arguments.rank, arguments.session), m_spiller(*m_segment, arguments.rank, m_run.spill(), arguments.session),
          m_steering(*m_segment, m_pulse, m_frames) {}

    ExitCode run() {
        auto ending = guarded("running the session", [&] { return train(); });
        const Ending end = ending.ok() ? *ending : endingOf(ending.error());
        const Counters counters = m_stateIsThere ? m_setup->progress.counters : m_begin;
        m_pulse.phase(live::Phase::Ended);
        m_frames.event("ended", end.why, {{"state", rundir::name(end.state)}, {"why", end.why}, {"counters", rundir::countersJson(counters)},
                                          {"checkpoint", m_newestCheckpoint}}, counters);
        if (m_pulse.supervisorLost()) {
            if (const auto flushed = m_spiller.flushAll(); !flushed.ok()) log::error(flushed.error().text());
        }
        m_pulse.spill(m_spiller.spilledFrames(), m_spiller.lostFrames());
        m_pulse.beat();
        log::info(end.why);
        return exitCodeOf(end.state);
    }

private:
    Result<Ending> train() {
        LATHE_TRY_ASSIGN(m_record, rundir::readSession(m_run, m_number));
        if (!m_record.checkpoint.empty() && !m_record.weightsOnly) {
            if (const auto begin = rundir::readCheckpoint(m_run.checkpoints() / m_record.checkpoint); begin.ok()) m_begin = begin->counters;
        }
        LATHE_TRY_ASSIGN(const rundir::RunManifest manifest, rundir::readManifest(m_run));
        LATHE_TRY_ASSIGN(const config::RunConfig config, config::loadUsable(m_run.sessionYaml(m_number).string()));
        LATHE_TRY_ASSIGN(m_setup, Setup::build(config, [this](live::Phase phase, std::int64_t done, std::int64_t total) {
            m_pulse.phase(phase, done, total);
            return !m_steering.stopAsked();
        }));
        m_trainerRecord = {.state = {}, .probe = {}, .environment = m_setup->environment(), .configYaml = config::toYaml(config),
                           .dataFingerprint = m_setup->dataFingerprint};
        m_frames.event("environment", "", json(m_trainerRecord.environment), {});
        if (!m_record.checkpoint.empty()) LATHE_TRY(guarded("loading the checkpoint", [&] { return loadState(); }));
        m_stateIsThere = true;
        announcePlan();
        return runLoop(manifest.id, config::configHash(config));
    }

    Result<void> loadState() {
        m_pulse.phase(live::Phase::LoadingCheckpoint);
        const auto folder = m_run.checkpoints() / m_record.checkpoint;
        const auto report = [this](std::uint64_t done, std::uint64_t total) {
            m_pulse.phase(live::Phase::LoadingCheckpoint, static_cast<std::int64_t>(done), static_cast<std::int64_t>(total));
        };
        if (m_record.weightsOnly) {
            LATHE_TRY(loadCheckpointWeights(folder, m_setup->modelState->stateTensors(), report));
            return {};
        }
        LATHE_TRY_ASSIGN(const LoadedCheckpoint checkpoint, loadCheckpoint(folder, m_setup->state, report));
        if (checkpoint.record.dataFingerprint != m_setup->dataFingerprint)
            return Error{ErrorCode::Data, "The training data are not those of checkpoint " + m_record.checkpoint +
                         " (names, sizes or labels differ). Start from its weights to train on other data", "data.train", {}};
        m_newestCheckpoint = m_record.checkpoint;
        Counters& place = m_setup->progress.counters;
        if (place.planEntry.value() >= m_setup->trainLoader->shape().samplesPerEpoch()) {  // a shorter epoch since: the next one begins
            place.epoch = place.epoch.next();
            place.planEntry = PlanEntry(0);
        }
        LATHE_TRY_ASSIGN(const ConfigChanges changes, configChanges(checkpoint.record.configYaml, m_setup->config));
        std::vector<std::string> reasons = environmentDifferences(checkpoint.record.environment, m_trainerRecord.environment);
        reasons.insert(reasons.end(), changes.numeric.begin(), changes.numeric.end());
        const Counters& counters = m_setup->progress.counters;
        for (const std::string& change : changes.sentences) m_frames.event("warning", "Changed since the checkpoint: " + change, {}, counters);
        const auto curveChanges = m_setup->curve->reconcile(m_setup->config, m_setup->plannedUpdates, counters.globalStep, m_record.newCurve);
        if (m_record.newCurve && !curveChanges.empty()) reasons.push_back("a new learning-rate curve");
        for (const std::string& change : curveChanges) m_frames.event("warning", change, {}, counters);
        if (m_setup->best->dropForeign()) m_frames.event("warning", "The best value begins anew: another metric was chosen", {}, counters);
        if (m_setup->best->value()) tellBest(m_frames, *m_setup->best, counters);
        m_resumeReport = std::make_unique<ResumeReport>(m_frames, checkpoint.record.probe, std::move(reasons));
        m_pulse.counters(counters);
        return {};
    }

    void announcePlan() {
        const dataset::Info& info = m_setup->data.train.dataset->info();
        const plan::OrderShape& shape = m_setup->trainLoader->shape();
        json facts = {{"planned_updates", nullptr}, {"updates_per_epoch", shape.updatesPerEpoch()}, {"train_samples", shape.samples},
                      {"eval_samples", m_setup->data.eval.ids.size()}, {"parameters", m_setup->table->totalElements()}, {"classes", info.classNames}, {"input", inputFacts()}};
        if (m_setup->plannedUpdates) facts["planned_updates"] = m_setup->plannedUpdates->value();
        m_frames.event("plan", "", facts, m_setup->progress.counters);
        if (info.unreadableCount > 0) {
            std::string text = std::to_string(info.unreadableCount) + " of the training data could not be read and are left out";
            if (!info.unreadable.empty()) text += ", first " + info.unreadable.front().what + ": " + info.unreadable.front().why;
            m_frames.event("warning", text, {}, m_setup->progress.counters);
            log::warning(text);
        }
    }

    /// What a model sees, for programs that use it elsewhere.
    json inputFacts() const {
        const dataset::Info& info = m_setup->data.train.dataset->info();
        const Standardization* standard = m_setup->data.train.standardization.get();
        return {{"images", info.images}, {"channels", info.channels}, {"height", info.height}, {"width", info.width},
                {"features", info.featureNames}, {"targets", info.targetNames},
                {"mean", standard ? standard->mean : std::vector<double>()}, {"deviation", standard ? standard->deviation : std::vector<double>()}};
    }

    Ending runLoop(const std::string& runId, const std::string& configHash) {
        Setup& setup = *m_setup;
        LoaderWindows windows(*setup.trainLoader);
        std::optional<LoaderEvaluation> evaluation;
        if (setup.evalLoader) evaluation.emplace(*setup.evalLoader);
        const PlannedAccumulation accumulation(setup.trainLoader->shape());
        CheckpointWriter writer(FileSystem::real(), {m_run.checkpoints(), runId, m_number, configHash, setup.parallel->layout(), m_newestCheckpoint},
                                setup.state, m_trainerRecord,
                                {[this] { return std::map<int, std::uint64_t>{{m_frames.ring(), m_frames.lastSequence()}}; },
                                 [this](GlobalStep step) { return waitUntilRecorded(step); }});
        ActiveTime time(Clock::system());
        Telemetry telemetry(m_frames, m_pulse, time, *setup.best, setup.config.telemetry.logEvery);
        TrainerParts parts{.task = setup.task.get(), .phases = {{setup.task->phases().front(), setup.model.get(), setup.storage.get(), setup.optimizer.get()}},
                           .parallel = setup.parallel.get(), .precision = setup.precision.get(), .accumulation = &accumulation, .windows = &windows,
                           .evaluationData = evaluation ? &*evaluation : nullptr, .best = &*setup.best, .progress = &setup.progress, .saver = &writer,
                           .time = &time, .hooks = {&telemetry}};
        if (m_resumeReport) parts.hooks.push_back(m_resumeReport.get());
        parts.hooks.push_back(&m_steering);
        Trainer trainer(parts, settings());
        Ending ending = trainer.run();
        m_newestCheckpoint = writer.newest();
        return ending;
    }

    TrainerSettings settings() const {
        const config::RunConfig& config = m_setup->config;
        return {.seed = static_cast<std::uint64_t>(config.run.seed), .epochs = config.run.epochs, .maxUpdates = config.run.maxUpdates,
                .baseRate = m_setup->curve->baseRate(), .schedule = m_setup->curve->schedule(), .maxGradNorm = config.optimizer.maxGradNorm,
                .maxSkippedInARow = config.precision.maxSkippedInARow, .evaluateEvery = plan::evaluationInterval(config.evaluation.every, config.run.epochs, m_setup->plannedUpdates), .saveEvery = config.checkpoint.every,
                .saveBest = config.checkpoint.keepBest > 0};
    }

    Result<void> waitUntilRecorded(GlobalStep step) {
        m_pulse.durableCheckpoint(step);
        const std::uint64_t last = m_frames.lastSequence();
        const auto until = std::chrono::steady_clock::now() + kRecorderPatience;
        while (m_segment->recordedSequence(m_frames.ring()) < last) {
            if (m_pulse.supervisorLost() || std::chrono::steady_clock::now() > until) return m_spiller.flushAll();
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        }
        return {};
    }

    rundir::RunFolder m_run;
    int m_number;
    std::unique_ptr<live::Segment> m_segment;
    Pulse m_pulse;
    FrameWriter m_frames;
    live::Spiller m_spiller;
    Steering m_steering;
    rundir::SessionRecord m_record;
    std::unique_ptr<Setup> m_setup;
    TrainerRecord m_trainerRecord;
    std::unique_ptr<ResumeReport> m_resumeReport;
    std::string m_newestCheckpoint;
    Counters m_begin;              ///< where the session begins, before its state is loaded
    bool m_stateIsThere = false;
};

}  // namespace

ExitCode runSession(const SessionArguments& arguments) {
    Pulse::catchSignals();
    const rundir::RunFolder run(arguments.run);
    const auto lock = rundir::RunLock::acquire(run.workersLock(), true);
    if (!lock.ok()) {
        log::error(lock.error().text());
        return exitCodeOf(lock.error().code);
    }
    auto segment = live::Segment::open(arguments.segmentFd, true);
    if (!segment.ok()) {
        log::error(segment.error().text());
        return ExitCode::Failed;
    }
    return Session(arguments, std::move(segment).value()).run();
}

}  // namespace lathe::engine
