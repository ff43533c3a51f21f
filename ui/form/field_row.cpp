#include "form/field_row.h"

#include "form/field_editor.h"
#include "session/qt_text.h"
#include "theme/parts.h"

#include <QGridLayout>
#include <QPainter>

#include <algorithm>

namespace lathe::form {
namespace {

constexpr int kLabelWidth = 176, kNarrowLabelWidth = 136;

QString appliesText(config::Applies applies) {
    switch (applies) {
    case config::Applies::Start: return FieldRow::tr("Fixed when the run starts.");
    case config::Applies::Resume: return FieldRow::tr("Can be changed when the run is continued.");
    case config::Applies::NextUpdate: return FieldRow::tr("Can be changed at the next update.");
    }
    return {};
}

}  // namespace

FieldRow::FieldRow(const config::Field& field, FormModel& model, QWidget* parent)
    : QWidget(parent), m_field(field), m_model(model), m_key(QString::fromStdString(field.key())), m_editor(FieldEditor::make(field, this)) {
    const QString label = session::schemaText(field.label);
    auto* grid = new QGridLayout(this);
    grid->setContentsMargins(10, 3, 0, 3);
    grid->setHorizontalSpacing(8);
    grid->setVerticalSpacing(1);
    m_label = theme::label(label);
    m_label->setFixedWidth(kLabelWidth);
    m_label->setWordWrap(true);
    m_label->setToolTip(help());
    m_label->setBuddy(m_editor->input());
    grid->addWidget(m_label, 0, 0);

    m_reset = theme::flatButton(theme::Icon::Reset, {});
    m_reset->setObjectName(m_key + QLatin1String(".reset"));
    m_reset->setIconSize({14, 14});
    QSizePolicy keepPlace = m_reset->sizePolicy();
    keepPlace.setRetainSizeWhenHidden(true);  // the row must not jump
    m_reset->setSizePolicy(keepPlace);
    grid->addWidget(m_reset, 0, 1);

    m_editor->input()->setObjectName(m_key);
    m_editor->input()->setAccessibleName(label);
    m_editor->input()->setToolTip(help());
    grid->addWidget(m_editor, 0, 2, Qt::AlignLeft | Qt::AlignVCenter);
    QLabel* unit = theme::label(session::schemaText(field.unit), theme::TextRole::Body, "faint");
    unit->setMinimumWidth(std::max(56, unit->sizeHint().width()));
    grid->addWidget(unit, 0, 3);
    grid->setColumnStretch(4, 1);

    connect(m_reset, &QToolButton::clicked, this, [this] {
        m_model.reset(m_key);
        m_editor->input()->setFocus();
    });
    connect(m_editor, &FieldEditor::edited, this, [this](const QString& text) {
        m_typing = true;
        m_model.setText(m_key, text);
        m_typing = false;
    });
    connect(m_editor, &FieldEditor::finished, this, [this] {
        m_model.sealUndo();
        refresh();
    });
    refresh();
}

void FieldRow::setNarrow(bool on) { m_label->setFixedWidth(on ? kNarrowLabelWidth : kLabelWidth); }

QWidget* FieldRow::input() const { return m_editor->input(); }

QString FieldRow::help() const {
    return QStringLiteral("<p style='white-space:nowrap'><b>%1</b> &nbsp; <tt>%2</tt></p><p>%3</p><p>%4</p>")
        .arg(session::schemaText(m_field.label).toHtmlEscaped(), m_key.toHtmlEscaped(), session::schemaText(m_field.help).toHtmlEscaped(),
             appliesText(m_field.applies));
}

bool FieldRow::matches(const QStringList& words, const QString& sectionLabel) const {
    const QString all = session::schemaText(m_field.label) + QLatin1Char('\n') + m_key + QLatin1Char('\n') + session::schemaText(m_field.help) +
                        QLatin1Char('\n') + sectionLabel;
    for (const QString& word : words)
        if (!all.contains(word, Qt::CaseInsensitive)) return false;
    return true;
}

void FieldRow::refresh() {
    if (!m_typing) m_editor->showText(m_model.text(m_key));
    m_changed = m_model.isChanged(m_key);
    m_label->setFont(theme::textFont(m_changed ? theme::TextRole::Strong : theme::TextRole::Body));
    m_reset->setVisible(m_changed);
    const QString before = m_model.displayText(m_field, m_model.baseline().at(m_field.key()));
    m_reset->setToolTip(tr("Back to %1").arg(before.toHtmlEscaped()));
    m_reset->setAccessibleName(tr("Reset %1 to %2").arg(session::schemaText(m_field.label), before));
    refreshProblem();
    update();
}

void FieldRow::refreshProblem() {
    const auto problem = m_model.problem(m_key);
    const QString sentence = problem ? QString::fromStdString(problem->sentence) : QString();
    if (problem && m_problem == nullptr) {
        m_problem = theme::label({}, theme::TextRole::Caption, "error");
        m_problem->setObjectName(m_key + QLatin1String(".problem"));
        m_problem->setWordWrap(true);
        static_cast<QGridLayout*>(layout())->addWidget(m_problem, 1, 2, 1, 3);
    }
    if (m_problem != nullptr) {
        m_problem->setText(sentence);
        m_problem->setVisible(problem.has_value());
        const auto severity = problem ? problem->severity : config::Severity::Notice;
        theme::setRole(m_problem, severity == config::Severity::Error ? "error" : severity == config::Severity::Warning ? "warning" : "muted");
    }
    m_editor->setInvalid(problem && problem->severity == config::Severity::Error);
    m_editor->input()->setAccessibleDescription(problem ? sentence : session::schemaText(m_field.help));
}

void FieldRow::paintEvent(QPaintEvent*) {
    if (!m_changed) return;
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(Qt::NoPen);
    painter.setBrush(theme::colors().accent);
    painter.drawRoundedRect(QRectF(0, 8, 3, 18), 1.5, 1.5);
}

}  // namespace lathe::form
