#include "engine/session/session.h"

#include "base/log.h"
#include "config/config.h"
#include "device/devices.h"
#include "engine/checkpoint/checkpoint_reader.h"
#include "engine/checkpoint/checkpoint_writer.h"
#include "engine/session/resume.h"
#include "engine/session/setup.h"
#include "engine/session/stack_writer.h"
#include "engine/session/steering.h"
#include "engine/session/telemetry.h"
#include "engine/train/guard.h"
#include "engine/train/memory_facts.h"
#include "engine/train/replica_check.h"
#include "live/spill.h"
#include "plan/length_doubts.h"
#include "rundir/json_reader.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <limits>
#include <thread>
#include <unistd.h>

namespace lathe::engine {
namespace {

using nlohmann::json;

/// Frames that a stopped recorder does not take are spilled after so long, and the checkpoint is published.
constexpr auto kRecorderPatience = std::chrono::seconds(2);

/// `asked`: what it was asked for when it gave up.
Ending endingOf(const Error& error, const std::optional<Ending>& asked) {
    const std::string text = error.text();
    const bool namesKey = error.key.empty() || text.find(error.key) != std::string::npos;
    Ending ending{rundir::State::Failed, namesKey ? text : text + " (" + error.key + ")", false};
    ending.lostContact = error.code == ErrorCode::LostContact;
    if (error.code == ErrorCode::OutOfMemory) {
        ending.state = rundir::State::OutOfMemory;
        ending.memory = std::make_shared<rundir::MemoryRecord>(rundir::MemoryRecord{.facts = error.memory ? *error.memory : MemoryFacts()});
        ending.why += ". " + rundir::sentenceOf(*ending.memory);
    }
    const bool isLost = asked && asked->state == rundir::State::Interrupted;
    if (error.code == ErrorCode::Stopped && isLost) ending = {rundir::State::Interrupted, asked->why + " before the first update", false};
    else if (error.code == ErrorCode::Stopped) ending = {rundir::State::Stopped, "Stopped, as asked, before the first update", false};
    return ending;
}

/// Of ranks beside the first: that one saves, and the loop tells the others how it went.
class SavedElsewhere final : public Saver {
public:
    void begin(const SaveRequest&) override {}
    bool ended() const override { return false; }
    Result<SaveOutcome> finish() override { return Error{ErrorCode::Internal, "Only the first rank saves", {}, {}}; }
};

/// What a copy of the state for checkpoints may take: an eighth of what is there is left to everything else.
std::uint64_t memoryForCopies() {
    const std::uint64_t available = device::cpu().memoryAvailable;
    return available == 0 ? std::numeric_limits<std::uint64_t>::max() : available - available / 8;
}

class Session {
public:
    Session(const SessionArguments& arguments, std::unique_ptr<live::Segment> segment)
        : m_run(rundir::RunFolder(arguments.run).held()), m_number(arguments.session), m_rank(arguments.rank), m_world(arguments.world), m_segment(std::move(segment)), m_pulse(*m_segment, arguments.rank, arguments.lifelineFd),
          m_frames(*m_segment, arguments.rank, arguments.session), m_spiller(*m_segment, arguments.rank, m_run.spill(), arguments.session),
          m_steering(*m_segment, m_pulse, m_frames, arguments.rank == 0) {}

    ExitCode run() {
        auto ending = guarded("running the session", [&] { return train(); });
        const Ending end = ending.ok() ? *ending : endingOf(withMemory(ending.error()), m_steering.stopAsked());
        const Counters counters = m_stateIsThere ? m_setup->progress.counters : m_begin;
        m_pulse.phase(live::Phase::Ended);
        json facts = {{"state", rundir::name(end.state)}, {"why", end.why}, {"counters", rundir::countersJson(counters)}, {"checkpoint", m_newestCheckpoint}};
        if (end.lostContact) facts["lost_contact"] = true;
        if (end.rollBack) facts.update({{"roll_back_to", end.rollBack->notAfter.value()}, {"otherwise", rundir::name(end.rollBack->otherwise)}});
        if (end.memory) facts["memory"] = rundir::memoryJson(*end.memory);
        m_frames.event("ended", end.why, facts, counters);
        if (m_pulse.supervisorLost()) {
            if (const auto flushed = m_spiller.flushAll(); !flushed.ok()) log::error(flushed.error().text());
        }
        m_pulse.spill(m_spiller.spilledFrames(), m_spiller.lostFrames());
        m_pulse.beat();
        log::info(end.why);
        return exitCodeOf(end.state);
    }

private:
    /// Before training whoever runs out of memory knows no more than that, and what the allocator said.
    Error withMemory(Error error) const {
        if (error.code != ErrorCode::OutOfMemory || error.memory) return error;
        const std::string doing(live::name(m_pulse.currentPhase()));
        const auto said = memoryFacts(doing, error.sentence);
        error.memory = said && !said->device.empty() ? said : mainMemoryFacts(doing);
        return error;
    }

