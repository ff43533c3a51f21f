// Questions to a person. An interface, so that tests answer them. Nothing here blocks: the answer arrives later, or never
// when the asking object is gone.
#pragma once

#include <QObject>
#include <QString>

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
};

struct TextQuestion {
    QString title, label, text, accept;
    bool multiline = false;
    std::function<QString(const QString&)> problem;  ///< why a text cannot be accepted, or empty
};

class Prompts {
public:
    virtual ~Prompts() = default;
    /// `answer` gets the index of a choice, or -1. Not called once `context` is gone.
    virtual void ask(QObject* context, const Question& question, std::function<void(int)> answer) = 0;
    virtual void askText(QObject* context, const TextQuestion& question, std::function<void(std::optional<QString>)> answer) = 0;
};

/// Window-modal dialogs in the look of the program.
class DialogPrompts : public Prompts {
public:
    void ask(QObject* context, const Question& question, std::function<void(int)> answer) override;
    void askText(QObject* context, const TextQuestion& question, std::function<void(std::optional<QString>)> answer) override;
};

}  // namespace lathe::pages
