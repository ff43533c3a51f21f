#include "form/form_model.h"

#include "session/qt_text.h"

#include <QUndoCommand>

#include <algorithm>

namespace lathe::form {
namespace {

constexpr int kSetCommandId = 1;

std::string keyOf(const QString& key) { return key.toStdString(); }

}  // namespace

class FormModel::SetCommand final : public QUndoCommand {
public:
    SetCommand(FormModel& model, const config::Field& field, Cell from, Cell to)
        : QUndoCommand(tr("Change %1").arg(session::schemaText(field.label))), m_model(model), m_key(QString::fromStdString(field.key())),
          m_from(std::move(from)), m_to(std::move(to)) {}

    void redo() override { m_model.put(m_key, m_to); }
    void undo() override {
        m_model.put(m_key, m_from);
        m_model.m_sealed = true;
    }
    int id() const override { return kSetCommandId; }

    bool mergeWith(const QUndoCommand* next) override {
        const auto* other = static_cast<const SetCommand*>(next);
        if (other->m_key != m_key || m_model.m_sealed) return false;
        m_to = other->m_to;
        setObsolete(m_to == m_from);
        return true;
    }

private:
    FormModel& m_model;
    QString m_key;
    Cell m_from, m_to;
};

class FormModel::GroupCommand final : public QUndoCommand {
public:
    struct Step {
        QString key;
        Cell from, to;
    };
    GroupCommand(FormModel& model, std::vector<Step> steps, const QString& why) : QUndoCommand(why), m_model(model), m_steps(std::move(steps)) {}