    Result<Ending> train() {
        LATHE_TRY_ASSIGN(m_record, rundir::readSession(m_run, m_number));
        if (!m_record.checkpoint.empty() && !m_record.weightsOnly) {
            if (const auto begin = rundir::readCheckpoint(m_run.checkpoints() / m_record.checkpoint); begin.ok()) m_begin = begin->counters;
        }
        LATHE_TRY_ASSIGN(const rundir::RunManifest manifest, rundir::readManifest(m_run));
        LATHE_TRY_ASSIGN(const config::RunConfig config, config::loadUsable(m_run.sessionYaml(m_number).string()));
        if (m_world != config.parallel.ranks)
            return Error{ErrorCode::Usage, "Started as one of " + std::to_string(m_world) + " ranks, and parallel.ranks says " + std::to_string(config.parallel.ranks), "parallel.ranks", {}};
        RankPlace place{.rank = m_rank, .world = m_world, .rendezvous = m_run.rendezvous(m_number)};
        place.mayWait = [this] { return !m_steering.stopAsked(); };
        place.onOperation = [this](std::int64_t number, live::Activity kind) { m_pulse.operation(number, kind); };
        LATHE_TRY_ASSIGN(m_setup, Setup::build(config, [this](live::Phase phase, std::int64_t done, std::int64_t total) {
            m_pulse.phase(phase, done, total);
            return !m_steering.stopAsked();
        }, place));
        m_trainerRecord = {.state = {}, .probe = {}, .environment = m_setup->environment(), .configYaml = config::toYaml(config),
                           .dataFingerprint = m_setup->dataFingerprint};
        tell("environment", "", json(m_trainerRecord.environment), {});
        if (!m_record.checkpoint.empty()) LATHE_TRY(guarded("loading the checkpoint", [&] { return loadState(); }));
        LATHE_TRY(guarded("bringing the ranks to one state", [&] { return becomeEqual(); }));
        m_stateIsThere = true;
        announcePlan();
        return runLoop(manifest.id, config::configHash(config));
    }

    /// The first rank speaks for all.
    void tell(const std::string& kind, const std::string& text, const json& facts, const Counters& counters) {
        if (m_rank == 0) m_frames.event(kind, text, facts, counters);
    }

    /// Whatever the ranks read or drew, they begin with what the first one has.
    Result<void> becomeEqual() {
        if (m_world == 1) return {};
        std::vector<at::Tensor> tensors;
        for (const StateTensor& item : m_setup->state.tensors()) tensors.push_back(item.tensor);
        m_setup->parallel->broadcast(tensors);
        return compareReplicas(*m_setup->parallel, m_setup->state);
    }

