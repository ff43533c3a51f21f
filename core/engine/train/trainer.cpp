#include "engine/train/trainer.h"

#include "base/log.h"
#include "base/number_text.h"
#include "engine/train/guard.h"

#include <c10/core/GradMode.h>

#include <algorithm>
#include <utility>

namespace lathe::engine {

Trainer::Trainer(TrainerParts parts, TrainerSettings settings)
    : m_parts(std::move(parts)), m_settings(std::move(settings)), m_progress(*m_parts.progress),
      m_weighedEpoch(m_progress.counters.epoch), m_evaluateEvery(m_settings.evaluateEvery), m_saveEvery(m_settings.saveEvery), m_normsEvery(m_settings.normsEvery), m_histogramsEvery(m_settings.histogramsEvery) {
    m_hasCheckpoint = m_progress.counters.updateAttempts.value() > 0;  // of which it has its state
    m_evaluateEvery.setEpochsSeen(m_progress.evaluatedEpochs);
    m_saveEvery.setEpochsSeen(m_progress.savedEpochs);
    for (Trigger* looking : {&m_normsEvery, &m_histogramsEvery}) looking->setEpochsSeen(m_progress.counters.epoch.value());
    if (!m_parts.intervals) return;
    const double now = m_parts.time->seconds();
    m_evaluateEvery.restartClock(now - m_parts.intervals->evaluation);
    m_normsEvery.restartClock(now - m_parts.intervals->norms);
    m_histogramsEvery.restartClock(now - m_parts.intervals->histograms);
}

/// Thrown by a rank that failed, from where it failed to the end of its loop: the others are elsewhere, so that whatever it
/// asked them from then on would meet another question of theirs.
struct Trainer::OutOfStep {};

Ending Trainer::run() {
    whileInStep([&] {
        train();
        conclude();
    });
    whileInStep([&] { settleSave(); });
    whileInStep([&] { visit({.point = Point::TrainEnd, .ending = &*m_ending}); });
    return *m_ending;
}

void Trainer::whileInStep(const std::function<void()>& part) {
    try {
        part();
    } catch (const OutOfStep&) {
    }
}

void Trainer::train() {
    Due nothing;
    visit({.point = Point::TrainStart});
    checkTarget();
    agreeOnWishes(nothing);
    if (m_progress.evaluationPending) evaluateAndKeep("");
    if (m_settings.saveAtStart && m_progress.counters.updateAttempts.value() == 0) m_wishes.save = true;
    obey();
    while (!m_ending) {
        const bool applied = update();
        checkTarget();
        const Due due = dueNow(applied);
        if (due.saved) {
            settleSave();
            agreeOnWishes(nothing);
        }
        if (due.evaluation) evaluateAndKeep(due.save ? "interval" : "");
        else if (due.save && !m_ending && !goesBack()) save("interval");
        obey();
    }
}

/// What the intervals ask for after this update, on any rank: their clocks differ.
Trainer::Due Trainer::dueNow(bool applied) {
    const double seconds = m_parts.time->seconds();
    Due due;
    due.save = applied && m_saveEvery.due(m_progress.counters, seconds);
    due.evaluation = applied && m_evaluateEvery.due(m_progress.counters, seconds);
    if (m_parts.parallel->world() > 1) happens("agree");
    due.saved = saveHasEnded();
    agreeOnWishes(due);
    if (due.evaluation) m_evaluateEvery.restartClock(seconds);
    m_progress.savedEpochs = m_saveEvery.epochsSeen();
    m_progress.evaluatedEpochs = m_evaluateEvery.epochsSeen();
    return due;
}

/// The session ends; the supervisor begins the next one at a checkpoint.
void Trainer::goBack() {
    if (!goesBack() || m_ending) return;
    if (m_wishes.stop) return m_wishes.rollBack.reset();
    RollBack wish = *std::exchange(m_wishes.rollBack, std::nullopt);
    if (m_settings.rollBacksDone >= m_settings.maxRollBacks)
        return end(wish.otherwise, wish.why + ". The run has gone back " + std::to_string(m_settings.rollBacksDone) +
                   (m_settings.rollBacksDone == 1 ? " time" : " times") + " already (guard.max_roll_backs): look for the cause, or go on with a lower optimizer.learning_rate", false);
    if (wish.notAfter < GlobalStep(0)) return end(wish.otherwise, wish.why + ". There is nothing before it to go back to: look for the cause in the data, or start with other settings", false);
    end(rundir::State::Stopped, wish.why, false);
    if (m_ending->state == rundir::State::Stopped) m_ending->rollBack = std::move(wish);
}

Result<UpdateResult> Trainer::tryUpdate() {
    return guarded("computing an update", [&]() -> Result<UpdateResult> {
        LATHE_TRY(loadWindow());
        happens("window");
        if (m_parts.parallel->world() > 1) happens("share");
        visit({.point = Point::WindowStart, .batches = &m_batches});
        return attempt(true);
    });
}

bool Trainer::update() {
    const bool shown = std::exchange(m_wishes.log, false);
    auto result = tryUpdate();
    while (!result.ok() && beginAgain(result.error())) result = tryUpdate();
    if (!result.ok()) {
        if (m_allFellShort) endOutOfMemory(result.error());
        else endBy(result.error(), !m_applying);
        return false;
    }
    result->shown = shown;
    m_wishes.skip.reset();
    count(*result);
    happens("log");
    visit({.point = Point::Update, .update = &*result, .batches = &m_batches});
    return result->applied;
}

/// What the guard's finding asks for, beside leaving the update out. All ranks have the same one. A roll-back leads to a
/// step before this one: the same weights would meet the same window, and find the same whatever the rate.
void Trainer::act(const GuardFinding& finding) {
    const std::string sentence = "Update attempt " + std::to_string(m_progress.counters.updateAttempts.value()) + ": " + finding.reason;
    if (finding.action == "pause") {
        m_wishes.hold = true;
        m_wishes.holdWhy = sentence + " (guard)";
    } else if (finding.action == "roll_back") {
        m_wishes.rollBack = RollBack{GlobalStep(m_progress.counters.globalStep.value() - 1), sentence, rundir::State::Diverged};
    } else if (finding.action == "stop" && !m_wishes.stop) {
        m_wishes.stop = Ending{rundir::State::Diverged, sentence + ", so it stops (guard)", true};
    }
}

Result<void> Trainer::loadWindow() {
    if (m_windowLoaded) return {};
    const Counters& at = m_progress.counters;
    turnTo(live::Activity::Reading);
    m_window = plan::limited(plan::windowAt(*m_parts.order, at.epoch, at.planEntry, at.updateAttempts), m_parts.microBatchLimit ? m_parts.microBatchLimit->most : 0);
    m_share = m_parts.parallel->sharing().of(m_window.microBatches.size());
    LATHE_TRY(m_parts.windows->load(m_window, m_share, m_batches));
    m_windowLoaded = true;
    return {};
}

void Trainer::count(const UpdateResult& result) {
    Counters next = m_progress.counters;
    next.microStep += MicroStep(result.microBatches);
    next.updateAttempts = next.updateAttempts.next();
    if (result.applied) next.globalStep = next.globalStep.next();
    else next.skippedUpdates = next.skippedUpdates.next();
    next.samples += SampleCount(result.samples);
    if (m_parts.task->weighsTokens()) next.tokens += TokenCount(static_cast<std::int64_t>(result.weight));
    next.epoch = m_window.nextEpoch;
    next.planEntry = m_window.nextEntry;
    m_progress.counters = next;
    happens("counters");
    if (!result.weightless) m_progress.skippedInARow = result.applied ? 0 : m_progress.skippedInARow + 1;
    if (m_parts.guard && result.applied) m_parts.guard->take(result);
    if (result.finding) act(*result.finding);
    m_windowLoaded = false;
    m_unsaved = true;
    if (result.scale != 1) happens("scale");
    settle(result);
    if (!result.weightless) m_weighedEpoch = next.epoch;
    else if (next.epoch.value() > m_weighedEpoch.value() + 1)
        end(rundir::State::Failed, "No sample of a whole epoch has weight, so there is nothing to learn from. Look at the weights of the data", false);
    if (m_progress.skippedInARow >= m_settings.maxSkippedInARow) {
        const std::string guards = result.finding && !result.notFinite ? " and look at the limits of the guard" : "";
        const std::string advice = m_hasCheckpoint ? ". Go back to a checkpoint and lower optimizer.learning_rate" : ". Run again with a lower optimizer.learning_rate";
        end(rundir::State::Diverged, std::to_string(m_progress.skippedInARow) + " updates in a row were skipped, the last because " + result.reason +
            (result.vetoed ? ". Look at what that hook goes by" : advice + guards), false);
    }
}

/// What strategies remember of an update that is over. One that fails here has half of it: what was saved before counts.
void Trainer::settle(const UpdateResult& result) {
    const auto hopeless = guarded("counting an update", [&]() -> Result<std::string> {
        m_parts.order->accumulation->settle({result.applied, result.loss, result.gradNorm, result.weight});
        return m_parts.precision->settle(result);
    });
    if (!hopeless.ok()) endBy(hopeless.error(), false);
    else if (!hopeless->empty()) end(rundir::State::Diverged, *hopeless, false);
}

void Trainer::checkTarget() {
    constexpr std::int64_t kHopelessRow = 10;   // so many skips on end no scale or spike explains
    const Counters& at = m_progress.counters;
    std::string where = " at update " + std::to_string(at.globalStep.value());
    if (at.skippedUpdates.value() > 0) where += " (" + std::to_string(at.skippedUpdates.value()) + " more were skipped)";
    if (m_settings.maxUpdates && at.globalStep.value() >= *m_settings.maxUpdates)
        end(rundir::State::Completed, "Reached run.max_updates" + where);
    else if (m_settings.epochs && at.epoch.value() >= *m_settings.epochs && at.globalStep.value() == 0 && m_progress.skippedInARow == 0)
        end(rundir::State::Failed, "No sample has weight, so there is nothing to learn from. Look at the weights of the data", false);
    else if (m_settings.epochs && at.epoch.value() >= *m_settings.epochs && at.globalStep.value() == 0)
        end(rundir::State::Diverged, "No update could be applied: each of " + std::to_string(at.updateAttempts.value()) +
            " was skipped, as the events tell. Look for huge values in the data, or lower optimizer.learning_rate", false);
    else if (m_settings.epochs && at.epoch.value() >= *m_settings.epochs && m_progress.skippedInARow >= kHopelessRow)
        end(rundir::State::Diverged, "The last " + std::to_string(m_progress.skippedInARow) + " updates of the run were skipped, as the events tell. Go back to a checkpoint and lower "
            "optimizer.learning_rate", false);
    else if (m_settings.epochs && at.epoch.value() >= *m_settings.epochs)
        end(rundir::State::Completed, "Finished " + std::to_string(at.epoch.value()) + (at.epoch.value() == 1 ? " epoch" : " epochs") + where +
            ", learning rate at " + shortText(m_parts.curve->factorAt(GlobalStep(std::max<std::int64_t>(0, at.globalStep.value() - 1)))) +
            " of its peak");
    else if (m_parts.best->patienceUsedUp())
        end(rundir::State::Completed, m_parts.best->sentence() + " (evaluation.patience)");
}

/// Training stands still for a copy of the state, and for the one before where that is still being written.
void Trainer::save(const std::string& reason) {
    settleSave();
    if (!m_parts.saver || (!m_unsaved && reason != "asked")) return;  // who asks waits for one
    m_agreed = false;
    happens("save");
    const double start = m_parts.time->seconds();
    m_isLooking = true;
    probeNextWindow();
    m_isLooking = false;
    noteIntervals();
    visit({.point = Point::BeforeSave});
    const bool isBest = m_parts.best->value() && m_parts.best->step() == m_progress.counters.globalStep;
    const Metrics& metrics = m_progress.evaluatedStep == m_progress.counters.globalStep ? m_progress.metrics : Metrics();
    if (isSaver()) m_parts.saver->begin({m_progress, metrics, isBest, m_probe, reason});
    m_saving = true;
    m_unsaved = false;
    m_saveEvery.restartClock(m_parts.time->seconds());
    m_stallSeconds = m_parts.time->seconds() - start;
    if (m_parts.parallel->world() == 1 && saveHasEnded()) settleSave();
}

/// Waits for the save that is being written and tells how it went. Between updates, on all ranks; one that left the others
/// knows no more than what it saved itself.
void Trainer::settleSave() {
    if (!std::exchange(m_saving, false) || (m_outOfStep && !isSaver())) return;
    m_agreed = false;
    const double start = m_parts.time->seconds();
    Result<SaveOutcome> saved = SaveOutcome{};
    if (isSaver()) saved = guarded("saving a checkpoint", [&] { return m_parts.saver->finish(); });
    const auto shared = guarded("telling how a save went", [&] { return shareOutcome(saved); });
    if (!shared.ok() && !isSaver()) return endBy(shared.error(), false);
    SaveOutcome outcome;
    if (saved.ok()) outcome = std::move(saved).value();
    else outcome.error = saved.error().text();
    outcome.stallSeconds = m_stallSeconds + m_parts.time->seconds() - start;
    m_saveProblem = outcome.error;
    m_hasCheckpoint = m_hasCheckpoint || outcome.error.empty();
    m_unsaved = m_unsaved || !outcome.error.empty();
    visit({.point = Point::AfterSave, .save = &outcome});
    if (!shared.ok()) endBy(shared.error(), false);
}

/// That of saves begins anew with each checkpoint.
void Trainer::noteIntervals() {
    if (!m_parts.intervals) return;
    const double now = m_parts.time->seconds();
    m_parts.intervals->evaluation = m_evaluateEvery.runningFor(now);
    m_parts.intervals->norms = m_normsEvery.runningFor(now);
    m_parts.intervals->histograms = m_histogramsEvery.runningFor(now);
}

void Trainer::probeNextWindow() {
    if (m_probed == m_progress.counters.updateAttempts) return;  // nothing has changed since
    m_probe = {};
    if (!m_settings.probes) return;
    if (m_ending && m_ending->state != rundir::State::Completed && m_ending->state != rundir::State::Stopped) return;
    auto probe = guarded("looking at the window after a checkpoint", [&]() -> Result<Probe> {
        LATHE_TRY(loadWindow());
        LATHE_TRY_ASSIGN(const UpdateResult result, attempt(false));
        return probeOf(result);
    });
    m_microStep.reset();
    turnTo(live::Activity::None);
    if (probe.ok()) {
        m_probe = *probe;
        m_probed = m_progress.counters.updateAttempts;
    } else if (m_parts.parallel->world() > 1 && !m_allFellShort) {
        endBy(probe.error(), false);  // the others still wait in the middle of it
    }
}

/// Every call to a hook. One that throws is told to all of them, and ends training where it is required; what goes wrong
/// while they are told (not `tells`) is for the log alone.
template <typename Call>
void Trainer::call(Hook& hook, std::string_view where, bool tells, Call&& what) {
    try {
        what();
    } catch (const OutOfStep&) {
        throw;
    } catch (...) {
        const Error error = currentException("running " + std::string(hook.hookName()) + " at " + std::string(where));
        if (!tells) return log::error(error.text());
        if (hook.required()) return endBy(error, !m_applying);
        const std::string text = error.text();
        visit({.point = Point::Exception, .text = text});
    }
}

void Trainer::holdWhilePaused() {
    const at::AutoGradMode grad(true);  // what is saved holds a look at the next window, also in the middle of an evaluation
    const bool isEnding = m_ending.has_value();
    if (m_wishes.pause || m_wishes.hold) settleSave();  // what is paused is also saved
    while ((m_wishes.pause || m_wishes.hold) && !m_wishes.stop && m_ending.has_value() == isEnding) {
        Due nothing;
        m_wishes.pause = false;
        {
            const ActiveTime::Pause paused(*m_parts.time);
            for (Hook* hook : m_parts.hooks) call(*hook, "a pause", true, [&] { hook->waitWhilePaused(m_wishes); });
        }
        m_wishes.hold = false;  // from here on it is a pause that a person ends
        m_wishes.holdWhy.clear();
        agreeOnWishes(nothing);
        if (!m_wishes.save) continue;
        m_wishes.save = false;
        save("asked");
        settleSave();
        agreeOnWishes(nothing);
    }
}

void Trainer::obey() {
    Due nothing;
    if (!m_agreed) agreeOnWishes(nothing);
    goBack();
    if (!m_ending) holdWhilePaused();
    const bool saves = std::exchange(m_wishes.save, false), evaluates = std::exchange(m_wishes.evaluate, false);
    if (evaluates && !m_ending) evaluateAndKeep(saves ? "asked" : "");
    else if (saves && !m_ending) save("asked");
    if (!m_agreed) agreeOnWishes(nothing);
    goBack();  // what was just evaluated may have led to that
    if (!m_ending) holdWhilePaused();
    m_agreed = false;
    if (m_wishes.stop) end(m_wishes.stop->state, m_wishes.stop->why, m_wishes.stop->save);
}

void Trainer::conclude() {
    const bool completed = m_ending->state == rundir::State::Completed;
    if (completed && m_settings.evaluateEvery.unit != Interval::Unit::Never && m_progress.evaluatedStep != m_progress.counters.globalStep) evaluateAndKeep("");
    if (completed && goesBack()) m_ending->why += ". Too late to go back: " + m_wishes.rollBack->why;
    if (completed && m_wishes.hold) m_ending->why += ". Too late for the pause that was asked for";
    if (!m_ending->save || discards()) return;
    save(m_ending->state == rundir::State::Completed ? "end" : "stop");
    settleSave();
    // Whoever reads "completed" or "stopped" relies on the state being there.
    if (m_unsaved && !m_saveProblem.empty())
        m_ending = Ending{rundir::State::Failed, m_ending->why + ". Its state at update " + std::to_string(m_progress.counters.globalStep.value()) +
                          " could not be saved, and it goes on from what was saved before, where that is there: " + m_saveProblem, false};
}

void Trainer::visit(HookContext context) {
    static class : public HookLog {
        void value(std::string_view, double) override {}
        void event(std::string_view, std::string_view, std::string_view) override {}
    } nobody;
    context.counters = &m_progress.counters;
    context.log = m_parts.log ? m_parts.log : &nobody;
    for (Hook* hook : m_parts.hooks) call(*hook, name(context.point), context.point != Point::Exception, [&] { hook->at(context, m_wishes); });
}

static bool isFailure(rundir::State state) {
    return state != rundir::State::Completed && state != rundir::State::Stopped && state != rundir::State::Interrupted;
}

bool Trainer::hasFailed() const { return m_ending && isFailure(m_ending->state); }

void Trainer::end(rundir::State state, std::string why, bool save) {
    if (m_ending && (m_ending->state != rundir::State::Completed || !isFailure(state))) return;
    m_ending = Ending{state, std::move(why), save};
}

/// The first cause stands, and is told. On several ranks this is where a rank that failed leaves its loop.
void Trainer::endBy(const Error& error, bool save) {
    const bool isAlone = m_parts.parallel->world() == 1;
    if (m_outOfStep) throw OutOfStep{};  // on its way out
    if (isAlone && hasFailed()) return;
    rundir::State state = rundir::State::Failed;
    if (error.code == ErrorCode::OutOfMemory) state = rundir::State::OutOfMemory;
    if (error.code == ErrorCode::Stopped) state = rundir::State::Stopped;
    const auto memory = state == rundir::State::OutOfMemory ? std::make_shared<rundir::MemoryRecord>(memoryRecord(error)) : nullptr;
    const std::string text = memory ? rundir::sentenceOf(*memory) : error.text();
    end(state, text, save && isAlone);  // the other ranks are elsewhere
    if (m_ending->state == rundir::State::OutOfMemory && !m_ending->memory) m_ending->memory = memory;
    m_microStep.reset();
    m_outOfStep = !isAlone;
    m_ending->lostContact = m_ending->lostContact || error.code == ErrorCode::LostContact;
    visit({.point = Point::Exception, .text = text});
    if (m_outOfStep) throw OutOfStep{};
}

}  // namespace lathe::engine
