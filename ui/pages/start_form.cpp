#include "pages/start_form.h"

#include "form/field_editor.h"
#include "theme/parts.h"

#include <QHBoxLayout>
#include <QLineEdit>
#include <QVBoxLayout>

namespace lathe::pages {

namespace {
constexpr int kLabelWidth = 190, kEditorWidth = 560;
}

StartForm::StartForm(QWidget* page, const QString& title, const QString& sentence) : m_page(page), m_column(theme::pageColumn(page)) {
    QFrame* card = theme::card();
    m_fields = new QVBoxLayout(card);
    m_fields->setContentsMargins(18, 16, 18, 18);
    m_fields->setSpacing(10);
    m_fields->addWidget(theme::label(title, theme::TextRole::Strong));
    QLabel* text = theme::label(sentence, theme::TextRole::Body, "muted");
    text->setWordWrap(true);
    text->setMaximumWidth(kLabelWidth + kEditorWidth);
    m_fields->addWidget(text);
    m_fields->addSpacing(4);
    m_column->addWidget(card);
    m_column->addStretch(1);
}

void StartForm::add(const QString& label, QWidget* editor) {
    auto* row = new QHBoxLayout;
    QLabel* words = theme::label(label);
    words->setFixedWidth(kLabelWidth);
    words->setContentsMargins(0, 6, 0, 0);  // level with the text in the editor
    words->setWordWrap(true);
    words->setBuddy(editor);
    row->addWidget(words, 0, Qt::AlignTop);
    editor->setAccessibleName(label);
    if (editor->sizePolicy().horizontalPolicy() != QSizePolicy::Fixed) editor->setMaximumWidth(kEditorWidth);
    row->addWidget(editor);
    row->addStretch(1);
    row->setStretchFactor(editor, 100);
    m_fields->addLayout(row);
}

void StartForm::addPath(const QString& label, QLineEdit* editor) {
    auto* box = new QWidget;
    auto* row = new QHBoxLayout(box);
    row->setContentsMargins(0, 0, 0, 0);
    row->setSpacing(4);
    row->addWidget(editor, 1);
    QToolButton* browse = theme::flatButton(theme::Icon::Folder, {});
    browse->setAccessibleName(QObject::tr("Browse for %1").arg(label));
    browse->setToolTip(QObject::tr("Browse…"));
    row->addWidget(browse);
    add(label, box);
    box->setAccessibleName({});
    editor->setAccessibleName(label);
    QObject::connect(browse, &QToolButton::clicked, m_page, [page = m_page, editor] {
        const QString path = form::FieldEditor::askForPath(page, true, editor->text());
        if (!path.isEmpty()) editor->setText(path);
    });
}

QLabel* StartForm::finish(std::initializer_list<QPushButton*> buttons) {
    QFrame* foot = theme::card();
    auto* row = new QHBoxLayout(foot);
    row->setContentsMargins(16, 10, 12, 10);
    QLabel* state = theme::label({}, theme::TextRole::Body, "muted");
    row->addWidget(state, 1);
    for (QPushButton* button : buttons) row->addWidget(button);
    m_column->addWidget(foot);
    return state;
}

}  // namespace lathe::pages