    Result<void> loadState() {
        m_pulse.phase(live::Phase::LoadingCheckpoint);
        const auto folder = m_run.checkpoints() / m_record.checkpoint;
        const auto report = [this](std::uint64_t done, std::uint64_t total) {
            m_pulse.phase(live::Phase::LoadingCheckpoint, static_cast<std::int64_t>(done), static_cast<std::int64_t>(total));
        };
        if (m_record.weightsOnly) {
            LATHE_TRY(loadCheckpointWeights(folder, m_setup->modelState->stateTensors(), report));
            if (m_setup->average) m_setup->average->restart();
            return {};
        }
        LATHE_TRY_ASSIGN(const LoadedCheckpoint checkpoint, loadCheckpoint(folder, m_setup->state, report));
        LATHE_TRY_ASSIGN(Reconciliation told, reconcile(*m_setup, checkpoint.record, m_trainerRecord.environment, m_record.checkpoint, m_record.newCurve));
        m_newestCheckpoint = m_record.checkpoint;
        const Counters& counters = m_setup->progress.counters;
        if (m_record.replay && !evaluationsDecideRates(m_setup->config)) m_setup->progress.evaluationPending = false;
        for (const auto* sentences : {&told.settings, &told.curve, &told.others})
            for (const std::string& sentence : *sentences)
                if (!m_record.replay) tell("warning", sentence, {}, counters);  // what a replay changes is nobody's wish
        if (m_rank == 0 && m_setup->best->value()) tellBest(m_frames, *m_setup->best, counters);
        if (m_rank == 0)
            m_resumeReport = std::make_unique<ResumeReport>(m_frames, expectedUpdates(m_record.expected, checkpoint.record.probe, counters.updateAttempts.value() + 1),
                                                            std::move(told.reasons), m_record.replay);
        m_pulse.counters(counters);
        return {};
    }

    void announcePlan() {
        const dataset::Info& info = m_setup->data.train.dataset->info();
        const plan::OrderShape& shape = m_setup->order;
        json facts = {{"planned_updates", nullptr}, {"updates_per_epoch", shape.updatesPerEpoch().value_or(0)}, {"train_samples", shape.samples},
                      {"eval_samples", m_setup->data.eval.ids.size()}, {"parameters", m_setup->table->totalElements()}, {"classes", info.classNames}, {"input", inputFacts()}};
        if (const std::int64_t most = m_setup->microBatchLimit.most; most > 0) {
            const std::string text = "Memory ran out before this checkpoint: " + (most == 1 ? std::string("one sample is") : "at most " + std::to_string(most) + " samples are") + " computed at a time";
            tell("micro_batch_limit", text, {{"most_samples", most}}, m_setup->progress.counters);
            log::info(text);
        }
        if (m_setup->plannedUpdates) facts["planned_updates"] = m_setup->plannedUpdates->value();
        facts["precision"] = m_setup->precision->name();
        if (const std::string& why = m_setup->precision->why(); !why.empty()) {
            facts["precision_why"] = why;
            log::info("precision.mode auto is " + m_setup->precision->name() + ": " + why);
        }
        facts["groups"] = groupsJson(m_setup->table->groups());
        for (const plan::ParamGroup& group : m_setup->table->groups()) log::info("parameters: " + group.name + ", " + plan::groupText(group));
        tell("plan", "", facts, m_setup->progress.counters);
        const bool keepsCurve = !m_record.checkpoint.empty() && !m_record.weightsOnly;   // which is told of where it goes on
        for (const plan::LengthDoubt& doubt : keepsCurve ? std::vector<plan::LengthDoubt>() : plan::lengthDoubts(m_setup->config, m_setup->plannedUpdates))
            tell("warning", doubt.sentence, {}, m_setup->progress.counters);
        for (const dataset::Doubt& doubt : info.doubts()) tell("warning", doubt.sentence, {}, m_setup->progress.counters);
        if (info.unreadableCount > 0) {
            std::string text = std::to_string(info.unreadableCount) + " of the training data could not be read and are left out";
            if (!info.unreadable.empty()) text += ", first " + info.unreadable.front().what + ": " + info.unreadable.front().why;
            tell("warning", text, {}, m_setup->progress.counters);
            log::warning(text);
        }
    }

    /// What a model sees, for programs that use it elsewhere.
    json inputFacts() const {
        const dataset::Info& info = m_setup->data.train.dataset->info();
        const Standardization* standard = m_setup->data.train.standardization.get();
        return {{"images", info.images}, {"channels", info.channels}, {"height", info.height}, {"width", info.width},
                {"context", info.context}, {"features", info.featureNames}, {"targets", info.targetNames},
                {"mean", standard ? standard->mean : std::vector<double>()}, {"deviation", standard ? standard->deviation : std::vector<double>()}};
    }

