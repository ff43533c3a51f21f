#include "session/told.h"

#include <QCoreApplication>
#include <QRegularExpression>

#include <optional>
#include <span>
#include <vector>

namespace lathe::session {

namespace {

constexpr auto kContext = "Told";

/// Written by judge() (core/launch/run/session_end.cpp), the engine's steering, trainer and telemetry, and the session's events.
/// %1 … stand for what differs. The first that fits is taken.
const char* const kSentences[] = {
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
    QT_TRANSLATE_NOOP("Told", "%1. Its supervisor was lost meanwhile"),
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
    QT_TRANSLATE_NOOP("Told", "Rank %1: %2"),
    QT_TRANSLATE_NOOP("Told", "%1; its log ends with: %2"),
    QT_TRANSLATE_NOOP("Told", "%1 (then ended by signal %2)"),
    QT_TRANSLATE_NOOP("Told", "Evaluation at update %1: %2"),
    QT_TRANSLATE_NOOP("Told", "Best %1 so far: %2"),
    QT_TRANSLATE_NOOP("Told", "Saved checkpoint %1 (%2)"),
    QT_TRANSLATE_NOOP("Told", "Paused, as asked"),
    QT_TRANSLATE_NOOP("Told", "Paused by itself: unpause goes on"),
    QT_TRANSLATE_NOOP("Told", "Going on"),
    QT_TRANSLATE_NOOP("Told", "Goes on"),
    QT_TRANSLATE_NOOP("Told", "Pauses after this update; memory stays taken"),
    QT_TRANSLATE_NOOP("Told", "Pauses after this update, saves, and lets its memory go"),
    QT_TRANSLATE_NOOP("Told", "Went back to update %1 (%2 of %3), learning rate now %4"),
    QT_TRANSLATE_NOOP("Told", "Goes on by itself from update %1 after a crash. %2"),
    QT_TRANSLATE_NOOP("Told", "Checkpoint %1 was re-read and is damaged: %2. It is no longer offered; older ones are kept"),
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
