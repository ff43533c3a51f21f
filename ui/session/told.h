// Sentences of the trainer in the language of the window. They come as text (exit records, events, reasons); those that are
// said most often are known here as patterns, and their parts stay as they are. What is not known stays as it was said.
// Thread: functions without shared state.
#pragma once

#include <QString>

namespace lathe::session {

/// "Its supervisor was lost; the worker saved …": each part that is known by itself.
QString told(const QString& sentence);
/// "checkpoint_damaged" as people say it: "checkpoint damaged".
QString eventKindText(const QString& kind);
/// A phase or an activity of a worker as it tells it: "loading data", "reduce gradients".
QString phaseText(const QString& phase);

}  // namespace lathe::session
