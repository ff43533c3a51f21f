#include "engine/train/trainer.h"

#include "base/number_text.h"
#include "engine/train/guard.h"

#include <algorithm>

namespace lathe::engine {

Trainer::Trainer(TrainerParts parts, TrainerSettings settings)
    : m_parts(std::move(parts)), m_settings(std::move(settings)), m_progress(*m_parts.progress),
      m_evaluateEvery(m_settings.evaluateEvery), m_saveEvery(m_settings.saveEvery) {
    m_evaluateEvery.setEpochsSeen(m_progress.evaluatedEpochs);
    m_saveEvery.setEpochsSeen(m_progress.savedEpochs);
}

Ending Trainer::run() {
    visit({.point = Point::TrainStart});
    checkTarget();
    if (m_progress.evaluationPending) evaluate();
    obey();
    while (!m_ending) {
        const bool applied = update();
        checkTarget();
        const double seconds = m_parts.time->seconds();
        const bool saveDue = applied && m_saveEvery.due(m_progress.counters, seconds);
        const bool evaluationDue = applied && m_evaluateEvery.due(m_progress.counters, seconds);
        m_progress.savedEpochs = m_saveEvery.epochsSeen();
        m_progress.evaluatedEpochs = m_evaluateEvery.epochsSeen();
        if (evaluationDue) evaluate();
        if (!m_ending && (saveDue || (m_newBest && m_settings.saveBest))) save(saveDue ? "interval" : "best");
        obey();
    }
    conclude();
    visit({.point = Point::TrainEnd, .ending = &*m_ending});
    return *m_ending;
}

bool Trainer::update() {
    const auto result = guarded("computing an update", [&]() -> Result<UpdateResult> {
        LATHE_TRY(loadWindow());
        visit({.point = Point::WindowStart, .batches = &m_batches});
        return attempt(true);
    });
    if (!result.ok()) {
        endBy(result.error(), !m_applying);
        return false;
    }
    count(*result);
    visit({.point = Point::Update, .update = &*result, .batches = &m_batches});
    return result->applied;
}

Result<void> Trainer::loadWindow() {
    if (m_windowLoaded) return {};
    m_window = m_parts.accumulation->windowAt(m_progress.counters.epoch, m_progress.counters.planEntry);
    LATHE_TRY(m_parts.windows->load(m_window, m_batches));
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
    next.epoch = m_window.nextEpoch;
    next.planEntry = m_window.nextEntry;
    m_progress.counters = next;
    m_progress.skippedInARow = result.applied ? 0 : m_progress.skippedInARow + 1;
    m_windowLoaded = false;
    m_unsaved = true;
    if (m_progress.skippedInARow >= m_settings.maxSkippedInARow)
        end(rundir::State::Diverged, std::to_string(m_progress.skippedInARow) + " updates in a row were skipped, the last because " +
            result.reason + ". Go back to a checkpoint and lower optimizer.learning_rate", false);
}

void Trainer::checkTarget() {
    const Counters& at = m_progress.counters;
    std::string where = " at update " + std::to_string(at.globalStep.value());
    if (at.skippedUpdates.value() > 0) where += " (" + std::to_string(at.skippedUpdates.value()) + " more were skipped)";
    if (m_settings.maxUpdates && at.globalStep.value() >= *m_settings.maxUpdates)
        end(rundir::State::Completed, "Reached run.max_updates" + where);
    else if (m_settings.epochs && at.epoch.value() >= *m_settings.epochs && at.globalStep.value() == 0)
        end(rundir::State::Diverged, "No update could be applied: each of " + std::to_string(at.updateAttempts.value()) +
            " was skipped, as the events tell. Look for huge values in the data, or lower optimizer.learning_rate", false);
    else if (m_settings.epochs && at.epoch.value() >= *m_settings.epochs)
        end(rundir::State::Completed, "Finished " + std::to_string(at.epoch.value()) + (at.epoch.value() == 1 ? " epoch" : " epochs") + where +
            ", learning rate at " + shortText(plan::factorAt(m_settings.schedule, GlobalStep(std::max<std::int64_t>(0, at.globalStep.value() - 1)))) +
            " of its peak");
    else if (m_parts.best->patienceUsedUp())
        end(rundir::State::Completed, m_parts.best->sentence() + " (evaluation.patience)");
}

void Trainer::save(const std::string& reason) {
    if (!m_parts.saver || !m_unsaved) return;
    probeNextWindow();
    visit({.point = Point::BeforeSave});
    SaveOutcome outcome;
    const bool isBest = m_parts.best->value() && m_parts.best->step() == m_progress.counters.globalStep;
    const Metrics& metrics = m_progress.evaluatedStep == m_progress.counters.globalStep ? m_metrics : Metrics();
    auto saved = guarded("saving a checkpoint", [&] { return m_parts.saver->save({m_progress, metrics, isBest, m_probe, reason}); });
    if (saved.ok()) {
        outcome = std::move(saved).value();
        m_unsaved = m_newBest = false;
        m_saveProblem.clear();
    } else {
        outcome.error = m_saveProblem = saved.error().text();
        m_newBest = false;
    }
    m_saveEvery.restartClock(m_parts.time->seconds());
    visit({.point = Point::AfterSave, .save = &outcome});
}

void Trainer::probeNextWindow() {
    m_probe = {};
    if (m_ending && m_ending->state != rundir::State::Completed && m_ending->state != rundir::State::Stopped) return;
    auto probe = guarded("looking at the window after a checkpoint", [&]() -> Result<Probe> {
        LATHE_TRY(loadWindow());
        return probeOf(m_batches, attempt(false));
    });
    if (probe.ok()) m_probe = *probe;
}

void Trainer::obey() {
    while (m_wishes.pause && !m_wishes.stop && !m_ending) {
        m_wishes.pause = false;
        m_parts.time->pause();
        for (Hook* hook : m_parts.hooks) hook->waitWhilePaused(m_wishes);
        m_parts.time->unpause();
        if (m_wishes.save) save("asked");
        m_wishes.save = false;
    }
    if (m_wishes.evaluate && !m_ending) evaluate();
    if (m_wishes.save && !m_ending) save("asked");
    m_wishes.evaluate = m_wishes.save = false;
    if (m_wishes.stop) end(m_wishes.stop->state, m_wishes.stop->why, m_wishes.stop->save);
}

void Trainer::conclude() {
    const bool completed = m_ending->state == rundir::State::Completed;
    if (completed && m_settings.evaluateEvery.unit != Interval::Unit::Never && m_progress.evaluatedStep != m_progress.counters.globalStep) evaluate();
    if (m_ending->save && !(m_wishes.stop && !m_wishes.stop->save)) save(m_ending->state == rundir::State::Completed ? "end" : "stop");
    else return;
    // Whoever reads "completed" or "stopped" relies on the state being there.
    if (m_unsaved && !m_saveProblem.empty())
        m_ending = Ending{rundir::State::Failed, m_ending->why + ". Its state at update " + std::to_string(m_progress.counters.globalStep.value()) +
                          " could not be saved, so it goes on from the checkpoint before: " + m_saveProblem, false};
}

void Trainer::visit(HookContext context) {
    context.counters = &m_progress.counters;
    for (Hook* hook : m_parts.hooks) {
        try {
            hook->at(context, m_wishes);
        } catch (...) {
            const std::string where = std::string(hook->hookName()) + " at " + std::string(name(context.point));
            const Error error = currentException("running " + where);
            if (hook->required()) endBy(error, !m_applying);
            if (context.point == Point::Exception) continue;
            HookContext report{.point = Point::Exception};
            const std::string text = error.text();
            report.text = text;
            visit(report);
        }
    }
}

void Trainer::end(rundir::State state, std::string why, bool save) {
    const bool isFailure = state != rundir::State::Completed && state != rundir::State::Stopped && state != rundir::State::Interrupted;
    if (m_ending && (m_ending->state != rundir::State::Completed || !isFailure)) return;
    m_ending = Ending{state, std::move(why), save};
}

void Trainer::endBy(const Error& error, bool save) {
    rundir::State state = rundir::State::Failed;
    if (error.code == ErrorCode::OutOfMemory) state = rundir::State::OutOfMemory;
    if (error.code == ErrorCode::Stopped) state = rundir::State::Stopped;
    end(state, error.text(), save);
    const std::string text = error.text();
    visit({.point = Point::Exception, .text = text});
}

}  // namespace lathe::engine
