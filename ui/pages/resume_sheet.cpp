#include "pages/resume_sheet.h"

#include "base/number_text.h"
#include "pages/rate_preview.h"
#include "session/qt_text.h"
#include "theme/parts.h"
#include "theme/tables.h"

#include <QHBoxLayout>
#include <QHeaderView>
#include <QJsonDocument>
#include <QLineEdit>
#include <QLocale>
#include <QStyledItemDelegate>
#include <QTableView>
#include <QVBoxLayout>

#include <cmath>

namespace lathe::pages {
namespace {

using models::SheetModel;
using session::toQt;

constexpr int kWidth = 1140, kHeight = 660, kFactsWidth = 280, kBeside = 40, kSoonMs = 250;

class SheetDelegate final : public QStyledItemDelegate {
public:
    using QStyledItemDelegate::QStyledItemDelegate;

protected:
    void initStyleOption(QStyleOptionViewItem* option, const QModelIndex& index) const override {
        QStyledItemDelegate::initStyleOption(option, index);
        const QString effect = index.data(SheetModel::EffectRole).toString();
        const theme::Colors& colors = theme::colors();
        const bool changes = effect.startsWith(QLatin1String("applies"));
        QColor color = index.column() == SheetModel::Setting ? colors.text : colors.muted;
        if (effect == QLatin1String("forbidden") && index.column() >= SheetModel::Form) color = colors.danger;
        else if (changes && index.column() >= SheetModel::Form) color = colors.accent;
        if (changes && index.column() == SheetModel::Used) option->font = theme::textFont(theme::TextRole::Strong);
        option->palette.setColor(QPalette::Text, color);
        option->palette.setColor(QPalette::HighlightedText, color);
    }
};

QString helpOf(const QString& verb) {
    if (verb == QLatin1String("continue")) return ResumeSheet::tr("Same run, on from its newest checkpoint");
    if (verb == QLatin1String("roll-back")) return ResumeSheet::tr("Same run, a new branch from this checkpoint; what came after stays, dimmed");
    if (verb == QLatin1String("fork")) return ResumeSheet::tr("New run with the entire state");
    return ResumeSheet::tr("New run at step 0 with these weights and a fresh optimizer");
}

QString wordOf(const QString& verb) {
    if (verb == QLatin1String("continue")) return ResumeSheet::tr("Continue");
    if (verb == QLatin1String("roll-back")) return ResumeSheet::tr("Roll back");
    if (verb == QLatin1String("fork")) return ResumeSheet::tr("Fork");
    return ResumeSheet::tr("Start from weights");
}

QString countText(qint64 value) { return QLocale().toString(value); }

}  // namespace

ResumeSheet::ResumeSheet(SheetQuestion question, QWidget* parent) : QDialog(parent), m_question(std::move(question)) {
    setObjectName(QStringLiteral("resumeSheet"));
    setWindowModality(Qt::WindowModal);
    setWindowTitle(m_question.title);
    resize(QSize(kWidth, kHeight).boundedTo(parent == nullptr ? QSize(kWidth, kHeight) : parent->size() - QSize(kBeside, kBeside)));
    build();
    m_soon.setSingleShot(true);
    m_soon.setInterval(kSoonMs);
    connect(&m_soon, &QTimer::timeout, this, &ResumeSheet::ask);
    connect(&m_model, &SheetModel::asked, this, [this] {
        m_current = false;
        showFacts();
        m_soon.start();
    });
    for (const auto& [key, value] : m_question.settings) m_model.setAsked(key, value);
    ask();
}

void ResumeSheet::build() {
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(20, 18, 20, 16);
    column->setSpacing(12);
    column->addWidget(theme::label(m_question.title, theme::TextRole::Title));
    auto* head = new QHBoxLayout;
    m_verb = new theme::ChoiceBox;
    m_verb->setObjectName(QStringLiteral("sheetVerb"));
    m_verb->setAccessibleName(tr("How to go on"));
    m_verb->setMinimumWidth(170);
    for (const QString& each : m_question.verbs) m_verb->addItem(wordOf(each), each);
    m_verb->setCurrentIndex(std::max(0, m_verb->findData(m_question.verb)));
    head->addWidget(m_verb);
    m_sentence = theme::label({}, theme::TextRole::Body, "muted");
    head->addWidget(m_sentence, 1);
    column->addLayout(head);
    auto* row = new QHBoxLayout;
    row->setSpacing(12);
    row->addWidget(buildTable(), 1);
    row->addWidget(buildFacts());
    column->addLayout(row, 1);
    auto* buttons = new QHBoxLayout;
    m_problem = theme::label({}, theme::TextRole::Body, "error");
    m_problem->setObjectName(QStringLiteral("sheetProblem"));
    m_problem->setWordWrap(true);
    buttons->addWidget(m_problem, 1);
    auto* cancel = new QPushButton(tr("Cancel"));
    cancel->setAutoDefault(false);
    m_accept = theme::button({}, theme::Icon::Resume, theme::ButtonKind::Primary);
    m_accept->setObjectName(QStringLiteral("sheetAccept"));
    m_accept->setAutoDefault(false);  // Enter ends an editor in the table
    m_later = theme::button(tr("Put in the queue"), theme::Icon::Queue);
    m_later->setObjectName(QStringLiteral("sheetQueue"));
    m_later->setToolTip(tr("Goes on by itself once its device is free"));
    buttons->addWidget(cancel);
    buttons->addWidget(m_later);
    buttons->addWidget(m_accept);
    column->addLayout(buttons);
    connect(cancel, &QPushButton::clicked, this, &QDialog::reject);
    connect(m_accept, &QPushButton::clicked, this, &QDialog::accept);
    connect(m_later, &QPushButton::clicked, this, [this] {
        m_when = session::When::Queued;
        accept();
    });
    connect(m_verb, &QComboBox::currentIndexChanged, this, &ResumeSheet::ask);
    connect(m_newCurve, &QCheckBox::toggled, this, &ResumeSheet::ask);
}

QWidget* ResumeSheet::buildTable() {
    QFrame* card = theme::card();
    auto* column = new QVBoxLayout(card);
    column->setContentsMargins(1, 10, 1, 1);
    auto* bar = new QHBoxLayout;
    bar->setContentsMargins(12, 0, 12, 0);
    m_filter = new QLineEdit;
    m_filter->setObjectName(QStringLiteral("sheetFilter"));
    m_filter->setPlaceholderText(tr("Search settings"));
    m_filter->setAccessibleName(tr("Search settings"));
    bar->addWidget(m_filter, 1);
    m_only = theme::flatButton(theme::Icon::Filter, tr("Only changes"), true);
    m_only->setObjectName(QStringLiteral("sheetOnlyChanges"));
    bar->addWidget(m_only);
    column->addLayout(bar);
    m_table = theme::rowTable("sheetTable", tr("Settings"), 29);
    m_table->setSelectionBehavior(QAbstractItemView::SelectItems);
    m_table->setModel(&m_model);
    m_table->setItemDelegate(new SheetDelegate(m_table));
    m_table->setEditTriggers(QAbstractItemView::DoubleClicked | QAbstractItemView::SelectedClicked | QAbstractItemView::EditKeyPressed | QAbstractItemView::AnyKeyPressed);
    m_table->horizontalHeader()->setStretchLastSection(true);
    m_table->horizontalHeader()->setDefaultAlignment(Qt::AlignLeft | Qt::AlignVCenter);
    m_table->setTextElideMode(Qt::ElideMiddle);
    const int widths[] = {190, 140, 120, 140};   // what the checkpoint has and what will be used are compared: alike wide
    for (int i = 0; i < 4; ++i) m_table->setColumnWidth(i, widths[i]);
    column->addWidget(m_table, 1);
    const auto filter = [this] { m_model.setFilter(m_filter->text(), m_only->isChecked()); };
    connect(m_filter, &QLineEdit::textChanged, this, filter);
    connect(m_only, &QToolButton::toggled, this, filter);
    return card;
}

QWidget* ResumeSheet::buildFacts() {
    QFrame* card = theme::card();
    card->setFixedWidth(kFactsWidth);
    auto* column = new QVBoxLayout(card);
    column->setContentsMargins(16, 12, 16, 12);
    column->setSpacing(6);
    column->addWidget(theme::label(tr("Learning rate"), theme::TextRole::Strong));
    m_preview = new RatePreview;
    column->addWidget(m_preview);
    const auto add = [&](QLabel*& label, const char* name) {
        label = theme::label({});
        label->setObjectName(QLatin1String(name));
        label->setWordWrap(true);
        column->addWidget(label);
    };
    add(m_rate, "sheetRate");
    auto* curve = new QHBoxLayout;
    QLabel* curveText = theme::label(tr("New curve for the length it has then"), theme::TextRole::Body, "muted");
    curveText->setWordWrap(true);
    m_newCurve = new theme::Switch;
    m_newCurve->setObjectName(QStringLiteral("sheetNewCurve"));
    m_newCurve->setAccessibleName(curveText->text());
    curve->addWidget(curveText, 1);
    curve->addWidget(m_newCurve);
    column->addLayout(curve);
    column->addSpacing(10);
    column->addWidget(theme::label(tr("Updates left"), theme::TextRole::Strong));
    add(m_left, "sheetLeft");
    column->addSpacing(10);
    add(m_notices, "sheetNotices");
    theme::setRole(m_notices, "muted");
    column->addStretch();
    return card;
}

QString ResumeSheet::verb() const { return m_verb->currentData().toString(); }

SheetAnswer ResumeSheet::answer() const { return {verb(), m_model.settings(), m_newCurve->isEnabled() && m_newCurve->isChecked(), m_when}; }

void ResumeSheet::ask() {
    m_soon.stop();
    m_current = false;
    m_sentence->setText(helpOf(verb()));
    m_accept->setText(wordOf(verb()));
    m_newCurve->setEnabled(verb() != QLatin1String("start-from-weights"));  // which has one of its own
    showFacts();
    const int number = ++m_asked;
    m_question.ask(answer(), this, [this, number](const QByteArray& json, const QString& sentence) {
        if (number == m_asked) take(json, sentence);
    });
}

void ResumeSheet::take(const QByteArray& json, const QString& sentence) {
    const QJsonObject sheet = QJsonDocument::fromJson(json).object();
    if (sheet.value(QStringLiteral("dry_run")).toBool()) {
        m_model.take(sheet);
        m_current = !m_soon.isActive();
        showFacts();
        return;
    }
    m_problem->setText(sentence);  // nothing to show: no such run, no configuration
    for (QPushButton* button : {m_accept, m_later}) button->setEnabled(false);
}

QString ResumeSheet::rateText(double rate) { return std::isnan(rate) ? tr("not known") : toQt(shortText(rate)); }

void ResumeSheet::showFacts() {
    const models::SheetFacts& facts = m_model.facts();
    for (QPushButton* button : {m_accept, m_later}) button->setEnabled(m_current && facts.wouldStart);
    if (!m_current) return;  // numbers stay until the next ones are there: nothing flickers
    const bool reached = facts.refusedKey == QLatin1String("run.epochs") || facts.refusedKey == QLatin1String("run.max_updates");
    // The command line says what to type there; here it is a row.
    m_problem->setText(reached ? tr("%1. Ask for more in “%2”.").arg(facts.refused.section(QLatin1Char(';'), 0, 0), m_model.label(facts.refusedKey)) : facts.refused);
    const QString before = rateText(facts.rateBefore), after = rateText(facts.rateAfter);
    m_rate->setText(before == after ? tr("%1 at the next update, as planned").arg(after) : tr("%1 instead of %2 at the next update").arg(after, before));
    m_preview->setCurve(facts.curve, facts.step);
    QString left = facts.left ? countText(*facts.left) : tr("not known before the data are read");
    if (facts.left && facts.plannedAfter) left = tr("%1 of %2").arg(left, countText(*facts.plannedAfter));
    if (facts.plannedBefore && facts.plannedBefore != facts.plannedAfter) left += QLatin1Char('\n') + tr("planned before: %1").arg(countText(*facts.plannedBefore));
    m_left->setText(left);
    m_notices->setText(facts.notices.join(QStringLiteral("\n\n")));
}

}  // namespace lathe::pages
