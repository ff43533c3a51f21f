#include "pages/remedies_card.h"

#include "config/schema.h"
#include "session/qt_text.h"
#include "theme/parts.h"

#include <QGridLayout>
#include <QVBoxLayout>

namespace lathe::pages {

using session::toQt;

namespace {

Edits editsOf(const rundir::Remedy& remedy) {
    Edits edits;
    for (const rundir::Remedy::Edit& edit : remedy.edits) edits.append({toQt(edit.key), toQt(edit.to)});
    return edits;
}

/// "Batch size 32 → 16, Micro-batches 1 → 2"
QString wordsOf(const rundir::Remedy& remedy) {
    QStringList words;
    for (const rundir::Remedy::Edit& edit : remedy.edits) {
        const config::Field* field = config::Schema::builtin().find(edit.key);
        const QString label = field == nullptr ? toQt(edit.key) : session::schemaText(field->label);
        words << QStringLiteral("%1 %2 → %3").arg(label, toQt(edit.from), toQt(edit.to));
    }
    return words.join(QStringLiteral(", "));
}

}  // namespace

RemediesCard::RemediesCard(QWidget* parent) : QFrame(parent) {
    theme::setRole(this, "card");
    setObjectName(QStringLiteral("remedies"));
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(14, 10, 10, 10);
    column->setSpacing(6);
    column->addWidget(theme::label(tr("What needs less memory"), theme::TextRole::Strong));
    hide();
}

void RemediesCard::addRow(const rundir::Remedy& remedy, std::size_t number, bool canGoOn) {
    auto* words = new QVBoxLayout;
    words->setSpacing(0);
    auto* change = new theme::ElidedLabel;
    change->setFullText(wordsOf(remedy));
    words->addWidget(change);
    auto* cost = new theme::ElidedLabel(theme::TextRole::Caption, "muted");
    cost->setFullText(toQt(remedy.cost));
    words->addWidget(cost);
    const int row = int(number) - 1;
    m_rows->addLayout(words, row, 0);
    const auto add = [&](int column, const QString& text, theme::Icon icon, const QString& name, const QString& help, bool goesOn) {
        QPushButton* button = theme::button(text, icon);
        button->setObjectName(name + QString::number(number));
        button->setAccessibleName(text + QStringLiteral(": ") + wordsOf(remedy));
        button->setToolTip(help);
        connect(button, &QPushButton::clicked, this, [this, edits = editsOf(remedy), goesOn] { Q_EMIT chosen(edits, goesOn); });
        m_rows->addWidget(button, row, column);
    };
    if (remedy.whenGoingOn && canGoOn) add(1, tr("Continue with it…"), theme::Icon::Resume, QStringLiteral("continueWithRemedy"), tr("A sheet tells first what would happen"), true);
    add(2, tr("New run with it…"), theme::Icon::Again, QStringLiteral("remedy"), tr("Opens the form with the settings of this run and this change, marked"), false);
}

void RemediesCard::show(const std::vector<rundir::Remedy>& remedies, bool canGoOn) {
    setVisible(!remedies.empty());
    if (remedies == m_shown && canGoOn == m_canGoOn) return;   // nothing changes under the mouse
    m_shown = remedies;
    m_canGoOn = canGoOn;
    if (m_body != nullptr) {
        m_body->hide();
        m_body->deleteLater();   // one of its buttons may have asked for this
    }
    m_body = new QWidget;
    m_rows = new QGridLayout(m_body);
    m_rows->setContentsMargins(0, 0, 0, 0);
    m_rows->setHorizontalSpacing(8);
    m_rows->setVerticalSpacing(6);
    m_rows->setColumnStretch(0, 1);
    layout()->addWidget(m_body);
    for (std::size_t i = 0; i < remedies.size(); ++i) addRow(remedies[i], i + 1, canGoOn);
}

}  // namespace lathe::pages