    void redo() override {
        for (const Step& step : m_steps) m_model.put(step.key, step.to);
    }
    void undo() override {
        for (auto step = m_steps.rbegin(); step != m_steps.rend(); ++step) m_model.put(step->key, step->from);
    }

private:
    FormModel& m_model;
    std::vector<Step> m_steps;
};

FormModel::FormModel(const config::Schema& schema, Validator validator, QObject* parent)
    : QObject(parent), m_schema(schema), m_validator(std::move(validator)) {
    load({}, {});
}

void FormModel::load(const config::Values& baseline, const config::Values& current) {
    m_undo.clear();
    m_wrong.clear();
    m_lastChanged.clear();
    m_outsideProblems.clear();
    m_sealed = true;
    for (const config::Section& section : m_schema.sections()) {
        for (const config::Field& field : section.fields) {
            const auto base = baseline.find(field.key());
            m_baseline[field.key()] = base == baseline.end() ? field.defaultValue : base->second;
            const auto value = current.find(field.key());
            m_values[field.key()] = value == current.end() ? m_baseline[field.key()] : value->second;
        }
    }
    revalidate();
    Q_EMIT loaded();
    Q_EMIT changed();
}

FormModel::Cell FormModel::cell(const QString& key) const {
    Cell cell;
    if (const auto value = m_values.find(keyOf(key)); value != m_values.end()) cell.value = value->second;
    if (const auto wrong = m_wrong.find(key); wrong != m_wrong.end()) {
        cell.wrongText = wrong->text;
        cell.why = wrong->why;
    }
    return cell;
}

FormModel::Cell FormModel::read(const config::Field& field, const QString& text) const {
    Cell next;
    next.value = cell(QString::fromStdString(field.key())).value;
    const bool optional = field.type == config::FieldType::OptionalInteger || field.type == config::FieldType::OptionalNumber;
    const QString plain = text.trimmed();
    if (optional && (plain.isEmpty() || plain == QString::fromStdString(field.noneText) || plain == session::schemaText(field.noneText))) {
        next.value = std::monostate{};
        return next;
    }
    auto value = config::readValue(field, text.toStdString());
    if (value.ok()) {
        next.value = std::move(*value);
    } else {
        next.wrongText = text;
        next.why = QString::fromStdString(value.error().sentence);
    }
    return next;
}

void FormModel::push(const config::Field& field, Cell next) {
    const QString key = QString::fromStdString(field.key());
    const Cell now = cell(key);
    if (next == now) return;
    m_lastChanged = key;
    m_undo.push(new SetCommand(*this, field, now, std::move(next)));
    m_sealed = false;
}

void FormModel::setText(const QString& key, const QString& text) {
    const config::Field* field = m_schema.find(keyOf(key));
    LATHE_ASSERT(field != nullptr);
    push(*field, read(*field, text));
}

void FormModel::setValue(const QString& key, const config::Value& value) {
    const config::Field* field = m_schema.find(keyOf(key));
    LATHE_ASSERT(field != nullptr && config::checkValue(*field, value).ok());
    sealUndo();
    Cell next;
    next.value = value;
    push(*field, next);
    sealUndo();
}

void FormModel::setValues(const std::vector<std::pair<QString, config::Value>>& changes, const QString& why) {
    std::vector<GroupCommand::Step> steps;
    for (const auto& [key, value] : changes) {
        LATHE_ASSERT(m_schema.find(keyOf(key)) != nullptr);
        Cell next;
        next.value = value;
        const Cell now = cell(key);
        if (!(next == now)) steps.push_back({key, now, next});
    }
    if (steps.empty()) return;
    m_lastChanged = steps.back().key;
    m_undo.push(new GroupCommand(*this, std::move(steps), why));
    sealUndo();
}

void FormModel::reset(const QString& key) { setValue(key, m_baseline.at(keyOf(key))); }

void FormModel::put(const QString& key, const Cell& cell) {
    m_values[keyOf(key)] = cell.value;
    if (cell.wrongText.isNull()) m_wrong.remove(key);
    else m_wrong[key] = {cell.wrongText, cell.why};
    revalidate();
    Q_EMIT fieldChanged(key);
    Q_EMIT changed();
}

void FormModel::revalidate() {
    m_ruleProblems = m_validator ? m_validator(m_values) : std::vector<config::Problem>{};
    collectProblems();
}

QString FormModel::text(const QString& key) const {
    const Cell now = cell(key);
    if (!now.wrongText.isNull()) return now.wrongText;
    if (std::holds_alternative<std::monostate>(now.value)) return {};
    return QString::fromStdString(config::valueText(now.value));
}

bool FormModel::isChanged(const QString& key) const {
    const auto base = m_baseline.find(keyOf(key));
    return base != m_baseline.end() && (m_wrong.contains(key) || m_values.at(base->first) != base->second);
}

bool FormModel::isVisible(const QString& key) const {
    const config::Field* field = m_schema.find(keyOf(key));
    return field != nullptr && config::isVisible(*field, m_values);
}

std::vector<QString> FormModel::changedKeys() const {
    std::vector<QString> keys;
    for (const config::Section& section : m_schema.sections())
        for (const config::Field& field : section.fields) {
            const QString key = QString::fromStdString(field.key());
            if (isChanged(key) && config::isVisible(field, m_values)) keys.push_back(key);
        }
    return keys;
}

void FormModel::setOutsideProblems(std::vector<config::Problem> problems) {
    m_outsideProblems = std::move(problems);
    collectProblems();
    Q_EMIT changed();
}

void FormModel::collectProblems() {
    std::vector<config::Problem> all;
    const auto take = [&all](const std::vector<config::Problem>& from, const std::string& key) {
        for (const config::Problem& problem : from)
            if (problem.key == key) all.push_back(problem);
    };
    take(m_ruleProblems, {});
    take(m_outsideProblems, {});
    for (const config::Section& section : m_schema.sections()) {
        for (const config::Field& field : section.fields) {
            if (const auto wrong = m_wrong.find(QString::fromStdString(field.key())); wrong != m_wrong.end()) {
                // A wrong text in a field that does not matter now is not on screen and is not used.
                if (config::isVisible(field, m_values)) all.push_back({field.key(), config::Severity::Error, wrong->why.toStdString()});
                continue;
            }
            take(m_ruleProblems, field.key());
            take(m_outsideProblems, field.key());
        }
    }
    m_problems = std::move(all);
}

std::optional<config::Problem> FormModel::problem(const QString& key) const {
    std::optional<config::Problem> found;
    for (const config::Problem& problem : m_problems)
        if (problem.key == keyOf(key) && (!found || problem.severity > found->severity)) found = problem;
    return found;
}

bool FormModel::blocked() const { return config::hasErrors(m_problems); }

QString FormModel::displayText(const config::Field& field, const config::Value& value) const {
    if (std::holds_alternative<std::monostate>(value)) return field.noneText.empty() ? QStringLiteral("none") : session::schemaText(field.noneText);
    if (const bool* on = std::get_if<bool>(&value)) return *on ? tr("on") : tr("off");
    const QString text = QString::fromStdString(config::valueText(value));
    return text.isEmpty() ? tr("empty") : text;
}

}  // namespace lathe::form