    Ending runLoop(const std::string& runId, const std::string& configHash) {
        Setup& setup = *m_setup;
        std::optional<CheckpointWriter> writer;
        SavedElsewhere elsewhere;
        if (m_rank == 0)
            writer.emplace(FileSystem::real(), CheckpointPlace{m_run.checkpoints(), runId, m_number, configHash, setup.parallel->layout(), m_record.checkpoint},
                           setup.state, m_trainerRecord,
                           RecordingHooks{.lastFrames = [this] { return lastFrames(); },
                                          .beforePublish = [this](const LastFrames& last) { return waitUntilRecorded(last); },
                                          .whileWaiting = [this] { m_pulse.phase(live::Phase::Saving); }}, memoryForCopies());
        if (writer && !writer->waitsBecause().empty()) tell("warning", writer->waitsBecause(), {}, setup.progress.counters);
        TrainerParts parts = setup.parts();
        Telemetry telemetry(m_frames, m_pulse, *parts.time, *setup.best, setup.config.telemetry.logEvery, m_rank == 0, setup.table->groups());
        ReplicaCheck replicas(*setup.parallel, setup.state, setup.config.parallel.checkReplicas);
        DigestKeeper digests(m_frames);
        parts.saver = writer ? static_cast<Saver*>(&*writer) : &elsewhere;
        parts.log = &telemetry;
        parts.onActivity = [this](live::Activity activity) { m_pulse.turnTo(activity); };
        std::vector<Hook*> hooks{&telemetry};
        if (m_world > 1) hooks.push_back(&replicas);
        if (m_resumeReport) hooks.push_back(m_resumeReport.get());
        if (m_rank == 0 && isExact()) hooks.push_back(&digests);
        hooks.insert(hooks.end(), parts.hooks.begin(), parts.hooks.end());
        hooks.push_back(&m_steering);
        parts.hooks = std::move(hooks);
        Trainer trainer(parts, settings());
        Ending ending = trainer.run();
        if (writer && !writer->newest().empty()) m_newestCheckpoint = writer->newest();
        return ending;
    }

    bool isExact() const { return m_setup->config.parallel.determinism == "exact"; }

    TrainerSettings settings() const {
        TrainerSettings settings = m_setup->settings();
        settings.rollBacksDone = m_record.rollBacks;
        if (const std::int64_t updates = m_record.trialUpdates; updates > 0) {
            settings.epochs.reset();   // its plan and rates are those of the whole run
            settings.maxUpdates = updates;
            settings.evaluateEvery = settings.saveEvery = Interval{Interval::Unit::Updates, updates};
        }
        if (!m_record.replay) return settings;
        settings.epochs = settings.maxUpdates = std::nullopt;   // it ends by the updates that it compares
        settings.saveEvery = Interval{Interval::Unit::Never};
        settings.saveBest = settings.saveAtStart = false;
        if (!evaluationsDecideRates(m_setup->config)) settings.evaluateEvery = Interval{Interval::Unit::Never};
        return settings;
    }

    /// Of each rank; all of them are between updates.
    using LastFrames = std::map<int, std::uint64_t>;
    LastFrames lastFrames() const {
        LastFrames last;
        for (int rank = 0; rank < m_world; ++rank) last[rank] = m_segment->lastSequence(rank);
        return last;
    }

    /// On the writing thread.
    Result<void> waitUntilRecorded(const LastFrames& last) {
        m_pulse.checkpointIsDurable();
        const auto isRecorded = [&] {
            return std::all_of(last.begin(), last.end(), [&](const auto& ring) { return m_segment->recordedSequence(ring.first) >= ring.second; });
        };
        const auto until = std::chrono::steady_clock::now() + kRecorderPatience;
        while (!isRecorded()) {
            if (m_pulse.supervisorLost() || std::chrono::steady_clock::now() > until) return m_spiller.flushAll();
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        }
        return {};
    }

    rundir::RunFolder m_run;
    int m_number, m_rank, m_world;
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
    writeStackWhenAsked();
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
    const auto session = std::make_unique<Session>(arguments, std::move(segment).value());
    const ExitCode code = session->run();
    // A group that was broken, or is in the middle of something, may wait for the others when it is taken down.
    if (arguments.world > 1 && code != ExitCode::Completed && code != ExitCode::Stopped) {
        std::fflush(nullptr);
        ::_exit(static_cast<int>(code));
    }
    return code;
}

}  // namespace lathe::engine
