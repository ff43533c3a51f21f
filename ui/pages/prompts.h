// Questions to a person. An interface, so that tests answer them. Nothing here blocks: the answer arrives later, or never
// when the asking object is gone.
#pragma once

#include <QByteArray>
#include <QObject>
#include <QPair>
#include <QString>
#include <QStringList>

#include "session/launcher.h"

#include <functional>
#include <optional>
#include <vector>

namespace lathe::pages {

struct Choice {
    QString text;
    bool primary = false, danger = false;
};

struct Question {
    QString title;
    QString text;                 ///< plain text, paragraphs parted by empty lines
    std::vector<Choice> choices;  ///< left to right; closing the dialog is no choice
    std::function<std::optional<QString>()> now = {};   ///< the text as it is by now; nothing: there is nothing to ask any more
};

struct TextQuestion {
    QString title, label, text, accept;
    bool multiline = false;
    std::function<QString(const QString&)> problem;  ///< why a text cannot be accepted, or empty
};

/// How to go on from a checkpoint: a verb of lathe-trainer, "key=value" changes, and whether the learning-rate curve is
/// made anew for the length that the run then has.
struct SheetAnswer {
    QString verb;
    QStringList settings;
    bool newCurve = false;
    session::When when = session::When::Now;
};

/// A checkpoint to go on from with other settings.
struct SheetQuestion {
    QString title;
    QStringList verbs;                         ///< those that are possible here, as on the command line
    QString verb;                              ///< chosen at first
    QList<QPair<QString, QString>> settings;   ///< typed in already: key, text
    /// Asks lathe-trainer what would happen; the reply is its JSON, or a sentence. Not called once `context` is gone.
    using Reply = std::function<void(const QByteArray& json, const QString& sentence)>;
    std::function<void(const SheetAnswer& asked, QObject* context, Reply reply)> ask;
};

class Prompts {
public:
    virtual ~Prompts() = default;
    /// `answer` gets the index of a choice, or -1. Not called once `context` is gone.
    virtual void ask(QObject* context, const Question& question, std::function<void(int)> answer) = 0;
    virtual void askText(QObject* context, const TextQuestion& question, std::function<void(std::optional<QString>)> answer) = 0;
    virtual void askSheet(QObject* context, const SheetQuestion& question, std::function<void(std::optional<SheetAnswer>)> answer) = 0;
};

/// Window-modal dialogs in the look of the program.
class DialogPrompts : public Prompts {
public:
    void ask(QObject* context, const Question& question, std::function<void(int)> answer) override;
    void askText(QObject* context, const TextQuestion& question, std::function<void(std::optional<QString>)> answer) override;
    void askSheet(QObject* context, const SheetQuestion& question, std::function<void(std::optional<SheetAnswer>)> answer) override;
};

}  // namespace lathe::pages
