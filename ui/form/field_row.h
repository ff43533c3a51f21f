// One field on screen: change bar, label, reset arrow, editor, unit, and the problem below in words.
#pragma once

#include "form/form_model.h"

#include <QWidget>

class QLabel;
class QToolButton;

namespace lathe::form {

class FieldEditor;

class FieldRow : public QWidget {
    Q_OBJECT

public:
    FieldRow(const config::Field& field, FormModel& model, QWidget* parent);

    const config::Field& field() const { return m_field; }
    const QString& key() const { return m_key; }
    /// Where the editor needs the room.
    void setNarrow(bool on);
    QWidget* input() const;
    /// Every word occurs in label, key, help or section.
    bool matches(const QStringList& words, const QString& sectionLabel) const;
    /// Shows value, change mark and problem as the model has them now.
    void refresh();
    void refreshProblem();

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    QString help() const;

    const config::Field& m_field;
    FormModel& m_model;
    QString m_key;
    FieldEditor* m_editor;
    QLabel* m_label;
    QLabel* m_problem = nullptr;  ///< made when first needed: most rows never are
    QToolButton* m_reset;
    bool m_changed = false, m_typing = false;
};

}  // namespace lathe::form
