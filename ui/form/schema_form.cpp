#include "form/schema_form.h"

#include "form/field_row.h"
#include "session/qt_text.h"
#include "theme/parts.h"

#include <QAction>
#include <QHBoxLayout>
#include <QLineEdit>
#include <QScrollArea>
#include <QScrollBar>
#include <QShortcut>
#include <QVBoxLayout>

namespace lathe::form {

static constexpr int kNarrow = 520;   // below it the words of the toggles are in their tooltips
static constexpr int kNoLinks = 620;  // below it the fields need the room of the links to sections

SchemaForm::SchemaForm(FormModel& model, QWidget* parent) : QWidget(parent), m_model(model) {
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(10);
    m_bar = buildBar();
    column->addLayout(m_bar);
    buildCards();
    addShortcuts();
    connect(&m_model, &FormModel::loaded, this, &SchemaForm::refreshAll);
    connect(&m_model, &FormModel::fieldChanged, this, [this](const QString& key) {
        if (FieldRow* row = m_rows.value(key)) row->refresh();
    });
    connect(&m_model, &FormModel::changed, this, [this] {
        for (FieldRow* row : std::as_const(m_rows)) row->refreshProblem();
        refilter();
    });
    refilter();
}

QBoxLayout* SchemaForm::buildBar() {
    auto* bar = new QHBoxLayout;
    bar->setSpacing(8);
    m_search = new QLineEdit(this);
    m_search->setObjectName(QStringLiteral("formSearch"));
    m_search->setPlaceholderText(tr("Search settings  (Ctrl+F)"));
    m_search->setAccessibleName(tr("Search settings"));
    m_search->addAction(theme::icon(theme::Icon::Search), QLineEdit::LeadingPosition)->setText(tr("Search"));
    m_search->setClearButtonEnabled(true);
    m_search->setMinimumWidth(100);
    m_search->setMaximumWidth(260);
    bar->addWidget(m_search, 1);
    m_advanced = theme::flatButton(theme::Icon::NewRun, tr("Advanced"), true);
    m_advanced->setObjectName(QStringLiteral("formAdvanced"));
    m_onlyChanged = theme::flatButton(theme::Icon::Filter, tr("Only changed"), true);
    m_onlyChanged->setObjectName(QStringLiteral("formOnlyChanged"));
    for (QToolButton* toggle : {m_advanced, m_onlyChanged}) {
        toggle->setToolTip(toggle->text());
        bar->addWidget(toggle);
        connect(toggle, &QToolButton::toggled, this, &SchemaForm::refilter);
    }
    bar->addStretch();
    connect(m_search, &QLineEdit::textChanged, this, &SchemaForm::refilter);
    return bar;
}

void SchemaForm::resizeEvent(QResizeEvent* event) {
    QWidget::resizeEvent(event);
    m_links->setVisible(width() >= kNoLinks);
    for (FieldRow* row : std::as_const(m_rows)) row->setNarrow(width() < kNarrow);
    for (QToolButton* toggle : {m_advanced, m_onlyChanged}) toggle->setToolButtonStyle(width() < kNarrow ? Qt::ToolButtonIconOnly : Qt::ToolButtonTextBesideIcon);
}

void SchemaForm::buildCards() {
    auto* middle = new QHBoxLayout;
    middle->setSpacing(14);
    m_links = new QWidget;
    auto* links = new QVBoxLayout(m_links);
    links->setContentsMargins(0, 0, 0, 0);
    links->setSpacing(1);
    middle->addWidget(m_links);
    m_scroll = new QScrollArea(this);
    m_scroll->setObjectName(QStringLiteral("formScroll"));
    m_scroll->setWidgetResizable(true);
    m_scroll->setHorizontalScrollBarPolicy(Qt::ScrollBarAsNeeded);   // in the smallest window, where an editor would be out of reach
    m_scroll->setFocusPolicy(Qt::NoFocus);
    auto* body = new QWidget;
    m_list = new QVBoxLayout(body);
    m_list->setContentsMargins(0, 0, 8, 24);
    m_list->setSpacing(12);
    for (const config::Section& section : m_model.schema().sections()) buildCard(section, links);
    links->addStretch();
    m_nothing = theme::label(tr("No setting matches."), theme::TextRole::Body, "muted");
    m_list->addWidget(m_nothing);
    m_list->addStretch();
    m_scroll->setWidget(body);
    body->setAutoFillBackground(false);
    m_scroll->viewport()->setAutoFillBackground(false);
    middle->addWidget(m_scroll, 1);
    static_cast<QVBoxLayout*>(layout())->addLayout(middle, 1);
}

void SchemaForm::buildCard(const config::Section& section, QBoxLayout* links) {
    Card card;
    card.label = session::schemaText(section.label);
    card.frame = theme::card();
    auto* inner = new QVBoxLayout(card.frame);
    inner->setContentsMargins(8, 12, 16, 12);
    inner->setSpacing(1);
    QLabel* head = theme::label(card.label, theme::TextRole::Strong);
    head->setContentsMargins(10, 0, 0, 0);
    head->setToolTip(session::schemaText(section.help).toHtmlEscaped());
    inner->addWidget(head);
    inner->addSpacing(4);
    for (const config::Field& field : section.fields) {
        auto* row = new FieldRow(field, m_model, card.frame);
        inner->addWidget(row);
        card.rows.push_back(row);
        m_rows.insert(row->key(), row);
    }
    m_list->addWidget(card.frame);
    card.link = new QPushButton(card.label);
    card.link->setObjectName(QStringLiteral("section.") + QString::fromStdString(section.name));
    theme::setRole(card.link, "link");
    card.link->setFixedWidth(112);
    card.link->setFocusPolicy(Qt::TabFocus);
    links->addWidget(card.link);
    connect(card.link, &QPushButton::clicked, this, [this, frame = card.frame] {
        // A section may hold nothing but advanced settings.
        if (!frame->isVisibleTo(m_scroll->widget())) m_advanced->setChecked(true);
        m_scroll->widget()->layout()->activate();
        m_scroll->verticalScrollBar()->setValue(frame->y());
    });
    m_cards.push_back(std::move(card));
}

void SchemaForm::addShortcuts() {
    const auto shortcut = [this](const QKeySequence& keys, auto slot) {
        auto* made = new QShortcut(keys, this);
        made->setContext(Qt::WidgetWithChildrenShortcut);
        connect(made, &QShortcut::activated, this, slot);
    };
    shortcut(QKeySequence::Find, [this] { focusSearch(); });
    shortcut(QKeySequence::Undo, [this] { m_model.undoStack().undo(); });
    shortcut(QKeySequence::Redo, [this] { m_model.undoStack().redo(); });
}

void SchemaForm::reveal(const QString& key) {
    FieldRow* row = m_rows.value(key);
    if (row == nullptr) return;
    m_search->clear();
    m_onlyChanged->setChecked(m_onlyChanged->isChecked() && m_model.isChanged(key));
    if (row->field().level == config::Level::Advanced && !row->isVisibleTo(this)) m_advanced->setChecked(true);
    row->input()->setFocus(Qt::OtherFocusReason);
    if (auto* line = qobject_cast<QLineEdit*>(row->input())) line->selectAll();
    // The row may have appeared just now; its place is known after the layout has run.
    m_scroll->widget()->layout()->activate();
    m_scroll->ensureWidgetVisible(row, 0, 80);
}

QWidget* SchemaForm::input(const QString& key) const {
    const FieldRow* row = m_rows.value(key);
    return row == nullptr ? nullptr : row->input();
}

void SchemaForm::focusSearch() {
    m_search->setFocus(Qt::ShortcutFocusReason);
    m_search->selectAll();
}

void SchemaForm::addLead(QWidget* widget) { m_list->insertWidget(0, widget); }

void SchemaForm::addToBar(QWidget* widget) { m_bar->insertWidget(0, widget); }

void SchemaForm::refreshAll() {
    for (FieldRow* row : std::as_const(m_rows)) row->refresh();
    refilter();
}

bool SchemaForm::isShown(const FieldRow& row, const Card& card, const QStringList& words) const {
    const bool changed = m_model.isChanged(row.key());
    const auto problem = m_model.problem(row.key());
    const bool wrong = problem && problem->severity == config::Severity::Error;
    if (!m_model.isVisible(row.key()) && !wrong) return false;
    if (!row.matches(words, card.label)) return false;
    if (m_onlyChanged->isChecked() && !changed && !wrong) return false;
    // A search looks everywhere; otherwise what was changed or is wrong is never hidden behind "Advanced".
    return m_advanced->isChecked() || !words.isEmpty() || row.field().level == config::Level::Basic || changed || wrong;
}

void SchemaForm::refilter() {
    const QStringList words = m_search->text().split(QLatin1Char(' '), Qt::SkipEmptyParts);
    m_scroll->widget()->setUpdatesEnabled(false);
    bool any = false;
    for (const Card& card : m_cards) {
        bool cardShown = false, matters = false;
        for (FieldRow* row : card.rows) {
            matters = matters || m_model.isVisible(row->key());
            // The field somebody types in stays, even when what is typed makes it unchanged again.
            const bool shown = isShown(*row, card, words) || (row->input()->hasFocus() && words.isEmpty() && m_model.isVisible(row->key()));
            row->setVisible(shown);
            cardShown = cardShown || shown;
        }
        card.frame->setVisible(cardShown);
        card.link->setVisible(matters);
        card.link->setEnabled(cardShown || (words.isEmpty() && !m_onlyChanged->isChecked()));
        any = any || cardShown;
    }
    m_nothing->setVisible(!any);
    m_scroll->widget()->setUpdatesEnabled(true);
}

}  // namespace lathe::form
