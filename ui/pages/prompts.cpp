#include "pages/prompts.h"

#include "pages/resume_sheet.h"
#include "theme/parts.h"

#include <QDialog>
#include <QHBoxLayout>
#include <QLineEdit>
#include <QPlainTextEdit>
#include <QPointer>
#include <QTimer>
#include <QVBoxLayout>

namespace lathe::pages {
namespace {

constexpr int kDialogWidth = 460, kFollowMs = 250;

QWidget* windowOf(QObject* context) {
    auto* widget = qobject_cast<QWidget*>(context);
    return widget == nullptr ? nullptr : widget->window();
}

/// A dialog with its title as a heading; deletes itself when it is closed.
QDialog* makeDialog(QObject* context, const QString& title, QVBoxLayout*& column) {
    auto* dialog = new QDialog(windowOf(context));
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setWindowModality(Qt::WindowModal);
    dialog->setWindowTitle(title);
    dialog->setMinimumWidth(kDialogWidth);
    dialog->setObjectName(QStringLiteral("prompt"));
    column = new QVBoxLayout(dialog);
    column->setContentsMargins(20, 18, 20, 16);
    column->setSpacing(10);
    column->addWidget(theme::label(title, theme::TextRole::Title));
    return dialog;
}

/// As high as its words need at this width, which is known once they have their style.
void openFitting(QDialog* dialog) {
    dialog->open();
    dialog->resize(dialog->width(), dialog->layout()->totalHeightForWidth(dialog->width()));
}

QPushButton* choiceButton(const Choice& choice) {
    auto* button = new QPushButton(choice.text);
    button->setProperty("primary", choice.primary);
    button->setProperty("danger", choice.danger);
    button->setAutoDefault(true);   // Enter presses the one that has the focus
    return button;
}

/// What it tells changes while it is open; where there is nothing to ask any more it closes without a choice.
void follow(QDialog* dialog, QLabel* text, const std::function<std::optional<QString>()>& now) {
    auto* timer = new QTimer(dialog);
    QObject::connect(timer, &QTimer::timeout, dialog, [dialog, text, now] {
        if (const auto words = now()) text->setText(*words);
        else dialog->reject();
    });
    timer->start(kFollowMs);
}

}  // namespace

void DialogPrompts::ask(QObject* context, const Question& question, std::function<void(int)> answer) {
    QVBoxLayout* column = nullptr;
    QDialog* dialog = makeDialog(context, question.title, column);
    QLabel* text = theme::label(question.text);
    text->setWordWrap(true);
    text->setTextInteractionFlags(Qt::TextSelectableByMouse);
    column->addWidget(text);
    text->setObjectName(QStringLiteral("promptQuestion"));
    if (question.now) follow(dialog, text, question.now);
    column->addSpacing(6);
    auto* row = new QHBoxLayout;
    row->addStretch();
    QPushButton* first = nullptr;   // what Enter presses: what is meant, or what changes nothing where that would lose something
    for (std::size_t i = 0; i < question.choices.size(); ++i) {
        QPushButton* button = choiceButton(question.choices[i]);
        if (first == nullptr || question.choices[i].primary) first = button;
        button->setObjectName(QStringLiteral("choice%1").arg(i));
        row->addWidget(button);
        QObject::connect(button, &QPushButton::clicked, dialog, [dialog, i] { dialog->done(int(i) + 1); });
    }
    column->addLayout(row);
    if (first != nullptr) {
        first->setDefault(true);
        first->setFocus();
    }
    QObject::connect(dialog, &QDialog::finished, context, [answer = std::move(answer)](int result) { answer(result - 1); });
    openFitting(dialog);
}

void DialogPrompts::askText(QObject* context, const TextQuestion& question, std::function<void(std::optional<QString>)> answer) {
    QVBoxLayout* column = nullptr;
    QDialog* dialog = makeDialog(context, question.title, column);
    QLabel* label = theme::label(question.label, theme::TextRole::Body, "muted");
    label->setWordWrap(true);
    column->addWidget(label);
    QLineEdit* line = question.multiline ? nullptr : new QLineEdit(question.text);
    QPlainTextEdit* block = question.multiline ? new QPlainTextEdit(question.text) : nullptr;
    QWidget* editor = line != nullptr ? static_cast<QWidget*>(line) : block;
    editor->setObjectName(QStringLiteral("promptText"));
    editor->setAccessibleName(question.label);
    if (block != nullptr) block->setTabChangesFocus(true);
    column->addWidget(editor);
    QLabel* problem = theme::label({}, theme::TextRole::Caption, "error");
    problem->setWordWrap(true);
    column->addWidget(problem);
    auto* row = new QHBoxLayout;
    row->addStretch();
    QPushButton* cancel = choiceButton({QDialog::tr("Cancel")});
    QPushButton* accept = choiceButton({question.accept, true});
    accept->setObjectName(QStringLiteral("promptAccept"));
    accept->setDefault(true);
    row->addWidget(cancel);
    row->addWidget(accept);
    column->addLayout(row);
    const auto text = [line, block] { return line != nullptr ? line->text() : block->toPlainText(); };
    const auto check = [=, rule = question.problem] {
        const QString why = rule ? rule(text()) : QString();
        problem->setText(why);
        accept->setEnabled(why.isEmpty());
    };
    if (line != nullptr) QObject::connect(line, &QLineEdit::textChanged, dialog, check);
    if (block != nullptr) QObject::connect(block, &QPlainTextEdit::textChanged, dialog, check);
    check();
    QObject::connect(cancel, &QPushButton::clicked, dialog, &QDialog::reject);
    QObject::connect(accept, &QPushButton::clicked, dialog, &QDialog::accept);
    QObject::connect(dialog, &QDialog::finished, context, [answer = std::move(answer), text](int result) {
        answer(result == QDialog::Accepted ? std::optional(text()) : std::nullopt);
    });
    openFitting(dialog);
    editor->setFocus();
    if (line != nullptr) line->selectAll();
}

void DialogPrompts::askSheet(QObject* context, const SheetQuestion& question, std::function<void(std::optional<SheetAnswer>)> answer) {
    auto* sheet = new ResumeSheet(question, windowOf(context));
    sheet->setAttribute(Qt::WA_DeleteOnClose);
    QObject::connect(sheet, &QDialog::finished, context, [answer = std::move(answer), sheet](int result) {
        answer(result == QDialog::Accepted ? std::optional(sheet->answer()) : std::nullopt);
    });
    sheet->open();
}

}  // namespace lathe::pages
