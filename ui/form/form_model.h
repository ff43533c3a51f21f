// The state behind a form: values of a schema, what they are compared with, what was typed and is wrong, and undo.
// Knows the schema and nothing of its fields. A text that cannot be read never changes a value: the last valid one stays
// in values() and `blocked()` says so, so that nobody starts anything with it.
// Thread: GUI thread only.
#pragma once

#include "config/config.h"
#include "config/schema.h"

#include <QHash>
#include <QObject>
#include <QString>
#include <QUndoStack>

#include <functional>
#include <vector>

namespace lathe::form {

class FormModel : public QObject {
    Q_OBJECT

public:
    /// Rules across fields, asked after every change with readable values.
    using Validator = std::function<std::vector<config::Problem>(const config::Values&)>;

    FormModel(const config::Schema& schema, Validator validator, QObject* parent = nullptr);

    const config::Schema& schema() const { return m_schema; }
    const config::Values& values() const { return m_values; }
    /// What "changed" is measured against: the preset, or the run that is started again.
    const config::Values& baseline() const { return m_baseline; }
    /// Replaces everything and forgets the undo history. Keys missing in either take the schema's defaults.
    void load(const config::Values& baseline, const config::Values& current);

    /// As a person typed it; undoable. Steps on one key become one until sealed.
    void setText(const QString& key, const QString& text);
    void setValue(const QString& key, const config::Value& value);
    /// One undo step for all of them: data found in a folder sets format and number of classes together.
    void setValues(const std::vector<std::pair<QString, config::Value>>& changes, const QString& why);
    void reset(const QString& key);
    void sealUndo() { m_sealed = true; }
    QUndoStack& undoStack() { return m_undo; }

    /// What the editor shows: the typed text while it is wrong, else the value.
    QString text(const QString& key) const;
    bool isChanged(const QString& key) const;
    bool isWrong(const QString& key) const { return m_wrong.contains(key); }  ///< what is shown cannot be read
    bool isVisible(const QString& key) const;
    /// The key changed last by a person, or empty.
    QString lastChanged() const { return m_lastChanged; }
    std::vector<QString> changedKeys() const;  ///< in the order of the schema; fields that do not matter left out

    /// Problems found elsewhere (data, devices); they replace those handed in before.
    void setOutsideProblems(std::vector<config::Problem> problems);
    /// Everything wrong or notable now, in the order of the schema, whole-file problems first.
    const std::vector<config::Problem>& problems() const { return m_problems; }
    /// The first problem of a field, errors before warnings.
    std::optional<config::Problem> problem(const QString& key) const;
    bool blocked() const;  ///< at least one error

    /// Value as shown to people: an unset optional says its words ("no limit").
    QString displayText(const config::Field& field, const config::Value& value) const;

Q_SIGNALS:
    void fieldChanged(const QString& key);
    void changed();  ///< after any change of values or problems
    void loaded();

private:
    struct Cell {
        config::Value value;
        QString wrongText;  ///< shown instead of the value while it cannot be read
        QString why;
        bool operator==(const Cell& other) const { return value == other.value && wrongText == other.wrongText; }
    };
    class SetCommand;
    class GroupCommand;

    Cell cell(const QString& key) const;
    Cell read(const config::Field& field, const QString& text) const;
    void push(const config::Field& field, Cell next);
    void put(const QString& key, const Cell& cell);
    void revalidate();
    void collectProblems();

    const config::Schema& m_schema;
    Validator m_validator;
    config::Values m_values, m_baseline;
    struct Wrong {
        QString text, why;
    };
    QHash<QString, Wrong> m_wrong;
    std::vector<config::Problem> m_ruleProblems, m_outsideProblems, m_problems;
    QUndoStack m_undo;
    QString m_lastChanged;
    bool m_sealed = false;
};

}  // namespace lathe::form
