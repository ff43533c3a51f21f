#include "form/field_editor.h"

#include "session/qt_text.h"
#include "theme/parts.h"

#include <QFileDialog>
#include <QHBoxLayout>
#include <QLineEdit>
#include <QMenu>
#include <QStyle>

#include <algorithm>
#include <iterator>

namespace lathe::form {
namespace {

using config::FieldType;

constexpr int kNumberWidth = 120, kChoiceWidth = 200, kTextWidth = 330;
constexpr std::size_t kShortText = 12;   // letters that a number's editor has room for

int lineWidth(const config::Field& field) {
    switch (field.type) {
    case FieldType::Integer:
    case FieldType::Number: return kNumberWidth;
    case FieldType::OptionalInteger:
    case FieldType::OptionalNumber: return field.noneText.size() <= kShortText ? kNumberWidth : kChoiceWidth;
    case FieldType::Interval:
    case FieldType::IntegerList: return kChoiceWidth;
    default: return kTextWidth;
    }
}

constexpr int kLeastWidth = 120;   // what a choice or a text shrinks to in a small window; numbers keep their room

/// As wide as it likes to be, and narrower only where there is no room.
template <typename Input>
class Yielding final : public Input {
public:
    Yielding(int width, QWidget* parent) : Input(parent), m_width(width) { this->setSizePolicy(QSizePolicy::Maximum, QSizePolicy::Fixed); }
    QSize sizeHint() const override { return {m_width, Input::sizeHint().height()}; }
    QSize minimumSizeHint() const override { return {std::min(m_width, kLeastWidth), Input::minimumSizeHint().height()}; }

private:
    int m_width;
};

class SwitchEditor final : public FieldEditor {
public:
    explicit SwitchEditor(QWidget* parent) : FieldEditor(parent), m_switch(new theme::Switch(this)) {
        auto* row = new QHBoxLayout(this);
        row->setContentsMargins(0, 0, 0, 0);
        row->addWidget(m_switch);
        row->addStretch();
        m_input = m_switch;
        connect(m_switch, &QCheckBox::toggled, this, [this](bool on) {
            if (!m_showing) Q_EMIT edited(on ? QStringLiteral("true") : QStringLiteral("false"));
            if (!m_showing) Q_EMIT finished();
        });
    }
    void showText(const QString& text) override {
        m_showing = true;
        m_switch->setChecked(text == QLatin1String("true"));
        m_showing = false;
    }

private:
    theme::Switch* m_switch;
    bool m_showing = false;
};

class ChoiceEditor final : public FieldEditor {
public:
    ChoiceEditor(const config::Field& field, QWidget* parent) : FieldEditor(parent), m_box(new Yielding<theme::ChoiceBox>(kChoiceWidth, this)) {
        for (const std::string& choice : field.choices) m_box->addItem(QString::fromStdString(choice));
        auto* row = new QHBoxLayout(this);
        row->setContentsMargins(0, 0, 0, 0);
        row->addWidget(m_box);
        m_input = m_box;
        connect(m_box, &QComboBox::currentTextChanged, this, [this](const QString& text) {
            if (!m_showing) Q_EMIT edited(text);
            if (!m_showing) Q_EMIT finished();
        });
    }
    void showText(const QString& text) override {
        m_showing = true;
        if (m_box->findText(text) < 0) m_box->addItem(text);  // a thing of a plug-in, from a file
        m_box->setCurrentText(text);
        m_showing = false;
    }

private:
    theme::ChoiceBox* m_box;
    bool m_showing = false;
};

class LineEditor : public FieldEditor {
public:
    LineEditor(const config::Field& field, QWidget* parent) : FieldEditor(parent), m_line(new Yielding<QLineEdit>(lineWidth(field), this)) {
        m_line->setPlaceholderText(session::schemaText(field.noneText));
        const FieldType numbers[] = {FieldType::Integer, FieldType::Number, FieldType::OptionalInteger, FieldType::OptionalNumber};
        if (std::find(std::begin(numbers), std::end(numbers), field.type) != std::end(numbers)) m_line->setAlignment(Qt::AlignRight);
        m_row = new QHBoxLayout(this);
        m_row->setContentsMargins(0, 0, 0, 0);
        m_row->setSpacing(4);
        m_row->addWidget(m_line);
        m_input = m_line;
        connect(m_line, &QLineEdit::textEdited, this, &FieldEditor::edited);
        connect(m_line, &QLineEdit::editingFinished, this, &FieldEditor::finished);
    }
    void showText(const QString& text) override {
        if (m_line->text() != text) m_line->setText(text);
        // A long path shows its beginning, not its end, as soon as nobody types in it.
        if (!m_line->hasFocus()) m_line->setCursorPosition(0);
    }

protected:
    QLineEdit* m_line;
    QHBoxLayout* m_row;
};

class PathEditor final : public LineEditor {
public:
    PathEditor(const config::Field& field, QWidget* parent) : LineEditor(field, parent) {
        auto* browse = theme::flatButton(theme::Icon::Folder, {});
        browse->setObjectName(QString::fromStdString(field.key()) + QLatin1String(".browse"));
        browse->setAccessibleName(tr("Browse for %1").arg(session::schemaText(field.label)));
        browse->setToolTip(tr("Browse…"));
        browse->setPopupMode(QToolButton::InstantPopup);
        auto* menu = new QMenu(browse);
        connect(menu->addAction(tr("Choose a folder…")), &QAction::triggered, this, [this] { ask(true); });
        connect(menu->addAction(tr("Choose a file…")), &QAction::triggered, this, [this] { ask(false); });
        browse->setMenu(menu);
        m_row->addWidget(browse);
    }

private:
    void ask(bool folder) {
        const QString path = askForPath(this, folder, m_line->text());
        if (path.isEmpty()) return;
        m_line->setText(path);
        Q_EMIT edited(path);
        Q_EMIT finished();
    }
};

}  // namespace

std::function<QString(QWidget*, bool, const QString&)> FieldEditor::askForPath = [](QWidget* parent, bool folder, const QString& start) {
    return folder ? QFileDialog::getExistingDirectory(parent, FieldEditor::tr("Choose a folder"), start)
                  : QFileDialog::getOpenFileName(parent, FieldEditor::tr("Choose a file"), start);
};

FieldEditor* FieldEditor::make(const config::Field& field, QWidget* parent) {
    switch (field.type) {
    case FieldType::Bool: return new SwitchEditor(parent);
    case FieldType::Choice: return new ChoiceEditor(field, parent);
    case FieldType::Path: return new PathEditor(field, parent);
    default: return new LineEditor(field, parent);
    }
}

void FieldEditor::setInvalid(bool invalid) {
    if (m_input->property("invalid").toBool() == invalid) return;
    m_input->setProperty("invalid", invalid);
    m_input->style()->unpolish(m_input);
    m_input->style()->polish(m_input);
}

}  // namespace lathe::form
