#include "session/told.h"

#include <QCoreApplication>
#include <QRegularExpression>

#include <optional>
#include <span>
#include <vector>

namespace lathe::session {

namespace {

constexpr auto kContext = "Told";

/// What the trainer tells as an event, as the reason of an end or of a pause, or before it goes on (core/launch, core/engine;
/// tst_translations looks for them there). %1 … stand for what differs. The first that fits is taken: those that were put behind
/// another sentence come first, the vaguest last.
const char* const kSentences[] = {
    QT_TRANSLATE_NOOP("Told", "%1. It goes on by itself, %2"),
    QT_TRANSLATE_NOOP("Told", "%1. It does not go on by itself: %2"),
    QT_TRANSLATE_NOOP("Told", "%1. It cannot go back: %2"),
    QT_TRANSLATE_NOOP("Told", "%1. The run stays where it was, at step %2"),
    QT_TRANSLATE_NOOP("Told", "%1. Its last points could not be recorded: %2"),
    QT_TRANSLATE_NOOP("Told", "%1. %2 messages of the script are missing: it had to drop them"),
    QT_TRANSLATE_NOOP("Told", "%1. Its micro-batches cannot be smaller than one sample"),
    QT_TRANSLATE_NOOP("Told", "%1. Its state at update %2 could not be saved, and it goes on from what was saved before, where that is there: %3"),
    QT_TRANSLATE_NOOP("Told", "%1. Too late to go back: %2"),
    QT_TRANSLATE_NOOP("Told", "%1. Too late for the pause that was asked for"),
    QT_TRANSLATE_NOOP("Told", "%1. The run has gone back %2 time already (guard.max_roll_backs): look for the cause, or go on with a lower optimizer.learning_rate"),
    QT_TRANSLATE_NOOP("Told", "%1. The run has gone back %2 times already (guard.max_roll_backs): look for the cause, or go on with a lower optimizer.learning_rate"),
    QT_TRANSLATE_NOOP("Told", "%1. There is nothing before it to go back to: look for the cause in the data, or start with other settings"),
    QT_TRANSLATE_NOOP("Told", "%1. Goes on from %2; %3 updates that were saved after it must be made once more"),
    QT_TRANSLATE_NOOP("Told", "%1. Goes on from %2; %3 update that was saved after it must be made once more"),
    QT_TRANSLATE_NOOP("Told", "%1. Goes on from %2"),
    QT_TRANSLATE_NOOP("Told", "%1. Its supervisor was lost meanwhile"),
    QT_TRANSLATE_NOOP("Told", "%1. Training is not affected"),
    QT_TRANSLATE_NOOP("Told", "%1 (then ended by signal %2)"),
    QT_TRANSLATE_NOOP("Told", "%1; its log ends with: %2"),
    QT_TRANSLATE_NOOP("Told", "Stopped, as asked"),
    QT_TRANSLATE_NOOP("Told", "Stopped, as asked, before the first update"),
    QT_TRANSLATE_NOOP("Told", "Stopped without saving, as asked"),
    QT_TRANSLATE_NOOP("Told", "Stopped by a signal"),
    QT_TRANSLATE_NOOP("Told", "Stopped on request"),
    QT_TRANSLATE_NOOP("Told", "Stopped on request, with %1"),
    QT_TRANSLATE_NOOP("Told", "Stopped on request, by SIGTERM"),
    QT_TRANSLATE_NOOP("Told", "Finished 1 epoch at update %1, learning rate at %2 of its peak"),
    QT_TRANSLATE_NOOP("Told", "Finished %1 epochs at update %2, learning rate at %3 of its peak"),
    QT_TRANSLATE_NOOP("Told", "Reached run.max_updates at update %1"),
    QT_TRANSLATE_NOOP("Told", "Its supervisor was lost"),
    QT_TRANSLATE_NOOP("Told", "Its supervisor was lost; the worker saved %1 and left"),
    QT_TRANSLATE_NOOP("Told", "The machine was restarted while it ran"),
    QT_TRANSLATE_NOOP("Told", "The machine was restarted while it ran; the worker saved %1 and left"),
    QT_TRANSLATE_NOOP("Told", "Its supervisor was lost; what it ran finishes and leaves"),
    QT_TRANSLATE_NOOP("Told", "It was interrupted before its worker started"),
    QT_TRANSLATE_NOOP("Told", "It is in no queue of this machine any more"),
    QT_TRANSLATE_NOOP("Told", "The system ended the worker because memory ran out; use a smaller data.batch_size (accumulation.micro_batches makes up for it) or a smaller model"),
    QT_TRANSLATE_NOOP("Told", "The system ended the command because memory ran out"),
    QT_TRANSLATE_NOOP("Told", "The worker was ended: %1"),
    QT_TRANSLATE_NOOP("Told", "The worker was ended by signal %1"),
    QT_TRANSLATE_NOOP("Told", "The worker ended and nobody knows how"),
    QT_TRANSLATE_NOOP("Told", "The worker left without saying how it ended"),
    QT_TRANSLATE_NOOP("Told", "The worker failed with exit code %1"),
    QT_TRANSLATE_NOOP("Told", "Memory ran out"),
    QT_TRANSLATE_NOOP("Told", "The numbers are no longer finite"),
    QT_TRANSLATE_NOOP("Told", "The command ended and nobody knows how"),
    QT_TRANSLATE_NOOP("Told", "The command was ended: %1"),
    QT_TRANSLATE_NOOP("Told", "The command was ended by signal %1"),
    QT_TRANSLATE_NOOP("Told", "The command ended with exit code 0"),
    QT_TRANSLATE_NOOP("Told", "The command failed with exit code %1"),
    QT_TRANSLATE_NOOP("Told", "The script said that it failed"),
    QT_TRANSLATE_NOOP("Told", "The script was ended: %1"),
    QT_TRANSLATE_NOOP("Told", "The script failed: %1"),
    QT_TRANSLATE_NOOP("Told", "The script ended"),
    QT_TRANSLATE_NOOP("Told", "The script went away without saying how it ended: it was killed, or it crashed"),
    QT_TRANSLATE_NOOP("Told", "Evaluation at update %1: %2"),
    QT_TRANSLATE_NOOP("Told", "Best %1 so far: %2"),
    QT_TRANSLATE_NOOP("Told", "Saved checkpoint %1 (%2)"),
    QT_TRANSLATE_NOOP("Told", "Paused, as asked"),
    QT_TRANSLATE_NOOP("Told", "Going on"),
    QT_TRANSLATE_NOOP("Told", "Goes on"),
    QT_TRANSLATE_NOOP("Told", "Pauses after this update; memory stays taken"),
    QT_TRANSLATE_NOOP("Told", "Pauses after this update, saves, and lets its memory go"),
    QT_TRANSLATE_NOOP("Told", "Went back to update %1 (%2 of %3), learning rate now %4"),
    QT_TRANSLATE_NOOP("Told", "Goes on by itself from update %1 after a crash. %2"),
    QT_TRANSLATE_NOOP("Told", "Checkpoint %1 was re-read and is damaged: %2. It is no longer offered; older ones are kept"),
    QT_TRANSLATE_NOOP("Told", "Saves after this update"),
    QT_TRANSLATE_NOOP("Told", "The script is asked to save"),
    QT_TRANSLATE_NOOP("Told", "Finishes this update, saves and stops"),
    QT_TRANSLATE_NOOP("Told", "Stops without saving"),
    QT_TRANSLATE_NOOP("Told", "The script is asked to stop"),
    QT_TRANSLATE_NOOP("Told", "The script is told to leave (SIGTERM)"),
    QT_TRANSLATE_NOOP("Told", "Is held where it is (SIGSTOP); memory stays taken"),
    QT_TRANSLATE_NOOP("Told", "Saved; the memory is let go"),
    QT_TRANSLATE_NOOP("Told", "Paused with its memory let go; continue goes on exactly from there"),
    QT_TRANSLATE_NOOP("Told", "Asked by signal %1: %2"),
    QT_TRANSLATE_NOOP("Told", "Asked again: leaving at once without saving"),
    QT_TRANSLATE_NOOP("Told", "The command was told to leave at once (SIGTERM); SIGKILL in %1 s"),
    QT_TRANSLATE_NOOP("Told", "The worker was told to leave at once (SIGTERM); SIGKILL in %1 s"),
    QT_TRANSLATE_NOOP("Told", "The workers were told to leave at once (SIGTERM); SIGKILL in %1 s"),
    QT_TRANSLATE_NOOP("Told", "The command was ended by SIGKILL"),
    QT_TRANSLATE_NOOP("Told", "The worker was ended by SIGKILL"),
    QT_TRANSLATE_NOOP("Told", "The workers were ended by SIGKILL"),
    QT_TRANSLATE_NOOP("Told", "No TensorBoard events are written: %1"),
    QT_TRANSLATE_NOOP("Told", "No more TensorBoard events are written: %1"),
    QT_TRANSLATE_NOOP("Told", "The folder of this run was removed, so nothing more is recorded; training stops without saving"),
    QT_TRANSLATE_NOOP("Told", "The folder of this run was removed, so nothing more is recorded; the script goes on, and a stop still reaches it"),
    QT_TRANSLATE_NOOP("Told", "The best weights could not be left in the export folder: %1"),
    QT_TRANSLATE_NOOP("Told", "The notification failed: %1"),
    QT_TRANSLATE_NOOP("Told", "A run from the queue has %1 for itself; both will be slower"),
    QT_TRANSLATE_NOOP("Told", "The lock %1 was removed, and another run has %2 by now; both will be slower"),
    QT_TRANSLATE_NOOP("Told", "The lock %1 was removed, and a run from the queue may start beside this one: %2"),
    QT_TRANSLATE_NOOP("Told", "Runs %1 in %2"),
    QT_TRANSLATE_NOOP("Told", "Records process %1: %2 in %3"),
    QT_TRANSLATE_NOOP("Told", "Begins again by itself from the start, since there was no checkpoint yet, after a crash. %1"),
    QT_TRANSLATE_NOOP("Told", "It could not be saved, so it stays paused and keeps its memory: %1"),
    QT_TRANSLATE_NOOP("Told", "Rank %1 was ended by signal %2; what the first rank is saving is waited for, at most %3 min"),
    QT_TRANSLATE_NOOP("Told", "Rank %1 ended with exit code %2; what the first rank is saving is waited for, at most %3 min"),
    QT_TRANSLATE_NOOP("Told", "Rank %1 ended and nobody knows how; what the first rank is saving is waited for, at most %2 min"),
    QT_TRANSLATE_NOOP("Told", "Rank %1 was ended since %2; what the first rank is saving is waited for, at most %3 min"),
    QT_TRANSLATE_NOOP("Told", "Rank %1 gets on again, after %2 s"),
    QT_TRANSLATE_NOOP("Told", "The worker gets on again, after %1 s"),
    QT_TRANSLATE_NOOP("Told", "Rank %1 has been silent for %2 s %3"),
    QT_TRANSLATE_NOOP("Told", "Rank %1 has not got on for %2 s %3"),
    QT_TRANSLATE_NOOP("Told", "The worker has been silent for %1 s %2"),
    QT_TRANSLATE_NOOP("Told", "The worker has not got on for %1 s %2"),
    QT_TRANSLATE_NOOP("Told", "The ranks have waited for one another for %1 s: %2"),
    QT_TRANSLATE_NOOP("Told", "The script failed: it did not say why"),
    QT_TRANSLATE_NOOP("Told", "Paused by itself: %1; unpause goes on"),
    QT_TRANSLATE_NOOP("Told", "Stopped by %1"),
    QT_TRANSLATE_NOOP("Told", "Paused on request"),
    QT_TRANSLATE_NOOP("Told", "Paused by itself"),
    QT_TRANSLATE_NOOP("Told", "Paused by itself: %1"),
    QT_TRANSLATE_NOOP("Told", "Its supervisor was lost, and a rank with it; the worker saved %1 and left"),
    QT_TRANSLATE_NOOP("Told", "There is no session in this run folder"),
    QT_TRANSLATE_NOOP("Told", "Its supervisor was lost before this session began"),
    QT_TRANSLATE_NOOP("Told", "The machine was restarted before this session began"),
    QT_TRANSLATE_NOOP("Told", "Its supervisor was lost, and a rank with it"),
    QT_TRANSLATE_NOOP("Told", "The run has ended; waits for notify_command (%1), at most %2 s"),
    QT_TRANSLATE_NOOP("Told", "Imported from %1"),
    QT_TRANSLATE_NOOP("Told", "The import was stopped before it was through; import again to go on"),
    QT_TRANSLATE_NOOP("Told", "Following was ended on request"),
    QT_TRANSLATE_NOOP("Told", "Its files brought nothing new for %1"),
    QT_TRANSLATE_NOOP("Told", "Nothing more can be read of its files: %1"),
    QT_TRANSLATE_NOOP("Told", "Its files cannot be read any more: %1"),
    QT_TRANSLATE_NOOP("Told", "What %1 holds could not be recorded: %2"),
    QT_TRANSLATE_NOOP("Told", "Replayed"),
    QT_TRANSLATE_NOOP("Told", "The supervisor was lost"),
    QT_TRANSLATE_NOOP("Told", "Update attempt %1 was skipped: %2"),
    QT_TRANSLATE_NOOP("Told", "Guard, %1: update attempt %2 is left out, since %3"),
    QT_TRANSLATE_NOOP("Told", "Guard, %1: update attempt %2 is left out, and the run pauses, since %3"),
    QT_TRANSLATE_NOOP("Told", "Guard, %1: update attempt %2 is left out, and the run goes back, since %3"),
    QT_TRANSLATE_NOOP("Told", "Guard, %1: update attempt %2 is left out, and the run stops, since %3"),
    QT_TRANSLATE_NOOP("Told", "The run continues exactly: %1"),
    QT_TRANSLATE_NOOP("Told", "The run does not continue exactly, it differs at: %1"),
    QT_TRANSLATE_NOOP("Told", "Whether the run continues exactly cannot be told, not comparable: %1"),
    QT_TRANSLATE_NOOP("Told", "The learning rate is now %1: no better %2"),
    QT_TRANSLATE_NOOP("Told", "The evaluation at update %1 is worse than the best one: %2"),
    QT_TRANSLATE_NOOP("Told", "No better %1 (evaluation.patience)"),
    QT_TRANSLATE_NOOP("Told", "No sample has weight, so there is nothing to learn from. Look at the weights of the data"),
    QT_TRANSLATE_NOOP("Told", "No sample of a whole epoch has weight, so there is nothing to learn from. Look at the weights of the data"),
    QT_TRANSLATE_NOOP("Told", "No update could be applied: each of %1 was skipped, as the events tell. Look for huge values in the data, or lower optimizer.learning_rate"),
    QT_TRANSLATE_NOOP("Told", "The last %1 updates of the run were skipped, as the events tell. Go back to a checkpoint and lower optimizer.learning_rate"),
    QT_TRANSLATE_NOOP("Told", "Read %1: %2"),
    QT_TRANSLATE_NOOP("Told", "Whether it still waits is not known: %1"),
    QT_TRANSLATE_NOOP("Told", "Its place in the queue cannot be read: %1"),
    QT_TRANSLATE_NOOP("Told", "It cannot save as it stops, since %1, so it goes on. Mend that and stop it again, or leave without saving: lathe-trainer stop %2 --discard"),
    QT_TRANSLATE_NOOP("Told", "It cannot save, since %1, so its memory is not let go. Mend that, or pause it with its memory: lathe-trainer pause %2"),
    QT_TRANSLATE_NOOP("Told", "the ranks waited for one another for %1 s (parallel.wait_seconds)"),
    QT_TRANSLATE_NOOP("Told", "it gave no sign of life for %1 s (parallel.wait_seconds)"),
    QT_TRANSLATE_NOOP("Told", "it gave no sign of life for %1 s while the other ranks waited for it (parallel.wait_seconds)"),
    QT_TRANSLATE_NOOP("Told", "it did not get on for %1 s in %2 while the other ranks waited for it (parallel.wait_seconds)"),
    QT_TRANSLATE_NOOP("Told", "it did not get on for %1 s in %2 (parallel.wait_seconds)"),
    QT_TRANSLATE_NOOP("Told", "The series \"%1\" is shown as \"%2\": another one of this run means the same and has its name"),
    QT_TRANSLATE_NOOP("Told", "Nobody knows how many steps there will be"),
    QT_TRANSLATE_NOOP("Told", "Its evaluation was added to checkpoint %1"),
    QT_TRANSLATE_NOOP("Told", "Its supervisor was lost, and %1, lathe-trainer stop %2 ends it"),
    QT_TRANSLATE_NOOP("Told", "Nothing is recorded, since its supervisor stands still: %1"),
    QT_TRANSLATE_NOOP("Told", "Rank %1 gives no sign of life in %2, update %3"),
    QT_TRANSLATE_NOOP("Told", "Rank %1 gives no sign of life in %2"),
    QT_TRANSLATE_NOOP("Told", "Rank %1 does not get on in %2, update %3"),
    QT_TRANSLATE_NOOP("Told", "Rank %1 does not get on in %2"),
    QT_TRANSLATE_NOOP("Told", "The worker gives no sign of life in %1, update %2"),
    QT_TRANSLATE_NOOP("Told", "The worker gives no sign of life in %1"),
    QT_TRANSLATE_NOOP("Told", "The worker does not get on in %1, update %2"),
    QT_TRANSLATE_NOOP("Told", "The worker does not get on in %1"),
    QT_TRANSLATE_NOOP("Told", "The ranks wait for one another"),
    QT_TRANSLATE_NOOP("Told", "It was paused"),
    QT_TRANSLATE_NOOP("Told", "It crashed at this update for this cause before, so it would only come once more (run.restarts_per_hour)"),
    QT_TRANSLATE_NOOP("Told", "It was restarted %1 time within the last hour (run.restarts_per_hour)"),
    QT_TRANSLATE_NOOP("Told", "It was restarted %1 times within the last hour (run.restarts_per_hour)"),
    QT_TRANSLATE_NOOP("Told", "restart %1 of at most %2 an hour"),
    QT_TRANSLATE_NOOP("Told", "The learning rate of the schedule %1 is not known: %2"),
    QT_TRANSLATE_NOOP("Told", "The run will be %1 updates long; its learning-rate curve keeps %2 unless a new curve is asked for"),
    QT_TRANSLATE_NOOP("Told", "The learning rate is 0 from here on: nothing would be learned. A new curve (--new-curve) or another schedule.total_updates mends that"),
    QT_TRANSLATE_NOOP("Told", "What the worker says of it is not known: %1"),
    QT_TRANSLATE_NOOP("Told", "Data, plug-ins and machine are as at the checkpoint: it can continue exactly"),
    QT_TRANSLATE_NOOP("Told", "Whether it continues exactly could not be told, not comparable: %1"),
    QT_TRANSLATE_NOOP("Told", "Rank %1: %2"),
    QT_TRANSLATE_NOOP("Told", "%1 rows were neither recorded in time nor could they be written aside"),
    QT_TRANSLATE_NOOP("Told", "%1 is not defined for these evaluation data (one class alone, say): by it no evaluation is best, better or worse. Choose another evaluation.best_metric"),
    QT_TRANSLATE_NOOP("Told", "%1, so it stops (guard)"),
    QT_TRANSLATE_NOOP("Told", "%1, so it stops (guard.on_worse)"),
    QT_TRANSLATE_NOOP("Told", "%1 updates in a row were skipped, the last because %2. Go back to a checkpoint and lower optimizer.learning_rate"),
    QT_TRANSLATE_NOOP("Told", "%1 updates in a row were skipped, the last because %2. Run again with a lower optimizer.learning_rate"),
    QT_TRANSLATE_NOOP("Told", "%1 logs to this run"),
    QT_TRANSLATE_NOOP("Told", "%1 had to drop %2 of its messages"),
    QT_TRANSLATE_NOOP("Told", "%1 times in all: %2"),
    QT_TRANSLATE_NOOP("Told", "%1 steps are planned"),
    QT_TRANSLATE_NOOP("Told", "%1 cannot be used: %2"),
};

const char* const kKinds[] = {
    QT_TRANSLATE_NOOP("EventKind", "asked"), QT_TRANSLATE_NOOP("EventKind", "best"), QT_TRANSLATE_NOOP("EventKind", "checkpoint"),
    QT_TRANSLATE_NOOP("EventKind", "checkpoint damaged"), QT_TRANSLATE_NOOP("EventKind", "ended"), QT_TRANSLATE_NOOP("EventKind", "environment"),
    QT_TRANSLATE_NOOP("EventKind", "error"), QT_TRANSLATE_NOOP("EventKind", "evaluation"), QT_TRANSLATE_NOOP("EventKind", "exported"),
    QT_TRANSLATE_NOOP("EventKind", "frames lost"), QT_TRANSLATE_NOOP("EventKind", "guard"), QT_TRANSLATE_NOOP("EventKind", "hang"),
    QT_TRANSLATE_NOOP("EventKind", "hang over"), QT_TRANSLATE_NOOP("EventKind", "note"), QT_TRANSLATE_NOOP("EventKind", "out of memory"),
    QT_TRANSLATE_NOOP("EventKind", "paused"), QT_TRANSLATE_NOOP("EventKind", "plan"), QT_TRANSLATE_NOOP("EventKind", "program"),
    QT_TRANSLATE_NOOP("EventKind", "rate cut"), QT_TRANSLATE_NOOP("EventKind", "restarted"), QT_TRANSLATE_NOOP("EventKind", "resume report"),
    QT_TRANSLATE_NOOP("EventKind", "resumed"), QT_TRANSLATE_NOOP("EventKind", "rolled back"), QT_TRANSLATE_NOOP("EventKind", "save failed"),
    QT_TRANSLATE_NOOP("EventKind", "skipped"), QT_TRANSLATE_NOOP("EventKind", "stacks"), QT_TRANSLATE_NOOP("EventKind", "stop asked"),
    QT_TRANSLATE_NOOP("EventKind", "warning"),
};

/// Words of core/live/segment.cpp.
const char* const kPhases[] = {
    QT_TRANSLATE_NOOP("Phase", "starting"), QT_TRANSLATE_NOOP("Phase", "loading data"), QT_TRANSLATE_NOOP("Phase", "building the model"),
    QT_TRANSLATE_NOOP("Phase", "loading the checkpoint"), QT_TRANSLATE_NOOP("Phase", "first update"), QT_TRANSLATE_NOOP("Phase", "training"),
    QT_TRANSLATE_NOOP("Phase", "evaluating"), QT_TRANSLATE_NOOP("Phase", "saving"), QT_TRANSLATE_NOOP("Phase", "paused"),
    QT_TRANSLATE_NOOP("Phase", "finishing"), QT_TRANSLATE_NOOP("Phase", "ended"), QT_TRANSLATE_NOOP("Phase", "reading a batch"),
    QT_TRANSLATE_NOOP("Phase", "forward and backward"), QT_TRANSLATE_NOOP("Phase", "reduce gradients"),
    QT_TRANSLATE_NOOP("Phase", "exchange with the other ranks"), QT_TRANSLATE_NOOP("Phase", "apply the update"),
};

struct Pattern {
    const char* source;
    QRegularExpression whole;
};

std::vector<Pattern> patterns() {
    std::vector<Pattern> made;
    for (const char* source : kSentences) {
        QString expression = QRegularExpression::escape(QString::fromLatin1(source));
        for (int i = 1; i <= 4; ++i) expression.replace(QStringLiteral("\\%%1").arg(i), QStringLiteral("(.+?)"));
        made.push_back({source, QRegularExpression(QRegularExpression::anchoredPattern(expression), QRegularExpression::DotMatchesEverythingOption)});
    }
    return made;
}

/// Nothing where the window speaks the trainer's language.
std::optional<QString> translated(const char* context, const char* source) {
    const QString text = QCoreApplication::translate(context, source);
    return text == QLatin1String(source) ? std::nullopt : std::optional(text);
}

/// One of a list in the language of the window; others as they are.
QString wordOf(const char* context, std::span<const char* const> known, const QString& word) {
    for (const char* each : known)
        if (word == QLatin1String(each)) return QCoreApplication::translate(context, each);
    return word;
}

}  // namespace

QString told(const QString& sentence) {
    if (sentence.isEmpty() || !translated(kContext, kSentences[0])) return sentence;
    static const std::vector<Pattern> known = patterns();
    for (const Pattern& pattern : known) {
        const QRegularExpressionMatch match = pattern.whole.match(sentence);
        if (!match.hasMatch()) continue;
        QString text = translated(kContext, pattern.source).value_or(QString::fromLatin1(pattern.source));
        // From the last on: a part may hold what looks like the mark of another.
        QStringList parts = match.capturedTexts().mid(1);
        for (QString& part : parts) part = told(part);
        QString whole;
        for (qsizetype at = 0; at < text.size(); ++at) {
            const int number = text[at] == QLatin1Char('%') && at + 1 < text.size() ? text[at + 1].digitValue() : -1;
            if (number < 1 || number > parts.size()) {
                whole += text[at];
                continue;
            }
            whole += parts[number - 1];
            ++at;
        }
        return whole;
    }
    return sentence;
}

QString eventKindText(const QString& kind) {
    QString words = kind;
    words.replace(QLatin1Char('_'), QLatin1Char(' '));
    return wordOf("EventKind", kKinds, words);
}

QString phaseText(const QString& phase) { return wordOf("Phase", kPhases, phase); }

}  // namespace lathe::session
